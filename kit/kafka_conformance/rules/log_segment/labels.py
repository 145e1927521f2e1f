"""The kinds of question that ``log-segment`` is asked."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.core.newest_run import newest_answer
from kafka_conformance.rules.log_segment.adapter import ask
from kafka_conformance.rules.log_segment.question import LogSegmentQuestion

__all__ = ["OPTIONAL_LABELS", "OPTIONAL_PARTS", "REQUIRED_LABELS", "labels", "path"]

_STEPS = (
    "append", "read", "translate", "should_roll", "truncate", "recover", "crash", "damage", "inactive", "resize", "reopen",
    "next_offset", "find", "look",
)  # fmt: skip
_RAISED = ("LogSegmentOffsetOverflowException", "IllegalArgumentException", "InvalidOffsetException")
REQUIRED_LABELS = frozenset(
    {
        *(f"step {op}" for op in _STEPS),
        *(f"raises {name}" for name in _RAISED),
        *(
            "several batches",
            "entries",
            "rolled",
            "cut off",
            "found nothing",
            "first batch cut",
            "jitter",
            "appended by a leader",
        ),
    }
)
_FILES = "the files of a broker"
OPTIONAL_LABELS = {f"step {op}": _FILES for op in ("crash", "damage", "reopen", "resize", "look", "inactive")} | {
    "raises InvalidOffsetException": "offsets that do not ascend",
    "raises IllegalArgumentException": "full indexes",
    "jitter": "segment.jitter.ms",
    "appended by a leader": "appends of a leader",
}
OPTIONAL_PARTS = {"steps.look": _FILES}


def labels(question: LogSegmentQuestion) -> Iterator[str]:
    """Yield the kinds of steps in the history, and the kinds of their answers in the newest release."""
    answers = newest_answer(ask, question)["steps"]
    yield from sorted({f"step {step.__struct_config__.tag}" for step in question.steps})
    yield from sorted({f"raises {one['raises']}" for one in answers if "raises" in one})
    if any(len(getattr(step, "batches", ())) > 1 for step in question.steps):
        yield "several batches"
    if any(getattr(step, "leader", False) for step in question.steps):
        yield "appended by a leader"
    if question.jitter_ms:
        yield "jitter"
    shown = {
        "entries": lambda one: any(one.get("index", "").rstrip("0")),
        "rolled": lambda one: one.get("roll"),
        "cut off": lambda one: one.get("truncated"),
        "found nothing": lambda one: one.get("found", 0) is None,
        "first batch cut": lambda one: one.get("incomplete"),
    }
    yield from (label for label, shows in shown.items() if any(map(shows, answers)))


def path(question: LogSegmentQuestion) -> str:
    """Return the group of a difference: a segment that only grows, one that is cut, or one that is reopened."""
    steps = {step.__struct_config__.tag for step in question.steps}
    if steps & {"reopen", "crash", "damage", "recover"}:
        return "recovery"
    return "cut" if steps & {"truncate", "inactive", "resize"} else "growth"
