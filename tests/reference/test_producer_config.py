"""Settings by Kafka's names: coerced, refused and defaulted as the real ProducerConfig of each release does it."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_reference.accumulator import AccumulatorConfig, RecordAccumulator, SizedRecord
from kafka_reference.errors import ConfigException
from kafka_reference.idempotence import Reply, Sender, SenderConfig, producer_outcome
from kafka_reference.producer import KafkaProducer, ProducerSettings
from kafka_reference.producer_config import parse_settings

# What the ProducerConfig of 4.4.0 makes of these values, read from the real class; an Exception by its text.
COERCED: list[tuple[str, Any, Any]] = [
    ("linger.ms", 5, 5),
    ("linger.ms", " 5\n", 5),
    ("linger.ms", 2**40, 2**40),
    ("linger.ms", "x", "Not a number of type LONG"),
    ("linger.ms", True, "Expected value to be a 64-bit integer (long), but it was a java.lang.Boolean"),
    ("linger.ms", 1e17, "Expected value to be a 64-bit integer (long), but it was a java.lang.Double"),
    ("linger.ms", None, "Value must be non-null"),
    ("batch.size", "many", "Not a number of type INT"),
    ("batch.size", -1, "Value must be at least 0"),
    ("batch.size", 2**31, "Expected value to be a 32-bit integer, but it was a java.lang.Long"),
    ("batch.size", 10**20, "Expected value to be a 32-bit integer, but it was a java.math.BigInteger"),
    ("buffer.memory", "-1", "Value must be at least 0"),
    ("compression.type", "nope", "String must be one of: none, gzip, snappy, lz4, zstd"),
    ("compression.type", 5, "Expected value to be a string, but it was a java.lang.Integer"),
    ("partitioner.rack.aware", "TRUE", True),
    ("partitioner.rack.aware", False, False),
    ("partitioner.rack.aware", "yes", "Expected value to be either true or false"),
    ("client.rack", None, None),
]
DEFAULTS = {
    "buffer.memory": 33_554_432, "compression.type": "none", "batch.size": 16_384, "linger.ms": 5,
    "max.request.size": 1_048_576, "retry.backoff.ms": 100, "request.timeout.ms": 30_000, "delivery.timeout.ms": 120_000,
    "partitioner.adaptive.partitioning.enable": True, "partitioner.availability.timeout.ms": 0,
    "partitioner.ignore.keys": False, "retry.backoff.max.ms": 1_000, "partitioner.rack.aware": False, "client.rack": "",
}  # fmt: skip
RACKS = {"partitioner.rack.aware", "client.rack"}
PARTITIONER = {name for name in DEFAULTS if name.startswith("partitioner.")} - RACKS
# The names that the real ProducerConfig of a release does not define.
MISSING = {
    "4.4.0": set[str](),
    "4.0.2": RACKS,
    "3.6.2": RACKS | {"retry.backoff.max.ms"},
    "3.2.3": RACKS | {"retry.backoff.max.ms"} | PARTITIONER,
    "2.0.1": RACKS | {"retry.backoff.max.ms", "delivery.timeout.ms"} | PARTITIONER,
    "0.10.0.1": RACKS | {"retry.backoff.max.ms", "delivery.timeout.ms"} | PARTITIONER,
}


@pytest.mark.parametrize(("name", "value", "expected"), COERCED)
def test_setting_values_are_coerced_or_refused_like_java_producer_config(name: str, value: Any, expected: Any) -> None:
    if not isinstance(expected, str):
        assert parse_settings({name: value}, "4.4.0")[name] == expected
        return
    with pytest.raises(ConfigException) as refused:
        parse_settings({name: value}, "4.4.0")
    shown = {None: "null", True: "true"}.get(value, value)
    assert str(refused.value).removeprefix(f"Invalid value {shown} for configuration {name}: ") == expected


@pytest.mark.parametrize("version", MISSING)
def test_producer_config_defaults_are_those_of_the_release(version: str) -> None:
    linger_ms = 5 if version.startswith("4.") else 0
    expected = {name: value for name, value in DEFAULTS.items() if name not in MISSING[version]}
    assert parse_settings({}, version) == expected | {"linger.ms": linger_ms}


def test_invalid_compression_type_passes_in_3_2_and_64_bit_linger_ms_throws_in_2_1() -> None:
    assert parse_settings({"compression.type": "nope"}, "3.2.3")["compression.type"] == "nope"
    with pytest.raises(ConfigException, match="32-bit integer"):
        parse_settings({"linger.ms": 2**40}, "2.1.1")


@pytest.mark.parametrize(
    "make",
    [AccumulatorConfig.of, SenderConfig.of, ProducerSettings.of,
     *(lambda config, make=make: make(config=config) for make in (RecordAccumulator, Sender, KafkaProducer))],
)  # fmt: skip
def test_setting_name_with_underscores_raises_value_error_with_dotted_kafka_name(make: Any) -> None:
    with pytest.raises(ValueError, match=r"unknown setting 'linger_ms': Kafka's name is 'linger\.ms'"):
        make({"linger_ms": 5})
    make({"bootstrap.servers": "ignored:9092"})


def test_producer_outcome_accepts_int_and_bool_setting_values_but_throws_for_int_acks() -> None:
    assert not producer_outcome({"retries": 0}).idempotent
    assert producer_outcome({"max.in.flight.requests.per.connection": 3}).max_in_flight == 3
    assert producer_outcome({"enable.idempotence": True}, "2.8.2").idempotent
    with pytest.raises(
        ConfigException, match=r"configuration acks: Expected value to be a string, but it was a java\."
    ):
        producer_outcome({"acks": 1})


def test_accumulator_reads_settings_by_kafka_names() -> None:
    config = RecordAccumulator("2.0.1", {"linger.ms": "7", "request.timeout.ms": 9}).state.config
    assert (config.linger_ms, config.delivery_timeout_ms, config.batch_size) == (7, 9, 16_384)
    racks = AccumulatorConfig.of({"partitioner.rack.aware": True, "client.rack": "a", "compression.type": "gzip"})
    assert (racks.rack_aware, racks.rack, racks.compression, racks.adaptive) == (True, "a", "gzip", True)


def test_sender_takes_timeouts_retries_and_idempotence_from_settings_by_kafka_names() -> None:
    assert SenderConfig.of({"acks": "1", "retry.backoff.ms": 3}) == SenderConfig(
        acks=1,
        retries=2**31 - 1,
        max_in_flight=5,
        request_timeout_ms=30_000,
        delivery_timeout_ms=120_000,
        retry_backoff_ms=3,
    )
    sender = Sender(config={"retries": 0, "linger.ms": 0, "acks": "1"})
    sender.accumulator.append("t", 0, SizedRecord(value=1), sender.metadata)
    sender.run()
    sender.network.reply(0, Reply("NOT_ENOUGH_REPLICAS"))
    sender.run()
    assert sender.ended == [(-1, "NotEnoughReplicasException")], "a record that is not retried has ended"
    assert Sender().manager.is_idempotent
    assert not Sender(config={"acks": "0"}).manager.is_idempotent
    assert not Sender("2.8.2").manager.is_idempotent


def test_producer_reads_kafka_settings_and_throws_config_exception_for_unknown_partitioner_class() -> None:
    settings = ProducerSettings.of({"partitioner.class": "org.apache.kafka.clients.producer.RoundRobinPartitioner"})
    assert (settings.partitioner, settings.linger_ms, settings.acks) == ("round-robin", None, None)
    assert ProducerSettings.of({"acks": "0", "linger.ms": 1}).linger_ms == 1
    with pytest.raises(ConfigException, match=r"partitioner\.class: Class Mine could not be found"):
        KafkaProducer(config={"partitioner.class": "Mine"})
