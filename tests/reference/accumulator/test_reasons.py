"""What the rules note while they decide. Each history is one whose reasons follow from the rules by hand."""

from __future__ import annotations

from kafka_reference.accumulator.accumulator import RecordAccumulator
from kafka_reference.accumulator.backoff import StepDraws
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.accumulator.reasons import (
    BackoffCheck,
    BatchNeeded,
    DrainCheck,
    NodeVisit,
    QueueSkipped,
    ReadyCheck,
    Reason,
    Skip,
    StickyUpdate,
)
from kafka_reference.accumulator.sizes import SizedRecord
from kafka_reference.accumulator.state import AccumulatorConfig
from kafka_reference.partitioning.cluster import Cluster, Node, Partition

CONFIG = AccumulatorConfig(
    batch_size=200, linger_ms=5, retry_backoff_ms=10, retry_backoff_max_ms=10, delivery_timeout_ms=100,
    buffer_memory=10_000, adaptive=True, availability_timeout_ms=0,
)  # fmt: skip
SMALL, HALF = SizedRecord(0, None, 10), SizedRecord(0, None, 110)  # 78 and 180 bytes as a batch, in format 2


class RecordingAccumulator:
    """An accumulator, and the reasons that it recorded."""

    def __init__(self, version: str, *partitions: tuple[int, int | None]) -> None:
        self.it = RecordAccumulator(version, CONFIG, StepDraws((0,) * 50))
        self.version = version
        self.move(*partitions)

    def move(self, *partitions: tuple[int, int | None], epoch: int = 0) -> None:
        cluster = Cluster((Node(0), Node(1)), tuple(Partition(*each) for each in partitions))
        self.metadata = Metadata(self.version, cluster, ("t",), (epoch,) * len(partitions))

    def append(self, partition: int | None, record: SizedRecord = SMALL) -> list[Reason]:
        self.it.state.reasons = reasons = []
        self.it.append("t", partition, record, self.metadata)
        return reasons

    def ready(self) -> list[Reason]:
        self.it.state.reasons = reasons = []
        self.it.ready(self.metadata)
        return reasons

    def drain(self, *nodes: int, max_size: int = 10_000) -> list[Reason]:
        self.it.state.reasons = reasons = []
        self.it.drain(self.metadata, nodes, max_size)
        return reasons


def looked(partition: int, number: int, **terms: object) -> ReadyCheck:
    usual = {"leader": 0, "waited_ms": 0, "to_wait_ms": 5, "backing_off": False, "full": False, "exhausted": False}
    return ReadyCheck(("t", partition), number, **{**usual, "closed": False, "flushing": False, "left_ms": 5, **terms})  # type: ignore[arg-type]


def test_accumulator_records_no_reasons_of_append_and_ready_decisions_by_default() -> None:
    recorded = RecordingAccumulator("4.4.0", (0, 0))
    assert recorded.it.state.reasons is None
    recorded.it.append("t", 0, SMALL, recorded.metadata)
    recorded.it.ready(recorded.metadata)
    assert recorded.it.state.reasons is None


def test_ready_reasons_name_linger_exhausted_memory_flush_and_close() -> None:
    recorded = RecordingAccumulator("2.8.2", (0, 0))
    recorded.append(0)
    assert recorded.ready() == [looked(0, 0)]
    recorded.it.state.now_ms = 3
    assert recorded.ready() == [looked(0, 0, waited_ms=3, left_ms=2)]
    recorded.it.state.pool.waiting = 1
    assert recorded.ready() == [looked(0, 0, waited_ms=3, exhausted=True, left_ms=None)]
    recorded.it.state.pool.waiting = 0
    recorded.it.begin_flush()
    assert recorded.ready() == [looked(0, 0, waited_ms=3, flushing=True, left_ms=None)]
    recorded.it.end_flush()
    recorded.it.close()
    assert recorded.ready() == [looked(0, 0, waited_ms=3, closed=True, left_ms=None)]


def test_first_of_several_queued_batches_counts_as_full_even_if_open() -> None:
    recorded = RecordingAccumulator("2.5.1", (0, 0))
    recorded.append(0)
    recorded.drain(0)
    recorded.append(0)
    recorded.it.split(recorded.it.state.batches[0])  # to 2.5 its piece, the new first one, stands open
    assert not recorded.it.state.batches[2].full
    assert recorded.ready() == [looked(0, 2, full=True, left_ms=None)]


def test_ready_reasons_name_why_a_partition_queue_is_skipped() -> None:
    recorded = RecordingAccumulator("2.8.2", (0, 0), (1, 0), (2, None), (3, 1))
    for partition in (0, 1, 2, 3):
        recorded.append(partition)
    recorded.it.state.mute(("t", 3))
    recorded.it.begin_flush()
    whys = {reason.topic_partition[1]: reason.why for reason in recorded.ready() if isinstance(reason, QueueSkipped)}
    # Java's order puts partition 1 before partition 0.
    assert whys == {0: Skip.LEADER_READY, 2: Skip.LEADER_UNKNOWN, 3: Skip.MUTED}
    recorded.drain(0)
    assert QueueSkipped(("t", 0), Skip.EMPTY) in recorded.ready()


def test_empty_queue_without_leader_is_skipped_as_leader_unknown_in_0_10_0_1() -> None:
    recorded = RecordingAccumulator("0.10.0.1", (0, 0))
    recorded.append(0)
    recorded.drain(0)
    recorded.move((0, None))
    assert recorded.ready() == [QueueSkipped(("t", 0), Skip.LEADER_UNKNOWN)]


def test_reenqueued_batch_backs_off_unless_leader_moved() -> None:
    recorded = RecordingAccumulator("4.4.0", (0, 0))
    recorded.append(0)
    recorded.drain(0)
    recorded.it.reenqueue(recorded.it.state.batches[0])
    recorded.it.state.now_ms = 4
    early = BackoffCheck(("t", 0), 0, 1, 4, 10, has_new_leader=False, backing_off=True)
    backing = looked(0, 0, waited_ms=4, to_wait_ms=10, backing_off=True, full=True, left_ms=6)
    assert recorded.ready() == [early, backing]
    assert recorded.drain(0) == [NodeVisit(0, 0, 1), early, QueueSkipped(("t", 0), Skip.BACKING_OFF)]
    recorded.move((0, 1), epoch=1)
    moved = BackoffCheck(("t", 0), 0, 1, 4, 10, has_new_leader=True, backing_off=False)
    assert recorded.ready() == [moved, looked(0, 0, leader=1, waited_ms=4, full=True, left_ms=None)]


def test_drain_reasons_list_node_visit_size_checks_and_skipped_partitions() -> None:
    recorded = RecordingAccumulator("2.0.1", (0, 0), (1, 0), (2, 0), (3, 0))
    for partition in (0, 1, 2):
        recorded.append(partition, HALF)
    recorded.it.state.mute(("t", 1))
    size = recorded.it.state.batches[0].estimated
    assert recorded.drain(0, max_size=100) == [
        NodeVisit(0, 0, 4),
        DrainCheck(("t", 0), 0, size, 0, 100, room=True),
        QueueSkipped(("t", 1), Skip.MUTED),
        DrainCheck(("t", 2), 2, size, size, 100, room=False),
    ]
    # To 2.0 the one that found no room is the first of the next visit.
    assert recorded.drain(0, max_size=100)[:2] == [NodeVisit(0, 2, 4), DrainCheck(("t", 2), 2, size, 0, 100, room=True)]
    assert recorded.drain(0)[1:3] == [QueueSkipped(("t", 2), Skip.EMPTY), QueueSkipped(("t", 3), Skip.EMPTY)]


def test_reasons_of_an_append_name_why_a_new_batch_is_needed() -> None:
    recorded = RecordingAccumulator("2.8.2", (0, 0))
    assert recorded.append(0, HALF) == [BatchNeeded(("t", 0), None, 0, full=False)]
    assert recorded.append(0, SizedRecord(0, None, 10)) == []
    assert recorded.append(0, HALF) == [BatchNeeded(("t", 0), 0, 197, full=False)]
    recorded.it.state.batches[1].close_for_appends()
    assert recorded.append(0) == [BatchNeeded(("t", 0), 1, 180, full=True)]


def test_reasons_of_the_partitioner_name_why_sticky_partition_switches() -> None:
    recorded = RecordingAccumulator("4.4.0", (0, 0), (1, 0), (2, 0))
    (placed, stay) = recorded.append(None, HALF)
    assert placed == BatchNeeded(("t", 1), None, 0, full=False)
    assert stay == StickyUpdate("t", 1, 180, 200, may_switch=False, switched=False)
    # A new batch behind the first one: 360 bytes would be enough, but the last batch is open.
    placed, stay = recorded.append(None, HALF)
    assert (placed, stay) == (
        BatchNeeded(("t", 1), 0, 180, full=False),
        StickyUpdate("t", 1, 360, 200, may_switch=False, switched=False),
    )
    # No room again: that batch is closed, so the partition may be left now, and is, before the record is placed.
    reasons = recorded.append(None, HALF)
    assert reasons[:2] == [
        BatchNeeded(("t", 1), 1, 180, full=False),
        StickyUpdate("t", 1, 360, 200, may_switch=True, switched=True),
    ]
