"""How many records a batch has at most: it has less than 2^31 bytes, 61 of its own, and a record at least 7."""

from __future__ import annotations

__all__ = ["MOST_RECORDS"]

MOST_RECORDS = (2**31 - 1 - 61) // 7
