from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_reference.accumulator.accumulator import RecordAccumulator
from kafka_reference.accumulator.backoff import StepDraws
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.accumulator.sizes import SizedRecord
from kafka_reference.accumulator.state import AccumulatorConfig
from kafka_reference.errors import (
    ArithmeticException,
    IllegalStateException,
    JavaException,
    KafkaException,
    NotInThisRelease,
    NullPointerException,
    TimeoutException,
)
from kafka_reference.partitioning.cluster import Cluster, Node, Partition
from kafka_reference.releases import Release, parse_release

CONFIG = AccumulatorConfig(
    batch_size=200, linger_ms=5, retry_backoff_ms=10, retry_backoff_max_ms=10, delivery_timeout_ms=100,
    buffer_memory=10_000, adaptive=True, availability_timeout_ms=20,
)  # fmt: skip
EVERY_ERA = ["0.10.0.1", "0.11.0.3", "1.1.1", "2.0.1", "2.3.1", "2.6.3", "3.2.3", "3.3.2", "3.6.2", "3.7.2", "4.4.0"]
SMALL, HALF = SizedRecord(0, None, 10), SizedRecord(0, None, 110)


class Play:
    """An accumulator and a cluster to go with it: partitions as (id, leader)."""

    def __init__(
        self, version: str | Release, *partitions: tuple[int, int | None], nodes: int = 2, **config: int
    ) -> None:
        self.version = version
        self.it = RecordAccumulator(version, replace(CONFIG, **config), StepDraws(tuple(range(100))))
        self.move(*partitions, nodes=nodes)

    def move(self, *partitions: tuple[int, int | None], nodes: int = 2, epoch: int | None = None) -> None:
        cluster = Cluster(tuple(map(Node, range(nodes))), tuple(Partition(*each) for each in partitions))
        self.metadata = Metadata(self.version, cluster, ("t",), (epoch,) * len(partitions))

    def append(self, partition: int | None, record: SizedRecord = SMALL) -> tuple[int, bool, bool]:
        self.it.state.draws.begin_step()
        appended = self.it.append("t", partition, record, self.metadata)
        return appended.partition, appended.batch_full, appended.new_batch

    def wait(self, ms: int) -> None:
        self.it.state.now_ms += ms

    def ready(self) -> tuple[list[int], int | None]:
        found = self.it.ready(self.metadata)
        return sorted(found.nodes), found.delay_ms

    def drain(self, *nodes: int, max_size: int = 10_000) -> list[int]:
        return [batch.number for batch in self.it.drain(self.metadata, nodes, max_size)]

    def come_back(self, number: int) -> None:
        self.it.reenqueue(self.it.state.batches[number])

    def queue(self, partition: int = 0) -> list[int]:
        return [batch.number for batch in self.it.state.queue(("t", partition))]


@pytest.mark.parametrize("version", EVERY_ERA)
def test_batch_is_ready_and_drained_after_linger_ms(version: str) -> None:
    play = Play(version, (0, 0), (1, 1))
    assert play.append(0) == (0, False, True)
    assert play.append(0) == (0, False, False)
    assert play.ready() == ([], 5)
    play.wait(5)
    assert play.ready() == ([0], None)
    assert play.drain(0) == [0]
    assert play.ready() == ([], None)


@pytest.mark.parametrize("version", EVERY_ERA)
def test_record_that_does_not_fit_closes_the_batch_and_opens_another(version: str) -> None:
    play = Play(version, (0, 0))
    play.append(0, HALF)
    assert play.append(0, HALF) == (0, True, True)
    assert play.ready() == ([0], None)
    assert [batch.full for batch in play.it.state.batches] == [True, False]


@pytest.mark.parametrize("version", EVERY_ERA)
def test_reenqueued_batch_is_first_in_queue_and_waits_retry_backoff(version: str) -> None:
    play = Play(version, (0, 0))
    play.append(0)
    play.drain(0)
    play.append(0)
    play.come_back(0)
    assert play.queue() == [0, 1]
    assert play.ready() == ([], 10)
    assert play.drain(0) == []
    play.wait(10)
    assert play.drain(0) == [0]


@pytest.mark.parametrize(("version", "waits"), [("3.5.2", True), ("3.6.2", False), ("4.4.0", False)])
def test_new_leader_skips_retry_backoff_since_3_6(version: str, waits: bool) -> None:
    play = Play(version, (0, 0))
    play.move((0, 0), epoch=1)
    play.append(0)
    play.drain(0)
    play.come_back(0)
    play.move((0, 1), epoch=2)
    assert play.drain(1) == ([] if waits else [0])


@pytest.mark.parametrize(
    ("version", "rounds"),
    [("2.0.1", [[0], [1], [2]]), ("2.3.1", [[0], [2], [1]]), ("3.2.3", [[0], [2], [1]]), ("3.3.2", [[0], [1], [2]])],
)
def test_size_limited_drains_of_node_skip_every_other_partition_only_from_2_1_to_3_2(
    version: str, rounds: list[list[int]]
) -> None:
    play = Play(version, (0, 0), (1, 0), (2, 0))
    for partition in (0, 1, 2, 0, 1, 2):
        play.append(partition, HALF)
    drained = [play.it.drain(play.metadata, [0], 200) for _ in range(3)]
    assert [[batch.topic_partition[1] for batch in batches] for batches in drained] == rounds


@pytest.mark.parametrize(("version", "kind"), [("1.1.1", IllegalStateException), ("2.0.1", KafkaException)])
def test_append_to_closed_accumulator_throws_illegal_state_before_2_0_and_kafka_exception_since(
    version: str, kind: type[JavaException]
) -> None:
    play = Play(version, (0, 0))
    play.it.close()
    with pytest.raises(kind):
        play.append(0)


def test_drain_of_node_without_partitions_throws_up_to_3_5_and_is_empty_in_4_4() -> None:
    assert Play("4.4.0", (0, 0)).drain(1) == []
    with pytest.raises(ArithmeticException):
        Play("3.5.2", (0, 0)).drain(1)
    with pytest.raises(NullPointerException):
        Play("0.10.0.1", (0, 0)).drain(7)
    with pytest.raises(ArithmeticException):
        Play("0.11.0.3", (0, 0)).drain(7)


def test_delivery_timeout_of_a_reenqueued_batch_is_measured_from_the_first_append() -> None:
    play = Play("4.4.0", (0, 0))
    play.append(0)
    play.wait(50)
    play.drain(0)
    play.come_back(0)
    assert play.it.expire() == ([], 100)
    play.wait(50)
    assert [batch.number for batch in play.it.expire()[0]] == [0]


def test_batch_in_2_0_expires_after_linger_plus_request_timeout_unless_partition_is_muted() -> None:
    play = Play("2.0.1", (0, 0), linger_ms=60)
    play.append(0)
    play.wait(160)
    assert play.it.expire() == ([], None)
    play.wait(1)
    play.it.state.mute(("t", 0))
    assert play.it.expire() == ([], None)
    play.it.state.unmute(("t", 0), 0)
    assert [batch.number for batch in play.it.expire()[0]] == [0]


def test_append_without_partition_before_3_3_raises_not_in_this_release() -> None:
    with pytest.raises(NotInThisRelease):
        Play("3.2.3", (0, 0)).append(None)


def test_sticky_partition_switch_in_topic_without_partitions_throws_after_appending_the_record() -> None:
    play = Play("4.4.0", (0, 0))
    play.append(None)
    play.move()
    with pytest.raises(ArithmeticException):
        play.append(None, SizedRecord(0, None, 300))
    assert [len(batch.records) for batch in play.it.state.batches] == [1, 1]


def test_partition_load_stats_give_empty_queue_the_length_of_skipped_queue_of_slow_node() -> None:
    play = Play("4.4.0", (0, 0), (1, 1), (2, 1), linger_ms=0)
    for partition in (0, 0, 0, 1, 2, 2):
        play.append(partition, HALF)
    play.drain(1)
    play.it.update_node_latency(0, can_drain=True)
    play.wait(21)
    play.it.update_node_latency(0, can_drain=False)
    play.ready()
    table = play.it.load_table("t")
    assert table is not None
    # Partition 0 has 3 batches and is left out; partition 1 has none, and is taken to have 3; partition 2 has one.
    assert (table.range_ends, table.partition_ids[:2]) == ((1, 4), (1, 2))


@pytest.mark.parametrize(("version", "kept"), [("3.9.1", 0), ("3.9.2", 200), ("4.0.2", 200), ("4.4.0", 200)])
def test_abort_keeps_buffer_memory_of_in_flight_batches_since_3_9_2(version: str, kept: int) -> None:
    play = Play(version, (0, 0))
    play.append(0)
    play.drain(0)
    play.it.abort()
    assert play.it.state.pool.available == 10_000 - kept
    if kept:
        play.it.complete(play.it.state.batches[0])
        assert play.it.state.pool.available == 10_000


@pytest.mark.parametrize(("version", "open_piece"), [("2.5.1", True), ("2.6.3", False)])
def test_split_batches_stay_open_for_appends_up_to_2_5(version: str, open_piece: bool) -> None:
    play = Play(version, (0, 0))
    play.append(0)
    play.drain(0)
    (piece,) = play.it.split(play.it.state.batches[0])
    assert play.append(0)[2] is not open_piece
    assert len(piece.records) == 1 + open_piece


@pytest.mark.parametrize(("version", "headers"), [("0.11.0.0", ()), ("0.11.0.1", (("h", 9),))])
def test_batch_split_drops_record_headers_in_0_11_0_0(version: str, headers: tuple[tuple[str, int], ...]) -> None:
    play = Play(parse_release(version), (0, 0))
    play.append(0, replace(SMALL, headers=(("h", 9),)))
    play.drain(0)
    (piece,) = play.it.split(play.it.state.batches[0])
    assert piece.records[0].headers == headers
    assert piece.estimated == play.it.state.batches[0].estimated - (0 if headers else 12)


@pytest.mark.parametrize(("version", "fits"), [("0.10.0.0", True), ("0.10.0.1", False)])
def test_full_batch_stays_open_after_buffer_timeout_in_0_10_0_0(version: str, fits: bool) -> None:
    play = Play(parse_release(version), (0, 0), buffer_memory=CONFIG.batch_size)
    play.append(0, HALF)
    with pytest.raises(TimeoutException):
        play.append(0, HALF)
    assert play.it.state.batches[0].full is not fits
    assert play.it.state.batches[0].try_append(SMALL, 0) is fits


@pytest.mark.parametrize(("version", "pieces"), [("4.1.2", [3]), ("4.2.2", [1, 1, 1])])
def test_second_split_of_a_batch_yields_smaller_batches_since_4_2(version: str, pieces: list[int]) -> None:
    play = Play(version, (0, 0))
    for _ in range(3):
        play.append(0, SizedRecord(0, None, 30))
    play.drain(0)
    (whole,) = play.it.split(play.it.state.batches[0])
    play.drain(0)
    assert [len(piece.records) for piece in play.it.split(whole)] == pieces


@pytest.mark.parametrize(
    ("version", "found"), [("2.0.1", [0, 1]), ("3.2.3", [0, 1]), ("3.3.2", [1, 0]), ("4.4.0", [1, 0])]
)
def test_ready_nodes_follow_partition_number_since_3_3_and_topic_partition_hash_order_before(
    version: str, found: list[int]
) -> None:
    play = Play(version, (0, 1), (1, 0), (2, 1))
    for partition in range(3):
        play.append(partition)
    play.wait(5)
    assert play.it.ready(play.metadata).node_order == found


def test_abort_batches_empties_queues_and_keeps_the_queue_objects() -> None:
    play = Play("4.4.0", (0, 0))
    play.append(0)
    play.it.abort_batches()
    assert play.queue() == []
    assert play.it.state.find_queue(("t", 0)) is not None
    assert not play.it.state.incomplete
