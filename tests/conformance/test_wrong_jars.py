"""The wrong jar is never tested by mistake: changed on disk, not to be had, or somebody else's on the class path."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kafka_conformance.core.errors import WrongRelease
from kafka_conformance.oracle.jvm import Jvm
from kafka_conformance.oracle.oracle import Oracle
from kafka_jars.pins import Jar, load
from kafka_jars.store import Store, default_store

CLIENTS = "org.apache.kafka_kafka-clients_4.4.0.jar"

# Every connection of the JVM goes to a port where nobody listens: what a machine without a network sees.
NO_NETWORK = {
    "JAVA_TOOL_OPTIONS": " ".join(
        f"-D{kind}.proxyHost=127.0.0.1 -D{kind}.proxyPort=9 -D{kind}.nonProxyHosts=" for kind in ("http", "https")
    )
}


def _rules(_: str) -> dict[str, str]:
    return {"murmur2": "kafkaoracle.murmur2.Murmur2Rule"}


def complaints(ran: Any) -> list[str]:
    """The lines on standard error, without progress: how many of those there are depends on the machine."""
    return [line for line in ran.err.splitlines() if not re.search(r": \d+ of \d+, \d+ s$", line)]


@pytest.fixture
def copied(oracle: Oracle, tmp_path: Path) -> Store:
    """A separate store with what the newest release needs, fetched or copied from the user's."""
    pins, mine = load(), Store(tmp_path / "cache")
    (mine.folder / "jars").mkdir(parents=True)
    for stored in oracle.resolve([*pins.jars("4.4.0"), *pins.jars("4.3.1")[:1], *pins.compiler]):
        shutil.copy(stored.path, mine.path(stored.jar))
    return mine


def test_verify_with_one_changed_byte_in_clients_jar_exits_2_naming_both_sha256(kit: Callable, copied: Store) -> None:
    jar = copied.folder / "jars" / CLIENTS
    content = bytearray(jar.read_bytes())
    expected = hashlib.sha256(content).hexdigest()
    content[len(content) // 2] ^= 1
    jar.write_bytes(content)
    ran = kit("verify", "--rules", "murmur2", "--examples", "10", env={"KAFKA_CONFORMANCE_CACHE": str(copied.folder)})
    assert ran.code == 2
    (line,) = complaints(ran)
    assert all(part in line for part in (str(jar), expected, hashlib.sha256(content).hexdigest())), line


def test_verify_without_network_and_without_cached_jars_exits_2_with_one_error_line(
    kit: Callable, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    ran = kit(
        "verify", "--rules", "murmur2", "--examples", "10", env={"KAFKA_CONFORMANCE_CACHE": str(empty), **NO_NETWORK}
    )
    assert ran.code == 2, ran
    (line,) = complaints(ran)
    assert "is not in the cache and no repository can be reached" in line
    fetched = [path for path in empty.rglob("*") if path.is_file() and "hypothesis" not in path.parts]
    assert fetched == [], "nothing half-fetched stays"


def test_verify_with_cached_jars_needs_no_network(kit: Callable, copied: Store) -> None:
    ran = kit(
        "verify",
        "--rules",
        "murmur2",
        "--seed",
        "1",
        "--examples",
        "10",
        "--exhaustive",
        "0",
        env={"KAFKA_CONFORMANCE_CACHE": str(copied.folder), **NO_NETWORK},
    )
    assert ran.code == 0, ran


def test_verify_of_unpublished_release_exits_2_naming_the_missing_jar(kit: Callable) -> None:
    ran = kit("verify", "--kafka", "9.9.9", "--rules", "murmur2", "--examples", "0")
    assert ran.code == 2
    assert "org.apache.kafka:kafka-clients:9.9.9 is in no repository" in ran.err


def test_oracle_loads_the_pinned_clients_jar_instead_of_another_on_the_jvm_class_path(copied: Store) -> None:
    """The Spark Kafka connector brings a kafka-clients: a loader that asks its parent first would test that one."""
    other = copied.folder / "jars" / "org.apache.kafka_kafka-clients_4.3.1.jar"
    with Jvm(extra_class_path=[other]) as jvm:
        loader = jvm.view.java.lang.ClassLoader.getSystemClassLoader()
        seen = (
            loader.loadClass("org.apache.kafka.common.utils.Utils").getProtectionDomain().getCodeSource().getLocation()
        )
        assert str(seen.getPath()) == str(other), "the trap has to be set, or this shows nothing"
        opened = Oracle(jvm, copied, load(), _rules).open("4.4.0")
        assert opened.stored[0].path.name == CLIENTS
        assert opened.answer(b'{"id":"0","rule":"murmur2","question":{"key":"666f6f"}}') == [
            {"id": "0", "answer": {"hash": 597841616}}
        ]


def test_unpinned_jar_of_another_release_raises_wrong_release_by_version_kafka_reports(copied: Store) -> None:
    """Only an unpinned jar can come this far: a pinned one has been held to its sha256 before."""
    pins = load()
    unpinned = Jar("org.apache.kafka:kafka-clients:4.4.0")
    shutil.copy(copied.path(pins.jars("4.3.1")[0]), copied.path(unpinned))
    pretending = replace(pins, releases={"4.4.0": (unpinned,)})
    message = r"requested release 4\.4\.0, but the loaded jar .* reports 4\.3\.1"
    with Jvm() as jvm, pytest.raises(WrongRelease, match=message):
        Oracle(jvm, copied, pretending, _rules).open("4.4.0")


def test_oracle_marks_an_unpinned_release_as_not_pinned(copied: Store) -> None:
    pins = load()
    unpinned = replace(
        pins, releases={"4.4.0": pins.jars("4.4.0")[:1], "4.3.1": (Jar("org.apache.kafka:kafka-clients:4.3.1"),)}
    )
    with Jvm() as jvm:
        oracle = Oracle(jvm, copied, unpinned, _rules)
        assert [oracle.open(version).pinned for version in ("4.4.0", "4.3.1")] == [True, False]


def test_jar_cache_folder_is_taken_from_the_environment_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KAFKA_CONFORMANCE_CACHE", str(tmp_path))
    assert default_store() == Store(tmp_path)
