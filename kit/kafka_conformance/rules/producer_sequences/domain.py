"""Which questions of ``producer-sequences`` a user can bring about.

The configuration is one that KafkaProducer takes: an idempotent producer has acks=all, retries, and at most five
requests in flight; the delivery timeout is at least linger and the request timeout. Records go to partitions of the
topic. Brokers answer with any error of the protocol, or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.rules.common.domains import first_reason
from kafka_conformance.rules.producer_sequences.question import AppendStep, ProducerSequencesQuestion

__all__ = ["OPTIONAL_LABELS", "OPTIONAL_PARTS", "domain"]

OPTIONAL_LABELS = {"split": "splitting a batch that is too large"}
OPTIONAL_PARTS = {
    "steps.look": "the state of the producer",
    "steps.run.uncaught": "the exceptions that Kafka's sender logs",
}
_MOST_IN_FLIGHT = 5


def domain(question: ProducerSequencesQuestion) -> str:
    """Return why no user can bring the question about, or ""."""
    return first_reason(_reasons(question))


def _reasons(question: ProducerSequencesQuestion) -> Iterator[str]:
    config, count = question.config, len(question.leaders)
    if config.idempotence and (config.acks != "all" or not config.retries or config.max_in_flight > _MOST_IN_FLIGHT):
        yield "KafkaProducer refuses an idempotent producer without acks=all, without retries, or with more than 5 in flight"
    if config.delivery_timeout_ms < config.linger_ms + config.request_timeout_ms:
        yield "KafkaProducer refuses a delivery timeout below linger and request timeout"
    if not count:
        yield "a topic has at least one partition"
    if any(isinstance(step, AppendStep) and step.partition >= count for step in question.steps):
        yield "records go to partitions of the topic"
