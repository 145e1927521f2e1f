"""``broker``: run, fetch and pin, with stand-ins for the broker and for the JVM that would fetch."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest
from click.testing import CliRunner

from kafka_conformance.cli.commands import broker
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput, BrokerLost
from kafka_conformance.oracle import fetching
from kafka_jars import brokers as pinning
from kafka_jars.errors import JarUnavailable
from kafka_jars.ivy import Closure
from kafka_jars.pins import Jar
from kafka_jars.store import Store

PINNED, BESIDE, NEW = (
    "org.apache.kafka:kafka_2.13:3.9.2",
    "org.slf4j:slf4j-simple:1.7.36",
    "org.apache.kafka:kafka_2.13:4.4.0",
)
RUN: dict[str, Any] = {
    "kafka": "4.4.0",
    "nodes": 3,
    "engine": "jars",
    "topics": (),
    "settings": (),
    "port": None,
    "heap_mb": 256,
}


def sha256(coordinates: str) -> str:
    """Of the jar that is fetched for these coordinates, which holds just them."""
    return hashlib.sha256(coordinates.encode()).hexdigest()


class Stood:
    """A broker that stands still, until it is looked at for the second time."""

    bootstrap, release, engine = "127.0.0.1:21000", "4.4.0", "jars"

    def __init__(self, end: BaseException) -> None:
        self.end, self.looked, self.topics, self.gone = end, 0, [], False

    def create_topic(self, name: str, partitions: int, *, replicas: int) -> None:
        self.topics.append((name, partitions, replicas))

    def watch(self) -> None:
        self.looked += 1
        if self.looked == 2:
            raise self.end


@pytest.fixture
def stood(monkeypatch: pytest.MonkeyPatch) -> Stood:
    made = Stood(KeyboardInterrupt())

    @contextmanager
    def running(kafka: str, **given: Any) -> Iterator[Stood]:
        made.asked = (kafka, given)  # type: ignore[attr-defined]
        try:
            yield made
        finally:
            made.gone = True

    monkeypatch.setattr(broker, "running_broker", running)
    monkeypatch.setattr(broker, "_LOOK_S", 0)
    return made


def test_broker_run_creates_topics_prints_address_and_exits_0_on_ctrl_c(
    stood: Stood, capsys: pytest.CaptureFixture[str]
) -> None:
    assert broker.run(**RUN | {"topics": ("a:3", "b:c:12"), "settings": ("log.segment.bytes=1024",)}) == 0
    said = capsys.readouterr()
    assert said.out == "127.0.0.1:21000\n"
    assert "Kafka 4.4.0 from jars; Ctrl-C ends it" in said.err
    assert stood.topics == [("a", 3, 3), ("b:c", 12, 3)]
    assert stood.gone
    asked = {"nodes": 3, "engine": "jars", "settings": {"log.segment.bytes": "1024"}, "port": None, "heap_mb": 256}
    assert stood.asked == ("4.4.0", asked)  # type: ignore[attr-defined]


def test_broker_run_raises_broker_lost_if_a_node_exits(stood: Stood) -> None:
    stood.end = BrokerLost("node 1 ended unexpectedly")
    with pytest.raises(BrokerLost, match="node 1 ended unexpectedly"):
        broker.run(**RUN)
    assert stood.gone


@pytest.mark.parametrize("topic", ["orders", "orders:", ":3", "orders:0", "orders:-1", "orders:three", "orders:²"])
def test_malformed_topic_option_is_refused_before_a_broker_starts(stood: Stood, topic: str) -> None:
    with pytest.raises(BadInput, match="is not a topic: give a name and a number of partitions"):
        broker.run(**RUN | {"topics": (topic,)})
    assert not stood.gone


def test_broker_setting_without_equals_sign_is_refused_with_a_hint_to_give_a_value(stood: Stood) -> None:
    with pytest.raises(BadInput, match=r"'a.b' is not a setting: give a name and a value"):
        broker.run(**RUN | {"settings": ("a.b",)})


def test_broker_run_passes_command_line_options_to_the_broker_and_exits_2_for_two_nodes(stood: Stood) -> None:
    words = "broker run --kafka 3.9.1 --nodes 3 --engine jars --topic a:3 --set a=b=c --port 9092 --heap-mb 512"
    assert CliRunner().invoke(app, words.split(), standalone_mode=False).return_value == 0
    asked = {"nodes": 3, "engine": "jars", "settings": {"a": "b=c"}, "port": 9092, "heap_mb": 512}
    assert stood.asked == ("3.9.1", asked)  # type: ignore[attr-defined]
    assert CliRunner().invoke(app, ["broker", "run", "--nodes", "2"]).exit_code == 2


@pytest.fixture
def pins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "brokers.toml"
    path.write_text(
        f'[beside]\n"{BESIDE}" = "{sha256(BESIDE)}"\n\n[releases."3.9.2"]\n"{PINNED}" = "{sha256(PINNED)}"\n',
        encoding="utf-8",
    )
    monkeypatch.setattr(pinning.load_brokers, "__defaults__", (path,))
    monkeypatch.setattr(pinning.pin_broker, "__defaults__", (path,))
    monkeypatch.setenv("KAFKA_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    return path


@pytest.fixture
def ivy(monkeypatch: pytest.MonkeyPatch) -> type[Any]:
    """A JVM and an Ivy that are none: a jar holds its own name, and what a release needs is told here."""

    class Jvm:
        view = None

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def call(self, work: Any) -> Any:
            return work()

    class Ivy:
        needs = Closure((NEW, "a:b:1"), ("org.apache.kafka:kafka-tools-api:4.4.0",))
        asked: ClassVar[list[str]] = []

        def __init__(self, _: object) -> None:
            pass

        def fetch(self, coordinates: str, into: Path) -> Path:
            self.asked.append(coordinates)
            (into / "it.jar").write_text(coordinates)
            return into / "it.jar"

        def closure(self, coordinates: str, into: Path) -> Closure:
            assert coordinates == NEW
            assert into.is_dir()
            return self.needs

    monkeypatch.setattr(fetching, "Jvm", Jvm)
    monkeypatch.setattr(broker, "Jvm", Jvm)
    monkeypatch.setattr(fetching, "Ivy", Ivy)
    monkeypatch.setattr(broker, "Ivy", Ivy)
    return Ivy


def test_broker_fetch_downloads_all_pinned_jars_only_once(
    pins: Path, ivy: type[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert broker.fetch(kafka="newest") == broker.fetch(kafka="all") == broker.fetch(kafka="3.9.2") == 0
    assert ivy.asked == [PINNED, BESIDE]
    assert "3.9.2: 2 jars" in capsys.readouterr().out
    assert Store(tmp_path / "cache").path(Jar(PINNED)).is_file()


@pytest.mark.parametrize("kafka", ["", ",", "2.8.2", "9.9.9", "x"])
def test_broker_fetch_of_unpinned_or_invalid_release_downloads_nothing(pins: Path, ivy: type[Any], kafka: str) -> None:
    with pytest.raises(BadInput):
        broker.fetch(kafka=kafka)
    assert ivy.asked == []


def test_broker_pin_writes_sha256_of_needed_jars_and_tolerates_a_missing_kafka_tools_api(
    pins: Path, ivy: type[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert broker.pin(versions=["4.4.0", "3.9.2"]) == 0
    assert pinning.load_brokers().releases["4.4.0"] == (Jar(NEW, sha256(NEW)), Jar("a:b:1", sha256("a:b:1")))
    assert pinning.load_brokers().newest == "4.4.0"
    said = capsys.readouterr().out
    assert "pinned the broker of 4.4.0: 2 jars" in said
    assert "3.9.2 was pinned already" in said


def test_broker_pin_raises_and_pins_nothing_if_a_dependency_jar_is_unavailable(pins: Path, ivy: type[Any]) -> None:
    ivy.needs = Closure((NEW,), ("org.apache.kafka:kafka-raft:4.4.0",))
    with pytest.raises(
        JarUnavailable, match=r"^the broker of 4.4.0 needs org.apache.kafka:kafka-raft:4.4.0, which is in no"
    ):
        broker.pin(versions=["4.4.0"])
    assert list(pinning.load_brokers().releases) == ["3.9.2"]


def test_broker_pin_refuses_a_release_before_2_4(pins: Path, ivy: type[Any]) -> None:
    with pytest.raises(BadInput, match=r"^the broker of 2.3.1 is too old: brokers run here since 2.4$"):
        broker.pin(versions=["2.3.1"])
