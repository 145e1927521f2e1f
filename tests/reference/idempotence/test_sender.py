from __future__ import annotations

import pytest

from kafka_reference.accumulator.accumulator import RecordAccumulator
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.accumulator.state import AccumulatorConfig
from kafka_reference.errors import IllegalStateException
from kafka_reference.idempotence.outcomes import Numbered
from kafka_reference.idempotence.requests import Reply
from kafka_reference.idempotence.sender import Sender, SenderConfig
from kafka_reference.partitioning.cluster import Cluster, Node, Partition
from kafka_reference.releases import parse_release


class Producer:
    """A sender with two partitions, and records appended to it."""

    def __init__(
        self, at: str, idempotent: bool = True, *, retries: int = 2**31 - 1, max_in_flight: int = 5, acks: int = -1,
        nodes: int = 1, retry_backoff_ms: int = 0,
    ) -> None:  # fmt: skip
        leaders = (Partition(0, 0), Partition(1, nodes - 1))
        metadata = Metadata(at, Cluster(tuple(map(Node, range(nodes))), leaders), ["t"])
        config = AccumulatorConfig(
            batch_size=100, linger_ms=0, retry_backoff_ms=0, retry_backoff_max_ms=0,
            delivery_timeout_ms=100 if parse_release(at) >= parse_release("2.1.0") else 30, buffer_memory=1 << 20,
            adaptive=False, availability_timeout_ms=0,
        )  # fmt: skip
        accumulator = RecordAccumulator(at, config)
        sending = SenderConfig(
            acks=acks, retries=retries, max_in_flight=max_in_flight, request_timeout_ms=30, delivery_timeout_ms=100,
            retry_backoff_ms=retry_backoff_ms,
        )  # fmt: skip
        self.sender = Sender(parse_release(at), sending, accumulator, metadata, idempotent)
        self._metadata, self._records = metadata, 0

    def append(self, count: int = 1, partition: int = 0) -> None:
        for _ in range(count):
            self.sender.accumulator.append("t", partition, Numbered(0, None, 4, (), self._records), self._metadata)
            self._records += 1

    def run(self, *replies: Reply, advance: int = 0) -> list[tuple[list[int], tuple[int, int], int]]:
        """Run a round and return what was sent: records, id and epoch, sequence."""
        self.sender.accumulator.state.now_ms += advance
        for reply in replies:
            self.sender.network.reply(0, reply)
        self.sender.run()
        return [(list(one.records), one.producer, one.sequence) for _, sent in self.sender.sent for one in sent]

    def ended(self) -> list[tuple[int, int | str]]:
        return list(self.sender.ended)


def identified(at: str, **more: int) -> Producer:
    producer = Producer(at, **more)
    producer.run()
    return producer


@pytest.mark.parametrize(("at", "rounds"), [("0.11.0.3", 1), ("2.4.1", 1), ("2.5.1", 2), ("4.4.0", 2)])
def test_sender_round_that_requests_a_producer_id_sends_no_batch_since_2_5(at: str, rounds: int) -> None:
    producer = Producer(at)
    producer.append()
    for _ in range(rounds - 1):
        assert producer.run() == []
    assert producer.run() == [([0], (1000, 0), 0)]


@pytest.mark.parametrize("at", ["0.10.0.1", "2.0.1", "4.4.0"])
def test_producer_without_idempotence_sends_no_sequences(at: str) -> None:
    producer = Producer(at, False)
    producer.append(2)
    assert producer.run() == [([0, 1], (-1, -1), -1)]
    producer.run(Reply("NONE", base_offset=50))
    assert producer.ended() == [(0, 50), (1, 51)]


@pytest.mark.parametrize(("at", "first"), [("1.1.1", 0), ("2.0.1", 1), ("4.4.0", 1)])
def test_lost_connection_reverses_retry_order_without_idempotence_since_2_0(at: str, first: int) -> None:
    producer = Producer(at, False)
    for _ in range(2):
        producer.append()
        producer.run()
    producer.sender.network.disconnect(0)
    producer.run()
    assert producer.run() == [([first], (-1, -1), -1)]


def test_lost_connection_keeps_sequence_order_of_idempotent_producer() -> None:
    producer = identified("4.4.0")
    for _ in range(2):
        producer.append()
        producer.run()
    producer.sender.network.disconnect(0)
    producer.run()
    assert producer.run() == [([0], (1000, 0), 0)]


def test_idempotent_producer_has_at_most_five_batches_in_flight() -> None:
    producer = identified("4.4.0")
    for number in range(6):
        producer.append()
        assert producer.run() == ([([number], (1000, 0), number)] if number < 5 else [])
    producer.run(Reply("NONE"))
    assert producer.run() == [([5], (1000, 0), 5)]


def test_max_in_flight_1_sends_failed_batch_again_before_the_next_batch_of_partition() -> None:
    producer = identified("4.4.0", max_in_flight=1)
    producer.append()
    producer.run()
    producer.append()
    assert producer.run() == []
    producer.run(Reply("NOT_ENOUGH_REPLICAS"))
    assert producer.run() == [([0], (1000, 0), 0)]


def test_record_fails_with_last_error_when_retries_are_exhausted() -> None:
    producer = identified("4.4.0", retries=1)
    producer.append()
    producer.run()
    producer.run(Reply("NOT_ENOUGH_REPLICAS"))
    assert producer.run() == [([0], (1000, 0), 0)]
    producer.run(Reply("NOT_ENOUGH_REPLICAS"))
    assert producer.ended() == [(0, "NotEnoughReplicasException")]


def test_message_too_large_splits_the_batch_even_with_retries_0() -> None:
    producer = identified("4.4.0", retries=0)
    producer.append(2)
    producer.run()
    producer.run(Reply("MESSAGE_TOO_LARGE"))
    assert producer.ended() == []
    assert producer.run() == [([0, 1], (1000, 0), 0)]  # both fit into a piece of batch.size
    assert [batch.is_piece for batch in producer.sender.accumulator.state.batches] == [False, True]


def test_duplicate_sequence_error_completes_record_with_offset_minus_1() -> None:
    producer = identified("4.4.0")
    producer.append()
    producer.run()
    producer.run(Reply("DUPLICATE_SEQUENCE_NUMBER"))
    assert producer.ended() == [(0, -1)]


def test_out_of_order_sequence_error_resends_batch_in_bumped_epoch() -> None:
    producer = identified("4.4.0")
    producer.append()
    producer.run()
    producer.run(Reply("OUT_OF_ORDER_SEQUENCE_NUMBER"))
    assert producer.run() == [([0], (1000, 1), 0)]


def test_out_of_order_sequence_error_fails_batch_and_resets_producer_id_up_to_2_4() -> None:
    producer = identified("2.4.1")
    producer.append()
    producer.run()
    producer.run(Reply("OUT_OF_ORDER_SEQUENCE_NUMBER"))
    assert producer.ended() == [(0, "OutOfOrderSequenceException")]
    producer.append()
    assert producer.run() == [([1], (1001, 0), 0)]


def test_batch_that_expires_when_drained_is_sent_and_record_fails_with_timeout_exception() -> None:
    producer = identified("4.4.0")
    producer.append()
    assert producer.run(advance=100) == [([0], (1000, 0), 0)]
    assert producer.ended() == [(0, "TimeoutException")]
    producer.run(Reply("NONE", base_offset=9))
    assert producer.ended() == []


def test_fatal_error_fails_all_batches_and_stops_sending() -> None:
    producer = identified("4.4.0")
    for _ in range(2):
        producer.append()
        producer.run()
    producer.run(Reply("CLUSTER_AUTHORIZATION_FAILED"))
    assert producer.ended() == [(0, "ClusterAuthorizationException")]
    assert producer.run() == []
    assert producer.ended() == [(1, "ClusterAuthorizationException")]


def test_acks_0_completes_records_with_offset_minus_1_when_sent() -> None:
    producer = Producer("4.4.0", False, acks=0)
    producer.append()
    producer.run()
    assert producer.ended() == [(0, -1)]


def test_exception_while_handling_one_partition_of_a_response_skips_later_partitions() -> None:
    producer = identified("0.11.0.3")
    producer.append()
    producer.append(partition=1)
    producer.run()
    producer.sender.manager.partitions.clear()
    producer.run(Reply("NONE"))
    assert producer.sender.uncaught == ["IllegalStateException"]
    assert producer.ended() == []


def test_request_timeout_during_wait_for_producer_id_mutes_no_partition_in_2_0() -> None:
    producer = Producer("2.0.1", max_in_flight=1, nodes=2, retry_backoff_ms=40)
    producer.append()
    producer.append(partition=1)
    producer.run()
    producer.sender.network.queue_producer_id(Reply("COORDINATOR_LOAD_IN_PROGRESS"))
    producer.run(Reply("OUT_OF_ORDER_SEQUENCE_NUMBER"))
    producer.append(partition=1)
    assert producer.run() == [([2], (1002, 0), 0)]
    assert producer.ended() == [(1, "OutOfOrderSequenceException")]


@pytest.mark.parametrize(("at", "ended"), [("2.2.0", []), ("2.2.1", [(0, "TimeoutException")])])
def test_batch_expiry_uses_start_time_of_the_sender_round_up_to_2_2_0(at: str, ended: list[object]) -> None:
    producer = Producer(at, retry_backoff_ms=20)
    producer.append()
    producer.sender.network.queue_producer_id(Reply("COORDINATOR_LOAD_IN_PROGRESS"))
    producer.run(advance=90)
    assert producer.sender.now_ms == 110
    assert producer.ended() == ended


def after_a_split(at: str) -> Producer:
    """Two records were split, and in 40 ms the time of their batch is up. A third is appended to another partition."""
    producer = identified(at)
    producer.append(2)
    producer.run()
    producer.run(Reply("MESSAGE_TOO_LARGE"), advance=60)
    producer.append(partition=1)
    return producer


@pytest.mark.parametrize("at", ["2.1.0", "2.2.2", "2.3.0"])
def test_split_batch_stays_in_flight_and_expiry_throws_in_2_1_to_2_3_0(at: str) -> None:
    producer = after_a_split(at)
    with pytest.raises(IllegalStateException):
        producer.run(advance=40)
    assert producer.sender.sent == []


@pytest.mark.parametrize("at", ["2.0.1", "2.3.1", "4.4.0"])
def test_expiry_of_split_batch_lets_other_partition_send_in_2_0_and_since_2_3_1(at: str) -> None:
    assert ([2], (1000, 0), 0) in after_a_split(at).run(advance=40)


def after_an_abort(version: str) -> Producer:
    """A batch of partition 1 was aborted in flight: the producer lost its id after the last epoch and got no other."""
    producer = Producer(version, nodes=2)
    producer.sender.network.queue_producer_id(Reply("NONE", producer=(7, 2**15 - 1)))
    producer.run()
    producer.append(partition=1)
    producer.run()
    producer.append()
    producer.run()
    producer.sender.network.queue_producer_id(Reply("CLUSTER_AUTHORIZATION_FAILED"))
    producer.run(Reply("INVALID_TIMESTAMP"))
    producer.run()
    producer.run()
    assert producer.ended() == [(0, "ClusterAuthorizationException")]
    producer.run()
    assert producer.sender.manager.current == (1002, 0)
    return producer


@pytest.mark.parametrize("version", ["3.6.2", "3.9.1", "4.0.1", "4.1.1"])
def test_expiry_of_aborted_in_flight_batch_throws_up_to_3_9_1_4_0_1_and_4_1_1(version: str) -> None:
    producer = after_an_abort(version)
    with pytest.raises(IllegalStateException):
        producer.run(advance=100)


@pytest.mark.parametrize("version", ["3.9.2", "4.0.2", "4.1.2", "4.2.2", "4.3.1", "4.4.0"])
def test_aborted_in_flight_batch_does_not_expire_since_3_9_2_4_0_2_and_4_1_2(version: str) -> None:
    producer = after_an_abort(version)
    assert producer.run(advance=100) == []
    assert producer.ended() == []
