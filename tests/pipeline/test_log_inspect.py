"""``log inspect`` on directories of real brokers: the healthy ones are sound, and every damage to a copy is found.

Three releases; idempotent producers with every codec, transactions by librdkafka and by Java's producer (whose epoch grows
with every transaction since 4.0.0), compaction, retention; a broker that runs, stopped, was killed, and has recovered.
Tiered storage is simulated: its leftovers are made by hand.
"""

from __future__ import annotations

import random
import shutil
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from crc32c import crc32c

from kafka_conformance.brokers.broker import running_broker
from kafka_conformance.log_inspect.directory import open_directory
from kafka_conformance.log_inspect.find import find_offset, one_partition
from kafka_conformance.log_inspect.inspection import inspect
from kafka_conformance.log_inspect.result import Inspection
from kafka_conformance.log_inspect.scan import Scanned, Segment, scan
from kafka_conformance.oracle.fetching import fetched
from kafka_conformance.oracle.jvm import Jvm
from kafka_jars.pins import load
from kafka_jars.store import default_store

pytestmark = [pytest.mark.long, pytest.mark.timeout(1_200)]
RELEASES = ("3.3.2", "3.9.2", "4.4.0")
STATES = ("live", "stopped", "killed", "recovered")
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
SETTINGS = {
    "log.cleaner.backoff.ms": "200", "log.retention.check.interval.ms": "1000", "log.initial.task.delay.ms": "500",
    "log.segment.delete.delay.ms": "500", "log.cleaner.dedupe.buffer.size": str(4 * 2**20),
}  # fmt: skip
COMPACTED = {
    "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", "segment.ms": "500",
    "max.compaction.lag.ms": "1000", "delete.retention.ms": "1000",
}  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """For each release and state a copy of a broker's log directory."""
    root = tmp_path_factory.mktemp("brokers")
    jars = fetched(load().clients("4.4.0"), default_store())
    with Jvm(extra_class_path=[jar.path for jar in jars]) as jvm:
        write = cooked(jvm)
        for release in RELEASES:
            run_a_broker(release, root / release, write)
    yield root
    shutil.rmtree(root)


def cooked(jvm: Jvm) -> Callable[..., None]:
    source = Path(__file__).with_name("TransactionWriter.java").read_text(encoding="utf-8")

    def compiled() -> Any:
        compiler = jvm.view.org.codehaus.janino.SimpleCompiler()
        compiler.cook(source)
        return compiler.getClassLoader().loadClass("TransactionWriter")

    method = next(each for each in jvm.call(compiled).getMethods() if each.getName() == "write")

    def write(bootstrap: str, topic: str, transactions: int, records: int) -> None:
        kind = "org.apache.kafka.common.serialization.ByteArraySerializer"
        settings = {"bootstrap.servers": bootstrap, "transactional.id": f"java-{topic}", "key.serializer": kind,
                    "value.serializer": kind}  # fmt: skip
        given = jvm.array(jvm.view.java.lang.Object, 4)
        lines = "".join(f"{name}={value}\n" for name, value in settings.items())
        for at, argument in enumerate((lines, topic, transactions, records)):
            given[at] = argument
        jvm.call(lambda: method.invoke(None, given))

    return write


def run_a_broker(release: str, out: Path, write: Callable[..., None]) -> None:
    small = {"segment.bytes": "1048576", "index.interval.bytes": "1024"}
    with running_broker(release, engine="jars", settings=SETTINGS) as broker:
        for topic, partitions, settings in (
            *((f"plain-{codec}", 1, small) for codec in CODECS),
            ("java", 2, small), ("transactions", 2, small), ("retained", 1, {**small, "retention.bytes": "1100000"}),
            ("compacted", 2, {**small, **COMPACTED}), ("compacted-transactions", 1, {**small, **COMPACTED}),
            ("empty", 1, {}),
        ):  # fmt: skip
            broker.create_topic(topic, partitions, settings=settings)
        produce(broker.bootstrap)
        write(broker.bootstrap, "java", 12, 40)
        time.sleep(4)
        node: Path = broker._cluster.folder / "node-1"  # type: ignore[attr-defined]
        shutil.copytree(node, out / "live", ignore_dangling_symlinks=True)
        broker.stop_node(1)
        shutil.copytree(node, out / "stopped")
        broker.start_node(1)
        producer = new_producer(broker.bootstrap)
        for number in range(400):
            producer.produce("compacted", key=b"%d" % (number % 9), value=b"v" * 100)
            producer.produce("plain-none", value=b"v" * 100)
        producer.flush()
        broker.kill_node(1)
        shutil.copytree(node, out / "killed")
        broker.start_node(1)
        broker.stop_node(1)
        shutil.copytree(node, out / "recovered")


def new_producer(bootstrap: str, **settings: Any) -> Any:
    from confluent_kafka import Producer

    given = {"bootstrap.servers": bootstrap, "linger.ms": 5, "log_level": 0, "batch.num.messages": 30, **settings}
    return Producer({"enable.idempotence": True, **given})


def produce(bootstrap: str) -> None:
    chance = random.Random(1)
    produce_plain(bootstrap, chance)
    produce_transactions(bootstrap, chance)
    produce_compacted(bootstrap, chance)


def produce_plain(bootstrap: str, chance: random.Random) -> None:
    for codec in CODECS:
        producer = new_producer(bootstrap, **{"compression.type": codec})
        for number in range(9_000 if codec == "none" else 3_000):
            producer.produce(
                f"plain-{codec}", key=b"%d" % (number % 97), value=chance.randbytes(chance.randint(10, 600))
            )
            if number % 1_000 == 0:
                producer.flush()
        producer.flush()
    producer = new_producer(bootstrap, **{"enable.idempotence": False})
    for number in range(7_000):
        producer.produce("retained", value=chance.randbytes(500))
        if number % 1_000 == 0:
            producer.flush()
    producer.flush()


def produce_transactions(bootstrap: str, chance: random.Random) -> None:
    for _ in range(2):  # the second fences the first, whose last transaction is open
        producer = new_producer(bootstrap, **{"transactional.id": "librdkafka"})
        producer.init_transactions()
        for number in range(10):
            producer.begin_transaction()
            for record in range(60):
                producer.produce("transactions", key=b"k", value=chance.randbytes(100), partition=record % 2)
                producer.produce("compacted-transactions", key=b"%d" % chance.randint(0, 30), value=b"v")
            producer.flush()
            (producer.abort_transaction if number % 3 == 0 else producer.commit_transaction)()
        producer.begin_transaction()
        producer.produce("transactions", value=b"left open", partition=0)
        producer.flush()


def produce_compacted(bootstrap: str, chance: random.Random) -> None:
    producer = new_producer(bootstrap)
    for _ in range(5):
        for number in range(1_200):
            producer.produce(
                "compacted", key=b"%d" % chance.randint(0, 200), value=None if number % 50 == 0 else b"v" * 99
            )
        producer.flush()
        time.sleep(1.2)


def seen(folder: Path, **how: Any) -> Inspection:
    return inspect(open_directory(folder), **how)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("state", STATES)
def test_no_healthy_directory_is_called_broken(data: Path, release: str, state: str) -> None:
    found = seen(data / release / state, records=True)
    assert [row for row in found.findings if row.severity != "note"] == []
    by_name = {one.name: one for one in found.partitions}
    assert len(by_name) >= 16
    assert by_name["java-0"].transactions >= 12
    assert by_name["compacted-0"].compacted
    assert by_name["plain-none-0"].segments >= 2
    if state == "live":
        assert by_name["retained-0"].start > 0


@pytest.mark.parametrize("release", RELEASES)
def test_leftovers_of_tiered_storage_are_no_damage(data: Path, release: str, tmp_path: Path) -> None:
    """As after ``local.retention.bytes``: the first segment exists remotely only; epochs and the index cache remain."""
    shutil.copytree(data / release / "stopped", tmp_path / "copy")
    partition = tmp_path / "copy" / "plain-none-0"
    for path in partition.glob(f"{0:020}.*"):
        path.unlink()
    (partition / "remote_log_snapshot").write_bytes(b"x")
    (tmp_path / "copy" / "remote-log-index-cache").mkdir()
    (tmp_path / "copy" / "_rlmm_committed_offsets").write_text("0\n0\n")
    found = seen(tmp_path / "copy")
    assert (found.broken, found.suspicious) == (0, 0)


@pytest.mark.parametrize("release", RELEASES)
def test_an_offset_is_found(data: Path, release: str) -> None:
    partition = one_partition(open_directory(data / release / "stopped" / "plain-zstd-0"), "")
    for offset in (0, 1_234, 2_999):
        found = find_offset(partition, offset)
        assert found.record is not None
        assert found.record.offset == offset
        assert found.read <= 3


# ---------------------------------------------------------------------------------------------------------- damages


def log_of(folder: Path, number: int = 0) -> Path:
    return sorted(folder.glob("*.log"))[number]


def batches(path: Path) -> list[Scanned]:
    with Segment(path) as segment:
        return [each for each in scan(segment) if isinstance(each, Scanned)]


def edit(path: Path, position: int, new: bytes, *, batch: int | None = None) -> None:
    whole = bytearray(path.read_bytes())
    whole[position : position + len(new)] = new
    if batch is not None:
        size = struct.unpack_from(">i", whole, batch + 8)[0] + 12
        whole[batch + 17 : batch + 21] = struct.pack(">I", crc32c(bytes(whole[batch + 21 : batch + size])))
    path.write_bytes(whole)


def flip_a_bit(folder: Path) -> None:
    path = log_of(folder)
    at = path.stat().st_size // 2
    edit(path, at, bytes([path.read_bytes()[at] ^ 4]))


def cut(folder: Path) -> None:
    path = log_of(folder, -1)
    path.write_bytes(path.read_bytes()[:-10])


def append_foreign_bytes(folder: Path) -> None:
    path = log_of(folder, -1)
    path.write_bytes(path.read_bytes() + b"these bytes are no batch")


def index_past_the_end(folder: Path) -> None:
    path = log_of(folder).with_suffix(".index")
    whole = path.read_bytes()
    path.write_bytes(whole + struct.pack(">ii", struct.unpack(">ii", whole[-8:])[0] + 1, 2**30))


def index_not_ascending(folder: Path) -> None:
    path = log_of(folder).with_suffix(".index")
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:8])


def time_index_back(folder: Path) -> None:
    path = log_of(folder).with_suffix(".timeindex")
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:12])


def snapshot_missing(folder: Path) -> None:
    log_of(folder, -1).with_suffix(".snapshot").unlink()


def sequence_gap(folder: Path) -> None:
    path = log_of(folder)
    each = batches(path)[1]
    edit(path, each.position + 53, struct.pack(">i", each.header.base_sequence + 7), batch=each.position)


def producer_epoch_back(folder: Path) -> None:
    path = log_of(folder)
    for each in batches(path)[:3]:
        edit(path, each.position + 51, struct.pack(">h", 9), batch=each.position)


def leader_epoch_back(folder: Path) -> None:
    path = log_of(folder)
    edit(path, batches(path)[2].position + 12, struct.pack(">i", 50))


def segments_overlap(folder: Path) -> None:
    base = int(log_of(folder, 1).stem)
    for path in folder.glob(f"{base:020}.*"):
        path.rename(folder / f"{base - 5:020}{path.suffix}")


DAMAGES: dict[Callable[[Path], None], str] = {
    flip_a_bit: "crc-mismatch", cut: "cut-batch", append_foreign_bytes: "foreign-bytes",
    index_past_the_end: "index-past-end", index_not_ascending: "index-not-ascending", time_index_back: "time-index-back",
    snapshot_missing: "snapshot-missing", sequence_gap: "sequence-gap", producer_epoch_back: "producer-epoch-back",
    leader_epoch_back: "leader-epoch-back", segments_overlap: "segments-overlap",
}  # fmt: skip


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_every_damage_is_found(data: Path, release: str, damage: Callable[[Path], None], tmp_path: Path) -> None:
    folder = tmp_path / "plain-none-0"
    shutil.copytree(data / release / "stopped" / "plain-none-0", folder)
    assert seen(folder).broken == 0
    damage(folder)
    found = seen(folder)
    assert DAMAGES[damage] in {row.kind for row in found.findings if row.severity == "broken"}
