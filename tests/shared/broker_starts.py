"""What a real broker does with a log directory: started on a copy, observed, stopped.

``make_base`` runs a broker once and copies its directory after a clean stop and after a kill. ``damaged`` copies one of
these and damages it, from a seed. ``Base.start`` starts a broker on a copy and returns what it did (:class:`Started`).
"""

from __future__ import annotations

import contextlib
import json
import random
import re
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from broker_host import BrokerHost

from kafka_conformance.brokers import cluster as clusters
from kafka_conformance.brokers import zookeeper
from kafka_conformance.brokers.admin import create_topic
from kafka_conformance.brokers.cluster import Cluster, ClusterPlan
from kafka_conformance.brokers.settings import nodes_of, properties, zookeeper_properties
from kafka_conformance.brokers.supervisor import ProcessSupervisor
from kafka_conformance.core.errors import BadInput, BrokerLost, ConnectionClosed, NoResponse
from kafka_conformance.oracle.fetching import fetched
from kafka_conformance.oracle.java_home import find_java
from kafka_conformance.wire.client import CLIENT_ID, Connection, parse_address
from kafka_conformance.wire.codec.messages import Fields, shipped_codec
from kafka_jars.brokers import load_brokers
from kafka_jars.store import default_store

__all__ = [
    "DAMAGES",
    "OF_KRAFT",
    "PARTITIONS",
    "TIMES",
    "Base",
    "Batch",
    "Started",
    "batches_of",
    "damaged",
    "make_base",
]

SETTINGS = {"log.initial.task.delay.ms": "600000", "log.retention.check.interval.ms": "600000"}
TICK_MS = 100
SESSION_MS = 20 * TICK_MS
WITH_ZOOKEEPER = {"zookeeper.session.timeout.ms": str(SESSION_MS)}
SMALL = {"segment.bytes": "1048576", "index.interval.bytes": "1024"}
PARTITIONS = ("orders-0", "orders-1", "payments-0")
STEP_MS = 1_000
FIRST_MS = (time.time_ns() // 10**9 - 7_200) * 1_000
"""The time of the first record: a broker forgets a producer a day after its last one."""
TIMES = tuple(FIRST_MS + STEP_MS * at for at in (0, 400, 2_000, 2_900, 3_500, 4_100))
EPOCHS = range(5)
_START_LIMIT_S, _CLIENT_LIMIT_S = 600, 20
_FETCH = 11
_READER = str(Path(__file__).with_name("partition_reader.py"))


@dataclass
class Started:
    """What a broker did: whether it started, its words if not, the folders after, and what a consumer received."""

    starts: bool
    words: str = ""
    folders: tuple[str, ...] = ()
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    """The first offset and the end of each partition that has a leader."""
    read: dict[str, tuple[int, str]] = field(default_factory=dict)
    """The number of records that a consumer received, and the error at which it stopped."""
    times: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """The offsets of :data:`TIMES`."""
    epochs: dict[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    """The answers to OffsetForLeaderEpoch for :data:`EPOCHS`: an epoch and the offset where it ends."""
    producers: dict[str, frozenset[tuple[int, int, int]]] = field(default_factory=dict)
    """Id, epoch and last sequence of the producers that the broker knows."""
    unreadable: dict[str, frozenset[int]] = field(default_factory=dict)
    """First and last offsets of batches of the healthy directory that a Fetch from there does not return as they were."""
    blamed: tuple[str, ...] = ()
    """The files and folders in the directory that the broker names in the errors with which it ends."""


class Batch(NamedTuple):
    """A batch of a healthy directory; ``control``: it ends a transaction."""

    first: int
    last: int
    control: bool
    data: bytes


@cache  # jars are looked up and compared with their digests
def _plan(release: str, *, zookeeper: bool = False) -> ClusterPlan:
    jars = [stored.path for stored in fetched(load_brokers().jars(release), default_store())]
    settings = SETTINGS | (WITH_ZOOKEEPER if zookeeper else {})
    return ClusterPlan(
        release, find_java(), jars, 1, settings, None, 256, zookeeper_tick_ms=TICK_MS if zookeeper else None
    )


@dataclass(frozen=True)
class Base:
    """The directories of a broker: ``root/clean`` after a stop, ``root/unclean`` after a kill.

    With ZooKeeper, ``root/zookeeper-clean`` and ``root/zookeeper-unclean`` have the files of its server at the time.
    """

    release: str
    root: Path
    zookeeper: bool = False

    def host(self) -> BrokerHost:
        """Return a JVM for :meth:`start`."""
        return BrokerHost(_plan(self.release, zookeeper=self.zookeeper))

    def start(self, state: str, folder: Path, host: BrokerHost | None = None) -> Started:
        """Start a broker on a copy of ``folder``, which was made of that after ``state``; observe it, and end it.

        It has a JVM of its own, or that of a ``host``. A port that was free a moment ago may be taken: others are tried.
        """
        for _ in range(3):
            found = self._start_once(state, folder, host)
            if "Address already in use" not in found.words:
                break
        return found

    def _start_once(self, state: str, folder: Path, host: BrokerHost | None) -> Started:
        clusters.START_LIMIT_S = _START_LIMIT_S
        with ProcessSupervisor() as supervisor:
            cluster = _new_cluster(self, supervisor)
            data = cluster.data(1)
            shutil.copytree(folder, data, symlinks=True)
            if self.zookeeper:
                shutil.copytree(self.root / f"zookeeper-{state}", cluster.folder / zookeeper.NAME)
            try:
                _start(cluster, host)
                found = _observed(cluster)
                _ask(cluster.nodes[0].address, found, batches_of(self.root / state))
            except BrokerLost as lost:
                found = Started(starts=False, words=str(lost))
            time.sleep(0.5)
            if found.starts and (lost_since := host.ended(cluster.log(1)) if host else cluster.ended_alone()):
                found = Started(starts=False, words=lost_since)
            found.folders = tuple(sorted(each.name for each in data.iterdir() if each.is_dir()))
            if not found.starts:
                log = cluster.log(1).read_text(errors="replace")
                errors = [line for line in log.splitlines() if "ERROR" in line or "Exception" in line]
                found.words += "\n" + "\n".join(errors[:8])
                found.blamed = _named_in(errors, data)
            if host:
                host.stop()
            return found


def make_base(release: str, root: Path, *, zookeeper: bool = False) -> Base:
    """Run a broker, stop it, run it again, kill it, and copy its directories."""
    base = Base(release, root, zookeeper)
    with ProcessSupervisor() as supervisor:
        cluster = _new_cluster(base, supervisor)
        if not zookeeper:
            cluster.format()
        _start(cluster)
        bootstrap = cluster.nodes[0].address
        for topic, count in (("orders", 2), ("payments", 1)):
            _create_topic(bootstrap, topic, count)
        _produce(bootstrap, "orders", 0, 4_000, partitions=2)
        _produce(bootstrap, "payments", 0, 4_000, transactional=True)
        cluster.stop(1)
        _copy(base, cluster, "clean")
        cluster.start(1)
        _produce(bootstrap, "orders", 4_000, 4_200, partitions=2)
        _produce(bootstrap, "payments", 4_000, 4_200, transactional=True)
        cluster.kill(1)
        _copy(base, cluster, "unclean")
    return base


def _new_cluster(base: Base, supervisor: ProcessSupervisor) -> Cluster:
    """Return a cluster of one broker that was not started."""
    plan = _plan(base.release, zookeeper=base.zookeeper)
    nodes = nodes_of(1, None, zookeeper=base.zookeeper)
    cluster = Cluster(plan, supervisor, nodes)
    (cluster.folder / "tmp").mkdir()
    if base.zookeeper:
        assert cluster.zookeeper_port is not None
        text = zookeeper_properties(nodes[0], nodes, cluster.data(1), plan.settings, cluster.zookeeper_port)
    else:
        text = properties(nodes[0], nodes, cluster.data(1), plan.settings)
    cluster._properties(nodes[0]).write_text(text)
    return cluster


def _start(cluster: Cluster, host: BrokerHost | None = None) -> None:
    if host is None:
        if cluster.zookeeper_port is not None:
            cluster._start_zookeeper(cluster.zookeeper_port)
        cluster.start(1)
        return
    ready = clusters._READY
    if cluster.zookeeper_port is not None:
        file, ready = cluster.folder / "zookeeper.properties", clusters._READY_WITH_ZOOKEEPER
        file.write_text(zookeeper.server_properties(cluster.zookeeper_port, cluster.folder / zookeeper.NAME, TICK_MS))
        host.start("zookeeper", file, cluster._zookeeper_log, zookeeper.READY, _START_LIMIT_S)
    host.start("start", cluster._properties(cluster.nodes[0]), cluster.log(1), ready, _START_LIMIT_S)


def _create_topic(bootstrap: str, topic: str, count: int) -> None:
    """Create a topic, once the controller has the broker."""
    limit = time.monotonic() + _CLIENT_LIMIT_S
    while True:
        try:
            create_topic(bootstrap, topic, count, settings=SMALL)
        except BadInput as error:
            if "larger than available brokers" not in str(error) or time.monotonic() > limit:
                raise
            time.sleep(0.2)
        else:
            return


def _copy(base: Base, cluster: Cluster, state: str) -> None:
    shutil.copytree(cluster.data(1), base.root / state)
    if base.zookeeper:
        time.sleep(3 * SESSION_MS / 1_000)  # the session of a broker that was killed has ended
        shutil.copytree(cluster.folder / zookeeper.NAME, base.root / f"zookeeper-{state}")


def _produce(
    bootstrap: str, topic: str, first: int, end: int, *, partitions: int = 1, transactional: bool = False
) -> None:
    from confluent_kafka import Producer

    chance = random.Random(first)
    settings: dict[str, Any] = {
        "bootstrap.servers": bootstrap,
        "linger.ms": 5,
        "batch.num.messages": 20,
        "log_level": 0,
    }
    producer = Producer(settings | ({"transactional.id": topic} if transactional else {"enable.idempotence": True}))
    if transactional:
        producer.init_transactions(_CLIENT_LIMIT_S)
    for number in range(first, end):
        if transactional and number % 100 == 0:
            producer.begin_transaction()
        for partition in range(partitions):
            producer.produce(
                topic, chance.randbytes(700), b"%d" % number, partition, timestamp=FIRST_MS + STEP_MS * number
            )
        if number % 100 == 99:
            producer.flush(_CLIENT_LIMIT_S)
            if transactional:
                (producer.abort_transaction if number % 300 == 99 else producer.commit_transaction)(_CLIENT_LIMIT_S)
    producer.flush(_CLIENT_LIMIT_S)


def _observed(cluster: Cluster) -> Started:
    """Read every partition, in a separate process: librdkafka aborts at some damaged batches."""
    found = Started(starts=True)
    left = list(PARTITIONS)
    while left:
        words = [sys.executable, _READER, cluster.nodes[0].address, ",".join(map(str, TIMES)), *left]
        ran = subprocess.run(words, capture_output=True, text=True, check=False, timeout=6 * _CLIENT_LIMIT_S)
        for line in ran.stdout.splitlines():
            name, what, value = json.loads(line)
            match what:
                case "range":
                    found.ranges[name] = (value[0], value[1])
                case "times":
                    found.times[name] = tuple(value)
                case "read":
                    found.read[name] = (value[0], value[1])
                    left.remove(name)
        if ran.returncode and left:
            found.read[left.pop(0)] = (-1, "the client aborted")
    return found


def _named_in(lines: list[str], data: Path) -> tuple[str, ...]:
    """Return the files and folders in a log directory that lines name, without the directory itself.

    A log whose index is built again is an error to a broker, but no reason to end.
    """
    fatal = [line for line in lines if "recovering segment and rebuilding index" not in line]
    names = re.findall(rf"{re.escape(str(data))}/([^\s'\",;:)\]]+)", "\n".join(fatal))
    return tuple(dict.fromkeys(name.rstrip(".") for name in names))


def batches_of(root: Path) -> dict[str, tuple[Batch, ...]]:
    """Return the batches in the ``.log`` files of a healthy directory."""
    found: dict[str, tuple[Batch, ...]] = {}
    for name in PARTITIONS:
        batches = []
        for path in sorted((root / name).glob("*.log")):
            data = path.read_bytes()
            for position, size in _batches(data):
                first, delta = (
                    struct.unpack_from(form, data, position + at)[0] for form, at in ((">q", 0), (">i", 23))
                )
                control = bool(data[position + 22] & 0x20)
                batches.append(Batch(first, first + delta, control, data[position : position + size]))
        found[name] = tuple(batches)
    return found


def _ask(address: str, found: Started, batches: Mapping[str, tuple[Batch, ...]]) -> None:
    """Ask the broker for the ends of leader epochs and for its producers, then fetch each batch by itself."""
    host, port = parse_address(address)
    led = [name for name in PARTITIONS if name in found.ranges]
    with Connection(host, port, _CLIENT_LIMIT_S) as connection:
        for name in led:
            topic, _, number = name.rpartition("-")
            epochs = [_end_of_epoch(connection, name, epoch) for epoch in EPOCHS]
            assert all(each["errorCode"] == 0 for each in epochs), epochs
            found.epochs[name] = tuple((each["leaderEpoch"], each["endOffset"]) for each in epochs)
            answer = connection.ask("DescribeProducers", 0, {
                "topics": [{"name": topic, "partitionIndexes": [int(number)]}],
            })["topics"][0]["partitions"][0]  # fmt: skip
            assert answer["errorCode"] == 0, answer
            found.producers[name] = frozenset(
                (each["producerId"], each["producerEpoch"], each["lastSequence"]) for each in answer["activeProducers"]
            )
    for name in led:
        found.unreadable[name] = frozenset(_unreadable((host, port), name, batches[name]))


def _unreadable(address: tuple[str, int], name: str, batches: tuple[Batch, ...]) -> Iterator[int]:
    """Yield the offsets from which a Fetch does not return the batch as it was: the first one, and then also the last."""
    with contextlib.ExitStack() as stack:
        connection = None
        for batch in batches:
            for offset in dict.fromkeys((batch.first, batch.last)):
                try:
                    connection = connection or stack.enter_context(Connection(*address, _CLIENT_LIMIT_S))
                    data = _fetched(connection, name, offset, batch.data)
                except (ConnectionClosed, NoResponse):
                    connection, data = None, b""
                if data.startswith(batch.data):
                    break
                yield offset


def _end_of_epoch(connection: Connection, name: str, epoch: int) -> Fields:
    """Return the answer to OffsetForLeaderEpoch."""
    topic, _, number = name.rpartition("-")
    partition = {"partition": int(number), "currentLeaderEpoch": -1, "leaderEpoch": epoch}
    asked = {"replicaId": -1, "topics": [{"topic": topic, "partitions": [partition]}]}
    found: Fields = connection.ask("OffsetForLeaderEpoch", 3, asked)["topics"][0]["partitions"][0]
    return found


def _fetched(connection: Connection, name: str, offset: int, expected: bytes) -> bytes:
    """Return the batches of a Fetch that asks for one byte: a broker returns the first batch whole."""
    start, end = _fetch_request(name)
    sent = start + struct.pack(">q", offset) + end
    until = time.monotonic() + _CLIENT_LIMIT_S
    connection.send_bytes("Fetch", sent, until)
    answer = connection.receive_bytes("Fetch", until)
    if answer.endswith(struct.pack(">i", len(expected)) + expected):  # decoding takes longer than the broker's answer
        return expected
    _, fields = shipped_codec().decode_response("Fetch", _FETCH, answer)
    data: bytes | None = fields["responses"][0]["partitions"][0]["records"]
    return data or b""


@cache
def _fetch_request(name: str) -> tuple[bytes, bytes]:
    """Return a Fetch request before and after its offset."""
    topic, _, number = name.rpartition("-")
    mark = 0x5CA1AB1E_0DDBA11
    partition = {"partition": int(number), "currentLeaderEpoch": -1, "fetchOffset": mark, "partitionMaxBytes": 1}
    asked = {"replicaId": -1, "maxWaitMs": 0, "minBytes": 0, "maxBytes": 1}
    fields = asked | {"topics": [{"topic": topic, "partitions": [partition]}]}
    start, _, end = (
        shipped_codec().encode_request("Fetch", _FETCH, fields, 1, CLIENT_ID).partition(struct.pack(">q", mark))
    )
    return start, end


# Damages. Each takes the directory and a source of chance.
Damage = Callable[[Path, random.Random], None]


def damaged(base: Path, target: Path, names: tuple[str, ...], seed: int) -> Path:
    """Copy a base and apply damages to the copy."""
    shutil.copytree(base, target)
    chance = random.Random(seed)
    for name in names:
        try:
            DAMAGES[name](target, chance)
        except (IndexError, ValueError, FileNotFoundError):
            if name == names[0]:
                raise
            # The first damage removed the file that this one is for.
    return target


def _partition(root: Path, chance: random.Random) -> Path:
    return root / chance.choice(PARTITIONS)


def _segment(root: Path, chance: random.Random, which: str, suffix: str) -> Path:
    files = sorted(_partition(root, chance).glob("*.log"))
    chosen = files[-1] if which == "active" else files[0] if which == "first" else files[len(files) // 2]
    return chosen.with_suffix("." + suffix)


def _batches(data: bytes) -> list[tuple[int, int]]:
    found, position = [], 0
    while position + 61 <= len(data):
        size = struct.unpack_from(">i", data, position + 8)[0] + 12
        if size < 61 or position + size > len(data):
            break
        found.append((position, size))
        position += size
    return found


def _flip(which: str) -> Damage:
    def apply(root: Path, chance: random.Random) -> None:
        path = _segment(root, chance, which, "log")
        data = bytearray(path.read_bytes())
        position, size = chance.choice(_batches(bytes(data)))
        data[position + chance.randrange(61, size)] ^= 1 << chance.randrange(8)
        path.write_bytes(data)

    return apply


def _cut(which: str) -> Damage:
    def apply(root: Path, chance: random.Random) -> None:
        path = _segment(root, chance, which, "log")
        data = path.read_bytes()
        position, size = chance.choice(_batches(data)[-20:])
        path.write_bytes(data[: position + chance.randrange(size)])

    return apply


def _append(which: str, suffix: str, what: Callable[[random.Random], bytes]) -> Damage:
    def apply(root: Path, chance: random.Random) -> None:
        with _segment(root, chance, which, suffix).open("ab") as file:
            file.write(what(chance))

    return apply


def _over(which: str, what: Callable[[random.Random], bytes]) -> Damage:
    """Write over bytes from the beginning of a batch."""

    def apply(root: Path, chance: random.Random) -> None:
        path = _segment(root, chance, which, "log")
        data = bytearray(path.read_bytes())
        position, _ = chance.choice(_batches(bytes(data)))
        new = what(chance)[: len(data) - position]
        data[position : position + len(new)] = new
        path.write_bytes(data)

    return apply


def _change(name: str, how: str) -> Damage:
    """Remove, empty, zero, cut or overwrite a file of the directory; ``name`` may be a pattern."""

    def apply(root: Path, chance: random.Random) -> None:
        files = sorted(root.glob(name))
        if not files:
            return
        _altered(chance.choice(files), how, chance)

    return apply


def _altered(path: Path, how: str, chance: random.Random) -> None:
    data = path.read_bytes() if path.is_file() else b""
    match how:
        case "gone":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        case "empty":
            path.write_bytes(b"")
        case "zeros":
            path.write_bytes(bytes(max(len(data), 8)))
        case "cut":
            path.write_bytes(data[: len(data) // 2])
        case "garbage":
            path.write_bytes(chance.randbytes(max(len(data), 8)))
        case _:
            raise AssertionError(how)


def _file(which: str, suffix: str, how: str) -> Damage:
    def apply(root: Path, chance: random.Random) -> None:
        path = _segment(root, chance, which, suffix)
        if path.exists():
            _altered(path, how, chance)

    return apply


def _text(name: str, old: str, new: str) -> Damage:
    def apply(root: Path, chance: random.Random) -> None:
        path = chance.choice(sorted(root.glob(name)))
        path.write_text(re.sub(old, new, path.read_text(), count=1, flags=re.MULTILINE))

    return apply


def _folder(name: str, source: str = "") -> Damage:
    def apply(root: Path, _: random.Random) -> None:
        if source:
            shutil.copytree(root / source, root / name)
        else:
            (root / name).mkdir()

    return apply


def _renamed(old: str, new: str) -> Damage:
    def apply(root: Path, chance: random.Random) -> None:
        path = chance.choice(sorted(root.glob(old)))
        path.rename(path.with_name(path.name.replace(*new.split(">"))))

    return apply


def _named() -> Iterator[tuple[str, Damage]]:  # noqa: C901
    for how in ("gone", "empty", "zeros", "cut", "garbage"):
        yield f"meta.properties {how}", _change("meta.properties", how)
    yield "meta.properties other node", _text("meta.properties", r"^node\.id=.*$", "node.id=7")
    yield (
        "meta.properties other cluster",
        _text("meta.properties", r"^cluster\.id=.*$", "cluster.id=AAAAAAAAQACAAAAAAAAAAA"),
    )
    yield "meta.properties no cluster", _text("meta.properties", r"^cluster\.id=.*$", "")
    yield "meta.properties no directory", _text("meta.properties", r"^directory\.id=.*$", "")
    yield "meta.properties bad directory", _text("meta.properties", r"^directory\.id=.*$", "directory.id=!!")
    yield "meta.properties version 2", _text("meta.properties", r"^version=.*$", "version=2")
    yield "meta.properties version 0", _text("meta.properties", r"^version=.*$", "version=0")
    for name in (
        "lost+found",
        "notes",
        "a-b",
        "orders-1.bak",
        "orders-",
        "-1",
        "x-1",
        "orders-1.abc-delete",
        "orders-00",
    ):
        yield f"folder {name}", _folder(name)
    yield "folder orders-9 copied", _folder("orders-9", "orders-1")
    yield "folder delete", _folder("orders-1." + "ab" * 16 + "-delete", "orders-1")
    yield "folder stray", _folder("orders-1." + "ab" * 16 + "-stray", "orders-1")
    yield "folder future", _folder("orders-1." + "ab" * 16 + "-future", "orders-1")
    yield (
        "folder two futures",
        lambda root, chance: (
            [_folder("orders-1." + hexed * 16 + "-future", "orders-1")(root, chance) for hexed in ("ab", "cd")] and None
        ),
    )  # type: ignore[func-returns-value]
    for checkpoint in ("recovery-point", "log-start", "replication", "cleaner"):
        for how in ("gone", "empty", "zeros", "garbage", "cut"):
            yield f"{checkpoint} {how}", _change(f"{checkpoint}-offset-checkpoint", how)
        yield f"{checkpoint} count", _text(f"{checkpoint}-offset-checkpoint", r"\A0\n\d+", "0\n77")
        yield f"{checkpoint} offset", _text(f"{checkpoint}-offset-checkpoint", r"^orders 1 \d+$", "orders 1 99999")
    for how in ("gone", "empty", "zeros", "garbage"):
        for file in ("partition.metadata", "leader-epoch-checkpoint"):
            yield f"{file} {how}", _change(f"[op]*[0-9]/{file}", how)
    topic = "[op]*[0-9]/partition.metadata"
    yield "topic id zero", _text(topic, r"topic_id: .*", "topic_id: AAAAAAAAAAAAAAAAAAAAAA")
    yield "topic id other", _text(topic, r"topic_id: .*", "topic_id: AbCdEfGhQACAAAAAAAAAAA")
    yield "topic id not base64", _text(topic, r"topic_id: .*", "topic_id: !!!!!!!!!!!!!!!!!!!!!!")
    yield "topic id short", _text(topic, r"topic_id: .*", "topic_id: AbCd")
    epochs = "[op]*[0-9]/leader-epoch-checkpoint"
    yield "epochs version", _text(epochs, r"\A0", "1")
    yield "epochs late", _text(epochs, r"^0 0$", "0 500")
    yield "epochs words", _text(epochs, r"^0 0$", "zero 0")
    yield "epochs past end", _text(epochs, r"^0 0$", "0 99999")
    for which in ("first", "middle", "active"):
        yield f"{which} log flipped", _flip(which)
        yield f"{which} log cut", _cut(which)
        yield f"{which} log zeros", _append(which, "log", lambda _: bytes(4096))
        yield f"{which} log garbage", _append(which, "log", lambda chance: chance.randbytes(500))
        yield f"{which} log 5 bytes", _append(which, "log", lambda _: b"\0\0\0\0\1")
        yield f"{which} log zeros within", _over(which, lambda _: bytes(200))
        yield f"{which} log garbage within", _over(which, lambda chance: chance.randbytes(100))
        yield f"{which} log gone", _file(which, "log", "gone")
        yield f"{which} log empty", _file(which, "log", "empty")
        for suffix, entry in (("index", 8), ("timeindex", 12)):
            for how in ("gone", "empty", "zeros", "garbage"):
                yield f"{which} {suffix} {how}", _file(which, suffix, how)
            yield f"{which} {suffix} zero tail", _append(which, suffix, lambda _, entry=entry: bytes(entry * 100))
            yield f"{which} {suffix} odd", _append(which, suffix, lambda _: b"abc")
        for how in ("gone", "empty", "zeros", "garbage"):
            yield f"{which} txnindex {how}", _file(which, "txnindex", how)
    for how in ("gone", "empty", "zeros", "garbage", "cut"):
        yield f"snapshot {how}", _change("[op]*[0-9]/*.snapshot", how)
    yield "segment renamed", _renamed("[op]*[0-9]/*[1-9].log", "000000>000001")
    yield "file with a bad name", lambda root, _: (root / "orders-1/abc.log").write_bytes(b"x") and None  # type: ignore[func-returns-value]
    yield "file x.txt", lambda root, _: (root / "orders-1/x.txt").write_bytes(b"x") and None  # type: ignore[func-returns-value]
    for suffix in ("swap", "cleaned", "deleted"):
        yield (
            f"log {suffix}",
            lambda root, _, suffix=suffix: (
                shutil.copy(
                    max((root / "orders-1").glob("*.log")), f"{max((root / 'orders-1').glob('*.log'))}.{suffix}"
                )
                and None
            ),
        )
    yield "partition empty", lambda root, _: [path.unlink() for path in (root / "orders-1").iterdir()] and None
    yield "partition gone", _change("orders-1", "gone")
    metadata = "__cluster_metadata-0"
    yield "metadata gone", _change(metadata, "gone")
    for how in ("gone", "empty", "zeros", "garbage", "cut"):
        yield f"quorum-state {how}", _change(f"{metadata}/quorum-state", how)
        yield f"metadata checkpoint {how}", _change(f"{metadata}/*.checkpoint", how)
        yield f"metadata log {how}", _change(f"{metadata}/*.log", how)
        yield f"metadata leader epochs {how}", _change(f"{metadata}/leader-epoch-checkpoint", how)
        yield f"metadata partition.metadata {how}", _change(f"{metadata}/partition.metadata", how)
        yield f"bootstrap {how}", _change("bootstrap.checkpoint", how)
    yield (
        "bootstrap of an older release",
        lambda root, _: (root / "bootstrap.checkpoint").write_bytes(bytes(8)) and None,
    )  # type: ignore[func-returns-value]
    yield "quorum-state version", _text(f"{metadata}/quorum-state", r'"data_version":\d', '"data_version":9')
    yield "quorum-state other leader", _text(f"{metadata}/quorum-state", r'"leaderId":\d', '"leaderId":5')
    yield "metadata log begins late", _renamed(f"{metadata}/*.log", "0000000000.>0000000318.")


DAMAGES: Mapping[str, Damage] = dict(_named())
OF_KRAFT = frozenset(
    name for name in DAMAGES if name.startswith(("metadata ", "quorum-state ", "bootstrap ", "meta.properties "))
)
"""Damages of files that a broker with ZooKeeper has not, or has with other lines."""
