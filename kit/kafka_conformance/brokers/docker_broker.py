"""A broker from Docker: testcontainers' Kafka, which runs Confluent's image, and whose reaper ends it with us.

Confluent Platform 7.N is made of Kafka 3.N with additional fixes, so its line is known and its exact release is not. The
default is the image that testcontainers is tested with.
"""

from __future__ import annotations

import contextlib
import gc
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from kafka_conformance.brokers import admin
from kafka_conformance.core.errors import BadInput, BrokerLost
from kafka_conformance.core.extras import how_to_install

if TYPE_CHECKING:
    from kafka_conformance.brokers.broker import Broker

__all__ = ["answers", "image_of", "running"]

_IMAGE = "confluentinc/cp-kafka:7.{minor}.0"
_USUAL_MINOR = 6
_LINES = range(3, 10)
_PING_LIMIT_S = 5
START_LIMIT_S = 180
_USUAL = {"auto.create.topics.enable": "false", "log.retention.ms": "-1", "transaction.state.log.replication.factor": "1",
          "transaction.state.log.min.isr": "1"}  # fmt: skip


def answers() -> bool:
    """Whether testcontainers is installed and a Docker engine answers; a ``docker`` command on PATH says nothing of that."""
    try:
        import docker
        import testcontainers.community.kafka  # noqa: F401
        from docker.errors import DockerException
    except ImportError:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            engine = docker.from_env(timeout=_PING_LIMIT_S)
            try:
                return bool(engine.ping())
            finally:
                engine.close()
        except (DockerException, OSError):
            pass
        gc.collect()  # docker leaves the unanswered socket open, which would cause warnings in a user's tests
        return False


def image_of(kafka: str | None) -> tuple[str, str]:
    """The image for a release's line, and what to call it. Raises BadInput where there is none."""
    minor = _USUAL_MINOR
    if kafka is not None:
        named = re.fullmatch(r"3\.(\d+)\.\d+", kafka)
        if named is None or int(named.group(1)) not in _LINES:
            raise BadInput(
                f"Docker has images for Kafka 3.{_LINES[0]} to 3.{_LINES[-1]} here, not {kafka}: --engine jars has"
            )
        minor = int(named.group(1))
    image = _IMAGE.format(minor=minor)
    return image, f"3.{minor} by {image}"


class _DockerBroker:
    """A broker from Docker."""

    engine = "docker"
    process_ids: dict[int, int] = {}  # noqa: RUF012  they are the engine's, not ours

    def __init__(self, bootstrap: str, version: str) -> None:
        self.bootstrap, self.release = bootstrap, version

    def create_topic(
        self, name: str, partitions: int, *, replicas: int = 1, settings: Mapping[str, str] | None = None
    ) -> None:
        admin.create_topic(self.bootstrap, name, partitions, replicas=replicas, settings=settings or {})

    def grow_topic(self, name: str, partitions: int) -> None:
        admin.grow_topic(self.bootstrap, name, partitions)

    def stop_node(self, node: int) -> NoReturn:
        raise BadInput(
            f"node {node} is Docker's, and cannot be stopped, killed or started: --engine jars has such nodes"
        )

    kill_node = start_node = stop_node

    def watch(self) -> None:
        """An engine's containers are watched by the engine."""


@contextlib.contextmanager
def running(kafka: str | None, settings: Mapping[str, str]) -> Iterator[Broker]:
    """A broker, until the block ends. Raises BadInput, and BrokerLost where no engine answers."""
    image, version = image_of(kafka)
    container = _container(image)
    for name, value in (_USUAL | dict(settings)).items():
        container.with_env("KAFKA_" + name.upper().replace(".", "_"), value)
    with contextlib.ExitStack() as stack:
        stack.callback(_removed, container)
        _asked(lambda: container.start(START_LIMIT_S), image)
        yield _DockerBroker(container.get_bootstrap_server(), version)


def _container(image: str) -> Any:
    try:
        from testcontainers.community.kafka import KafkaContainer
    except ImportError as error:
        raise BadInput(f"a broker from Docker needs testcontainers: {how_to_install('broker')}") from error
    return _asked(lambda: KafkaContainer(image).with_kraft(), image)


def _removed(container: Any) -> None:
    from docker.errors import DockerException

    with contextlib.suppress(DockerException, OSError):  # it may never have started
        container.stop()


def _asked(work: Any, image: str) -> Any:
    from docker.errors import DockerException

    try:
        return work()
    except (DockerException, OSError, RuntimeError) as error:  # testcontainers' own are RuntimeErrors
        what = (str(error) or type(error).__name__).splitlines()[0]
        raise BrokerLost(f"no broker from Docker ({image}): {what}; --engine jars needs no Docker") from error
