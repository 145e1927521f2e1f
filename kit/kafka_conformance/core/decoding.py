"""Decode what was written elsewhere: what decoders raise, and how large a question may be."""

from __future__ import annotations

from typing import Final, TypeVar

import msgspec

__all__ = ["LARGEST_QUESTION", "UNREADABLE", "UNREADABLE_TOML", "decode_question"]

_Question = TypeVar("_Question")

LARGEST_QUESTION: Final = 8 * 2**20
"""Bytes of the largest question that is asked, as JSON. To answer one takes up to some 60 times as much memory."""

UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""Of ``msgspec.json``: it may not be JSON, or not even UTF-8, or nested deeper than Python can follow."""

UNREADABLE_TOML: Final = (ValueError, RecursionError)
"""Of ``tomllib``, whose errors are ValueErrors, as are those of text and of a number with thousands of digits."""


def decode_question(document: bytes | msgspec.Raw, kind: type[_Question]) -> _Question:
    """Decode a question from outside. Raises an error in UNREADABLE, also for one of more than LARGEST_QUESTION bytes."""
    if (size := len(memoryview(document))) > LARGEST_QUESTION:
        raise msgspec.ValidationError(f"it has {size:,} bytes: expected at most {LARGEST_QUESTION:,}")
    return msgspec.json.decode(document, type=kind)
