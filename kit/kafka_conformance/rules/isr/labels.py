"""The kinds of question that ``isr`` is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_conformance.core.newest_run import newest_answer
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.partition.steps import RespondStep
from kafka_conformance.rules.isr.adapter import ask
from kafka_conformance.rules.isr.question import InSyncQuestion

__all__ = ["OPTIONAL_LABELS", "REQUIRED_LABELS", "labels", "path"]

_STEPS = ("lead", "follow", "append", "fetch", "wait", "shrink", "respond", "broker", "unregister")
_RAISED = ("NotLeaderOrFollowerException", "UnknownLeaderEpochException", "OffsetOutOfRangeException")
REQUIRED_LABELS = frozenset(
    {
        *(f"step {op}" for op in _STEPS),
        *(f"raises {name}" for name in _RAISED),
        *("asks to add", "asks to remove", "added", "removed", "rejected", "sent again", "stays pending"),
    }
)
OPTIONAL_LABELS: dict[str, str] = {}


def labels(question: InSyncQuestion) -> Iterator[str]:
    """Yield the kinds of steps in the history, and the kinds of their answers in the newest release."""
    answers = newest_answer(ask, question)["steps"]
    yield from sorted({f"step {step.__struct_config__.tag}" for step in question.steps})
    yield from sorted({f"raises {one['raises']}" for one in answers if "raises" in one})
    yield from sorted(set(_events(question.steps, answers)))


def _events(steps: Sequence[object], answers: Sequence[Answer]) -> Iterator[str]:
    before: Answer = {"in_sync": [], "in_flight": False}
    for step, answer in zip(steps, answers, strict=True):
        if "raises" in answer:
            continue
        if answer["in_flight"] and not before["in_flight"]:
            yield "asks to add" if answer["maximal"] != answer["in_sync"] else "asks to remove"
        if isinstance(step, RespondStep) and before["in_flight"]:
            yield _outcome(before, answer)
        before = answer


def _outcome(before: Answer, answer: Answer) -> str:
    if answer["in_flight"]:
        return "sent again" if answer["sent"] else "stays pending"
    more = len(answer["in_sync"]) - len(before["in_sync"])
    return "added" if more > 0 else "removed" if more < 0 else "rejected"


def path(question: InSyncQuestion) -> str:
    """Return the group of a difference: what the script does to the in-sync replicas."""
    steps = {step.__struct_config__.tag for step in question.steps}
    return (
        " and ".join(sorted(str(step) for step in steps & {"shrink", "respond", "broker", "unregister", "follow"}))
        or "fetches"
    )
