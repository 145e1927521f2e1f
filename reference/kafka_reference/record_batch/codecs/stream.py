"""A stream of decompressed bytes, and its faults."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_reference.errors import JavaException

__all__ = ["EndOfInput", "InputFault", "Stream"]


class InputFault(Exception):
    """``java.io.IOException``: what is compressed is malformed."""


class EndOfInput(InputFault):
    """``java.io.EOFException``: what is compressed ends too early."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Decompressed bytes: ``data`` can be read; who reads on gets ``fault``, or the end of the stream if that is None."""

    data: bytes
    fault: InputFault | JavaException | None = None
