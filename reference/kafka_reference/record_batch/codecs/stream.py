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
    """Decompressed bytes, and what ends them."""

    data: bytes
    """The bytes before the fault or the end."""
    fault: InputFault | JavaException | None = None
    """What a read behind ``data`` raises; None: the stream ends there."""
