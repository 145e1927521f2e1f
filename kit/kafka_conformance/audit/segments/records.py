"""Read the keys, offsets and timestamps of a batch's records in compiled code, if all of them are well-formed.

``kafka_reference.record_batch`` reads 100,000 records a second, this some ten million. It accepts what the reference reads
without an exception, or less: the caller gives what it refuses to the reference, which also raises what Java throws.

The format is that of ``kafka_reference.record_batch.records``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.compilation import DATA, Int, compiled, inlined

__all__ = ["REFUSED", "read_well_formed"]

REFUSED = -1


def read_well_formed(
    payload: bytes | memoryview, count: int, base: tuple[int, int], log_append_ms: int | None, wanted: tuple[int, int],
    out: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], keys: NDArray[np.uint8],
) -> int:  # fmt: skip
    """Write offsets, timestamps, sizes of keys (-1: null) to ``out``, the keys' bytes to ``keys``; return how many records.

    ``payload`` has ``count`` records behind each other, ``base`` are base offset and base timestamp. Records with offsets
    from the first of ``wanted`` up to the second are written; ``out`` has room for all, ``keys`` for the payload. Returns
    REFUSED if one record is not well-formed, or if the payload does not end behind the last.
    """
    if count < 0:
        return REFUSED
    data = np.frombuffer(payload, np.uint8)
    log_append = log_append_ms is not None
    return int(_reading()(data, count, *base, log_append, log_append_ms or 0, *wanted, *out, keys))


@inlined
def _end_of_varint(data: Any, at: Int, end: Int, most: Int) -> Int:
    """Return the position behind the number at ``at``; 0 if it is not within ``end``, or has more than ``most`` bytes."""
    for position in range(at, min(at + most, end)):
        if data[position] < 0x80:
            return position + 1
    return 0


@inlined
def _varint(data: Any, at: Int, behind: Int, bits: Int) -> Int:
    """Return the signed number between these positions, of 32 or 64 bits."""
    raw = np.uint64(0)
    shift = np.uint64(0)
    for position in range(at, behind):
        raw |= np.uint64(data[position] & 0x7F) << shift
        shift += np.uint64(7)
    if bits == 32:
        raw &= np.uint64(0xFFFFFFFF)
    half = np.int64(raw >> np.uint64(1))
    return ~half if raw & np.uint64(1) else half


@inlined
def _behind_bytes(data: Any, at: Int, end: Int) -> tuple[Int, Int]:
    """Return the size of the bytes at ``at``, -1 for null, and the position behind them; 0 if they are not within."""
    behind = _end_of_varint(data, at, end, 5)
    if not behind:
        return -1, 0
    size = _varint(data, at, behind, 32)
    if size < 0:
        return -1, behind
    return size, behind + size if size <= end - behind else 0


@inlined
def _behind_headers(data: Any, at: Int, end: Int) -> Int:
    """Return the position behind the headers at ``at``; 0 if they are not well-formed."""
    behind = _end_of_varint(data, at, end, 5)
    if not behind:
        return 0
    count = _varint(data, at, behind, 32)
    if count < 0:
        return 0
    for _ in range(count):
        size, behind = _behind_bytes(data, behind, end)
        if not behind or size < 0:
            return 0
        size, behind = _behind_bytes(data, behind, end)
        if not behind:
            return 0
    return behind


def _read(
    data: Any, count: Int, base_offset: Int, base_ms: Int, log_append: bool, log_append_ms: Int, first: Int, last: Int,
    offsets: Any, times: Any, sizes: Any, keys: Any,
) -> Int:  # fmt: skip
    kept = 0
    written: Int = 0
    position: Int = 0
    for _ in range(count):
        behind = _end_of_varint(data, position, data.size, 5)
        if not behind:
            return -1
        size = _varint(data, position, behind, 32)
        end = behind + size
        if size < 1 or end > data.size:
            return -1
        at = behind + 1  # attributes
        behind = _end_of_varint(data, at, end, 10)
        if not behind:
            return -1
        time = log_append_ms if log_append else base_ms + _varint(data, at, behind, 64)
        at = behind
        behind = _end_of_varint(data, at, end, 5)
        if not behind:
            return -1
        offset = base_offset + _varint(data, at, behind, 32)
        key_size, at = _behind_bytes(data, behind, end)
        if not at:
            return -1
        _, behind = _behind_bytes(data, at, end)
        if not behind or _behind_headers(data, behind, end) != end:
            return -1
        position = end
        if not first <= offset < last:
            continue
        offsets[kept], times[kept], sizes[kept] = offset, time, key_size
        for byte in range(max(key_size, 0)):
            keys[written + byte] = data[at - key_size + byte]
        written += max(key_size, 0)
        kept += 1
    return kept if position == data.size else -1


@lru_cache(maxsize=1)
def _reading() -> Callable[..., Any]:
    number, column = types.int64, types.int64[::1]
    numbers = number, number, number, types.boolean, number, number, number
    return compiled(_read, types.int64(DATA, *numbers, column, column, column, types.uint8[::1]))
