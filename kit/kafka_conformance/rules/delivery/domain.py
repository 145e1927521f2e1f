"""Which questions of ``delivery`` a user can bring about.

Settings take any text, and networks and brokers fail. But no broker answers a produce request with some errors, and with
others only some producers' requests (:mod:`kafka_reference.delivery.produce_errors`).
"""

from __future__ import annotations

from kafka_conformance.rules.delivery.adapter import to_scenario
from kafka_conformance.rules.delivery.question import DeliveryQuestion
from kafka_reference.delivery.produce_errors import PRODUCE_ERRORS, why_impossible

__all__ = ["domain"]

_WAITS = {"0": False, "1": False, "all": True, "-1": True}
_IDEMPOTENT = {"false": False, "true": True}


def domain(question: DeliveryQuestion) -> str:
    """Return why no user can bring the question about, or ""."""
    producer = question.producer
    waits, idempotent = _WAITS.get(producer.acks or ""), _IDEMPOTENT.get(producer.idempotence or "")
    for fault in to_scenario(question).faults:
        if fault.error is None or fault.error not in PRODUCE_ERRORS:
            continue
        why = why_impossible(
            fault.error, None, waits=waits, idempotent=idempotent, after_append=fault.follows_append
        )  # fmt: skip
        if why:
            return f"{fault.error} at request {fault.request}: {why}"
    return ""
