"""The kinds of scenario that ``delivery`` is asked about."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.rules.delivery.adapter import ask
from kafka_conformance.rules.delivery.question import KINDS, DeliveryQuestion
from kafka_reference.releases import NEWEST

__all__ = ["REQUIRED_LABELS", "labels"]

_EXACTLY_ONCE = "exactly once, in order"
_BROKEN = ("lost", "doubled", "reordered", "failed")
REQUIRED_LABELS = frozenset(
    {*_BROKEN, _EXACTLY_ONCE, "idempotent", "acks 0", "acks 1", "acks all", "invalid producer", "duplicate", "written"}
    | {"OUT_OF_ORDER_SEQUENCE_NUMBER", "NOT_ENOUGH_REPLICAS"}
    | {f"fault {kind}" for kind in KINDS}
)


def labels(question: DeliveryQuestion) -> Iterator[str]:
    """Yield what happens to the records and to the requests in the newest release, and the faults."""
    answer = ask(question, NEWEST)
    if "raises" in answer:
        yield "invalid producer"
        return
    yield from (name for name in _BROKEN if answer[name])
    idempotent = any(one["producer_id"] >= 0 for one in answer["requests"])
    yield "idempotent" if idempotent else f"acks {question.producer.acks or 'all'}"
    yield from sorted({one["came"] for one in answer["requests"]} | {f"fault {fault.op}" for fault in question.faults})
    if not any(answer[name] for name in _BROKEN):
        yield _EXACTLY_ONCE
