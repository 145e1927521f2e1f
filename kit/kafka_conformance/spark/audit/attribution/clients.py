"""Name the placement of keyed records by each client in its default setting, so that ``--expect`` takes a client's name."""

from __future__ import annotations

from kafka_conformance.spark.audit.attribution.placements import ANY, JAVA

__all__ = ["CLIENTS", "rule_of"]

CLIENTS: dict[str, str] = {
    **dict.fromkeys(("java", "aiokafka", "franz-go", "kafka-python", "kafkajs", "krafka", "no-kafka"), JAVA),
    **dict.fromkeys(
        ("librdkafka", "confluent-kafka", "confluent-kafka-go", "node-rdkafka", "rust-rdkafka", "ruby-kafka"),
        "librdkafka-consistent",
    ),
    "sarama": "sarama-hash",
    "kafkajs-1": "kafkajs-legacy",
    "platformatic-kafka": "unsigned",
    "node-sinek": "murmur3-unsigned",
    "kafka-node": "constant-0",
    "spring-cloud-stream": "string-hash-code-abs-or-zero",
    "maxwell": "string-hash-code-abs",
    "kafka-rust": "xxhash-unsigned",
    "kafka-go": ANY,
    "pykafka": ANY,
}
"""By client; kafkajs-1 is KafkaJS up to 1.x. kafka-go's and pykafka's take partitions in turn, whatever the key."""


def rule_of(name: str) -> str:
    """Return the slug of the placement of this client; other names are returned as they are."""
    return CLIENTS.get(name, name)
