"""Mistakes that can be made in both indexes of a segment, as classes to mix into them."""

from __future__ import annotations

import struct
from typing import Any

from kafka_conformance.core.mutant import Ask
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules import RULES
from kafka_reference.behaviour import overridden
from kafka_reference.java.int32 import int32
from kafka_reference.log_files.abstract_index import AbstractIndex
from kafka_reference.log_files.behaviour import IndexBehaviour
from kafka_reference.log_files.index_search import ReadKey
from kafka_reference.log_files.mapped_file import MappedFile, set_length
from kafka_reference.releases import Release

__all__ = [
    "CeilingFound", "CountsToFirstZero", "CutEntryCounts", "ErasesTruncated", "FirstBelowFound", "KeepsTruncatedOffset",
    "LittleEndian", "PreallocatesAgain", "RefusesToCut", "RemovesOneMore", "RoundsUp", "StoresAbsoluteOffsets",
    "StrictlyBelowFound", "TrimsTruncated", "UncheckedLength", "overriding",
]  # fmt: skip


def overriding(rule: str, **values: Any) -> Ask:
    """Answer with the release's behaviour, but for these fields."""

    def ask(question: Any, release: Release) -> Answer:
        with overridden(IndexBehaviour, **values):
            return RULES[rule].ask(question, release)

    return ask


class RoundsUp(AbstractIndex):
    """The size of a file is rounded up to whole entries."""

    def _whole(self, size: int) -> int:
        return -(-size // self.entry_bytes) * self.entry_bytes


class CountsToFirstZero(AbstractIndex):
    """The entries of a file that exists end before its zeros."""

    def _open(self, writable: bool) -> tuple[bytearray, bool]:
        content, new = super()._open(writable)
        if not new and len(content) >= self.entry_bytes and not any(content[-self.entry_bytes :]):
            whole = len(bytes(content).rstrip(b"\0"))
            set_length(content, -(-whole // self.entry_bytes) * self.entry_bytes)
        return content, new


class CutEntryCounts(AbstractIndex):
    """An entry that is cut off at the end of a file is completed with zeros."""

    def _open(self, writable: bool) -> tuple[bytearray, bool]:
        content, new = super()._open(writable)
        set_length(content, -(-len(content) // self.entry_bytes) * self.entry_bytes)
        return content, new


class PreallocatesAgain(AbstractIndex):
    """A file that exists is given the size of a new one, and its entries are counted with the zeros."""

    def _open(self, writable: bool) -> tuple[bytearray, bool]:
        content, new = super()._open(writable)
        set_length(content, max(len(content), self._whole(self.max_index_size)))
        return content, new


class KeepsTruncatedOffset(AbstractIndex):
    """The entry of the offset itself is kept."""

    def truncate_at(self, read_key: ReadKey, offset: int) -> None:
        """Remove entries."""
        super().truncate_at(read_key, offset + 1)


class RemovesOneMore(AbstractIndex):
    """The entry below the offset is removed, too."""

    def truncate_at(self, read_key: ReadKey, offset: int) -> None:
        """Remove entries."""
        super().truncate_at(read_key, offset)
        if self.entries:
            self.truncate_to_entries(self.entries - 1)


class ErasesTruncated(AbstractIndex):
    """Removed entries are overwritten with zeros."""

    def truncate_to_entries(self, entries: int) -> None:
        """Keep the first entries."""
        super().truncate_to_entries(entries)
        content = self.folder[self.name]
        content[self.size_in_bytes :] = bytes(len(content) - self.size_in_bytes)


class TrimsTruncated(AbstractIndex):
    """The file is cut when entries are removed."""

    def truncate_to_entries(self, entries: int) -> None:
        """Keep the first entries."""
        super().truncate_to_entries(entries)
        self.trim_to_valid_size()


class RefusesToCut(AbstractIndex):
    """A size that is too small for the entries leaves the file unchanged."""

    def resize(self, size: int) -> bool:
        """Resize the file."""
        return super().resize(max(size, self.size_in_bytes))


class StrictlyBelowFound(AbstractIndex):
    """A lookup finds what is below the key, not the key itself."""

    def lookup(self, key: int) -> Any:
        """Return the last entry below the key."""
        return super().lookup(key - 1)  # type: ignore[misc]


class FirstBelowFound(AbstractIndex):
    """A lookup below the first entry finds the first entry."""

    def find(self, read_key: ReadKey, target: int) -> tuple[int, int]:
        """Return the slots of the bounds."""
        lower, upper = super().find(read_key, target)
        return (0 if lower == -1 and self.entries else lower), upper


class CeilingFound(AbstractIndex):
    """A lookup between two entries finds the second one."""

    def find(self, read_key: ReadKey, target: int) -> tuple[int, int]:
        """Return the slots of the bounds."""
        lower, upper = super().find(read_key, target)
        exact = lower != -1 and read_key(lower) == target
        return (lower if exact or upper == -1 else upper), upper


class StoresAbsoluteOffsets(AbstractIndex):
    """Offsets are stored without subtracting the base offset."""

    def stored_offset(self, offset: int) -> int:
        """Return the low 32 bits of the offset."""
        super().stored_offset(offset)
        return int32(offset)


class UncheckedLength(AbstractIndex):
    """A file that ends in mid-entry passes the sanity check."""

    def check_length(self) -> None:
        """Accept any length."""


class _LittleEndianFile(MappedFile):
    formats = {4: struct.Struct("<i"), 8: struct.Struct("<q")}  # noqa: RUF012


class LittleEndian(AbstractIndex):
    """The numbers of an entry have their low byte first."""

    mapped_type = _LittleEndianFile
