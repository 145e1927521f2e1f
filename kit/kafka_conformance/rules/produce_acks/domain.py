"""Which questions of ``produce-acks`` a broker can bring about."""

from __future__ import annotations

from kafka_conformance.rules.common.partition.domains import refuse_roles, refuse_step
from kafka_conformance.rules.produce_acks.question import ProduceQuestion

__all__ = ["domain"]


def domain(question: ProduceQuestion) -> str:
    """Return why no broker brings the question about, or ""."""
    return refuse_roles(question.steps) or next(filter(None, map(refuse_step, question.steps)), "")
