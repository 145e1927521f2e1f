"""The exceptions of record batches that no other rule has."""

from __future__ import annotations

from kafka_reference.errors import JavaException

__all__ = [
    "BufferUnderflowException",
    "CorruptRecordException",
    "IndexOutOfBoundsException",
    "InvalidRecordException",
    "NegativeArraySizeException",
    "SnappyError",
    "StringIndexOutOfBoundsException",
]


class CorruptRecordException(JavaException, ValueError):
    """The CRC is wrong, or the header of a batch is impossible."""


class InvalidRecordException(JavaException, ValueError):
    """The records of a batch are malformed."""


# Thrown by the JVM.
class BufferUnderflowException(JavaException, IndexError):
    """A buffer ended before the value that was read from it."""


class IndexOutOfBoundsException(JavaException, IndexError):
    """A value was read at a position outside of its buffer."""


class NegativeArraySizeException(JavaException, ValueError):
    """The size of a block of snappy is negative; up to snappy-java 1.1.10.0."""


class SnappyError(JavaException, ValueError):
    """``org.xerial.snappy.SnappyError``: the size of a block of snappy is negative; since snappy-java 1.1.10.1."""


class StringIndexOutOfBoundsException(IndexOutOfBoundsException):
    """The key of a header ends behind its array; up to 2.6.x."""
