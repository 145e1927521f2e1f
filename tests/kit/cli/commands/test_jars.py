"""``jars``: list, resolve and pin, with a stand-in for the JVM that would fetch."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pytest

from kafka_conformance.cli.commands import jars
from kafka_conformance.core.errors import BadInput
from kafka_conformance.oracle import fetching
from kafka_jars import pins as pinning
from kafka_jars.errors import JarChanged, JarUnavailable
from kafka_jars.ivy import Closure
from kafka_jars.pins import Jar
from kafka_jars.store import Store

CLIENTS, BESIDE, COMPILER, COVERAGE, CONNECTOR, NEW = (
    "org.apache.kafka:kafka-clients:3.9.2", "org.slf4j:slf4j-api:1.7.36", "org.eclipse.jdt:ecj:3.40.0",
    "org.jacoco:org.jacoco.agent:0.8.14", "org.apache.kafka:kafka-clients:3.9.0", "org.apache.kafka:kafka-clients:3.6.1",
)  # fmt: skip
STORAGE = "org.apache.kafka:kafka-storage:3.9.2"
NEW_BROKER = (
    "org.apache.kafka:kafka-storage:3.6.1",
    "org.apache.kafka:kafka-group-coordinator:3.6.1",
    "org.apache.kafka:kafka_2.13:3.6.1",
    "org.scala-lang:scala-library:2.13.16",
    "com.typesafe.scala-logging:scala-logging_2.13:3.9.5",
    "com.yammer.metrics:metrics-core:2.2.0",
    "org.apache.kafka:kafka-metadata:3.6.1",
    "org.apache.kafka:kafka-server-common:3.6.1",
    "commons-validator:commons-validator:1.7",
    "org.scala-lang.modules:scala-java8-compat_2.13:1.0.2",
    "org.pcollections:pcollections:4.0.1",
)
CODEC, NEW_CODEC = "org.xerial.snappy:snappy-java:1.1.10.5", "org.xerial.snappy:snappy-java:1.1.10.4"


def sha256(coordinates: str) -> str:
    """Of the jar that is fetched for these coordinates, which holds just them."""
    return hashlib.sha256(coordinates.encode()).hexdigest()


@pytest.fixture
def pins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "releases.toml"
    path.write_text(
        f'[beside]\n"{BESIDE}" = "{sha256(BESIDE)}"\n\n[compiler]\n"{COMPILER}" = "{sha256(COMPILER)}"\n\n'
        f'[coverage]\n"{COVERAGE}" = "{sha256(COVERAGE)}"\n\n'
        f'[codec-jars]\n"{CODEC}" = "{sha256(CODEC)}"\n\n[codecs]\n"3.9.2" = ["{CODEC}"]\n\n'
        f'[connector."4.0"]\n"{CONNECTOR}" = "{sha256(CONNECTOR)}"\n\n'
        f'[releases."3.9.2"]\n"{CLIENTS}" = "{sha256(CLIENTS)}"\n\n'
        f'[releases."3.9.2".broker]\n"{STORAGE}" = "{sha256(STORAGE)}"\n',
        encoding="utf-8",
    )
    monkeypatch.setattr(pinning.load, "__defaults__", (path,))
    monkeypatch.setattr(pinning.pin, "__defaults__", (path,))
    return path


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("KAFKA_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    return Store(tmp_path / "cache")


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The coordinates that were fetched, by a JVM and an Ivy that are none."""
    asked: list[str] = []

    class Jvm:
        view = None

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            asked.append("closed")

        def call(self, work: Callable[[], Any]) -> Any:
            return work()

    class Ivy:
        def __init__(self, _: object) -> None: ...

        def fetch(self, coordinates: str, into: Path) -> Path:
            asked.append(coordinates)
            (into / "it.jar").write_text(coordinates, encoding="utf-8")
            return into / "it.jar"

        def closure(self, coordinates: str, _: Path) -> Closure:
            return Closure((coordinates, NEW_CODEC, "org.slf4j:slf4j-api:1.7.36"), ())

        def versions(self, _: str, __: Path) -> list[str]:
            return ["3.9.2", "0.9.0.1", "3.6.1"]

    monkeypatch.setattr(fetching, "Jvm", Jvm)
    monkeypatch.setattr(fetching, "Ivy", Ivy)
    return asked


def put(store: Store, coordinates: str, content: str) -> Path:
    path = store.path(Jar(coordinates))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.usefixtures("pins")
def test_jars_list_marks_each_jar_as_cached_or_not_fetched(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    put(store, CLIENTS, CLIENTS)
    assert jars.list_jars() == 0
    said = shown(capsys)
    assert f"3.9.2 {CLIENTS} {sha256(CLIENTS)[:16]} cached" in said
    assert f"3.9.2 broker {STORAGE} {sha256(STORAGE)[:16]} not fetched" in said
    assert f"3.9.2 codecs {CODEC} {sha256(CODEC)[:16]} not fetched" in said
    assert f"every release {BESIDE} {sha256(BESIDE)[:16]} not fetched" in said
    assert f"coverage {COVERAGE} {sha256(COVERAGE)[:16]} not fetched" in said
    assert f"compiler {COMPILER} {sha256(COMPILER)[:16]} not fetched" in said
    assert said.endswith(f"1 releases pinned; cache {store.folder}")


def cells(said: str) -> str:
    """The cells of a table that is printed as rows, or, since the path of the cache is long, as records with heads."""
    return said.replace(" sha256 ", " ")


@pytest.mark.usefixtures("pins")
def test_jars_resolve_fetches_missing_jars_and_nothing_the_second_time(
    store: Store, fetched: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    put(store, BESIDE, BESIDE)
    assert jars.resolve(kafka="all") == 0
    assert fetched == [COMPILER, COVERAGE, CONNECTOR, CLIENTS, STORAGE, CODEC, "closed"]
    assert store.path(Jar(CLIENTS)).read_text(encoding="utf-8") == CLIENTS
    assert f"{CLIENTS} {sha256(CLIENTS)[:16]} as pinned" in cells(shown(capsys))
    assert jars.resolve(kafka="all") == 0
    assert fetched == [COMPILER, COVERAGE, CONNECTOR, CLIENTS, STORAGE, CODEC, "closed"]


@pytest.mark.usefixtures("pins")
def test_jars_resolve_of_unpinned_release_fetches_and_marks_unpinned(
    store: Store, fetched: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert jars.resolve(kafka="3.6.1") == 0
    assert NEW in fetched
    assert f"{NEW} {sha256(NEW)[:16]} unpinned" in cells(shown(capsys))


@pytest.mark.usefixtures("pins", "fetched")
def test_jars_resolve_raises_jar_changed_for_cached_jar_with_wrong_sha256(store: Store) -> None:
    put(store, COMPILER, COMPILER)
    put(store, BESIDE, BESIDE)
    path = put(store, CLIENTS, CLIENTS + "!")
    with pytest.raises(JarChanged) as raised:
        jars.resolve(kafka="newest")
    assert (raised.value.what, raised.value.expected) == (str(path), sha256(CLIENTS))
    assert raised.value.found == sha256(CLIENTS + "!")


@pytest.mark.usefixtures("pins")
def test_unwritable_jar_cache_is_refused_with_environment_variable_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fetched: list[str]
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("KAFKA_CONFORMANCE_CACHE", str(tmp_path / "file"))
    with pytest.raises(JarUnavailable, match=r"the jar cache .*/file cannot be written .* set KAFKA_CONFORMANCE_CACHE"):
        jars.resolve(kafka="all")
    assert fetched == ["closed"], "whatever was started has ended"


def test_jars_pin_writes_sha256_once_and_reports_releases_already_pinned(
    pins: Path, store: Store, fetched: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert jars.pin(versions=["3.6.1", "3.9.2"]) == 0
    assert pinning.load().releases["3.6.1"] == (Jar(NEW, sha256(NEW)),)
    assert pinning.load().brokers["3.6.1"] == tuple(Jar(one, sha256(one)) for one in NEW_BROKER)
    assert f"pinned {NEW} sha256 {sha256(NEW)}" in shown(capsys)
    before = pins.read_bytes()
    assert jars.pin(versions=["3.6.1"]) == 0
    assert "3.6.1 was pinned already" in shown(capsys)
    assert pins.read_bytes() == before
    assert pinning.load().codec_jars("3.6.1") == (Jar(NEW_CODEC, sha256(NEW_CODEC)),)
    assert fetched == ["closed", NEW, *NEW_BROKER, NEW_CODEC, "closed"]


@pytest.mark.usefixtures("store", "fetched")
@pytest.mark.parametrize("versions", [["3.x"], ["3.6.1", "3.x"], [","]])
def test_jars_pin_with_an_invalid_release_leaves_the_pin_file_unchanged(pins: Path, versions: list[str]) -> None:
    before = pins.read_bytes()
    with pytest.raises(BadInput, match="release"):
        jars.pin(versions=versions)
    assert pins.read_bytes() == before


@pytest.mark.usefixtures("pins", "store")
def test_jars_published_exits_1_until_pin_published_pins_each_published_release_since_0_10(
    fetched: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert jars.list_published() == 1
    assert "3.6.1 is published and not pinned 1 of 2 published releases are pinned" in shown(capsys)
    assert jars.pin(versions=["published"]) == 0
    assert list(pinning.load().releases) == ["3.6.1", "3.9.2"]
    assert jars.list_published() == 0
    assert shown(capsys).endswith("2 of 2 published releases are pinned")
    assert fetched == ["closed", "closed", "closed", NEW, *NEW_BROKER, NEW_CODEC, "closed", "closed"]
