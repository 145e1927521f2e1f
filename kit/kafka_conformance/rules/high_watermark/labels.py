"""The kinds of question that ``high-watermark`` is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from kafka_conformance.core.newest_run import newest_answer
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.high_watermark.adapter import ask
from kafka_conformance.rules.high_watermark.question import HighWatermarkQuestion

__all__ = ["OPTIONAL_LABELS", "REQUIRED_LABELS", "labels", "path"]

_STEPS = (
    "lead", "follow", "append", "fetch", "wait", "shrink", "respond", "broker", "min_in_sync", "replicate",
    "follow_high_watermark", "truncate", "epoch_end",
)  # fmt: skip
_RAISED = (
    "NotLeaderOrFollowerException", "FencedLeaderEpochException", "UnknownLeaderEpochException",
    "OffsetOutOfRangeException", "NotEnoughReplicasException", "OffsetsOutOfOrderException",
    "UnexpectedAppendOffsetException",
)  # fmt: skip
REQUIRED_LABELS = frozenset(
    {
        *(f"step {op}" for op in _STEPS),
        *(f"raises {name}" for name in _RAISED),
        *("advances", "goes down", "waits for a follower", "diverging", "unknown epoch", "middle of a batch"),
    }
)
OPTIONAL_LABELS = {
    "raises OffsetsOutOfOrderException": "offsets that do not ascend",
    "raises UnexpectedAppendOffsetException": "offsets below the end of the log",
}


def labels(question: HighWatermarkQuestion) -> Iterator[str]:
    """Yield the kinds of steps in the history, and the kinds of their answers in the newest release."""
    answers = newest_answer(ask, question)["steps"]
    yield from sorted({f"step {step.__struct_config__.tag}" for step in question.steps})
    yield from sorted({f"raises {one['raises']}" for one in answers if "raises" in one})
    yield from sorted(set(_events(answers)))
    if any(_middle(step, one) for step, one in zip(question.steps, answers, strict=True)):
        yield "middle of a batch"


def _events(answers: Sequence[Answer]) -> Iterator[str]:
    shown = [one for one in answers if "raises" not in one]
    for before, after in pairwise(shown):
        if after["high_watermark"] > before["high_watermark"]:
            yield "advances"
        if after["high_watermark"] < before["high_watermark"]:
            yield "goes down"
    for one in shown:
        if one["followers"] and one["high_watermark"] < one["end"]:
            yield "waits for a follower"
        if "diverging" in one:
            yield "diverging"
        if one.get("found") == [-1, -1]:
            yield "unknown epoch"


def _middle(step: object, answer: Answer) -> bool:
    replica, offset = getattr(step, "replica", None), getattr(step, "offset", -1)
    return any(broker == replica and -1 < end < offset for broker, end, *_ in answer.get("followers", ()))


def path(question: HighWatermarkQuestion) -> str:
    """Return the group of a difference: the script of a leader, of a follower, or of both in turn."""
    steps = {step.__struct_config__.tag for step in question.steps}
    if not steps & {"follow", "replicate", "follow_high_watermark", "truncate"}:
        return "leader"
    return "both" if "lead" in steps else "follower"
