"""The kinds of question that both indexes of a segment are asked, and the paths that group differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.index_steps import FilledFile

__all__ = ["OPTIONAL_LABELS", "OPTIONAL_PARTS", "SHARED_LABELS", "index_domain", "index_labels", "index_path"]

_STEPS = (
    "lookup", "entry", "entries", "name", "truncate_to", "truncate", "reset", "resize", "trim", "flush", "close",
    "close_handler", "reopen", "sanity_check", "can_append", "relative", "rename", "delete", "bytes", "look",
)  # fmt: skip
_RAISED = (
    "IllegalArgument", "InvalidOffset", "IndexOffsetOverflow", "CorruptIndex", "IndexOutOfBounds", "NullPointer",
    "ReadOnlyBuffer", "IllegalState", "NoSuchFile", "IO",
)  # fmt: skip
SHARED_LABELS = frozenset(
    {
        *(
            "short form",
            "found in short form",
            "file",
            "many entries",
            "20 steps and more",
            "full",
            "read only",
            "not opened",
        ),
        *(f"step {op}" for op in _STEPS),
        *(f"raises {name}Exception" for name in _RAISED),
    }
)
_JVM, _FILES = "Java's errors of mapped files", "the files of a broker"
OPTIONAL_LABELS = {
    "raises IndexOutOfBoundsException": _JVM,
    "raises NullPointerException": _JVM,
    "raises ReadOnlyBufferException": _JVM,
    "raises IllegalStateException": _JVM,
    "raises NoSuchFileException": _FILES,
    "raises IOException": _FILES,
    "raises CorruptIndexException": _FILES,
    "read only": _FILES,
    "not opened": _FILES,
    "step close_handler": _FILES,
    "step delete": _FILES,
    "step flush": _FILES,
    "step name": _FILES,
    "step rename": _FILES,
    "step reopen": _FILES,
    "step reset": _FILES,
    "step sanity_check": _FILES,
}
OPTIONAL_PARTS = {"steps.look": "the state of the index", "steps.bytes": _FILES}


def index_labels(question: Any, answer: Answer) -> Iterator[str]:
    """Yield the kinds of a question, and of its answer in the newest release."""
    if question.file is not None:
        yield "many entries" if isinstance(question.file, FilledFile) else "file"
    if not question.writable:
        yield "read only"
    if "steps" not in answer:
        yield "short form"
        yield f"raises {answer['raises']}" if "raises" in answer else "found in short form"
        return
    if len(question.steps) >= 20:
        yield "20 steps and more"
    yield from sorted({f"step {step.__struct_config__.tag}" for step in question.steps})
    yield from sorted({f"raises {one['raises']}" for one in answer["steps"] if "raises" in one})
    if any(one.get("full") for one in answer["steps"]):
        yield "full"
    if "Invalid max index size" in answer["steps"][0].get("message", ""):
        yield "not opened"


def index_path(question: Any) -> str:
    """Return the group of a difference: short forms, files and life cycles are kept apart."""
    steps = {step.__struct_config__.tag for step in question.steps}
    if not steps:
        return "short form"
    if steps & {"close", "close_handler", "delete", "rename", "reopen", "flush"}:
        return "life cycle"
    if steps & {"resize", "trim", "reset"}:
        return "size"
    return "file" if question.file is not None else "entries"


def index_domain(refuses_key: Callable[[int], str]) -> Callable[[Any], str]:
    """Return the domain of an index: ``refuses_key`` returns why no entry has a key (position or timestamp), or ""."""

    def reason(question: Any) -> str:
        if question.base_offset < 0:
            return "a segment's base offset is 0 or more"
        if not question.writable:
            return "a broker opens its indexes for writing"
        if not question.max_index_size >= 12:
            return "an index has room for an entry"
        return next(filter(None, (_step(question, step) for step in question.steps)), "")

    def _step(question: Any, step: Any) -> str:
        offset = getattr(step, "offset", question.base_offset)
        if not 0 <= offset - question.base_offset < 2**31:
            return "a segment has no offset that does not fit into 32 bits above its base offset"
        key = getattr(step, "timestamp", getattr(step, "position", 0))
        return refuses_key(key)

    return reason
