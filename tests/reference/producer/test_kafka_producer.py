"""``KafkaProducer`` of the reference, against what the code of each release does."""

from __future__ import annotations

import pytest

from kafka_reference.accumulator.backoff import StepDraws
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.errors import ConfigException, NotInThisRelease
from kafka_reference.idempotence.requests import Reply
from kafka_reference.partitioning.cluster import Cluster, Node, Partition
from kafka_reference.partitioning.default import DefaultPartitioner
from kafka_reference.producer.kafka_producer import KafkaProducer, Placement, Record
from kafka_reference.producer.settings import ProducerSettings, effective_settings
from kafka_reference.releases import parse_release

MEMORY = 1 << 20
SMALL = {
    "batch_size": 120, "buffer_memory": MEMORY, "max_request_size": MEMORY, "request_timeout_ms": 30, "linger_ms": 0,
    "retry_backoff_ms": 0, "retry_backoff_max_ms": 0,
}  # fmt: skip
LARGE = Record(None, 40)  # a batch has room for one of these


def _settings(**settings: object) -> ProducerSettings:
    return ProducerSettings(**SMALL | settings)  # type: ignore[arg-type]


def _producer(release: str, partitions: int = 2, **settings: object) -> KafkaProducer:
    cluster = Cluster((Node(0),), tuple(Partition(number, 0) for number in range(partitions)))
    draws = StepDraws(tuple(range(100)))
    draws.begin_step()
    return KafkaProducer(release, _settings(**settings), Metadata(release, cluster, ["t"]), draws)


def _partitions(producer: KafkaProducer, *records: Record) -> list[int | None]:
    return [producer.send("t", record).partition for record in records]


def test_round_robin_skips_a_partition_for_each_new_batch_up_to_3_9_1() -> None:
    """KAFKA-13303: the second question for the same record counts. Since 3.6.1 partitions come in a hash map's order."""
    assert _partitions(_producer("3.5.2", 4, partitioner="round-robin"), *[LARGE] * 4) == [1, 3, 1, 3]
    assert _partitions(_producer("3.9.1", 4, partitioner="round-robin"), *[LARGE] * 4) == [2, 0, 2, 0]
    assert _partitions(_producer("3.9.2", 4, partitioner="round-robin"), *[LARGE] * 4) == [3, 2, 1, 0]
    assert _partitions(_producer("4.0.2", 4, partitioner="round-robin"), *[LARGE] * 4) == [3, 2, 1, 0]


def test_round_robin_in_3_9_2_repeats_explicit_partition_for_the_next_record() -> None:
    named = Record(None, 40, partition=1)
    assert _partitions(_producer("3.9.2", 4, partitioner="round-robin"), named, LARGE, LARGE) == [1, 1, 3]
    assert _partitions(_producer("4.0.2", 4, partitioner="round-robin"), named, LARGE, LARGE) == [1, 3, 2]


@pytest.mark.parametrize("release", ["2.4.1", "3.2.3"])
def test_new_batch_of_explicit_partition_equal_to_the_sticky_partition_switches_the_sticky_partition(
    release: str,
) -> None:
    """``onNewBatch`` is called wherever the partition comes from."""
    producer = _producer(release)
    first = producer.send("t", LARGE).partition
    assert first is not None
    assert _held(producer) == {"t": first}
    producer.send("t", Record(None, 40, partition=first))
    assert _held(producer) == {"t": 1 - first}


def _held(producer: KafkaProducer) -> dict[str, int]:
    partitioner = producer._choice.partitioner
    assert isinstance(partitioner, DefaultPartitioner)
    return partitioner.held


def test_oversized_record_is_refused_after_the_round_robin_counter_advanced() -> None:
    producer = _producer("4.4.0", 4, partitioner="round-robin", max_request_size=200)
    refused = producer.send("t", Record(None, 300))
    assert refused == Placement(0, None, "RecordTooLargeException", returned=True)
    assert producer.wakeups == 0
    assert producer.send("t", LARGE) == Placement(1, 2)


def test_record_or_batch_larger_than_buffer_memory_fails_with_too_large_or_illegal_argument() -> None:
    assert _producer("4.4.0", buffer_memory=100).send("t", LARGE).exception == "RecordTooLargeException"
    # The upper bound of the record fits, the batch does not.
    placed = _producer("4.4.0", buffer_memory=115).send("t", Record(None, 4))
    assert placed == Placement(0, None, "IllegalArgumentException")


@pytest.mark.parametrize(
    ("release", "exception", "returned"),
    [("0.10.0.1", "IllegalArgumentException", False), ("0.11.0.3", "TimeoutException", True)],
)
def test_send_to_missing_partition_throws_in_0_10_and_times_out_since_0_11(
    release: str, exception: str, returned: bool
) -> None:
    producer = _producer(release)
    assert producer.send("t", Record(None, 4, partition=2)) == Placement(0, None, exception, returned)
    assert producer.wakeups == int(returned)


def test_sender_is_woken_for_a_new_batch_and_while_an_earlier_batch_waits() -> None:
    producer = _producer("4.4.0")
    woken = []
    for size in (4, 4, 40, 4):
        before = producer.wakeups
        producer.send("t", Record(None, size, partition=0))
        woken.append(producer.wakeups - before)
    assert woken == [1, 0, 1, 1]  # new; room left; another new one; not the only batch of its queue


@pytest.mark.parametrize(
    ("release", "thrown"), [("3.0.2", None), ("3.1.0", None), ("3.1.2", "KafkaException"), ("3.2.3", "KafkaException")]
)
def test_send_after_fatal_error_throws_since_3_1_1_although_record_is_appended(
    release: str, thrown: str | None
) -> None:
    producer = _producer(release, idempotence=True)
    producer.sender.network.queue_producer_id(Reply("CLUSTER_AUTHORIZATION_FAILED"))
    producer.run()
    assert producer.send("t", Record(None, 4, partition=1)) == Placement(0, 1, thrown)


def test_flush_sends_and_waits_for_only_the_batches_present_at_the_call() -> None:
    producer = _producer("2.8.2", linger_ms=100)
    record = Record(None, 4, partition=0)
    producer.send("t", record)
    producer.flush()
    producer.run()
    assert [batch.records for _, batches in producer.sender.sent for batch in batches] == [(0,)]
    assert len(producer.sender.flushes) == 1
    producer.sender.network.reply(0, Reply("NONE", base_offset=7))
    producer.run()
    assert producer.sender.ended == [(0, 7)]
    assert producer.sender.flushes == []
    producer.send("t", record)
    producer.run()
    assert producer.sender.sent == []  # it lingers


def test_flush_without_batches_returns_at_once() -> None:
    producer = _producer("4.4.0")
    producer.flush()
    assert producer.sender.flushes == []


@pytest.mark.parametrize(("release", "waiting"), [("3.9.1", 0), ("3.9.2", 1), ("4.0.2", 1), ("4.4.0", 1)])
def test_flush_waits_for_split_batches_since_3_9_2(release: str, waiting: int) -> None:
    producer = _producer(release, idempotence=False, batch_size=400)
    for _ in range(2):
        producer.send("t", Record(None, 150, partition=0))
    producer.flush()
    producer.run()
    producer.sender.network.reply(0, Reply("MESSAGE_TOO_LARGE"))
    producer.run()
    assert len(producer.sender.flushes) == waiting


@pytest.mark.parametrize(("release", "linger_ms"), [("3.9.2", 0), ("4.0.2", 5)])
def test_default_linger_ms_is_0_up_to_3_9_and_5_since_4_0(release: str, linger_ms: int) -> None:
    assert effective_settings(_settings(linger_ms=None), parse_release(release)).accumulator.linger_ms == linger_ms


def test_default_delivery_timeout_is_at_least_request_timeout_and_a_shorter_one_throws() -> None:
    release = parse_release("4.4.0")
    patient = {"request_timeout_ms": 500_000}
    assert effective_settings(_settings(**patient), release).sender.delivery_timeout_ms == 500_000
    assert effective_settings(_settings(), release).sender.delivery_timeout_ms == 120_000
    with pytest.raises(ConfigException):
        effective_settings(_settings(**patient, delivery_timeout_ms=499_999), release)


def test_adaptive_partitioning_is_enabled_only_for_the_built_in_partitioner() -> None:
    release = parse_release("4.4.0")
    assert effective_settings(_settings(), release).accumulator.adaptive
    assert not effective_settings(_settings(partitioner="round-robin"), release).accumulator.adaptive


def test_partitioner_missing_in_the_release_raises_not_in_this_release() -> None:
    with pytest.raises(NotInThisRelease):
        _producer("4.0.2", partitioner="default")


@pytest.mark.parametrize(("release", "left"), [("3.9.1", MEMORY), ("3.9.2", MEMORY - 120)])
def test_expired_in_flight_batch_keeps_memory_until_response_since_3_9_2(release: str, left: int) -> None:
    """KAFKA-19012: the network client may still read the buffer of a batch that has expired."""
    producer = _producer(release, idempotence=False, delivery_timeout_ms=30)
    producer.send("t", Record(None, 4, partition=0))
    producer.run()
    producer.accumulator.state.now_ms = 30
    producer.run()
    assert producer.sender.ended == [(0, "TimeoutException")]
    assert producer.accumulator.state.pool.available == left
    producer.sender.network.reply(0, Reply("NONE"))
    producer.run()
    assert producer.accumulator.state.pool.available == MEMORY
