"""What both indexes of a segment share: a preallocated file that is mapped into memory, its size, search and life cycle.

Java source mirrored: ``AbstractIndex`` (Scala up to 3.4.x, Java since 3.5.0). Locks have no effect on one thread.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NoReturn

from kafka_reference.arguments import checked, proven_by
from kafka_reference.errors import IllegalArgumentException, IllegalStateException, JavaException, NullPointerException
from kafka_reference.java.int32 import INT_MAX, int32
from kafka_reference.log_files.behaviour import IndexBehaviour
from kafka_reference.log_files.errors import (
    CorruptIndexException,
    IndexOffsetOverflowException,
    InvalidOffsetException,
    IOException,
    NoSuchFileException,
)
from kafka_reference.log_files.index_search import WARM_BYTES, ReadKey, find_slots
from kafka_reference.log_files.mapped_file import Folder, MappedFile, set_length
from kafka_reference.log_files.names import file_name
from kafka_reference.releases import NEWEST, Release

__all__ = ["DEFAULT_MAX_INDEX_SIZE", "AbstractIndex"]

DEFAULT_MAX_INDEX_SIZE = 10 * 1024 * 1024
"""``segment.index.bytes``."""


class AbstractIndex(ABC):
    """An index file: its entries from the front, then zeros up to the size it was preallocated with.

    ``max_index_size`` in bytes, rounded down to whole entries, is the size of a new file. ``data`` are the bytes of a file
    that exists, None makes a new one. ``folder`` and ``suffix`` name the file where several indexes share a folder.
    """

    entry_bytes: ClassVar[int]
    kind: ClassVar[str]
    subject: ClassVar[str]
    mapped_type: ClassVar[type[MappedFile]] = MappedFile

    @checked(version=proven_by("offset-index"))
    def __init__(
        self,
        base_offset: int,
        max_index_size: int = DEFAULT_MAX_INDEX_SIZE,
        data: bytes | None = None,
        *,
        version: str | Release = NEWEST,
        folder: Folder | None = None,
        suffix: str = "",
        writable: bool = True,
    ) -> None:
        self.behaviour = IndexBehaviour.of(version)
        self.base_offset, self.max_index_size = base_offset, max_index_size
        self.folder: Folder = {} if folder is None else folder
        self.name = self._first_name = file_name(base_offset, self.kind, suffix)
        if data is not None:
            self.folder[self.name] = bytearray(data)
        content, new = self._open(writable)
        self.length = len(content)
        self._mapped: MappedFile | None = self.mapped_type(content, writable=writable)
        self._mapped.move(0 if new else self._whole(self.length))
        self.max_entries = self.length // self.entry_bytes
        self.entries = self._mapped.position // self.entry_bytes
        self.load_last()

    def __repr__(self) -> str:  # unreached: for people
        return f"<{type(self).__name__} {self.name}, {self.entries} entries>"

    def _open(self, writable: bool) -> tuple[bytearray, bool]:
        if self.name in self.folder:
            return self.folder[self.name], False
        content = self.folder[self.name] = bytearray()
        if self.max_index_size < self.entry_bytes:
            raise IllegalArgumentException(f"Invalid max index size: {self.max_index_size}")
        if not writable:
            raise IOException
        set_length(content, self._whole(self.max_index_size))
        return content, True

    def _whole(self, size: int) -> int:
        """Return ``size`` rounded towards 0 to a multiple of the entry's size."""
        whole = abs(size) // self.entry_bytes * self.entry_bytes
        return whole if size >= 0 else -whole

    @property
    def shown_name(self) -> str:
        """The name of the file in the messages of both indexes: up to 0.11.0.x the one that it was opened by."""
        return self._first_name if self.behaviour.first_name_stays else self.name

    # What is in the file.

    @property
    def mapped(self) -> MappedFile:
        """The mapped file. Raises NullPointerException once the index is closed."""
        if self._mapped is None:
            raise NullPointerException
        return self._mapped

    @property
    def is_mapped(self) -> bool:
        """Whether the file is mapped."""
        return self._mapped is not None

    @property
    def is_full(self) -> bool:
        """Whether there is no slot left."""
        return self.entries >= self.max_entries

    @property
    def size_in_bytes(self) -> int:
        """The size of the entries."""
        return self.entry_bytes * self.entries

    @property
    def data(self) -> bytes | None:
        """The content of the file, None if it does not exist."""
        content = self.folder.get(self.name)
        return None if content is None else bytes(content)

    @abstractmethod
    def load_last(self) -> None:
        """Read the last entry."""

    @abstractmethod
    def truncate_to(self, offset: int) -> None:
        """Remove the entries from ``offset`` on."""

    @abstractmethod
    def sanity_check(self) -> None:
        """Check the last entry and the length of the file."""

    def read_number(self, slot: int, at: int, width: int) -> int:
        """Return the number at byte ``at`` of an entry. Raises IndexOutOfBoundsException, NullPointerException."""
        return self.mapped.get(int32(int32(slot * self.entry_bytes) + at), width)

    def find(self, read_key: ReadKey, target: int) -> tuple[int, int]:
        """Return the slots of the lower and upper bound. Raises IndexOutOfBoundsException, NullPointerException."""
        _ = self.mapped
        warm = None if self.behaviour.searches_whole_index else WARM_BYTES // self.entry_bytes
        return find_slots(read_key, self.entries, target, warm)

    # Offsets.

    def can_append_offset(self, offset: int) -> bool:
        """Return whether the offset is at most 2^31 - 1 above the base offset."""
        return 0 <= offset - self.base_offset <= INT_MAX

    def relative_offset(self, offset: int) -> int:
        """Return the offset above the base offset. Raises IndexOffsetOverflowException."""
        if not self.can_append_offset(offset):
            raise IndexOffsetOverflowException(f"Integer overflow for offset: {offset} ({self.name})")
        return offset - self.base_offset

    def stored_offset(self, offset: int) -> int:
        """Return the offset as it is stored. Raises IndexOffsetOverflowException since 2.0.0."""
        if self.behaviour.offsets_overflow:
            return int32(offset - self.base_offset)
        return self.relative_offset(offset)

    def count_entry(self) -> None:
        """Count the entry that was put. Raises an error if it does not stand where it should."""
        position = self.mapped.position
        if self.size_in_bytes != position:
            self.refuse(
                IllegalStateException, f"{self.entries} entries but file position in index is {position}", require=True
            )

    # Size.

    def resize(self, size: int) -> bool:
        """Give the file ``size`` bytes, rounded down to whole entries, and return whether that is another size.

        Raises IllegalArgumentException if the entries do not fit: the file is still cut, and the next entry goes
        to its start. Raises NullPointerException if the index is closed, which makes a file where there is none.
        """
        size = self._whole(size)
        if self.length == size and not self.behaviour.same_size_maps_again:
            return False
        content = self.folder.setdefault(self.name, bytearray())
        position = self.mapped.position
        set_length(content, size)
        self.length = size
        self._mapped = self.mapped_type(content, writable=True)
        self.max_entries = size // self.entry_bytes
        self._mapped.move(position)
        return True

    def trim_to_valid_size(self) -> None:
        """Cut the file behind the last entry. Raises as ``resize`` does."""
        if self.is_mapped or not self.behaviour.trims_only_if_mapped:
            self.resize(self.size_in_bytes)

    def reset(self) -> None:
        """Remove all entries and give the file the size of a new one; since 1.1.0."""
        self.truncate()
        self.resize(self.max_index_size)

    def truncate(self) -> None:
        """Remove all entries. Raises NullPointerException, without any entries then."""
        self.truncate_to_entries(0)

    def truncate_to_entries(self, entries: int) -> None:
        """Keep the first entries. The bytes of the others stay in the file."""
        self.entries = entries
        self.mapped.move(self.size_in_bytes)
        self.load_last()

    def truncate_at(self, read_key: ReadKey, offset: int) -> None:
        """Remove the entries from the one that the search finds for this offset, or behind the one it finds below it."""
        slot, _ = self.find(read_key, offset)
        if slot < 0:
            self.truncate_to_entries(0)
        else:
            self.truncate_to_entries(slot if read_key(slot) == offset else slot + 1)

    # Life cycle.

    def flush(self) -> None:
        """Write the file to the disk. Raises NullPointerException if the index is closed, up to 4.3.x."""
        if not self.behaviour.closed_is_flushed:
            _ = self.mapped

    def close(self) -> None:
        """Trim the file, up to 4.3.x, and unmap it, since 2.2.0."""
        if self.behaviour.close_trims:
            self.trim_to_valid_size()
        if not self.behaviour.close_keeps_mapping:
            self.unmap()

    def unmap(self) -> None:
        """Unmap the file (``closeHandler``, 1.0.0 to 4.3.x)."""
        self._mapped = None

    def rename(self, suffix: str) -> None:
        """Give the file another suffix. Raises NoSuchFileException, and the index has the new name in any case."""
        old, self.name = self.name, file_name(self.base_offset, self.kind, suffix)
        if old not in self.folder:
            raise NoSuchFileException
        self.folder[self.name] = self.folder.pop(old)

    def delete(self) -> bool:
        """Unmap and delete the file, and return whether it existed (``deleteIfExists`` since 1.1.0)."""
        self.unmap()
        return self.folder.pop(self.name, None) is not None

    # Errors.

    def refuse(self, error: type[JavaException], text: str, *, require: bool = False) -> NoReturn:
        """Raise the error. Up to 3.4.x its text ends with a period, and a failed ``require`` has a separate error."""
        if self.behaviour.texts_of_scala:
            if require:
                raise IllegalArgumentException(f"requirement failed: {text}.")
            raise error(f"{text}.")
        raise error(text)

    def refuse_full(self) -> None:
        """Raise IllegalArgumentException: there is no slot left."""
        text = f"Attempt to append to a full {self.subject} (size = {self.entries})."
        raise IllegalArgumentException(f"requirement failed: {text}" if self.behaviour.texts_of_scala else text)

    def refuse_offset(self, offset: str, place: str, last: int) -> None:
        """Raise InvalidOffsetException: the offset is too small."""
        self.refuse(
            InvalidOffsetException,
            f"Attempt to append an offset {offset} to {place} {self.entries} no larger than the last offset appended "
            f"({last}) to {self.shown_name}",
        )

    def corrupt(self, text: str) -> None:
        """Raise CorruptIndexException, up to 1.0.x IllegalArgumentException."""
        if self.behaviour.sanity_check_measures_file:
            raise IllegalArgumentException(f"requirement failed: {text}")
        raise CorruptIndexException(text)

    def check_length(self) -> None:
        """Raise an error if the file ends in mid-entry."""
        measured = self.behaviour.sanity_check_measures_file
        length = len(self.folder.get(self.shown_name, b"")) if measured else self.length
        if length % self.entry_bytes:
            subject = self.subject.capitalize() if self.subject != "index" else "Index"
            neither = f"not positive or not a multiple of {self.entry_bytes}."
            if not measured:
                period = "." if self.behaviour.texts_of_scala else ""
                neither = f"neither positive nor a multiple of {self.entry_bytes}{period}"
            self.corrupt(f"{subject} file {self.shown_name} is corrupt, found {length} bytes which is {neither}")
