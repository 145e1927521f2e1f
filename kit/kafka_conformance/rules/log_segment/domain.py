"""Which questions of ``log-segment`` a broker can bring about; its files may be damaged, as after a crash."""

from __future__ import annotations

from typing import Any

from kafka_conformance.rules.log_segment.question import AppendStep, LogSegmentQuestion, ReadStep, TruncateStep

__all__ = ["domain"]

_MOST = 2**31


def domain(question: LogSegmentQuestion) -> str:
    """Return why no broker brings the question about, or ""."""
    next_offset = question.base_offset
    for step in question.steps:
        match step:
            case AppendStep(batches):
                if not batches:
                    return "a broker appends at least one batch"
                for batch in batches:
                    if batch.offset < next_offset:
                        return "the offsets of a segment ascend from its base offset"
                    next_offset = batch.offset + len(batch.timestamps)
            case TruncateStep(offset):
                next_offset = max(min(next_offset, offset), question.base_offset)
        reason = _refused(step)
        if reason:
            return reason
    return (
        "" if next_offset - question.base_offset <= _MOST else "a segment has no offset that does not fit into 32 bits"
    )


def _refused(step: Any) -> str:
    if isinstance(step, ReadStep) and step.max_size < 0:
        return "a read has no negative size"
    return ""
