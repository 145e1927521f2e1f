"""``brokers.toml``: the one that ships, what is refused of others, and adding a release to one."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_jars.brokers import BROKERS_FILE, FIRST, broker_coordinates, load_brokers, pin_broker, runs_on_kraft
from kafka_jars.errors import PinsUnreadable
from kafka_jars.pins import Jar, load

A, B, C = "0a" * 32, "0b" * 32, "0c" * 32
SMALL = f"""\
# Said at the top.
[beside]
"org.slf4j:slf4j-simple:1.7.36" = "{A}"

[releases."3.9.2"]
"org.apache.kafka:kafka_2.13:3.9.2" = "{B}"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "brokers.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


def test_shipped_broker_pins_contain_every_required_jar_with_consistent_sha256() -> None:
    brokers, pins = load_brokers(), load()
    for version, jars in brokers.releases.items():
        assert jars[0].coordinates == broker_coordinates(version)
        assert tuple(map(int, version.split("."))) >= FIRST
        named = {jar.coordinates for jar in jars}
        assert len(named) == len(jars)
        on_kraft = ("kafka-metadata", "kafka-raft", "kafka-storage", "kafka-server-common")
        for needed in ("kafka-clients", *(on_kraft if runs_on_kraft(version) else ())):
            assert f"org.apache.kafka:{needed}:{version}" in named
        with_zookeeper = any(each.startswith("org.apache.zookeeper:zookeeper:") for each in named)
        assert runs_on_kraft(version) or with_zookeeper
        assert {each.split(":")[1] for each in named} >= {"scala-library", "slf4j-api", "jopt-simple", "metrics-core"}
    same = {jar.coordinates: jar.sha256 for jars in pins.releases.values() for jar in jars}
    for jars in brokers.releases.values():
        for jar in jars:
            assert same.get(jar.coordinates, jar.sha256) == jar.sha256, "releases.toml says otherwise"
    every: dict[str, str | None] = {}
    for jars in brokers.releases.values():
        for jar in jars:
            assert every.setdefault(jar.coordinates, jar.sha256) == jar.sha256, "two releases disagree"


def test_broker_jars_are_release_jars_then_shared_jars_and_unpinned_release_raises_key_error(file: Path) -> None:
    brokers = load_brokers(file)
    assert brokers.newest == "3.9.2"
    assert brokers.jars("3.9.2") == (
        Jar("org.apache.kafka:kafka_2.13:3.9.2", B),
        Jar("org.slf4j:slf4j-simple:1.7.36", A),
    )
    with pytest.raises(KeyError):
        brokers.jars("3.9.1")


def test_pinning_a_broker_release_inserts_in_version_order_and_keeps_comments(file: Path) -> None:
    pin_broker("3.10.0", {"org.apache.kafka:kafka_2.13:3.10.0": C}, file)
    pin_broker("3.3.1", {"org.apache.kafka:kafka_2.13:3.3.1": C}, file)
    brokers = load_brokers(file)
    assert list(brokers.releases) == ["3.3.1", "3.9.2", "3.10.0"]
    assert brokers.newest == "3.10.0"
    assert file.read_text().startswith("# Said at the top.\n")
    assert not list(file.parent.glob("*.new"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[beside]",
        SMALL.replace(A, "short"),
        SMALL.replace("3.9.2", "3.x"),
        SMALL.split("[rel")[0] + "[releases]",
        "\0",
    ],
)
def test_malformed_broker_pins_file_raises_pins_unreadable(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(PinsUnreadable):
        load_brokers(file)


def test_missing_broker_pins_file_raises_pins_unreadable(tmp_path: Path) -> None:
    with pytest.raises(PinsUnreadable, match="cannot be read as a list of brokers' jars"):
        load_brokers(tmp_path / "no.toml")
    assert BROKERS_FILE.is_file()
