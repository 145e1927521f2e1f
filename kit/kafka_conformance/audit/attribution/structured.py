"""Place keys by what they say, not by a hash: the integer that a key is, modulo the partition count, and the like.

=======================  ==============================================================================================
rule                     partition, of n
=======================  ==============================================================================================
``text-integer``         the integer in ASCII digits, at most 18, modulo n
``int32-big-endian``     the key of four bytes as a signed integer, modulo n; never negative, as ``Math.floorMod``
``int32-little-endian``  the same, least byte first
``int64-big-endian``     the key of eight bytes as a signed integer, modulo n
``int64-little-endian``  the same, least byte first
``first-byte``           the first byte, unsigned, modulo n
``last-byte``            the last byte, unsigned, modulo n
``constant-3``           partition 3, for every key
=======================  ==============================================================================================

A key of another form is placed by none of these. They are found among the keys of several partitions only: in one partition,
all keys may share a byte for other reasons.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.candidates import candidate_partitions, find_candidate
from kafka_conformance.audit.attribution.compilation import DATA, OFFSETS, Int, compiled, inlined
from kafka_conformance.audit.attribution.placements import CONSTANT, STRUCTURED
from kafka_conformance.audit.attribution.relatives import RELATIVES
from kafka_reference.bulk import Data, Offsets

__all__ = ["structured_partitions", "structured_values"]

i64 = np.int64
MOST_DIGITS = 18
"""Digits of an integer that fits into an int64: 19 may not."""
TEXT, BIG_4, _LITTLE_4, BIG_8, _LITTLE_8, FIRST, LAST = range(7)


def structured_values(rule: str, offsets: Offsets, data: Data) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the integer of each key by a rule of STRUCTURED, and which keys have one."""
    values, known = np.zeros(offsets.size - 1, i64), np.zeros(offsets.size - 1, np.uint8)
    kind = [each.slug for each in STRUCTURED].index(rule)
    _reading()(np.ascontiguousarray(offsets), np.ascontiguousarray(data), kind, values, known)
    return values, known.astype(np.bool_)


def structured_partitions(rule: str, offsets: Offsets, data: Data, count: int) -> NDArray[np.int64]:
    """Return the partition of each key by a rule of STRUCTURED, a constant or a candidate; -1 where it places none."""
    if rule in RELATIVES or find_candidate(rule):
        return candidate_partitions(rule, offsets, data, count)
    if rule.startswith(CONSTANT):
        return np.full(offsets.size - 1, int(rule.removeprefix(CONSTANT)), i64)
    values, known = structured_values(rule, offsets, data)
    return np.where(known, values % count, -1)


@inlined
def _digits(data: Any, start: Int, end: Int) -> np.int64:
    """Return the integer in ASCII digits, or -1."""
    if start == end or end - start > MOST_DIGITS:
        return i64(-1)
    value = i64(0)
    for at in range(start, end):
        digit = i64(data[at]) - 48
        if not 0 <= digit <= 9:
            return i64(-1)
        value = i64(value * 10 + digit)
    return value


@inlined
def _integer(data: Any, start: Int, width: int, big: bool) -> np.int64:
    """Return the signed integer of ``width`` bytes."""
    value = i64(0)
    for at in range(width):
        value = i64(value << 8 | i64(data[start + at if big else start + width - 1 - at]))
    return i64(value - (1 << 32)) if width == 4 and value >= 1 << 31 else value


def _read(offsets: Any, data: Data, kind: int, values: NDArray[np.int64], known: NDArray[np.uint8]) -> None:
    for i in range(values.size):
        start, end = i64(offsets[i]), i64(offsets[i + 1])
        if kind == TEXT:
            values[i] = _digits(data, start, end)
            known[i] = values[i] >= 0
        elif kind in (FIRST, LAST):
            known[i] = end > start
            if known[i]:
                values[i] = data[start if kind == FIRST else end - 1]
        else:
            width = 4 if kind < BIG_8 else 8
            known[i] = end - start == width
            if known[i]:
                values[i] = _integer(data, start, width, kind in (BIG_4, BIG_8))


@lru_cache(maxsize=1)
def _reading() -> Callable[..., Any]:
    signatures = [types.void(kind, DATA, types.int64, types.int64[::1], types.uint8[::1]) for kind in OFFSETS]
    return compiled(_read, *signatures)
