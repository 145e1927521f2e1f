"""The kinds of question that ``produce-acks`` is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_conformance.core.newest_run import newest_answer
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.produce_acks.adapter import ask
from kafka_conformance.rules.produce_acks.question import ProduceQuestion, ProduceStep

__all__ = ["OPTIONAL_LABELS", "REQUIRED_LABELS", "labels", "path"]

_STEPS = (
    "lead", "follow", "produce", "expire", "check", "fetch", "wait", "shrink", "respond", "broker", "min_in_sync",
)  # fmt: skip
_ERRORS = (
    "NONE", "INVALID_REQUIRED_ACKS", "NOT_ENOUGH_REPLICAS", "NOT_LEADER_OR_FOLLOWER", "REQUEST_TIMED_OUT",
)  # fmt: skip
_CHECKED = ("NONE", "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "NOT_LEADER_OR_FOLLOWER")
REQUIRED_LABELS = frozenset(
    {
        *(f"step {op}" for op in _STEPS),
        *(f"answered {error}" for error in _ERRORS),
        *(f"checked {error}" for error in _CHECKED),
        *("acks -1", "acks 0", "acks 1", "waits", "two at once"),
    }
)
OPTIONAL_LABELS: dict[str, str] = {}


def labels(question: ProduceQuestion) -> Iterator[str]:
    """Yield the kinds of steps in the history, and the kinds of their answers in the newest release."""
    answers = newest_answer(ask, question)["steps"]
    yield from sorted({f"step {step.__struct_config__.tag}" for step in question.steps})
    acks = {step.acks for step in question.steps if isinstance(step, ProduceStep)}
    yield from sorted(f"acks {each}" for each in acks & {-1, 0, 1})
    yield from sorted(set(_events(question.steps, answers)))


def _events(steps: Sequence[object], answers: Sequence[Answer]) -> Iterator[str]:
    for step, answer in zip(steps, answers, strict=True):
        responses = answer.get("responses", [])
        yield from (f"answered {error}" for _, error, _ in responses)
        if "checked" in answer:
            yield f"checked {answer['checked'][1]}"
        if isinstance(step, ProduceStep) and not responses:
            yield "waits"
        if len(responses) > 1:
            yield "two at once"


def path(question: ProduceQuestion) -> str:
    """Return the group of a difference: what the script does to waiting requests."""
    steps = {step.__struct_config__.tag for step in question.steps}
    return " and ".join(sorted(str(step) for step in steps & {"expire", "check", "follow", "shrink"})) or "requests"
