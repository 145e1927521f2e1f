"""Java's long: 64 bits with a sign, whose sums and differences wrap.

Java source mirrored: the operators of ``long``, Java Language Specification 15.18.
"""

from __future__ import annotations

__all__ = ["int64"]

_HIGHEST_BIT, _MASK = 1 << 63, (1 << 64) - 1


def int64(number: int) -> int:
    """Return the low 64 bits of ``number`` as a Java long, -2^63 to 2^63-1."""
    return ((number + _HIGHEST_BIT) & _MASK) - _HIGHEST_BIT
