"""Which questions of ``producer-send`` a user can bring about: all of them.

A user sets the configuration, and Kafka refuses what it does not take; sends are calls of the public interface; brokers
answer with any error of the protocol, or not at all.
"""

from __future__ import annotations

from kafka_conformance.rules.producer_send.question import ProducerSendQuestion

__all__ = ["OPTIONAL_LABELS", "domain"]

OPTIONAL_LABELS = {
    **{f"partitioner: {name}": "this partitioner" for name in ("default", "uniform-sticky", "round-robin")},
    "keys ignored": "partitioner.ignore.keys",
    "partition without a leader": "placing records while a partition has no leader",
}


def domain(_: ProducerSendQuestion) -> str:
    """Return why no user can bring the question about, or ""."""
    return ""
