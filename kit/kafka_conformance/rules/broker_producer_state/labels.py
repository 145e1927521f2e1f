"""The kinds of history that ``broker-producer-state`` is asked about, and the paths that group differences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka_conformance.core.newest_run import newest_answer
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.broker_producer_state.adapter import ask
from kafka_conformance.rules.broker_producer_state.question import BrokerProducerStateQuestion

__all__ = ["REQUIRED_LABELS", "labels", "path"]

_STEPS = (
    "append", "marker", "request", "verify", "expire", "snapshot", "load", "reload", "truncate", "start_over", "log_start",
    "high_watermark", "delete_snapshots", "look",
)  # fmt: skip
_RAISED = (
    "OutOfOrderSequence", "InvalidProducerEpoch", "InvalidTxnState", "TransactionCoordinatorFenced", "CorruptSnapshot",
    "IllegalArgument",
)  # fmt: skip
REQUIRED_LABELS = frozenset(
    {
        *("30 steps and more", "appended", "duplicate", "completed", "bytes", "five batches", "sequences wrap"),
        *("unstable", "transactional", "transaction version 2", "more than 12 producers"),
        *(f"by {origin}" for origin in ("client", "coordinator", "replication")),
        *(f"step {op}" for op in _STEPS),
        *(f"raises {name}Exception" for name in _RAISED),
    }
)


def labels(question: BrokerProducerStateQuestion) -> Iterator[str]:
    """Yield the kinds of steps in the history, and the kinds of their answers in the newest release."""
    if len(question.steps) >= 30:
        yield "30 steps and more"
    found: set[str] = set()
    for step, answer in zip(question.steps, newest_answer(ask, question)["steps"], strict=True):
        found.update(_step_labels(step))
        found.update(_answer_labels(answer))
    yield from sorted(found)


def _step_labels(step: Any) -> Iterator[str]:
    yield f"step {step.__struct_config__.tag}"
    origin = getattr(step, "origin", None)
    if origin is not None:
        yield f"by {origin}"
    if getattr(step, "transactional", False):
        yield "transactional"
    if getattr(step, "transaction_version", 0) == 2:
        yield "transaction version 2"


def _answer_labels(answer: Answer) -> Iterator[str]:
    yield from (name for name in ("appended", "duplicate", "completed", "bytes") if name in answer)
    if "raises" in answer:
        yield f"raises {answer['raises']}"
    producers = answer.get("producers", ())
    if len(producers) > 12:
        yield "more than 12 producers"
    if any(len(producer["batches"]) == 5 for producer in producers):
        yield "five batches"
    if any(first > last >= 0 for producer in producers for first, last, *_ in producer["batches"]):
        yield "sequences wrap"
    if answer.get("first_unstable") is not None:
        yield "unstable"


def path(question: BrokerProducerStateQuestion) -> str:
    """Return the group of a difference: batches alone, with markers, with verification and with files are kept apart."""
    steps = {step.__struct_config__.tag for step in question.steps}
    if steps & {"snapshot", "load", "reload", "truncate", "delete_snapshots", "start_over", "log_start"}:
        return "files and truncation"
    if "verify" in steps:
        return "verification"
    if steps & {"marker", "request", "high_watermark"}:
        return "markers and requests"
    return "expiry" if "expire" in steps else "batches"
