"""A cluster that histories are played on: a controller of its own, and three brokers from jars that may be stopped."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterator
from pathlib import Path

from kafka_conformance.brokers.broker import chosen_broker
from kafka_conformance.brokers.cluster import Cluster, Plan, running_cluster
from kafka_conformance.brokers.settings import CONTROLLER_NODE
from kafka_conformance.core.errors import BadInput, BrokerLost
from kafka_conformance.oracle.fetching import fetched
from kafka_conformance.oracle.java_home import find_java
from kafka_conformance.replication.live.metadata_log import FILE, MetadataLog
from kafka_conformance.replication.live.outages import Outages
from kafka_conformance.replication.live.timing import Timing
from kafka_conformance.replication.live.wire import Connection, await_true
from kafka_jars.brokers import load_brokers
from kafka_jars.store import default_store

__all__ = ["BROKERS", "FIRST_RELEASE", "LiveCluster", "live_cluster", "playable_release"]

BROKERS = (1, 2, 3)
FIRST_RELEASE = (3, 9)
"""Before, a controller does not take ``unclean.leader.election.interval.ms``, and the reference is not proven."""

_HEAP_MB = 192
_REGISTER_LIMIT_S = 60.0


class LiveCluster:
    """Brokers that run, their sessions, and their files."""

    def __init__(self, cluster: Cluster, release: str, timing: Timing) -> None:
        self.release, self.timing = release, timing
        self.metadata = MetadataLog(cluster.data(CONTROLLER_NODE) / FILE)
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
        """Return a connection of its own. Raises BadInput for a broker that does not run."""
        if broker not in self.running:
            raise BadInput(f"broker {broker} does not run: the script requests something of it")
        return Connection(self._ports[broker])

    def any_connection(self) -> Connection:
        """Return the connection to a broker that runs. Raises BadInput without one."""
        if not self.running:
            raise BadInput("no broker runs: the script requests something of the cluster")
        return self.connection(min(self.running))

    def new_topic(self) -> str:
        """Return the name of a topic that there has not been yet."""
        return f"history-{next(self._topics)}"

    def folder(self, broker: int, topic: str) -> Path:
        """Return the folder of partition 0 of a topic on a broker."""
        return self._cluster.data(broker) / f"{topic}-0"

    def pause(self, broker: int) -> None:
        """Stop the process of a broker as it is."""
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
        """Let all brokers run again and wait for their sessions. Raises BrokerLost if one has ended by itself."""
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
        """Raise BrokerLost if a process has ended by itself."""
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


@contextlib.contextmanager
def live_cluster(release: str, timing: Timing) -> Iterator[LiveCluster]:
    """Run a cluster of a release until the block ends. Raises BadInput, BrokerLost, NoJava, JarError."""
    pins = load_brokers()
    java, jars = find_java(), [stored.path for stored in fetched(pins.jars(release), default_store())]
    plan = Plan(release, java, jars, len(BROKERS), timing.broker_settings(), None, _HEAP_MB, separate_controller=True)
    with running_cluster(plan) as cluster, contextlib.closing(LiveCluster(cluster, release, timing)) as live:
        live.await_sessions()
        yield live


def playable_release(kafka: str) -> str:
    """Return the exact release that is meant. Raises BadInput for one that no history is played on."""
    release = chosen_broker(kafka, load_brokers())
    if tuple(map(int, release.split(".")[:2])) < FIRST_RELEASE:
        raise BadInput(f"histories are played since {'.'.join(map(str, FIRST_RELEASE))}, not on {release}")
    return release


def _fenced(metadata: MetadataLog) -> list[int]:
    return sorted(broker for broker, fenced in metadata.fenced.items() if fenced)
