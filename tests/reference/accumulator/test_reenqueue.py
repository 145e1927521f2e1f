"""An accumulator with an idempotent producer: what is numbered, what waits, and what comes back where."""

from __future__ import annotations

import pytest

from kafka_reference.accumulator.accumulator import Failure, RecordAccumulator
from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.accumulator.sizes import SizedRecord
from kafka_reference.accumulator.state import AccumulatorConfig
from kafka_reference.errors import IllegalArgumentException, IllegalStateException
from kafka_reference.idempotence.sequence_tracker import Producer, SequenceTracker
from kafka_reference.partitioning.cluster import Cluster, Node, Partition
from kafka_reference.releases import parse_release

SMALL = SizedRecord(0, None, 10)
EVERY_ERA = ["1.1.1", "2.3.1", "2.5.1", "2.7.2", "3.3.2", "4.4.0"]


class Play:
    """One node that leads two partitions; the second batch of a partition is never waited for."""

    def __init__(self, version: str, next_sequence: int = 0, partitions: int = 2) -> None:
        producer = Producer(7, 0, {("t", 0): next_sequence} if next_sequence else {})
        self.sequences = SequenceTracker(parse_release(version), producer)
        config = AccumulatorConfig(200, 0, 0, 0, 100, 10_000, True, 0)
        self.it = RecordAccumulator(version, config, sequences=self.sequences)
        cluster = Cluster((Node(0),), tuple(Partition(number, 0) for number in range(partitions)))
        self.metadata = Metadata(version, cluster, ("t",))

    def append(self, partition: int = 0, records: int = 1) -> None:
        for _ in range(records):
            self.it.append("t", partition, SMALL, self.metadata)

    def drain(self) -> list[tuple[int, int | None]]:
        return [(batch.topic_partition[1], batch.sequence) for batch in self.it.drain(self.metadata, [0], 10_000)]

    def send(self, records: int = 1) -> None:
        self.append(0, records)
        assert self.drain()

    def batch(self, number: int) -> Batch:
        return self.it.state.batches[number]

    def queue(self) -> list[int]:
        return [batch.number for batch in self.it.state.queue(("t", 0))]

    def come_back(self, *numbers: int) -> None:
        for number in numbers:
            self.it.reenqueue(self.batch(number))


@pytest.mark.parametrize("version", EVERY_ERA)
def test_reenqueued_idempotent_batches_are_sorted_by_sequence(version: str) -> None:
    play = Play(version)
    for _ in range(3):
        play.send()
    play.append()
    play.come_back(2, 0, 1)
    assert play.queue() == [0, 1, 2, 3]


def test_reenqueue_in_0_11_puts_batches_at_the_front() -> None:
    play = Play("0.11.0.3")
    play.send()
    play.send()
    play.come_back(0, 1)
    assert play.queue() == [1, 0]


@pytest.mark.parametrize("version", ["2.3.1", "4.4.0"])
def test_reenqueue_after_sequence_wraparound_reverses_batches(version: str) -> None:
    play = Play(version, 2**31 - 1)
    play.send()
    play.send()
    play.come_back(0, 1)
    assert play.queue() == [1, 0]
    assert play.drain() == [(0, 0)]


@pytest.mark.parametrize(
    ("version", "drains"),
    [
        ("1.1.1", [[], []]),
        ("2.3.1", [[], [(1, 0)]]),
        ("3.2.3", [[], [(1, 0)]]),
        ("3.3.2", [[], []]),
        ("4.4.0", [[(1, 0)], []]),  # the first visit begins behind the partition that waits
    ],
)
def test_drain_stops_at_reenqueued_batch_behind_in_flight_one_unless_rotation_starts_later(
    version: str, drains: list[list[tuple[int, int]]]
) -> None:
    play = Play(version)
    play.send()
    play.send()
    play.come_back(1)
    play.append(1)
    assert [play.drain(), play.drain()] == drains
    if version == "4.4.0":
        play.append(1)
        assert play.drain() == []


@pytest.mark.parametrize("version", EVERY_ERA)
def test_drain_of_batch_with_negative_sequence_throws_and_drops_the_batch(version: str) -> None:
    play = Play(version, 2**31 - 1)
    play.send(2)
    play.append()
    play.it.state.batches[1].sequence = -5
    play.it.acknowledge(play.batch(0))
    with pytest.raises(IllegalArgumentException):
        play.drain()
    assert play.queue() == []


@pytest.mark.parametrize("version", ["2.3.1", "2.4.1"])
def test_reenqueue_and_split_after_producer_id_reset_throw_illegal_state_in_2_3_and_2_4(version: str) -> None:
    play = Play(version)
    play.send()
    play.send()
    play.it.become(8, 0)
    with pytest.raises(IllegalStateException):
        play.come_back(0)
    with pytest.raises(IllegalStateException):
        play.it.split(play.batch(1))
    assert play.queue() == []
    assert play.batch(2) in play.it.state.incomplete


def test_split_of_an_in_flight_batch_assigns_sequences_and_keeps_batches_in_flight() -> None:
    play = Play("4.4.0")
    play.send(3)
    play.send()
    play.it.split(play.batch(0))
    assert play.drain() == [(0, 0)]
    pieces = play.it.split(play.batch(2))
    assert len(pieces) > 1
    assert [batch.sequence for batch in pieces] == [0, 2][: len(pieces)]
    assert sorted(batch.sequence or 0 for batch in play.sequences.partitions["t", 0].in_flight) == [0, 2, 3]


@pytest.mark.parametrize(("version", "left"), [("0.11.0.3", [0]), ("1.1.1", [0]), ("4.4.0", [0])])
def test_abort_of_undrained_batches_keeps_drained_batches_incomplete(version: str, left: list[int]) -> None:
    play = Play(version)
    play.send()
    play.append()
    play.it.abort_undrained()
    assert [batch.number for batch in play.it.state.incomplete] == left


@pytest.mark.parametrize("version", ["1.1.1", "2.4.1"])
def test_sequence_adjustment_of_an_aborted_in_flight_batch_throws_up_to_2_4(version: str) -> None:
    play = Play(version)
    play.send()
    play.send()
    play.batch(1).aborted = True
    with pytest.raises(IllegalStateException):
        play.it.fail(play.batch(0), Failure.REFUSED)


@pytest.mark.parametrize(("sent_again", "waits"), [(False, False), (True, True)])
def test_expired_batch_blocks_the_next_batch_of_the_partition_only_after_a_resend(
    sent_again: bool, waits: bool
) -> None:
    play = Play("4.4.0")
    play.send()
    if sent_again:
        play.come_back(0)
        play.drain()
    play.it.fail(play.batch(0), Failure.EXPIRED)
    play.append()
    assert play.drain() == ([] if waits else [(0, 1)])
