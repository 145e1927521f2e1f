"""A broker from Docker, with a stand-in for testcontainers: which image, what it is told, and that it is removed."""

from __future__ import annotations

import gc
import socket
import sys
import warnings
from types import ModuleType
from typing import Any, ClassVar

import pytest

from kafka_conformance.brokers import docker_broker
from kafka_conformance.brokers.docker_broker import answers, image_of, running
from kafka_conformance.core.errors import BadInput, BrokerLost


class DockerException(Exception):
    pass


class Container:
    """KafkaContainer as 4.15 has it."""

    made: ClassVar[list[Container]] = []
    trouble: Exception | None = None

    def __init__(self, image: str) -> None:
        self.image, self.env, self.calls = image, {}, []
        type(self).made.append(self)

    def with_kraft(self) -> Container:
        self.calls.append("kraft")
        return self

    def with_env(self, name: str, value: str) -> None:
        self.env[name] = value

    def start(self, timeout: int) -> None:  # noqa: ARG002  as testcontainers names it
        self.calls.append("start")
        if self.trouble:
            raise self.trouble

    def stop(self) -> None:
        self.calls.append("stop")

    def get_bootstrap_server(self) -> str:
        return "localhost:32768"


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> type[Container]:
    class Client:
        trouble: Exception | None = None

        def ping(self) -> bool:
            if Container.trouble:
                raise Container.trouble
            return True

        def close(self) -> None:
            pass

    docker, errors = ModuleType("docker"), ModuleType("docker.errors")
    errors.DockerException = DockerException  # type: ignore[attr-defined]
    docker.from_env, docker.errors = lambda **_: Client(), errors  # type: ignore[attr-defined]
    names = ("testcontainers", "testcontainers.community", "testcontainers.community.kafka")
    modules: dict[str, Any] = {name: ModuleType(name) for name in names} | {"docker": docker, "docker.errors": errors}
    modules[names[-1]].KafkaContainer = Container
    modules[names[0]].community, modules[names[1]].kafka = modules[names[1]], modules[names[2]]
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(Container, "made", [])
    monkeypatch.setattr(Container, "trouble", None)
    return Container


def test_docker_engine_is_unavailable_if_ping_raises_docker_exception(
    engine: type[Container], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert answers()
    monkeypatch.setattr(engine, "trouble", DockerException("nobody"))
    assert not answers()


def test_failed_docker_connection_leaves_no_resource_warning(
    engine: type[Container], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Engine:
        def __init__(self) -> None:
            self.itself, self.left_open = self, socket.socket()
            raise DockerException("nobody")

    monkeypatch.setattr(sys.modules["docker"], "from_env", lambda **_: Engine())
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert not answers()
        gc.collect()
    assert said == []


def test_docker_broker_without_testcontainers_raises_bad_input_with_the_pip_extra_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "testcontainers.community.kafka", None)
    assert not answers()
    with pytest.raises(BadInput, match=r"pip install '\.\[broker\]' in a checkout"):
        running(None, {}).__enter__()


@pytest.mark.parametrize(
    ("kafka", "image"), [(None, "7.6.0"), ("3.3.1", "7.3.0"), ("3.9.2", "7.9.0")]
)  # fmt: skip
def test_docker_image_is_confluent_image_of_the_kafka_minor_version_by_default_3_6(
    kafka: str | None, image: str
) -> None:
    found, called = image_of(kafka)
    assert found == f"confluentinc/cp-kafka:{image}"
    assert called == f"3.{image.split('.')[1]} by confluentinc/cp-kafka:{image}"


@pytest.mark.parametrize("kafka", ["4.4.0", "2.8.2", "3.2.3", "3.10.0", "3.9"])
def test_release_without_a_docker_image_raises_bad_input_with_engine_jars_hint(kafka: str) -> None:
    with pytest.raises(BadInput, match=f"not {kafka}: --engine jars has"):
        image_of(kafka)


def test_docker_broker_gets_given_settings_refuses_node_kill_and_is_removed_at_block_end(
    engine: type[Container],
) -> None:
    with running("3.9.1", {"log.segment.bytes": "1024"}) as broker:
        assert broker.bootstrap == "localhost:32768"
        assert broker.release == "3.9 by confluentinc/cp-kafka:7.9.0"
        assert (broker.engine, broker.process_ids) == ("docker", {})
        (container,) = engine.made
        assert container.env["KAFKA_LOG_SEGMENT_BYTES"] == "1024"
        assert container.env["KAFKA_AUTO_CREATE_TOPICS_ENABLE"] == "false"
        with pytest.raises(BadInput, match=r"^node 1 is Docker's"):
            broker.kill_node(1)
    assert container.calls == ["kraft", "start", "stop"]


@pytest.mark.parametrize("trouble", [DockerException("no engine\nmore"), RuntimeError("it did not start")])
def test_docker_broker_that_fails_to_start_raises_broker_lost_and_is_removed(
    engine: type[Container], monkeypatch: pytest.MonkeyPatch, trouble: Exception
) -> None:
    monkeypatch.setattr(engine, "trouble", trouble)
    with pytest.raises(BrokerLost, match=r"^no broker from Docker .*: (no engine|it did not start); --engine jars"):
        running(None, {}).__enter__()
    assert engine.made[0].calls == ["kraft", "start", "stop"]


def test_docker_broker_is_removed_after_an_error_in_the_block(engine: type[Container]) -> None:
    with pytest.raises(ZeroDivisionError), docker_broker.running(None, {}):
        _ = 1 / 0
    assert engine.made[0].calls[-1] == "stop"
