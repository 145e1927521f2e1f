"""The offset index of a segment: from an offset to the position in bytes where to look for it."""

from __future__ import annotations

from kafka_reference.arguments import checked
from kafka_reference.errors import IllegalArgumentException
from kafka_reference.java.int32 import int32
from kafka_reference.java.int64 import int64
from kafka_reference.log_files.abstract_index import AbstractIndex
from kafka_reference.log_files.entries import OFFSET_ENTRY_BYTES, OffsetEntry
from kafka_reference.log_files.names import OFFSET_INDEX

__all__ = ["OffsetIndex"]


@checked
class OffsetIndex(AbstractIndex):
    """Java source mirrored: ``OffsetIndex``, every release since 0.11.0.0.

    Offset 60 stands at or behind byte 8773, if the index has entries for the offsets 12 and 24:

        >>> index = OffsetIndex(0, 16)
        >>> index.append(12, 4423)
        >>> index.append(24, 8773)
        >>> index.lookup(60)
        OffsetEntry(offset=24, position=8773)
    """

    entry_bytes = OFFSET_ENTRY_BYTES
    kind = OFFSET_INDEX
    subject = "index"
    last_offset: int

    def load_last(self) -> None:
        """Read the last offset: the base offset if there are no entries."""
        self.last_offset = self._read(self.entries - 1).offset if self.entries else self.base_offset

    def _read_offset(self, slot: int) -> int:
        return int64(self.base_offset + self.read_number(slot, 0, 4))

    def _read_position(self, slot: int) -> int:
        return self.read_number(slot, 4, 4)

    def _read(self, slot: int) -> OffsetEntry:
        return OffsetEntry(self._read_offset(slot), self._read_position(slot))

    def lookup(self, offset: int) -> OffsetEntry:
        """Return the last entry up to ``offset``; the base offset at position 0 if there is none."""
        slot, _ = self.find(self._read_offset, offset)
        return OffsetEntry(self.base_offset, 0) if slot == -1 else self._read(slot)

    def fetch_upper_bound(self, position: int, size: int) -> OffsetEntry | None:
        """Return an entry behind ``size`` bytes from ``position``, or None. The sum is an int32, which may overflow."""
        _, slot = self.find(self._read_position, int32(position + size))
        return None if slot == -1 else self._read(slot)

    def entry(self, number: int) -> OffsetEntry:
        """Return the entry with this number, from 0. Up to 2.2.x its offset has no base offset added.

        Raises IllegalArgumentException behind the last entry.
        """
        if number >= self.entries:
            self._refuse_entry(number)
        found = self._read(number)
        return found._replace(offset=self.read_number(number, 0, 4)) if self.behaviour.entry_is_relative else found

    def _refuse_entry(self, number: int) -> None:
        text = f"Attempt to fetch the {number}th entry from"
        if self.behaviour.entry_error_without_file:
            self.refuse(IllegalArgumentException, f"{text} an index of size {self.entries}")
        self.refuse(IllegalArgumentException, f"{text} index {self.shown_name}, which has size {self.entries}")

    def append(self, offset: int, position: int) -> None:
        """Append an entry.

        Raises IllegalArgumentException if the index is full, InvalidOffsetException if the offset is not larger than the
        last one, and IndexOffsetOverflowException if it is too far above the base offset.
        """
        if self.is_full:
            self.refuse_full()
        if self.entries and offset <= self.last_offset:
            shown = f"({offset})" if self.behaviour.texts_of_scala else str(offset)
            self.refuse_offset(shown, "position", self.last_offset)
        stored = self.stored_offset(offset)
        self.mapped.put(stored, 4)
        self.mapped.put(position, 4)
        self.entries += 1
        self.last_offset = offset
        self.count_entry()

    def truncate_to(self, offset: int) -> None:
        """Remove the entries from ``offset`` on."""
        self.truncate_at(self._read_offset, offset)

    def sanity_check(self) -> None:
        """Check the last entry and the length of the file. Raises CorruptIndexException since 1.1.0."""
        strict = self.behaviour.last_at_base_is_corrupt
        if self.entries and (self.last_offset < self.base_offset or (strict and self.last_offset == self.base_offset)):
            self._refuse_last()
        self.check_length()

    def _refuse_last(self) -> None:
        behaviour = self.behaviour
        name = f"({self.shown_name})" if behaviour.texts_of_scala else self.shown_name
        relation = "less" if not behaviour.last_at_base_is_corrupt else "no greater"
        if behaviour.sanity_check_measures_file:
            relation = "no larger"
        period = "." if behaviour.texts_of_scala else ""
        self.corrupt(
            f"Corrupt index found, index file {name} has non-zero size but the last offset is {self.last_offset} which is "
            f"{relation} than the base offset {self.base_offset}{period}"
        )
