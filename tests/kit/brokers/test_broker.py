"""Which broker is meant, and which of the two engines it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kafka_conformance.brokers import broker
from kafka_conformance.brokers.broker import NEWEST, chosen_broker, running_broker
from kafka_conformance.brokers.cluster import ClusterPlan
from kafka_conformance.brokers.settings import Node
from kafka_conformance.core.errors import BadInput, NoJava
from kafka_conformance.oracle.java_home import Java
from kafka_jars.brokers import BrokerPins, load_brokers
from kafka_jars.pins import Jar

PINS = BrokerPins({"3.9.1": (Jar("a:b:1"),), "3.10.0": (Jar("a:b:1"),)}, (Jar("c:d:1"),))


def test_newest_pinned_broker_is_chosen_by_version_order_not_text_order() -> None:
    assert chosen_broker(NEWEST, PINS) == chosen_broker("newest", PINS) == "3.10.0"


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("2.3.1", r"^the broker of 2.3.1 is too old: brokers run here since 2.4 \(3.9.1, 3.10.0\)"),
        ("3.9.9", "^the broker of 3.9.9 is not pinned, only those of 3.9.1, 3.10.0: .*broker pin 3.9.9"),
        ("three", "^'three' is not a Kafka release"),
        ("3.x", "^'3.x' is not a Kafka release"),
    ],
)
def test_broker_of_invalid_unpinned_or_too_old_release_raises_one_line_bad_input(named: str, words: str) -> None:
    with pytest.raises(BadInput, match=words) as raised:
        chosen_broker(named, PINS)
    assert "\n" not in str(raised.value)


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Both engines, as names of what was asked of them; a Docker engine answers."""
    asked: list[Any] = []

    @contextmanager
    def docker(kafka: str | None, settings: dict[str, str]) -> Iterator[str]:
        asked.append(("docker", kafka, settings))
        yield "docker"

    @contextmanager
    def jars(*given: Any) -> Iterator[str]:
        asked.append(("jars", *given))
        yield "jars"

    monkeypatch.setattr(broker.docker_broker, "answers", lambda: True)
    monkeypatch.setattr(broker.docker_broker, "running", docker)
    monkeypatch.setattr(broker, "_from_jars", jars)
    return asked


@pytest.mark.parametrize(
    ("given", "engine"),
    [
        ({}, "docker"),
        ({"kafka": "3.9.1"}, "jars"),
        ({"nodes": 3}, "jars"),
        ({"port": 21_000}, "jars"),
        ({"heap_mb": 512}, "jars"),
        ({"engine": "jars"}, "jars"),
        ({"engine": "docker", "kafka": "3.9.1"}, "docker"),
    ],
)
def test_broker_engine_defaults_to_docker_unless_release_port_nodes_or_heap_is_given(
    engines: list[Any], given: dict[str, Any], engine: str
) -> None:
    with running_broker(**given) as found:
        assert found == engine  # type: ignore[comparison-overlap]
    assert [each[0] for each in engines] == [engine]


def test_broker_starts_from_jars_if_docker_does_not_answer(engines: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker.docker_broker, "answers", lambda: False)
    with running_broker(settings={"a.b": 1}):
        pass
    assert engines == [("jars", NEWEST, 1, {"a.b": "1"}, None, 256)]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"nodes": 2}, "^a broker has 1 node or 3, not 2"),
        ({"engine": "podman"}, "^unknown engine 'podman': expected auto"),
        ({"engine": "docker", "nodes": 3}, "^a broker from Docker has one node"),
        ({"settings": {"log.dirs": "/x"}}, "^log.dirs cannot be set: the kit sets it"),
    ],
)
def test_broker_with_unsupported_node_count_engine_or_setting_raises_bad_input_before_any_start(
    engines: list[Any], given: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        running_broker(**given).__enter__()
    assert engines == []


def test_missing_java_raises_an_error_before_broker_jars_are_fetched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(broker, "fetched", lambda *_: pytest.fail("it looked for jars"))
    with pytest.raises(NoJava, match=r"^JAVA_HOME is .*, which has no working bin/java"):
        running_broker(engine="jars").__enter__()


def test_three_nodes_of_a_release_with_zookeeper_raise_bad_input_before_jars_are_fetched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(broker, "fetched", lambda *_: pytest.fail("jars are fetched"))
    with pytest.raises(BadInput, match=r"^the broker of 2.8.2 needs ZooKeeper, with which 1 node runs here, not 3$"):
        running_broker("2.8.2", nodes=3, engine="jars").__enter__()


@pytest.mark.parametrize(
    ("release", "tick_ms", "settings"),
    [
        ("2.8.2", 500, {"zookeeper.connection.timeout.ms": "60000", "zookeeper.session.timeout.ms": "9"}),
        ("3.3.1", None, {"zookeeper.session.timeout.ms": "9"}),
    ],
)  # fmt: skip
def test_broker_up_to_3_2_runs_with_zookeeper_and_restarts_once_the_session_of_a_killed_one_has_ended(
    release: str, tick_ms: int | None, settings: dict[str, str],
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    plans, awaited, slept = [], [], []

    class Cluster:
        nodes = (Node(1, 21_000),)
        zookeeper_port = None if tick_ms is None else 21_001
        stop = kill = restart = staticmethod(lambda _: None)

    @contextmanager
    def cluster(plan: ClusterPlan) -> Iterator[Cluster]:
        plans.append(plan)
        yield Cluster()

    monkeypatch.setattr(broker, "find_java", lambda: Java(tmp_path / "java", 17, "a test"))
    monkeypatch.setattr(broker, "fetched", lambda *_: [])
    monkeypatch.setattr(broker, "running_cluster", cluster)
    monkeypatch.setattr(broker.admin, "await_broker", awaited.append)
    monkeypatch.setattr(broker.time, "monotonic", lambda: 100.0)
    monkeypatch.setattr(broker.time, "sleep", slept.append)
    with running_broker(release, engine="jars", settings={"zookeeper.session.timeout.ms": 9}) as started:
        started.stop_node(1)
        started.start_node(1)
        started.kill_node(1)
        started.start_node(1)
    (plan,) = plans
    assert (plan.zookeeper_tick_ms, plan.settings) == (tick_ms, settings)
    assert awaited == ([] if tick_ms is None else ["127.0.0.1:21000"] * 3)
    assert slept == ([] if tick_ms is None else [0.0, 7.0])


def test_crashed_broker_node_is_noted_on_the_client_error_that_follows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Cluster:
        nodes = ()
        stop = kill = restart = None

        def ended_alone(self) -> str:
            return "node 1 ended unexpectedly with code 137: out of memory"

    @contextmanager
    def cluster(_: object) -> Iterator[Cluster]:
        yield Cluster()

    monkeypatch.setattr(broker, "find_java", lambda: Java(tmp_path / "java", 17, "a test"))
    monkeypatch.setattr(broker, "fetched", lambda *_: [])
    monkeypatch.setattr(broker, "running_cluster", cluster)
    with pytest.raises(TimeoutError) as raised, running_broker("4.4.0", engine="jars"):
        raise TimeoutError("no broker answers")
    assert raised.value.__notes__ == ["Kafka 4.4.0: node 1 ended unexpectedly with code 137: out of memory"]


def test_brokers_of_22_listed_releases_from_2_4_1_to_4_4_0_are_pinned() -> None:
    promised = """2.4.1 2.5.1 2.6.3 2.7.2 2.8.2 3.0.2 3.1.2 3.2.3 3.3.1 3.3.2 3.4.1 3.5.2 3.6.2 3.7.2 3.8.1
        3.9.1 3.9.2 4.0.2 4.1.2 4.2.2 4.3.1 4.4.0"""
    assert set(promised.split()) <= set(load_brokers().releases)
