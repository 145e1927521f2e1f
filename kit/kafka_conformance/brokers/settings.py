"""Kafka's settings for each node of a broker: one node or three.

A single node is both broker and controller. Among three, the first is both and has the controllers' only vote; the others
are brokers only. Where every broker may be stopped, the controller is a separate node. With ZooKeeper every node is a
broker, and the first to start is the controller. All listen on 127.0.0.1 only.

Kafka's defaults are for machines with terabytes and weeks of time. What is set otherwise, and why:

=======================================  ====================================================================
sessions of 3 s, a heartbeat of 300 ms   a broker that was killed is let in again once its session is over: 9 s
log.retention.ms=-1                      records may carry timestamps of years ago, and have to stay
log.cleaner.dedupe.buffer.size           128 MiB of the heap otherwise
offsets.topic.num.partitions=1           fifty otherwise; the like for transactions and shares
auto.create.topics.enable=false          a topic that is misspelled is an error
=======================================  ====================================================================
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kafka_conformance.core.errors import BadInput

__all__ = [
    "CONTROLLER_NODE", "HOST", "Node", "checked_settings", "free_ports", "nodes_of", "properties", "properties_text",
    "zookeeper_properties",
]  # fmt: skip

HOST = "127.0.0.1"
VOTER = 1
CONTROLLER_NODE = 100
"""The id of a node that is a controller only; with ZooKeeper, of a broker that is the controller and has no replicas."""
# Below the range from which systems take ports for outgoing connections: a node that is stopped for a while keeps its port.
_PORTS = range(20_000, 32_000)

_OURS = frozenset({
    "advertised.listeners", "broker.id", "controller.listener.names", "controller.quorum.bootstrap.servers",
    "controller.quorum.voters", "inter.broker.listener.name", "listener.security.protocol.map", "listeners", "log.dir",
    "log.dirs", "metadata.log.dir", "node.id", "process.roles", "zookeeper.connect",
})  # fmt: skip
_USUAL = {
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "log.cleaner.dedupe.buffer.size": str(2 * 2**20),
    "log.retention.ms": "-1",
    "num.io.threads": "4",
    "num.network.threads": "2",
    "offsets.topic.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
}
_USUAL_ON_KRAFT = {"broker.heartbeat.interval.ms": "300", "broker.session.timeout.ms": "3000"}
_REPLICATED = (
    "offsets.topic.replication.factor", "share.coordinator.state.topic.replication.factor",
    "transaction.state.log.replication.factor",
)  # fmt: skip
_IN_SYNC = ("share.coordinator.state.topic.min.isr", "transaction.state.log.min.isr")


@dataclass(frozen=True, slots=True)
class Node:
    """One process: its id, the brokers' from 1; its port as a broker, as the controller, or both."""

    id: int
    port: int | None
    controller_port: int | None = None

    @property
    def roles(self) -> str:
        """The value of ``process.roles``."""
        roles = {"broker": self.port, "controller": self.controller_port}
        return ",".join(role for role, port in roles.items() if port is not None)

    @property
    def address(self) -> str:
        """Where clients find it."""
        return f"{HOST}:{self.port}"


def checked_settings(settings: Mapping[str, object]) -> dict[str, str]:
    """Return a user's settings as Kafka reads them. Raises BadInput for those that the kit sets, and for invalid ones."""
    if ours := sorted(_OURS & set(settings)):
        raise BadInput(f"{ours[0]} cannot be set: the kit sets it when it starts the broker")
    made = {}
    for name, value in settings.items():
        written = str(value).lower() if isinstance(value, bool) else str(value)
        if not name or any(c in name + written for c in "\n\r") or any(c in name for c in " =:#!"):
            raise BadInput(f"{name!r}={written!r} is not a setting of Kafka's")
        made[name] = written.replace("\\", "\\\\")
    return made


def properties(node: Node, nodes: tuple[Node, ...], folder: Path, settings: Mapping[str, str]) -> str:
    """The text of one node's ``server.properties``."""
    voter = next(each for each in nodes if each.controller_port is not None)
    listeners = [] if node.port is None else [f"PLAINTEXT://{node.address}"]
    as_broker = {}
    if listeners:
        as_broker = {"advertised.listeners": listeners[0], "inter.broker.listener.name": "PLAINTEXT"}
    if node.controller_port is not None:
        listeners.append(f"CONTROLLER://{HOST}:{node.controller_port}")
    made = {
        "process.roles": node.roles,
        "node.id": str(node.id),
        "controller.quorum.voters": f"{voter.id}@{HOST}:{voter.controller_port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "listeners": ",".join(listeners),
        **as_broker,
        **_USUAL_ON_KRAFT,
        **_common(nodes, folder),
        **settings,
    }
    return properties_text(made)


def zookeeper_properties(
    node: Node, nodes: tuple[Node, ...], folder: Path, settings: Mapping[str, str], zookeeper_port: int
) -> str:
    """Return the text of one node's ``server.properties`` for a cluster with ZooKeeper."""
    listener = f"PLAINTEXT://{node.address}"
    made = {
        "broker.id": str(node.id),
        "zookeeper.connect": f"{HOST}:{zookeeper_port}",
        "listeners": listener,
        "advertised.listeners": listener,
        **_common(nodes, folder),
        **settings,
    }
    return properties_text(made)


def _common(nodes: tuple[Node, ...], folder: Path) -> dict[str, str]:
    replicas = sum(each.port is not None and each.id != CONTROLLER_NODE for each in nodes)
    return {
        "log.dirs": str(folder).replace("\\", "\\\\"),
        **_USUAL,
        **dict.fromkeys(_REPLICATED, str(replicas)),
        **dict.fromkeys(_IN_SYNC, str(min(2, replicas))),
    }


def properties_text(settings: Mapping[str, str]) -> str:
    """Return settings as the text of a properties file."""
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def nodes_of(
    count: int, port: int | None, *, separate_controller: bool = False, zookeeper: bool = False
) -> tuple[Node, ...]:
    """Return ``count`` brokers on free ports, or on ``port`` and those after it. Raises BadInput for a port in use.

    The first is the controller too, unless ``separate_controller`` puts a node before them that is nothing else. With
    ZooKeeper that node is a broker as well, and no node has a port as the controller.
    """
    if port is None:
        controller, *ports = free_ports(count + 1)
    else:
        ports = list(range(port, port + count))
        for each in ports:
            if not 0 < each < 65_536 or not _is_free(each):
                raise BadInput(f"port {each} of {HOST} is not available: choose another, or omit the port")
        controller = free_ports(1, but=ports)[0]
    if separate_controller:
        brokers = tuple(Node(VOTER + at, each) for at, each in enumerate(ports))
        first = Node(CONTROLLER_NODE, controller) if zookeeper else Node(CONTROLLER_NODE, None, controller)
        return (first, *brokers)
    return tuple(Node(VOTER + at, each, None if at or zookeeper else controller) for at, each in enumerate(ports))


def free_ports(count: int, but: list[int] | None = None) -> list[int]:
    """Return this many free ports. Raises BadInput if there are fewer."""
    import random

    found: list[int] = []
    for port in random.SystemRandom().sample(_PORTS, 2000):
        if len(found) == count:
            return found
        if port not in (but or ()) and _is_free(port):
            found.append(port)
    raise BadInput(f"{HOST} has no {count} free ports from {_PORTS.start} to {_PORTS.stop}")


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(
            socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
        )  # as Java does: not held up by connections that ended
        try:
            tried.bind((HOST, port))
        except OSError:
            return False
        return True
