"""An election in rows: each field of the partition before and after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.timeline import NOTHING, Explained
from kafka_conformance.rules.zookeeper_leader_election.question import ZookeeperLeaderElectionQuestion
from kafka_reference.releases import Release

__all__ = ["explain", "parts"]

_FIELDS = ("leader", "isr", "leader_epoch", "version", "recovery")


def parts(_: ZookeeperLeaderElectionQuestion, answer: Answer) -> Sequence[Any]:
    """Return what each row shows of an answer: the chosen leader, then each field of the next state."""
    if "leader" not in answer:
        return ()
    state = (answer.get("election") or {}).get("state") or {}
    return [answer["leader"], *(state.get(name) for name in _FIELDS)]


def explain(
    question: ZookeeperLeaderElectionQuestion, _: Release, answers: Sequence[Any]
) -> Iterator[Explained]:  # fmt: skip
    """Yield the choice among the replicas, then a row for each field of the partition."""
    chosen = tuple((f"broker {one}", _condition(question, one)) for one in question.assignment)
    yield Explained(None, f"{question.election} election", _in_words(answers[0]), "choice", (), chosen)
    for name, after in zip(_FIELDS, answers[1:], strict=True):
        before = _in_words(getattr(question, name))
        words = name.replace("_", " ")
        yield Explained(None, words, _in_words(after), words, (), (("before", before), ("after", _in_words(after))))


def _condition(question: ZookeeperLeaderElectionQuestion, broker: int) -> str:
    parts = ["live" if broker in question.live else "dead", "in sync" if broker in question.isr else "out of sync"]
    if broker in question.shutting_down:
        parts.append("shuts down")
    if broker in question.removing:
        parts.append("is removed")
    return ", ".join(parts)


def _in_words(value: Any) -> str:
    if value is None or value in ((), [], -1):
        return NOTHING
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
