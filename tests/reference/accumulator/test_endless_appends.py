"""Appends that never return in Kafka end with an error that names the setting; all others return."""

from __future__ import annotations

import pytest

from kafka_reference.accumulator import Metadata, RecordAccumulator, SizedRecord
from kafka_reference.errors import NeverReturns, QuestionError
from kafka_reference.partitioning.cluster import Cluster

RECORD = SizedRecord(value=100)


def accumulator(version: str, batch_size: int) -> RecordAccumulator:
    return RecordAccumulator(
        version, {"batch.size": str(batch_size), "buffer.memory": str(2**40)}, draws=range(100_000)
    )


def topic(version: str, partitions: int) -> Metadata:
    return Metadata(version, Cluster.of(partitions), ("t",))


@pytest.mark.parametrize("version", ["3.3.0", "3.5.2", "4.0.1", "4.4.0"])
@pytest.mark.parametrize("batch_size", [2**30, 1_500_000_000, 2**31 - 1])
def test_append_that_would_loop_forever_with_huge_batch_size_raises_never_returns(
    version: str, batch_size: int
) -> None:
    with pytest.raises(NeverReturns, match=r"choose a batch\.size of 1 to 1073741823"):
        accumulator(version, batch_size).append("t", None, RECORD, topic(version, 3))


@pytest.mark.parametrize("version", ["3.3.0", "3.3.1"])
def test_append_with_batch_size_0_raises_never_returns_up_to_3_3_1(version: str) -> None:
    with pytest.raises(NeverReturns):
        accumulator(version, 0).append("t", None, RECORD, topic(version, 2))


@pytest.mark.parametrize("version", ["3.3.0", "4.4.0"])
def test_append_with_largest_batch_size_below_overflow_returns(version: str) -> None:
    assert accumulator(version, 2**30 - 1).append("t", None, RECORD, topic(version, 3)).new_batch


@pytest.mark.parametrize("version", ["3.3.0", "4.4.0"])
def test_append_with_overflowing_batch_size_returns_at_partition_with_open_batch(version: str) -> None:
    """The partitioner leaves a partition only if its last batch is full or gone, so it stays at this one."""
    one = accumulator(version, 2**30)
    metadata = topic(version, 3)
    one.append("t", 2, RECORD, metadata)
    appended = one.append("t", None, RECORD, metadata)
    assert (appended.partition, appended.new_batch) == (2, False)


def test_accumulator_accepts_appends_after_never_returns() -> None:
    one, metadata = accumulator("4.4.0", 2**30), topic("4.4.0", 3)
    for _ in range(2):
        with pytest.raises(NeverReturns):
            one.append("t", None, RECORD, metadata)
    assert one.append("t", 1, RECORD, metadata).new_batch


def test_never_returns_error_is_a_subclass_of_question_error() -> None:
    assert issubclass(NeverReturns, QuestionError)
