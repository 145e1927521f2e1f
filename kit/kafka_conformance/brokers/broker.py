"""A real Kafka broker, for as long as a block lasts::

    from kafka_conformance.brokers.broker import running_broker

    with running_broker("3.9.1") as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap})

There are two engines:

==========  ===========================================================================================================
``jars``    Kafka's own classes from Maven Central, each jar held to a sha256, run by the Java that is here: any release in
            ``brokers.toml``, one node or three, which can be stopped, killed and started again; up to 3.2.x one, and a
            ZooKeeper server beside it
``docker``  testcontainers' Kafka, where a Docker engine answers: one node. The images are Confluent's, whose 7.9.0 is made
            of *some* Kafka 3.9, not of an exact release; :attr:`Broker.release` says so
``auto``    Docker where it can give what was asked for, else the jars: these wherever an exact release is named, or three
            nodes, a port or a heap
==========  ===========================================================================================================

When the block ends, however it ends, nothing is left: no process, no folder. Also when this process is killed
(:mod:`~kafka_conformance.brokers.supervisor_process`).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, Protocol

from kafka_conformance.brokers import admin, docker_broker, zookeeper
from kafka_conformance.brokers.cluster import Cluster, ClusterPlan, running_cluster
from kafka_conformance.brokers.settings import checked_settings
from kafka_conformance.core.errors import BadInput, BrokerLost
from kafka_conformance.oracle.fetching import fetched
from kafka_conformance.oracle.java_home import find_java
from kafka_jars.brokers import FIRST, BrokerPins, load_brokers, runs_on_kraft
from kafka_jars.store import default_store
from kafka_reference.releases import parse_release

__all__ = ["HEAP_MB", "NEWEST", "Broker", "Engine", "chosen_broker", "running_broker"]

NEWEST = "newest-that-runs"
HEAP_MB = 256
Engine = Literal["auto", "docker", "jars"]


class Broker(Protocol):
    """A broker that runs, or three."""

    @property
    def bootstrap(self) -> str:
        """Where clients begin: ``127.0.0.1:23456``, or three of these joined by commas."""

    @property
    def release(self) -> str:
        """The Kafka release it is: exact from jars; from Docker the line and the image."""

    @property
    def engine(self) -> str:
        """``jars`` or ``docker``."""

    @property
    def process_ids(self) -> dict[int, int]:
        """The process of each node that runs, by node, from 1; none from Docker."""

    def create_topic(self, name: str, partitions: int, *, replicas: int = 1, settings: Mapping[str, str] = ...) -> None:
        """Make a topic and wait until all its partitions have leaders. Raises BadInput, BrokerLost."""

    def grow_topic(self, name: str, partitions: int) -> None:
        """Increase the partition count of a topic and wait for the leaders. Raises BadInput, BrokerLost."""

    def stop_node(self, node: int) -> None:
        """Ask a node to end in order, and wait until it has. Raises BadInput for one that is not to be ended."""

    def kill_node(self, node: int) -> None:
        """Kill a node: nothing is flushed, no peer is notified."""

    def start_node(self, node: int) -> None:
        """Start a node again that was stopped or killed, and wait until it is ready."""


class _JarsBroker:
    """Brokers from jars."""

    engine = "jars"

    def __init__(self, cluster: Cluster, version: str) -> None:
        self._cluster, self.release = cluster, version
        self.bootstrap = ",".join(node.address for node in cluster.nodes)
        self.stop_node = cluster.stop
        self._session_end = 0.0

    @property
    def process_ids(self) -> dict[int, int]:
        return self._cluster.pids()

    def create_topic(
        self, name: str, partitions: int, *, replicas: int = 1, settings: Mapping[str, str] | None = None
    ) -> None:
        admin.create_topic(self.bootstrap, name, partitions, replicas=replicas, settings=settings or {})

    def grow_topic(self, name: str, partitions: int) -> None:
        admin.grow_topic(self.bootstrap, name, partitions)

    def kill_node(self, node: int) -> None:
        self._cluster.kill(node)
        self._session_end = time.monotonic() + zookeeper.SESSION_END_S

    def start_node(self, node: int) -> None:
        if self._cluster.zookeeper_port is None:
            self._cluster.restart(node)
            return
        time.sleep(max(0.0, self._session_end - time.monotonic()))
        self._cluster.restart(node)
        admin.await_broker(self.bootstrap)

    def watch(self) -> None:
        """Raise BrokerLost if a node has ended unexpectedly."""
        if lost := self._cluster.ended_alone():
            raise BrokerLost(lost)


@contextlib.contextmanager
def running_broker(
    kafka: str = NEWEST,
    *,
    nodes: int = 1,
    engine: Engine = "auto",
    settings: Mapping[str, object] | None = None,
    port: int | None = None,
    heap_mb: int = HEAP_MB,
) -> Iterator[Broker]:
    """A broker of the release ``kafka``, ready for clients, until the block ends.

    ``nodes`` is 1 or 3; ``settings`` are Kafka's own, by name; ``port`` is the first node's, else free ones are taken;
    ``heap_mb`` is each node's. The jars are fetched at first use; afterwards no network is needed, and no Spark.

    Raises BadInput for what cannot be asked for, NoJava, JarError for a jar, and BrokerLost with the broker's last words.
    """
    if nodes not in {1, 3}:
        raise BadInput(f"a broker has 1 node or 3, not {nodes}")
    if engine not in {"auto", "docker", "jars"}:
        raise BadInput(f"unknown engine {engine!r}: expected auto, docker or jars")
    checked = checked_settings(settings or {})
    plain = nodes == 1 and port is None and heap_mb == HEAP_MB
    if engine == "docker" or (engine == "auto" and plain and kafka == NEWEST and docker_broker.answers()):
        if not plain:
            raise BadInput("a broker from Docker has one node, and no port or heap to choose: --engine jars has")
        with docker_broker.running(None if kafka == NEWEST else kafka, checked) as broker:
            yield broker
        return
    with _from_jars(kafka, nodes, checked, port, heap_mb) as broker:
        yield broker


@contextlib.contextmanager
def _from_jars(kafka: str, nodes: int, settings: Mapping[str, str], port: int | None, heap_mb: int) -> Iterator[Broker]:
    pins = load_brokers()
    version = chosen_broker(kafka, pins)
    tick_ms = None
    if not runs_on_kraft(version):
        if nodes > 1:
            raise BadInput(f"the broker of {version} needs ZooKeeper, with which 1 node runs here, not {nodes}")
        settings, tick_ms = {**zookeeper.SESSION_SETTINGS, **settings}, zookeeper.TICK_MS
    java = find_java()
    jars: list[Path] = [stored.path for stored in fetched(pins.jars(version), default_store())]
    plan = ClusterPlan(version, java, jars, nodes, settings, port, heap_mb, zookeeper_tick_ms=tick_ms)
    with running_cluster(plan) as cluster:
        if tick_ms is not None:
            admin.await_broker(cluster.nodes[0].address)
        try:
            yield _JarsBroker(cluster, version)
        except Exception as error:
            with contextlib.suppress(BrokerLost):  # the supervisor has ended too: the error says so
                if lost := cluster.ended_alone():
                    error.add_note(f"Kafka {version}: {lost}")
            raise


def chosen_broker(kafka: str, pins: BrokerPins) -> str:
    """The exact release meant. Raises BadInput, saying what there is."""
    if kafka in {NEWEST, "newest"}:
        return pins.newest
    try:
        asked = parse_release(kafka)
    except ValueError as error:
        raise BadInput(str(error)) from error
    if str(asked) in pins.releases:
        return str(asked)
    if asked.numbers < FIRST:
        raise BadInput(f"the broker of {asked} is too old: brokers run here since 2.4 ({', '.join(pins.releases)})")
    raise BadInput(
        f"the broker of {asked} is not pinned, only those of {', '.join(pins.releases)}:"
        f" `kafka-conformance broker pin {asked}` adds it, if it was ever published"
    )
