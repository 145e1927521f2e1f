"""The kinds of scenario that ``delivery`` is asked about."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from kafka_conformance.core.newest_run import newest_answer
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.delivery.adapter import ask, to_scenario
from kafka_conformance.rules.delivery.question import KINDS, DeliveryQuestion

__all__ = ["REQUIRED_LABELS", "labels"]

_EXACTLY_ONCE = "exactly once, in order"
_AFTER_APPEND = "error after the append"
_HIGH_MINIMUM = "min.insync.replicas above the number of replicas"
_BROKEN = ("lost", "doubled", "reordered", "failed")
REQUIRED_LABELS = frozenset(
    {*_BROKEN, _EXACTLY_ONCE, "idempotent", "acks 0", "acks 1", "acks all", "invalid producer", "duplicate", "written"}
    | {"OUT_OF_ORDER_SEQUENCE_NUMBER", "NOT_ENOUGH_REPLICAS", "REQUEST_TIMED_OUT"}
    | {
        "unclean election",
        "no leader",
        "in-sync replica left",
        "leader alone in sync",
        "high watermark below the end",
    }
    | {f"fault {kind}" for kind in KINDS}
    | {_AFTER_APPEND, _HIGH_MINIMUM}
)


def labels(question: DeliveryQuestion) -> Iterator[str]:
    """Yield what happens to the records and to the requests in the newest release, and the faults."""
    answer = newest_answer(ask, question)
    if "raises" in answer:
        yield "invalid producer"
        return
    yield from (name for name in _BROKEN if answer[name])
    idempotent = any(one["producer_id"] >= 0 for one in answer["requests"])
    yield "idempotent" if idempotent else f"acks {question.producer.acks or 'all'}"
    yield from sorted({one["came"] for one in answer["requests"]} | {f"fault {fault.op}" for fault in question.faults})
    if not any(answer[name] for name in _BROKEN):
        yield _EXACTLY_ONCE
    if any(fault.follows_append for fault in to_scenario(question).faults):
        yield _AFTER_APPEND
    if question.partition.min_insync_replicas > question.partition.replicas:
        yield _HIGH_MINIMUM
    if "partition" in answer:
        yield from _of_replicas(answer)


def _of_replicas(answer: Answer) -> Iterator[str]:
    """Yield what happens to the partition after any request."""
    states = [one["partition"] for one in answer["requests"]]
    steps = list(pairwise(states))
    if any(before["leader"] not in (None, after["leader"]) and after["leader"] not in (None, *before["in_sync"])
           for before, after in steps):  # fmt: skip
        yield "unclean election"
    if any(state["leader"] is None for state in states):
        yield "no leader"
    if any(set(after["in_sync"]) < set(before["in_sync"]) and after["leader"] == before["leader"]
           for before, after in steps):  # fmt: skip
        yield "in-sync replica left"
    if any(len(state["in_sync"]) == 1 for state in states):
        yield "leader alone in sync"
    if any(state["leader"] is not None and state["high_watermark"] < _end_of(state) for state in states):
        yield "high watermark below the end"


def _end_of(state: Any) -> Any:
    return state["replicas"][state["leader"]]["log_end_offset"]
