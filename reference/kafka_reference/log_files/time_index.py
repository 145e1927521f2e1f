"""The time index of a segment: from a timestamp to the offset up to which no record is newer."""

from __future__ import annotations

from kafka_reference.arguments import checked
from kafka_reference.errors import IllegalArgumentException, IllegalStateException
from kafka_reference.java.int64 import int64
from kafka_reference.log_files.abstract_index import AbstractIndex
from kafka_reference.log_files.entries import NO_TIMESTAMP, TIME_ENTRY_BYTES, TimeEntry
from kafka_reference.log_files.names import TIME_INDEX

__all__ = ["TimeIndex"]


@checked
class TimeIndex(AbstractIndex):
    """Java source mirrored: ``TimeIndex``, every release since 0.11.0.0.

    >>> index = TimeIndex(0, 36)
    >>> index.maybe_append(1000, 12)
    >>> index.maybe_append(1000, 24)
    >>> index.lookup(1500)
    TimeEntry(timestamp=1000, offset=12)
    """

    entry_bytes = TIME_ENTRY_BYTES
    kind = TIME_INDEX
    subject = "time index"
    _last: TimeEntry

    @property
    def is_full(self) -> bool:
        """Whether there is at most one slot left: that one is for the roll of the segment."""
        return self.entries >= self.max_entries - 1

    @property
    def last_entry(self) -> TimeEntry:
        """The last entry; timestamp -1 and the base offset if there is none."""
        return self._read_last() if self.behaviour.last_entry_read_from_file else self._last

    def load_last(self) -> None:
        """Read the last entry, which is held since 1.1.0."""
        if not self.behaviour.last_entry_read_from_file:
            self._last = self._read_last()

    def _read_last(self) -> TimeEntry:
        return self._read(self.entries - 1) if self.entries else TimeEntry(NO_TIMESTAMP, self.base_offset)

    def _read_timestamp(self, slot: int) -> int:
        return self.read_number(slot, 0, 8)

    def _read_offset(self, slot: int) -> int:
        return int64(self.base_offset + self.read_number(slot, 8, 4))

    def _read(self, slot: int) -> TimeEntry:
        return TimeEntry(self._read_timestamp(slot), self._read_offset(slot))

    def lookup(self, timestamp: int) -> TimeEntry:
        """Return the last entry up to ``timestamp``, in ms; timestamp -1 and the base offset if there is none."""
        slot, _ = self.find(self._read_timestamp, timestamp)
        return TimeEntry(NO_TIMESTAMP, self.base_offset) if slot == -1 else self._read(slot)

    def entry(self, number: int) -> TimeEntry:
        """Return the entry with this number, from 0. Up to 2.2.x its offset has no base offset added.

        Raises IllegalArgumentException behind the last entry.
        """
        if number >= self.entries:
            self._refuse_entry(number)
        found = self._read(number)
        return found._replace(offset=self.read_number(number, 8, 4)) if self.behaviour.entry_is_relative else found

    def _refuse_entry(self, number: int) -> None:
        behaviour = self.behaviour
        text = f"Attempt to fetch the {number}th entry from"
        if behaviour.entry_error_without_file:
            self.refuse(IllegalArgumentException, f"{text} a time index of size {self.entries}")
        space = " " if behaviour.texts_of_scala else ""
        self.refuse(
            IllegalArgumentException, f"{text} {space}time index {self.shown_name} which has size {self.entries}"
        )

    def maybe_append(self, timestamp: int, offset: int, skip_full_check: bool = False) -> None:
        """Append an entry if its timestamp, in ms, is larger than the last one.

        ``skip_full_check`` uses the slot that is left for the roll of the segment. Raises IllegalArgumentException if the
        index is full, InvalidOffsetException and IllegalStateException if the offset or the timestamp is smaller than the
        last one, and IndexOffsetOverflowException if the offset is too far above the base offset; the timestamp is in the
        file then, and the next entry goes behind it.
        """
        if not skip_full_check and self.is_full:
            self.refuse_full()
        last = self.last_entry
        if self.entries and offset < last.offset:
            self.refuse_offset(f"({offset})", "slot", last.offset)
        if self.entries and timestamp < last.timestamp:
            self.refuse(
                IllegalStateException,
                f"Attempt to append a timestamp ({timestamp}) to slot {self.entries} no larger than the last timestamp "
                f"appended ({last.timestamp}) to {self.shown_name}",
            )
        if timestamp > last.timestamp:
            self.mapped.put(timestamp, 8)
            self.mapped.put(self.stored_offset(offset), 4)
            self.entries += 1
            self._last = TimeEntry(timestamp, offset)
            self.count_entry()

    def resize(self, size: int) -> bool:
        """Give the file ``size`` bytes, rounded down to whole entries. Raises as the base class does."""
        resized = super().resize(size)
        if resized:
            self.load_last()
        return resized

    def truncate_to(self, offset: int) -> None:
        """Remove the entries from ``offset`` on: offsets are searched as if they ascended."""
        self.truncate_at(self._read_offset, offset)

    def sanity_check(self) -> None:
        """Check the last entry and the length of the file. Raises CorruptIndexException since 1.1.0."""
        last = self.last_entry
        if self.entries and last.timestamp < (first := self._read_timestamp(0)):
            self._refuse_last(f"timestamp is {last.timestamp}", "no larger", f"timestamp {first}")
        if self.entries and last.offset < self.base_offset:
            self._refuse_last(f"offset is {last.offset}", "smaller", f"offset {self.base_offset}")
        self.check_length()

    def _refuse_last(self, last: str, relation: str, first: str) -> None:
        relation = relation if self.behaviour.sanity_check_measures_file else "less"
        self.corrupt(
            f"Corrupt time index found, time index file ({self.shown_name}) has non-zero size but the last {last} which is "
            f"{relation} than the first {first}"
        )
