"""A stream of decompressed bytes, and its faults."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from kafka_reference.errors import JavaException

__all__ = ["Buffer", "EndOfInput", "InputFault", "Read", "Stream"]


class InputFault(Exception):
    """``java.io.IOException``: what is compressed is malformed."""


class EndOfInput(InputFault):
    """``java.io.EOFException``: what is compressed ends too early."""


Read: TypeAlias = Callable[[int], int]
"""Reads at most that many bytes from a stream, and returns their number; 0: the read met the fault, and lost its bytes."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer over a stream with a fault: which bytes are lost depends on how the stream is read."""

    size: int
    """What is read at a time, in bytes. A read of that size or more that finds the buffer empty goes past it."""
    start: int
    """How many bytes any read gets."""
    open: Callable[[], Read]
    """Returns what reads the stream from ``start`` on."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Decompressed bytes, and what ends them."""

    data: bytes
    """The bytes before the fault or the end."""
    fault: InputFault | JavaException | None = None
    """What a read behind ``data`` raises; None: the stream ends there."""
    buffer: Buffer | None = None
    """What stands between the fault and the reads; None: they get all of ``data``."""

    def seen_by(self, reads: Iterable[tuple[int, int]]) -> Stream:
        """Return the stream as far as these reads get before the fault; each is a position and a size in bytes.

        Java source mirrored: ``ChunkedBytesStream.read1`` and ``fill``, since 3.6.0; ``java.io.BufferedInputStream``.
        """
        if self.buffer is None:
            return self
        filled, read = self.buffer.start, self.buffer.open()
        for position, size in reads:
            while position + size > filled:
                got = read(max(position + size - filled, self.buffer.size))
                if not got:
                    return Stream(self.data[:filled], self.fault)
                filled += got
        # unreached: no question has a whole buffer behind its last record and a fault behind that
        return Stream(self.data[:filled], self.fault)

    def seen_in_chunks(self) -> Stream:
        """Return the stream as far as reads get that are all smaller than the buffer."""
        return self.seen_by((position, 1) for position in range(len(self.data) + 1))
