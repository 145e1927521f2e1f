"""The writers are right: what they report of a record is what the topic holds, and each follows the rule it declares."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from itertools import count

import numpy as np
import pytest
from topics import (
    EXPLICIT,
    KEYLESS,
    NOT_BY_KEY,
    ROUND_ROBIN,
    JavaWriter,
    KafkaPython,
    Librdkafka,
    Records,
    Truth,
    Writer,
    create_topic,
    in_turns,
    keys_of,
    together,
    write_around_growth,
)  # fmt: skip

from kafka_conformance.brokers.broker import Broker
from kafka_reference import murmur2

_NUMBER = count()
PRODUCER = "org.apache.kafka.clients.producer.KafkaProducer"
KEYS = keys_of(3000, distinct=500, keyless=0.2)


def fnv1a(key: bytes) -> int:
    value = 0x811C9DC5
    for byte in key:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


PLACES: dict[str, Callable[[bytes, int], int]] = {
    "murmur2": lambda key, partitions: (murmur2(key) & 0x7FFFFFFF) % partitions,
    "librdkafka-consistent": lambda key, partitions: zlib.crc32(key) % partitions,
    "sarama-hash": lambda key, partitions: abs(fnv1a(key) - (fnv1a(key) >> 31 << 32)) % partitions,
}


@pytest.fixture
def topic(kafka_broker: Broker) -> str:
    name = f"written-{next(_NUMBER)}"
    create_topic(kafka_broker.bootstrap, name, 6)
    return name


def held(broker: Broker, topic: str, records: int) -> dict[tuple[int, int], bytes | None]:
    """What the topic holds, read by librdkafka: keys by partition and offset."""
    from confluent_kafka import Consumer, TopicPartition

    settings = {
        "bootstrap.servers": broker.bootstrap,
        "group.id": "reader",
        "auto.offset.reset": "earliest",
        "log_level": 0,
    }
    consumer, found = Consumer(settings | {"enable.auto.commit": False}), {}
    try:
        partitions = consumer.list_topics(topic, timeout=20).topics[topic].partitions
        consumer.assign([TopicPartition(topic, each, 0) for each in partitions])
        while len(found) < records:
            read = consumer.consume(1000, timeout=20)
            assert read, f"only {len(found)} of {records} records"
            for message in read:
                assert message.error() is None
                found[message.partition(), message.offset()] = message.key()
        assert not consumer.consume(1, timeout=0.5)
    finally:
        consumer.close()
    return found


def by_its_rule(truth: Truth) -> int:
    """Holds every keyed record against the rule that its writer declares; how many there are."""
    rows = zip(*(each.tolist() for each in (truth.keys, truth.rules, truth.counts, truth.partitions)), strict=True)
    keyed = [row for row in rows if row[1] in PLACES]
    assert all(PLACES[rule](key, partitions) == partition for key, rule, partitions, partition in keyed)
    return len(keyed)


@pytest.mark.parametrize(
    "named", ["java", "librdkafka", "librdkafka-murmur2", "librdkafka-fnv1a", "kafka-python"]
)  # fmt: skip
def test_partitions_and_offsets_reported_by_test_producers_match_topic_and_declared_partitioner(
    kafka_broker: Broker, topic: str, java: JavaWriter, named: str
) -> None:
    writers: dict[str, Writer] = {
        "java": java, "librdkafka": Librdkafka(), "librdkafka-murmur2": Librdkafka("murmur2_random"),
        "librdkafka-fnv1a": Librdkafka("fnv1a_random"), "kafka-python": KafkaPython(),
    }  # fmt: skip
    truth = writers[named].write(kafka_broker.bootstrap, topic, Records(KEYS))
    assert held(kafka_broker, topic, len(KEYS)) == {place: row[0] for place, row in truth.at().items()}
    assert truth.keys.tolist() == KEYS, "in the order in which they were sent"
    keyed = sum(key is not None for key in KEYS)
    assert by_its_rule(truth) == keyed
    assert (truth.rules == KEYLESS).sum() == len(KEYS) - keyed


def test_java_round_robin_writer_spreads_keyed_records_evenly(
    kafka_broker: Broker, topic: str, java: JavaWriter
) -> None:
    truth = java.with_settings(ROUND_ROBIN).write(kafka_broker.bootstrap, topic, Records(KEYS))
    assert set(truth.rules) == {NOT_BY_KEY}
    assert np.ptp(np.bincount(truth.partitions)) <= 1


@pytest.mark.parametrize("release", ["2.3.1", "3.2.3", "4.4.0"])
def test_java_writer_uses_the_producer_of_the_given_release(kafka_broker: Broker, topic: str, release: str) -> None:
    with JavaWriter(release=release) as java:
        truth = java.write(kafka_broker.bootstrap, topic, Records([None] * 600))
        source = java._own.call(
            lambda: (
                java._own.view.java.lang.Class.forName(PRODUCER)
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .getPath()
            )
        )
    assert source.endswith(f"_kafka-clients_{release}.jar")
    switches = (truth.partitions[1:] != truth.partitions[:-1]).mean()
    assert (switches == 1) == (release == "2.3.1"), "round robin up to 2.3, sticky since"


@pytest.mark.parametrize("writer", [None, Librdkafka(), KafkaPython()])
def test_topic_writers_keep_explicit_partition_value_and_timestamp(
    kafka_broker: Broker, topic: str, java: JavaWriter, writer: Writer | None
) -> None:
    keys, partitions = [b"a", b"b", None, b"c"], [5, None, 2, 0]
    sent = Records(keys, [b"1", b"2", b"3", b"4"], [1_000, 2_000, 3_000, 4_000], partitions)
    truth = (writer or java).write(kafka_broker.bootstrap, topic, sent)
    assert truth.rules.tolist() == [EXPLICIT, (writer or java).rule, EXPLICIT, EXPLICIT]
    assert [truth.partitions[at] for at in (0, 2, 3)] == [5, 2, 0]

    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": kafka_broker.bootstrap, "group.id": "x", "log_level": 0})
    try:
        consumer.assign([TopicPartition(topic, 5, int(truth.offsets[0]))])
        message = consumer.poll(20)
        assert (message.key(), message.value(), message.timestamp()[1]) == (b"a", b"1", 1_000)
    finally:
        consumer.close()


def test_topic_written_around_a_partition_count_increase_has_both_counts(
    kafka_broker: Broker, java: JavaWriter
) -> None:
    truth = write_around_growth(java, kafka_broker.bootstrap, "written-grown", Records(KEYS), Records(KEYS))
    assert truth.counts.tolist() == [3] * len(KEYS) + [12] * len(KEYS)
    assert truth.partitions[: len(KEYS)].max() == 2
    assert truth.partitions.max() == 11
    assert by_its_rule(truth) == 2 * sum(key is not None for key in KEYS)
    assert len(held(kafka_broker, "written-grown", len(truth))) == len(truth)


def test_writers_in_turn_make_blocks_and_concurrent_writers_interleave(kafka_broker: Broker, java: JavaWriter) -> None:
    def sent(count: int = 20_000) -> list[tuple[Writer, Records]]:
        return [(java, Records(keys_of(count))), (Librdkafka(), Records(keys_of(count)))]

    def changes(truth: Truth) -> int:
        """How often the next record of a partition is another writer's."""
        assert by_its_rule(truth) == len(truth)
        rows = truth.by_place()
        assert len(rows.at()) == len(rows)
        return int((rows.writers[1:] != rows.writers[:-1]).sum())

    for name in ("written-blocks", "written-turns"):
        create_topic(kafka_broker.bootstrap, name, 2)
    assert changes(in_turns(kafka_broker.bootstrap, "written-blocks", sent())) == 3
    assert changes(in_turns(kafka_broker.bootstrap, "written-turns", sent(), turns=4)) == 15
    # Where one is done before the other has begun, there was too little to do.
    for each in (20_000, 80_000, 320_000):
        create_topic(kafka_broker.bootstrap, f"written-mixed-{each}", 2)
        if changes(together(kafka_broker.bootstrap, f"written-mixed-{each}", sent(each))) > 3:
            return
    pytest.fail("two writers at the same time were never mixed")


def test_topic_writer_raises_for_a_record_to_a_missing_partition(
    kafka_broker: Broker, topic: str, java: JavaWriter
) -> None:
    nowhere = Records([b"a"], partitions=[77])
    for writer in (java.with_settings({"max.block.ms": "5000"}), Librdkafka(settings={"delivery.timeout.ms": 3000})):
        with pytest.raises(Exception) as raised:
            writer.write(kafka_broker.bootstrap, topic, nowhere)
        assert "partition" in str(raised.value).lower(), repr(raised.value)
