"""One or three Kafka brokers from Maven Central's jars, each in a separate process.

``kafka.tools.StorageTool`` formats each node's folder, and ``kafka.Kafka`` runs it. The node is ready when its log reports
that. A port that accepts connections is not enough: the system accepts them before Kafka does. A port that was free a
moment ago may be taken: unless the user chose the ports, others are tried. With ZooKeeper nothing is formatted; its server
starts first, then the broker that becomes the controller, then the others.

The log goes through slf4j-simple, warnings and the line that is waited for. A node's last words are in every error.

Nothing is written outside the supervisor's folder: ``java.io.tmpdir`` points native libraries to it, the working folder
crash files, and the JVM's own files in ``/tmp`` are turned off, since a killed JVM would leave them.
"""

from __future__ import annotations

import base64
import contextlib
import os
import secrets
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kafka_conformance.brokers import zookeeper
from kafka_conformance.brokers.settings import (
    CONTROLLER_NODE,
    Node,
    free_ports,
    nodes_of,
    properties,
    zookeeper_properties,
)
from kafka_conformance.brokers.supervisor import ProcessSupervisor
from kafka_conformance.core.errors import BadInput, BrokerLost
from kafka_conformance.oracle.java_home import Java

__all__ = ["Cluster", "ClusterPlan", "cluster_id", "last_words", "running_cluster"]

START_LIMIT_S = 180
STOP_LIMIT_S = 45
_TRIES = 3
_POLL_S = 0.02
_READY = b"Kafka Server started"
_READY_WITH_ZOOKEEPER = b"] started"
_IN_USE = "Address already in use"
_LONGEST_WORDS = 400

_LOGGING = (
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info",
    "-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaServer=info",
    "-Dorg.slf4j.simpleLogger.log.kafka.server.ZkConfigManager=info",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
)
_OPTIONS = (
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    "-Djava.awt.headless=true",
    "-Djava.net.preferIPv4Stack=true",
    *_LOGGING,
)
_SHORT_LIVED = ("-Xmx128m", "-XX:TieredStopAtLevel=1")


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """What is to run: a release's jars by a Java, and with which settings.

    ``nodes`` counts the brokers; a ``separate_controller`` comes on top, so that any of them may be stopped. With a
    ``zookeeper_tick_ms``, the ``tickTime`` of its server, the cluster has ZooKeeper; several brokers then need a separate
    controller.
    """

    release: str
    java: Java
    jars: Sequence[Path]
    nodes: int
    settings: Mapping[str, str]
    port: int | None
    heap_mb: int
    separate_controller: bool = False
    zookeeper_tick_ms: int | None = None

    def command(self, folder: Path, *words: str) -> list[str]:
        """A Java program of the release."""
        class_path = os.pathsep.join(map(str, self.jars))
        return [str(self.java.program), "-cp", class_path, *_OPTIONS, f"-Djava.io.tmpdir={folder / 'tmp'}", *words]


class Cluster:
    """The nodes of a plan, in a supervisor's folder."""

    def __init__(self, plan: ClusterPlan, supervisor: ProcessSupervisor, nodes: tuple[Node, ...]) -> None:
        self._plan, self._supervisor, self.nodes = plan, supervisor, nodes
        self._starts = dict.fromkeys((node.id for node in nodes), 0)
        self._wanted: set[int] = set()
        self.folder = supervisor.folder
        self.zookeeper_port = None if plan.zookeeper_tick_ms is None else _port_beside(nodes)

    def launch(self) -> None:
        """Make every node's folder ready and start all nodes. Raises BrokerLost with the words of what failed."""
        (self.folder / "tmp").mkdir()
        if self.zookeeper_port is None:
            self.format()
            self.start(*(node.id for node in self.nodes))
        else:
            self._start_zookeeper(self.zookeeper_port)
            for node in self.nodes:
                text = zookeeper_properties(
                    node, self.nodes, self.data(node.id), self._plan.settings, self.zookeeper_port
                )
                self._properties(node).write_text(text, encoding="utf-8")
            first, *others = (node.id for node in self.nodes)
            self.start(first)  # the first to start is the controller
            self.start(*others)

    def format(self) -> None:
        """Make every node's folder ready. Raises BrokerLost with the output of the tool."""
        named = cluster_id()
        for node in self.nodes:
            file = self._properties(node)
            file.write_text(properties(node, self.nodes, self.data(node.id), self._plan.settings), encoding="utf-8")
            words = (*_SHORT_LIVED, "kafka.tools.StorageTool", "format", "-t", named, "-c", str(file))
            self._supervisor.start(
                f"format-{node.id}", self._plan.command(self.folder, *words), f"format-{node.id}.log"
            )
        for node in self.nodes:
            name = f"format-{node.id}"
            code = self._supervisor.wait(name, START_LIMIT_S)
            if code != 0:
                how = f"did not end within {START_LIMIT_S} s" if code is None else f"ended with code {code}"
                raise BrokerLost(f"formatting node {node.id} {how}: {last_words(self.folder / f'{name}.log')}")

    def start(self, *ids: int) -> None:
        """Start these nodes and wait until they are ready. Raises BrokerLost with their last words."""
        for each in ids:
            self._starts[each] += 1
            words = (f"-Xmx{self._plan.heap_mb}m", "kafka.Kafka", str(self._properties(self._node(each))))
            self._supervisor.start(str(each), self._plan.command(self.folder, *words), self.log(each).name)
            self._wanted.add(each)
        limit = time.monotonic() + START_LIMIT_S
        ready = _READY if self.zookeeper_port is None else _READY_WITH_ZOOKEEPER
        for each in ids:
            try:
                self._await_ready(str(each), f"node {each}", self.log(each), ready, limit)
            except BrokerLost:
                if self._supervisor.code(str(each)) is not None:
                    self._wanted.discard(each)
                raise

    def stop(self, node: int) -> None:
        """Ask a node to end, and wait until it has. Raises BrokerLost if it does not."""
        self._end(node, signal.SIGTERM)

    def kill(self, node: int) -> None:
        """Kill a node, as a machine that loses its power would."""
        self._end(node, signal.SIGKILL)

    def pause(self, node: int) -> None:
        """Pause a node's process: it answers nothing, and its connections stay open."""
        self._send(node, signal.SIGSTOP)

    def resume(self, node: int) -> None:
        """Let the process of a paused node run again."""
        self._send(node, signal.SIGCONT)

    def restart(self, *ids: int) -> None:
        """Start nodes that were stopped or killed, on their ports and their files."""
        for node in ids:
            self._checked(node)
            if self._supervisor.code(str(node)) is None:
                raise BadInput(f"node {node} runs already")
        self.start(*ids)

    def pids(self) -> dict[int, int]:
        """The process ids of the nodes that run, by node."""
        return {node.id: pid for node in self.nodes if (pid := self._supervisor.pid(str(node.id))) is not None}

    def log(self, node: int) -> Path:
        """The log of a node since its last start."""
        return self.folder / f"node-{node}.{self._starts[node]}.log"

    def data(self, node: int) -> Path:
        """The folder with a node's partitions."""
        return self.folder / f"node-{node}"

    def ended_alone(self) -> str:
        """Return the first process that ended unexpectedly, with the end of its log; empty if there is none."""
        if self.zookeeper_port is not None and (code := self._supervisor.code(zookeeper.NAME)) is not None:
            return f"ZooKeeper ended unexpectedly with code {code}: {last_words(self._zookeeper_log)}"
        for each in sorted(self._wanted):
            if (code := self._supervisor.code(str(each))) is not None:
                return f"node {each} ended unexpectedly with code {code}: {last_words(self.log(each))}"
        return ""

    def _start_zookeeper(self, port: int) -> None:
        """Start the ZooKeeper server and wait until it handles requests. Raises BrokerLost with its last words."""
        assert self._plan.zookeeper_tick_ms is not None  # noqa: S101  there is no port without it
        file = self.folder / f"{zookeeper.NAME}.properties"
        text = zookeeper.server_properties(port, self.folder / zookeeper.NAME, self._plan.zookeeper_tick_ms)
        file.write_text(text, encoding="utf-8")
        command = self._plan.command(self.folder, *zookeeper.server_words(file))
        self._supervisor.start(zookeeper.NAME, command, self._zookeeper_log.name)
        limit = time.monotonic() + START_LIMIT_S
        self._await_ready(zookeeper.NAME, "ZooKeeper", self._zookeeper_log, zookeeper.READY, limit)

    def _await_ready(self, name: str, title: str, log: Path, ready: bytes, limit: float) -> None:
        while ready not in log.read_bytes():
            if (code := self._supervisor.code(name)) is not None:
                raise BrokerLost(f"{title} ended with code {code} while starting: {last_words(log)}")
            if time.monotonic() > limit:
                raise BrokerLost(f"{title} was not ready within {START_LIMIT_S} s: {last_words(log)}")
            time.sleep(_POLL_S)

    @property
    def _zookeeper_log(self) -> Path:
        return self.folder / f"{zookeeper.NAME}.log"

    def _end(self, node: int, how: signal.Signals) -> None:
        self._checked(node)
        if len(self.nodes) > 1 and self._node(node).controller_port is not None:
            raise BadInput(
                f"node {node} has the controllers' only vote, and the others are not a cluster without it: end another"
            )
        if node == CONTROLLER_NODE:
            raise BadInput(f"node {node} is the controller, and another would be elected: end another node")
        if self._supervisor.code(str(node)) is not None:
            raise BadInput(f"node {node} does not run")
        self._wanted.discard(node)
        self._supervisor.signal(str(node), how)
        if self._supervisor.wait(str(node), STOP_LIMIT_S) is None:
            self._supervisor.signal(str(node), signal.SIGKILL)
            self._supervisor.wait(str(node), STOP_LIMIT_S)
            raise BrokerLost(
                f"node {node} did not end within {STOP_LIMIT_S} s and was killed: {last_words(self.log(node))}"
            )

    def _send(self, node: int, how: signal.Signals) -> None:
        self._checked(node)
        if self._supervisor.code(str(node)) is not None:
            raise BadInput(f"node {node} does not run")
        self._supervisor.signal(str(node), how)

    def _checked(self, node: int) -> None:
        if node not in self._starts:
            raise BadInput(f"unknown node {node}: expected {', '.join(map(str, self._starts))}")

    def _node(self, node: int) -> Node:
        return next(each for each in self.nodes if each.id == node)

    def _properties(self, node: Node) -> Path:
        return self.folder / f"node-{node.id}.properties"


@contextlib.contextmanager
def running_cluster(plan: ClusterPlan) -> Iterator[Cluster]:
    """The nodes of a plan, ready; gone with the block. Raises BadInput, BrokerLost."""
    with contextlib.ExitStack() as stack:
        yield _started(plan, stack)


def _started(plan: ClusterPlan, stack: contextlib.ExitStack) -> Cluster:
    for tried in range(1, _TRIES + 1):
        supervisor = stack.enter_context(ProcessSupervisor())
        nodes = nodes_of(
            plan.nodes,
            plan.port,
            separate_controller=plan.separate_controller,
            zookeeper=plan.zookeeper_tick_ms is not None,
        )
        cluster = Cluster(plan, supervisor, nodes)
        try:
            cluster.launch()
        except BrokerLost as lost:
            if _IN_USE not in str(lost) or tried == _TRIES or plan.port is not None:
                raise
            supervisor.close()
        else:
            return cluster
    raise AssertionError("the last try raises")


def _port_beside(nodes: Sequence[Node]) -> int:
    """Return a free port that no node has."""
    return free_ports(1, but=[node.port for node in nodes if node.port is not None])[0]


def cluster_id() -> str:
    """A random cluster id as Kafka makes them, of 16 bytes; one that began with a dash would be taken for an option."""
    while True:
        made = base64.urlsafe_b64encode(secrets.token_bytes(16)).rstrip(b"=").decode()
        if not made.startswith("-"):
            return made


def last_words(log: Path) -> str:
    """The line of a log that says what broke: the last that names an error, else the last."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    shown = [line.strip() for line in lines if line.strip() and not line.startswith(("\tat ", "\t... "))]
    errors = [line for line in shown if "Exception" in line or "Error" in line or " ERROR " in line or "error:" in line]
    return (errors or shown or ["no output"])[-1][:_LONGEST_WORDS]
