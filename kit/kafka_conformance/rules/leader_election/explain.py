"""A change of a partition in rows: what each field was before, what is recorded, and what it is afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.timeline import NOTHING, Explained
from kafka_conformance.rules.leader_election.question import LeaderElectionQuestion
from kafka_reference.releases import Release

__all__ = ["explain", "parts"]

_FIELDS = (
    ("replicas", "replicas"), ("leader", "leader"), ("isr", "in sync"), ("elr", "eligible leader replicas"),
    ("last_known_elr", "last known leader"), ("removing", "removing"), ("adding", "adding"), ("recovery", "recovery"),
    ("directories", "directories"), ("leader_epoch", "leader epoch"), ("partition_epoch", "partition epoch"),
)  # fmt: skip


def parts(_: LeaderElectionQuestion, answer: Answer) -> Sequence[Any]:
    """Return what each row shows of an answer: each field, recorded and afterwards; none if it threw."""
    if "change" not in answer:
        return ()
    change, after = answer["change"] or {}, answer.get("after") or {}
    return [{"recorded": change.get(name), "after": after.get(name)} for name, _ in _FIELDS]


def explain(question: LeaderElectionQuestion, _: Release, answers: Sequence[Any]) -> Iterator[Explained]:
    """Yield a row for each field of the partition."""
    for (name, words), answer in zip(_FIELDS, answers, strict=True):
        shown = answer if isinstance(answer, dict) else {}
        before = _in_words(name, getattr(question.partition, name))
        after = _in_words(name, shown.get("after"))
        state = (("before", before), ("after", after), ("wanted", _in_words(name, getattr(question, name, None))))
        reasons = ("the leader epoch rises",) if name == "leader" and shown.get("recorded") is not None else ()
        yield Explained(None, words, _in_words(name, shown.get("recorded")), words, reasons, state)


def _in_words(name: str, value: Any) -> str:
    if name == "directories" and isinstance(value, tuple | list) and any(not isinstance(one, int) for one in value):
        return ", ".join(f"{one.directory} on {one.broker}" for one in value) or NOTHING
    if value is None or value in ((), []):
        return NOTHING
    if name == "leader" and value == -1:
        return "none"
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
