"""What is seen of a partition on a real cluster: the controller's metadata, files of all replicas, fetches from brokers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from kafka_conformance.core.errors import BrokerLost
from kafka_conformance.replication.live.cluster import LiveCluster
from kafka_conformance.replication.live.metadata_source import PartitionView
from kafka_conformance.replication.live.wire import (
    READ_COMMITTED,
    READ_UNCOMMITTED,
    FetchedLog,
    fetch,
    list_end_offset,
)
from kafka_reference.cluster.observation import ReplicaState, Settled
from kafka_reference.record_batch.batches import DefaultBatch, decode_batches

__all__ = ["Observation", "ReplicaFile", "observe", "read_replica"]


@dataclass(frozen=True, slots=True)
class ReplicaFile:
    """A replica's log as its files have it."""

    batches: tuple[tuple[int, int, int], ...]
    """Base offset, number of records and leader epoch of each batch."""
    values: tuple[tuple[int, bytes], ...]
    """Offset and value of each record."""

    @property
    def end_offset(self) -> int:
        """The offset behind the last record."""
        return self.values[-1][0] + 1 if self.values else 0


@dataclass(frozen=True, slots=True)
class Observation:
    """The partition at a time."""

    settled: Settled
    """The state, in the form of an answer."""
    disagreements: tuple[str, ...]
    """What the parts of the cluster do not agree about yet, each in a sentence."""


def observe(cluster: LiveCluster, topic: str, assigned: Collection[int]) -> Observation:
    """Observe partition 0 of a topic, which has replicas on the ``assigned`` brokers.

    Raises BrokerLost if a broker that runs does not respond.
    """
    cluster.metadata.read()
    view = cluster.metadata.partition(topic)
    if view is None:
        raise BrokerLost(f"the controller has no topic {topic}")
    files = {broker: read_replica(cluster.folder(broker, topic)) for broker in assigned}
    served = view.leader in cluster.running
    running = sorted(cluster.running.intersection(assigned))
    fetched = {each: fetch(cluster.connection(each), topic) for each in running} if served else {}
    replicas = {
        broker: ReplicaState(
            files[broker].batches,
            files[broker].end_offset,
            fetched[broker].high_watermark if broker in fetched else None,
        )
        for broker in sorted(assigned)
    }
    read = _values(fetched[view.leader].records) if served else ()
    settled = Settled(view.leader, view.leader_epoch, view.isr, view.elr, replicas, len(read))
    return Observation(settled, tuple(_disagreements(cluster, topic, view, files, fetched)))


def read_replica(folder: Path) -> ReplicaFile:
    """Read the log files of a replica; there are none before the broker has created it."""
    data = b"".join(file.read_bytes() for file in sorted(folder.glob("*.log")))
    batches = [batch for batch in decode_batches(data) if isinstance(batch, DefaultBatch)]
    return ReplicaFile(
        tuple((batch.base_offset, batch.record_count, batch.partition_leader_epoch) for batch in batches),
        _values(data),
    )


def _disagreements(
    cluster: LiveCluster,
    topic: str,
    view: PartitionView,
    files: dict[int, ReplicaFile],
    fetched: dict[int, FetchedLog],
) -> list[str]:
    found = [text for broker in sorted(cluster.running) if (text := _metadata_fault(cluster, topic, view, broker))]
    found += [
        f"broker {broker} answers a fetch with {one.error}" for broker, one in fetched.items() if one.error != "NONE"
    ]
    if view.leader in fetched:
        found += _leader_faults(cluster, topic, view, files[view.leader], fetched[view.leader])
    return found + _divergences(view, files, fetched)


def _metadata_fault(cluster: LiveCluster, topic: str, view: PartitionView, broker: int) -> str:
    known = cluster.metadata_of(cluster.connection(broker), topic)
    seen = PartitionView(known.leader, known.leader_epoch, known.isr, known.elr)
    return "" if seen == view else f"broker {broker} has {seen}, the controller {view}"


def _leader_faults(
    cluster: LiveCluster, topic: str, view: PartitionView, file: ReplicaFile, fetched: FetchedLog
) -> list[str]:
    """Compare what the leader returns with its files."""
    connection, found = cluster.connection(view.leader), []
    if (end := list_end_offset(connection, topic)) != ("NONE", file.end_offset):
        found.append(f"the leader lists {end[1]} ({end[0]}) as its end offset; its files end at {file.end_offset}")
    committed = fetch(connection, topic, isolation=READ_COMMITTED, leader_epoch=view.leader_epoch)
    stored = tuple(each for each in file.values if each[0] < fetched.high_watermark)
    for level, one in ((READ_UNCOMMITTED, fetched), (READ_COMMITTED, committed)):
        if one.error != "NONE" or _values(one.records) != stored:
            name = ("read_uncommitted", "read_committed")[level]
            found.append(f"{name} reads {_values(one.records)} ({one.error}); the leader's files have {stored}")
    return found


def _divergences(view: PartitionView, files: dict[int, ReplicaFile], fetched: dict[int, FetchedLog]) -> list[str]:
    """Compare the records of followers that run with the leader's, as far as both have them."""
    if view.leader not in fetched:
        return []
    led = dict(files[view.leader].values)
    return [
        f"replica {broker} has {value!r} at offset {offset}; the leader has {led[offset]!r}"
        for broker in fetched
        for offset, value in files[broker].values
        if offset in led and led[offset] != value
    ]


def _values(records: bytes) -> tuple[tuple[int, bytes], ...]:
    batches = (batch for batch in decode_batches(records) if isinstance(batch, DefaultBatch))
    found = (record for batch in batches for record in batch.records() if record is not None)
    return tuple((record.offset, record.value or b"") for record in found)
