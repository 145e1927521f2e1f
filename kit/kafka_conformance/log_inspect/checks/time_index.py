"""The time index: timestamps and offsets ascend, and a search that starts at an entry finds every later timestamp.

An entry (timestamp, offset) means: ``timestamp`` is the largest up to here, and ``offset`` has it, or is the last offset
of its batch. So no batch before that of ``offset`` has this timestamp or a larger one, and the largest up to there is not
smaller.

Java source mirrored: ``TimeIndex``, ``LogSegment.append``, ``recover`` and ``findOffsetByTimestamp``.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.log_inspect.checks.context import Context
from kafka_conformance.log_inspect.header import BatchHeader
from kafka_conformance.log_inspect.index_files import ENTRY_BYTES, IndexFile, TimeEntry

__all__ = ["TimeIndexCheck"]

_ENTRY = ENTRY_BYTES["timeindex"]


class TimeIndexCheck:
    """Checks the time index of one segment beside its batches."""

    def __init__(self, context: Context, index: IndexFile, base_offset: int) -> None:
        self._context, self._index, self._base = context, index, base_offset
        self._file = context.name(index.path)
        self._entries = self._ascending()
        self._largest = self.largest_kept = -1
        self._sound = True
        self._next: TimeEntry | None = None
        self._last: TimeEntry | None = None
        self.next_offset = -1
        self._advance()

    def batch(self, header: BatchHeader) -> None:
        """Check the entries up to the last offset of this batch."""
        last, largest = header.last_offset, max(self._largest, header.max_timestamp)
        while (entry := self._next) is not None and entry.offset <= last:
            if self._sound:
                if entry.timestamp <= self.largest_kept and entry.offset >= header.base_offset:
                    self._wrong(entry, f"an earlier batch has timestamp {self.largest_kept}")
                elif entry.timestamp > (largest if entry.offset >= header.base_offset else self._largest):
                    self._wrong(entry, f"the largest timestamp up to this offset is {largest}")
            self._advance()
        self.larger(header)

    def larger(self, header: BatchHeader) -> None:
        """Take note of the timestamp of a batch. The broker may or may not count one that compaction has emptied.

        A batch whose timestamp is not above ``largest_kept`` needs no call.
        """
        timestamp = header.max_timestamp
        if timestamp > self._largest:
            self._largest = timestamp
        if timestamp > self.largest_kept and header.records:
            self.largest_kept = timestamp

    def damaged(self) -> None:
        """Take note that timestamps of some batches are unknown."""
        self._sound = False

    def end(self, last_offset: int, *, growing: bool, closed: bool) -> None:
        """Check the entries that are left after the last batch; ``closed``: the largest timestamp was added."""
        last = None if self._last is None else self._last.timestamp
        if closed and self._next is None and self._sound and self.largest_kept > (-1 if last is None else last):
            self._context.findings.add(
                "time-index-short", self._file, f"it ends with {'no entry' if last is None else f'timestamp {last}'}; the "
                f"largest in the segment is {self.largest_kept}", position=self._index.entries * 12,
            )  # fmt: skip
        while (entry := self._next) is not None:
            if not growing and self._sound and not (entry.at == 0 and entry.offset == self._base):
                self._context.findings.add(
                    "time-index-past-end", self._file, f"the entry of timestamp {entry.timestamp} has offset "
                    f"{entry.offset}; the segment ends with {last_offset}", position=entry.at, size=_ENTRY,
                    offset=entry.offset,
                )  # fmt: skip
            self._advance()

    def _ascending(self) -> Iterator[TimeEntry]:
        before: TimeEntry | None = None
        for entry in self._index.time_entries():
            if before is not None and (entry.timestamp <= before.timestamp or entry.offset < before.offset):
                self._context.findings.add(
                    "time-index-back", self._file, f"(timestamp {entry.timestamp}, offset {entry.offset}) follows "
                    f"(timestamp {before.timestamp}, offset {before.offset})", position=entry.at, size=_ENTRY,
                    offset=entry.offset,
                )  # fmt: skip
                continue
            if before is None and entry.offset < self._base:
                self._wrong(entry, f"the segment begins at {self._base}")
                continue
            before = entry
            yield entry

    def _advance(self) -> None:
        self._last = self._next or self._last
        try:
            self._next = next(self._entries, None)
        except OSError as error:
            self._context.findings.add("unreadable", self._file, str(error.strerror))
            self._next = None
        self.next_offset = -1 if self._next is None else self._next.offset

    def _wrong(self, entry: TimeEntry, why: str) -> None:
        self._context.findings.add(
            "time-index-wrong", self._file, f"the entry of offset {entry.offset} has timestamp {entry.timestamp}: {why}",
            position=entry.at, size=_ENTRY, offset=entry.offset,
        )  # fmt: skip
