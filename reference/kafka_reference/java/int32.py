"""Java's int: 32 bits with a sign, whose sums and products wrap.

Python's integers have no width, so mirrored code wraps a result by :func:`int32` where Java wraps it implicitly, and by
:func:`uint32` where the bits are shifted or combined afterwards (Java's ``>>>`` reads them without a sign).

Java source mirrored: the operators of ``int``, Java Language Specification 15.17 to 15.22.
"""

from __future__ import annotations

__all__ = ["INT_MAX", "INT_MIN", "int32", "uint32"]

INT_MAX = 0x7FFFFFFF
INT_MIN = -0x80000000


def int32(number: int) -> int:
    """Return the low 32 bits of ``number`` as a Java int, -2^31 to 2^31-1."""
    return ((number + 0x80000000) & 0xFFFFFFFF) - 0x80000000


def uint32(number: int) -> int:
    """Return the low 32 bits of ``number`` without a sign, 0 to 2^32-1."""
    return number & 0xFFFFFFFF
