"""Timestamps of batches: in the future, before 2000, or in another unit than ms.

Retention by time compares the largest timestamp of the oldest segment with the clock, and stops at the first segment that
it keeps. So one batch in microseconds keeps its segment and all later ones; a segment in seconds is deleted as soon
as it may be.

Example: 1,700,000,000 is a day of 1970 in ms, and of November 2023 in seconds.

Java source mirrored: ``UnifiedLog.deleteRetentionMsBreachedSegments``.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from kafka_conformance.log_inspect.checks.context import Context
from kafka_conformance.log_inspect.findings import Severity
from kafka_conformance.log_inspect.header import BatchHeader
from kafka_conformance.log_inspect.result import RetentionHold, SegmentSummary

__all__ = ["EARLIEST_MS", "TOLERANCE_MS", "TimeCheck", "find_retention_hold", "shown_time"]

EARLIEST_MS = 946_684_800_000
"""The beginning of 2000: no record of Kafka's is older."""
TOLERANCE_MS = 86_400_000
"""How far clocks may be ahead."""
_UNITS = (("seconds", 1_000, 1), ("microseconds", 1, 1_000), ("nanoseconds", 1, 1_000_000))
_LATEST_SHOWN_MS = 253_402_300_799_999


class TimeCheck:
    """Checks the times of one segment. Batches whose largest timestamp is from ``first`` to ``last`` need no call."""

    def __init__(self, context: Context, file: str) -> None:
        self._context, self._file = context, file
        self.first, self.last = EARLIEST_MS, context.now_ms + TOLERANCE_MS

    def batch(self, position: int, header: BatchHeader) -> None:
        """Report a batch whose largest timestamp is implausible; -1 is that of a record without one."""
        timestamp = header.max_timestamp
        if timestamp < 0 or self.first <= timestamp <= self.last:
            return
        where = "in the future" if timestamp > self.last else "before 2000"
        unit = next((f", as a number of {name} it is {shown_time(in_ms)}" for name, factor, divisor in _UNITS
                     if self.first <= (in_ms := timestamp * factor // divisor) <= self.last), "")  # fmt: skip
        kind = "time-in-the-future" if timestamp > self.last else "time-before-2000"
        legal = timestamp < self.first and not unit  # a client may count its times from 0
        self._context.findings.add(
            kind, self._file, f"timestamp {timestamp} is {where}{unit}", position=position, size=header.size,
            offset=header.base_offset,
            severity=Severity.NOTE if legal else None,
        )  # fmt: skip


def find_retention_hold(segments: Sequence[SegmentSummary]) -> RetentionHold | None:
    """Return the segment that keeps later ones from retention by time; None if timestamps ascend from segment to segment.

    Example: the largest timestamps are 10, 90 and 20. The second segment stays until ``retention.ms`` after 90, and so does
    the third, 70 ms longer than by its own.

    Java source mirrored: ``UnifiedLog.deletableSegments``, which ends at the first segment that is not to be deleted.
    """
    known = [each for each in segments if each.largest_timestamp >= 0]
    held = max(known, key=lambda each: each.largest_timestamp, default=None)
    later = [each for each in segments if held is not None and each.base_offset > held.base_offset]
    if held is None or not later:
        return None
    own = max(each.largest_timestamp for each in later)
    return None if own < 0 else RetentionHold(
        base_offset=held.base_offset, segments=len(later), until=held.largest_timestamp,
        longer_ms=held.largest_timestamp - own,
    )  # fmt: skip


def shown_time(timestamp: int) -> str:
    """Return a timestamp in ms as a date and time in UTC."""
    if not 0 <= timestamp <= _LATEST_SHOWN_MS:
        return "after 9999" if timestamp > 0 else "none"
    shown = datetime.datetime.fromtimestamp(timestamp // 1_000, datetime.UTC)
    return f"{shown:%Y-%m-%d %H:%M:%S}.{timestamp % 1_000:03} UTC"
