"""The offset index: entries ascend, and a search that starts at an entry finds every later record.

An entry (offset, position) is written before a batch is appended at ``position``; ``offset`` is that of the last record
of what is appended at once: one batch, or on followers up to 3.9.x several. So ``position`` is where a batch begins,
``offset`` is at or after that batch's base offset, after all offsets before it, and before those of the next entry.

Java source mirrored: ``OffsetIndex``, ``LogSegment.append`` and ``recover``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kafka_conformance.log_inspect.checks.context import Context
from kafka_conformance.log_inspect.findings import KEPT, Loss
from kafka_conformance.log_inspect.header import BatchHeader
from kafka_conformance.log_inspect.index_files import ENTRY_BYTES, IndexFile, OffsetEntry, TooLarge, batch_positions

__all__ = ["OffsetIndexCheck", "open_index"]

_ENTRY = ENTRY_BYTES["index"]


def open_index(context: Context, path: Path, base_offset: int, *, growing: bool) -> IndexFile | None:
    """Open an index and check its size; None if it cannot be read, or a broker has deleted it.

    ``growing``: zeros at its end are preallocated space.
    """
    name = context.name(path)
    try:
        index = IndexFile(path, base_offset, context.read)
    except FileNotFoundError:
        return None
    except TooLarge as error:
        context.findings.add("index-size", name, str(error.strerror))
        return None
    except OSError as error:
        context.findings.add("unreadable", name, str(error.strerror))
        return None
    if index.odd:
        bytes_each = ENTRY_BYTES[path.suffix[1:]]
        context.findings.add(
            "index-size",
            name,
            f"{index.size:,} bytes are not a multiple of {bytes_each}",
            position=index.size - index.odd,
            size=index.odd,
        )
    if index.zeros and not growing:
        context.findings.add(
            "index-zero-tail", name, f"{index.zeros:,} bytes of zeros after {index.entries:,} entries",
            position=index.size - index.odd - index.zeros, size=index.zeros,
        )  # fmt: skip
    return index


class OffsetIndexCheck:
    """Checks the offset index of one segment beside its batches."""

    def __init__(self, context: Context, index: IndexFile) -> None:
        self._context, self._index = context, index
        self._file = context.name(index.path)
        self._entries = self._ascending()
        self.anchors = batch_positions(index.offset_entries())
        self._next: OffsetEntry | None = None
        self._before: OffsetEntry | None = None
        self._pending: OffsetEntry | None = None  # no batch has ended with its offset so far
        self.next_position = -1
        self._fits: bool | None = None  # with the batches so far: None before an entry was compared
        self._advance()

    def batch(self, position: int, header: BatchHeader, last_before: int) -> None:
        """Check the entries up to this batch; ``last_before`` is the last offset before it, -1 at the segment's start."""
        if self._pending is not None:
            self._check_end(self._pending, header)
            self._set_next_position()
        while (entry := self._next) is not None and entry.position <= position:
            if entry.position < position:
                self._wrong_position(entry)
            else:
                self._check(entry, header, last_before)
            self._advance()

    def offset_at(self, position: int) -> int:
        """Return the offset of the next entry if it is that of this position, -1 if not."""
        return self._next.offset if self._next is not None and self._next.position == position else -1

    def skip(self, end: int) -> None:
        """Leave out entries whose position is before ``end``: there are no batches to hold against them."""
        self._pending = None
        while self._next is not None and self._next.position < end:
            self._advance()

    def end(self, end: int, size: int, last_offset: int) -> None:
        """Check the entries that are left: ``end`` is the end of the last batch, ``size`` that of the file by now."""
        beyond: list[OffsetEntry] = []
        count = 0
        while (entry := self._next) is not None:
            if entry.position >= size:
                beyond = [*beyond[: KEPT - 1], entry]
                count += 1
            elif entry.position < end:
                self._wrong_position(entry)
            self._advance()
        if beyond:
            self._report_beyond(beyond, count, size, last_offset)
        if self._before is not None and self._before.offset > last_offset >= 0 and size <= end:
            self._wrong_offset(self._before, f"the last offset of the segment is {last_offset}")

    def _report_beyond(self, entries: list[OffsetEntry], count: int, size: int, last_offset: int) -> None:
        """Report entries past the end of the file: the first ones, the last one, and how many there are."""
        losses, first = self._context.losses, max(last_offset + 1, self._index.base)
        # An index that is damaged itself tells nothing of what was in the log.
        end = 0 if self._fits is False else entries[-1].offset + 1
        cut = end > first and not losses.open
        for number in range(count):
            entry = entries[min(number, len(entries) - 1)]
            losses.add(self._context.findings.add(
                "index-past-end", self._file, f"the entry of offset {entry.offset} points to position "
                f"{entry.position:,} of a file of {size:,} bytes", position=entry.at, size=_ENTRY, offset=entry.offset,
                loss=Loss(first) if cut and not number else None,
            ))  # fmt: skip
        losses.known_end(end)

    def _check(self, entry: OffsetEntry, header: BatchHeader, last_before: int) -> None:
        if self._before is not None and self._before.offset > last_before >= 0:
            self._wrong_offset(self._before, f"the entry after it begins after offset {last_before}")
        if header.magic == 2 and entry.offset < header.base_offset:
            self._wrong_offset(entry, f"position {entry.position:,} has offsets from {header.base_offset}")
        elif entry.offset <= last_before:
            self._wrong_offset(entry, f"offset {last_before} is before position {entry.position:,}")
        self._before = entry
        self._fits = self._fits is not False
        if header.magic == 2 and header.base_offset <= entry.offset:
            self._check_end(entry, header)

    def _check_end(self, entry: OffsetEntry, header: BatchHeader) -> None:
        last = header.last_offset
        self._pending = entry if last < entry.offset else None
        if last > entry.offset:
            self._wrong_offset(entry, f"a batch has offsets {header.base_offset} to {last}: none ends with it")

    def _ascending(self) -> Iterator[OffsetEntry]:
        before: OffsetEntry | None = None
        for entry in self._index.offset_entries():
            if before is not None and (entry.offset <= before.offset or entry.position <= before.position):
                self._fits = False
                self._context.findings.add(
                    "index-not-ascending", self._file, f"({entry.offset}, {entry.position:,}) follows ({before.offset}, "
                    f"{before.position:,})", position=entry.at, size=_ENTRY, offset=entry.offset,
                )  # fmt: skip
                if entry.position <= before.position:
                    continue
            before = entry
            yield entry

    def _advance(self) -> None:
        try:
            self._next = next(self._entries, None)
        except OSError as error:
            self._context.findings.add("unreadable", self._file, str(error.strerror))
            self._next = None
        self._set_next_position()

    def _set_next_position(self) -> None:
        if self._pending is not None:
            self.next_position = 0  # every batch is wanted until one ends with this offset
        else:
            self.next_position = -1 if self._next is None else self._next.position

    def _wrong_position(self, entry: OffsetEntry) -> None:
        self._fits = False
        self._context.findings.add(
            "index-wrong-position", self._file, f"the entry of offset {entry.offset} points to position "
            f"{entry.position:,}, where no batch begins", position=entry.at, size=_ENTRY, offset=entry.offset,
        )  # fmt: skip

    def _wrong_offset(self, entry: OffsetEntry, why: str) -> None:
        self._fits = False
        self._context.findings.add(
            "index-wrong-offset", self._file, f"the entry of position {entry.position:,} has offset {entry.offset}: {why}",
            position=entry.at, size=_ENTRY, offset=entry.offset,
        )  # fmt: skip
