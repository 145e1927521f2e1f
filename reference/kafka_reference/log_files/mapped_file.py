"""A folder of files, and a file that is mapped into memory: what of ``java.io`` and ``java.nio`` an index uses."""

from __future__ import annotations

import struct
from typing import ClassVar, TypeAlias

from kafka_reference.errors import IllegalArgumentException
from kafka_reference.log_files.errors import (
    BufferOverflowException,
    IndexOutOfBoundsException,
    ReadOnlyBufferException,
)

__all__ = ["Folder", "MappedFile", "set_length"]

Folder: TypeAlias = dict[str, bytearray]
"""The contents of files by name."""


def set_length(content: bytearray, length: int) -> None:
    """Cut a file to ``length`` bytes, or extend it with zeros."""
    del content[length:]
    content.extend(bytes(length - len(content)))


class MappedFile:
    """A mapped file (``MappedByteBuffer``): what is written stands in the file at once.

    ``limit`` is its length in bytes when it was mapped; ``position`` is where the next value is put.
    """

    formats: ClassVar[dict[int, struct.Struct]] = {4: struct.Struct(">i"), 8: struct.Struct(">q")}

    def __init__(self, content: bytearray, *, writable: bool) -> None:
        self._content, self._writable = content, writable
        self.limit = len(content)
        self.position = 0

    def move(self, position: int) -> None:
        """Set the position. Raises IllegalArgumentException behind the limit."""
        if position > self.limit:
            raise IllegalArgumentException
        self.position = position

    def get(self, at: int, width: int) -> int:
        """Return the number of ``width`` bytes at ``at``. Raises IndexOutOfBoundsException."""
        if not 0 <= at <= self.limit - width:
            raise IndexOutOfBoundsException
        number: int = self.formats[width].unpack_from(self._content, at)[0]
        return number

    def put(self, number: int, width: int) -> None:
        """Write a number of ``width`` bytes and advance the position.

        Raises ReadOnlyBufferException, and BufferOverflowException if less than ``width`` bytes are left.
        """
        if not self._writable:
            raise ReadOnlyBufferException
        if self.position + width > self.limit:
            raise BufferOverflowException
        self.formats[width].pack_into(self._content, self.position, number)
        self.position += width
