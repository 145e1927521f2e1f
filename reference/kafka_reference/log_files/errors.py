"""Java exceptions of the files of a log."""

from __future__ import annotations

from kafka_reference.errors import JavaException

__all__ = [
    "BufferOverflowException",
    "CorruptIndexException",
    "IOException",
    "IndexOffsetOverflowException",
    "IndexOutOfBoundsException",
    "InvalidOffsetException",
    "NoSuchFileException",
    "ReadOnlyBufferException",
]


# Thrown by the JVM.
class IndexOutOfBoundsException(JavaException, IndexError):
    """A mapped file was read before its start or after its end."""


class BufferOverflowException(JavaException, ValueError):
    """A mapped file has no room for what is written."""


class ReadOnlyBufferException(JavaException, PermissionError):
    """A file that is mapped for reading was written."""


class IOException(JavaException, OSError):
    """The file system refuses, for example to extend a file that is open for reading."""


class NoSuchFileException(JavaException, FileNotFoundError):
    """The file to be renamed does not exist."""


# Thrown by a broker.
class InvalidOffsetException(JavaException, ValueError):
    """The offset is smaller than that of the last entry, or the same."""


class IndexOffsetOverflowException(JavaException, OverflowError):
    """The offset is lower than the base offset, or 2^31 and more above it; since 2.0.0."""


class CorruptIndexException(JavaException, ValueError):
    """The last entry contradicts the first one or the base offset, or the file ends in mid-entry; since 1.1.0."""
