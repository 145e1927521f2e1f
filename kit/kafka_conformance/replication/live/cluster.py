"""A cluster that histories are played on: a separate controller, and three brokers from jars that may be stopped.

With ZooKeeper the controller is one of the brokers. If it stopped, another would take over and read the partitions again,
which raises leader epochs in another way than a broker's end does. So it is a fourth broker, which has no replicas.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import time
from collections.abc import Iterator
from pathlib import Path

from kafka_conformance.brokers.broker import chosen_broker
from kafka_conformance.brokers.cluster import Cluster, ClusterPlan, running_cluster
from kafka_conformance.brokers.settings import CONTROLLER_NODE
from kafka_conformance.core.errors import BadInput, BrokerLost
from kafka_conformance.oracle.fetching import fetched
from kafka_conformance.oracle.java_home import find_java
from kafka_conformance.replication.live.metadata_log import FILE, MetadataLog
from kafka_conformance.replication.live.metadata_source import MetadataSource
from kafka_conformance.replication.live.outages import Outages
from kafka_conformance.replication.live.timing import TIMING, ZOOKEEPER_TIMING, Timing, ZooKeeperTiming
from kafka_conformance.replication.live.wire import (
    BrokerMetadata,
    await_true,
    connect,
    described_setting,
    metadata,
    metadata_without_elr,
)
from kafka_conformance.replication.live.zookeeper_log import last_settings
from kafka_conformance.replication.live.zookeeper_metadata import check_client, open_metadata
from kafka_conformance.wire.client import Connection
from kafka_jars.brokers import load_brokers
from kafka_jars.store import default_store
from kafka_reference.cluster.history import ClusterMode

__all__ = ["BROKERS", "FIRST_RELEASE", "LiveCluster", "check_extra", "live_cluster", "playable_release", "timing_of"]

BROKERS = (1, 2, 3)
FIRST_RELEASE = (3, 9)
"""Before, a controller does not take ``unclean.leader.election.interval.ms``, and the reference is not proven."""
FIRST_WITHOUT_ZOOKEEPER = (4, 0)
"""Kafka 4.0 removed it."""

_HEAP_MB = 192
_REGISTER_LIMIT_S = 60.0


class LiveCluster:
    """Brokers that run, their sessions, and their files."""

    def __init__(self, cluster: Cluster, release: str, timing: Timing, metadata: MetadataSource) -> None:
        self.release, self.timing, self.metadata = release, timing, metadata
        self.mode: ClusterMode = "kraft" if cluster.zookeeper_port is None else "zookeeper"
        self.outages = Outages(timing.shrink_bounds_ms[1])
        self._cluster = cluster
        self._ports = {node.id: node.port for node in cluster.nodes if node.port is not None}
        self._connections: dict[int, Connection] = {}
        self._topics = itertools.count()
        self.running = set(BROKERS)
        """The brokers that run: neither paused nor killed."""

    def connection(self, broker: int) -> Connection:
        """Return the connection to a broker that runs; it is kept until the broker stops."""
        if broker not in self._connections:
            self._connections[broker] = self.new_connection(broker)
        return self._connections[broker]

    def new_connection(self, broker: int) -> Connection:
        """Return a new connection. Raises BadInput for a broker that does not run."""
        if broker not in self.running:
            raise BadInput(f"broker {broker} does not run: the script requests something of it")
        return connect(self._ports[broker])

    def any_connection(self) -> Connection:
        """Return the connection to a broker that runs. Raises BadInput without one."""
        if not self.running:
            raise BadInput("no broker runs: the script requests something of the cluster")
        return self.connection(min(self.running))

    def controller_connection(self) -> Connection:
        """Return a connection that accepts requests for the controller. Raises BadInput if no broker runs.

        On KRaft every broker does, and forwards them; with ZooKeeper the controller alone.
        """
        connection = self.any_connection()
        if self.mode == "kraft":
            return connection
        if CONTROLLER_NODE not in self._connections:
            self._connections[CONTROLLER_NODE] = connect(self._ports[CONTROLLER_NODE])
        return self._connections[CONTROLLER_NODE]

    def metadata_of(self, connection: Connection, topic: str) -> BrokerMetadata:
        """Return what the broker of a connection has of partition 0 of a topic."""
        return metadata(connection, topic) if self.mode == "kraft" else metadata_without_elr(connection, topic)

    def shows_setting(self, broker: int, topic: str, name: str, value: str) -> bool:
        """Return whether a broker has received a setting of a topic.

        With ZooKeeper its log shows that: a broker that is asked for a setting reads ZooKeeper.
        """
        if self.mode == "kraft":
            return described_setting(self.connection(broker), topic, name) == value
        return last_settings(self._cluster.log(broker), topic).get(name) == value

    def new_topic(self) -> str:
        """Return the name of a topic that there has not been yet."""
        return f"history-{next(self._topics)}"

    def folder(self, broker: int, topic: str) -> Path:
        """Return the folder of partition 0 of a topic on a broker."""
        return self._cluster.data(broker) / f"{topic}-0"

    def pause(self, broker: int) -> None:
        """Pause the process of a broker."""
        self._forget(broker)
        self._cluster.pause(broker)

    def resume(self, broker: int) -> None:
        """Let a paused broker run again."""
        self._cluster.resume(broker)
        self._return(broker)

    def kill(self, broker: int) -> None:
        """Kill a broker's process, running or paused."""
        self._forget(broker)
        self._cluster.kill(broker)

    def start(self, brokers: set[int]) -> None:
        """Start killed brokers on their files, and wait until they are ready."""
        self._cluster.restart(*sorted(brokers))
        for broker in brokers:
            self._return(broker)

    def await_sessions(self) -> None:
        """Wait until brokers that run have sessions, and those of the others have ended. Raises BrokerLost."""

        def seen() -> bool:
            self.metadata.read()
            return all(self.metadata.fenced.get(each, True) != (each in self.running) for each in BROKERS)

        if not await_true(seen, _REGISTER_LIMIT_S):
            raise BrokerLost(
                f"after {_REGISTER_LIMIT_S:g} s the controller has fenced {_fenced(self.metadata)}, and"
                f" {sorted(self.running)} run: {self._cluster.ended_alone() or 'no broker has ended'}"
            )

    def recover(self) -> None:
        """Let all brokers run again and wait for their sessions. Raises BrokerLost if one has ended unexpectedly."""
        self.watch()
        self.close()  # a request that was given up may have left its response in a connection
        pids = self._cluster.pids()
        for broker in set(BROKERS) & pids.keys() - self.running:
            self.resume(broker)
        if killed := set(BROKERS) - pids.keys():
            self.metadata.read()
            await_true(lambda: self._are_fenced(killed), _REGISTER_LIMIT_S)
            self.start(killed)
        self.await_sessions()

    def watch(self) -> None:
        """Raise BrokerLost if a process has ended unexpectedly."""
        if lost := self._cluster.ended_alone():
            raise BrokerLost(lost)

    def close(self) -> None:
        """Close all connections."""
        for broker in tuple(self._connections):
            self._connections.pop(broker).close()

    def _are_fenced(self, brokers: set[int]) -> bool:
        self.metadata.read()
        return all(self.metadata.fenced.get(each, True) for each in brokers)

    def _return(self, broker: int) -> None:
        self.outages.end(broker, time.time() * 1000)
        self.running.add(broker)

    def _forget(self, broker: int) -> None:
        self.outages.begin(broker, time.time() * 1000)
        self.running.discard(broker)
        if (connection := self._connections.pop(broker, None)) is not None:
            connection.close()


def check_extra(mode: ClusterMode) -> None:
    """Raise ModuleNotFoundError without a client that a cluster is asked by, NoJava without Java: before anything starts."""
    importlib.import_module("kafka.errors")
    if mode == "zookeeper":
        check_client()
    find_java()


@contextlib.contextmanager
def live_cluster(release: str, timing: Timing) -> Iterator[LiveCluster]:
    """Run a cluster of a release until the block ends, with ZooKeeper if the timing is :class:`ZooKeeperTiming`.

    Raises BadInput, BrokerLost, NoJava, JarError.
    """
    pins = load_brokers()
    java, jars = find_java(), [stored.path for stored in fetched(pins.jars(release), default_store())]
    tick_ms = None
    if isinstance(timing, ZooKeeperTiming):
        tick_ms = timing.tick_ms
    plan = ClusterPlan(
        release, java, jars, len(BROKERS), timing.broker_settings(), None, _HEAP_MB,
        separate_controller=True, zookeeper_tick_ms=tick_ms,
    )  # fmt: skip
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(running_cluster(plan))
        source: MetadataSource
        if cluster.zookeeper_port is None:
            source = MetadataLog(cluster.data(CONTROLLER_NODE) / FILE)
        else:
            source = stack.enter_context(open_metadata(cluster.zookeeper_port))
        live = stack.enter_context(contextlib.closing(LiveCluster(cluster, release, timing, source)))
        live.await_sessions()
        yield live


def timing_of(mode: ClusterMode) -> Timing:
    """Return the times of a cluster."""
    return ZOOKEEPER_TIMING if mode == "zookeeper" else TIMING


def playable_release(kafka: str, mode: ClusterMode = "kraft") -> str:
    """Return the exact release that is meant. Raises BadInput for one that no history is played on."""
    release = chosen_broker(kafka, load_brokers())
    line = tuple(map(int, release.split(".")[:2]))
    if line < FIRST_RELEASE:
        raise BadInput(f"histories are played since {'.'.join(map(str, FIRST_RELEASE))}, not on {release}")
    if mode == "zookeeper" and line >= FIRST_WITHOUT_ZOOKEEPER:
        raise BadInput(f"Kafka {release} has no ZooKeeper: use --kafka with a release of 3.9, or leave out --zookeeper")
    return release


def _fenced(metadata: MetadataSource) -> list[int]:
    return sorted(broker for broker, fenced in metadata.fenced.items() if fenced)
