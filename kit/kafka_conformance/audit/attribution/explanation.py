"""Find the placements that explain each key, that is would put it into its partition: a uint32 per key.

An empty key is explained in every partition by a placement that takes it for none and draws at random
(``Placement.draws_empty``).

A fold turns a hash into a non-negative number of 32 bits and takes the remainder (``float-arithmetic`` works differently).
Only the equality of remainder and partition is needed, which a multiplication decides without a division: with
``c = ceil(2^64 / n)``, n divides x if and only if ``x * c mod 2^64 < c``, for every x of 33 bits and n below 2^31 (Lemire,
Kaser, Kurz: Faster remainder by direct computation, 2019). x is the dividend plus n minus the partition, which is never
negative: for a negative x the test is wrong.

Keys are processed in pieces whose hashes fit into the processor's cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
from numba import types
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.compilation import compiled, inlined, read
from kafka_conformance.audit.attribution.distinct_keys import distinct, identities
from kafka_conformance.audit.attribution.hash_columns import HASH_NAMES, hash_column, hash_columns
from kafka_conformance.audit.attribution.placements import ANY, PLACEMENTS, Placement, find_placement, number
from kafka_conformance.audit.attribution.structured import structured_partitions
from kafka_conformance.audit.result import Placed
from kafka_reference.bulk import Data, Offsets

__all__ = [
    "FOLD_NAMES", "KeyColumn", "Masks", "Partitions", "chosen_partitions", "explained", "explained_hashes", "folded",
    "how_many_explained", "leading",
]  # fmt: skip

Masks: TypeAlias = NDArray[np.uint32]
Partitions: TypeAlias = NDArray[np.int32] | int

FOLD_NAMES: tuple[str, ...] = (
    "masked", "unsigned", "sign-abs", "abs-but-lowest", "sign-inverted", "shift", "float-arithmetic",
)  # fmt: skip
"""The folds by their number in the kernels, 0 to 6."""

u32, u64, i64, f64 = np.uint32, np.uint64, np.int64, np.float64
LOWEST, POSITIVE = u32(0x80000000), u32(0x7FFFFFFF)
MASKED, UNSIGNED, ABS, ABS_BUT_LOWEST, INVERTED, SHIFT, DOUBLES = range(7)
PIECE = 4096
"""Keys whose 20 hashes of 4 bytes, 320 KiB, stay in the second-level cache; a whole block has 5 MiB."""


def explained(offsets: Offsets, data: Data, partition: Partitions, count: int) -> Masks:
    """Return for each key the placements that would put it into its partition, of ``count`` partitions.

    ``partition`` is one number for all keys, or an int32 for each. A key in partition ``count`` or above is
    explained by none. Raises what ``hash_columns`` raises; ValueError for a count below 1.
    """
    out = np.empty(offsets.size - 1, u32)
    for start in range(0, out.size, PIECE):
        piece = slice(start, start + PIECE)
        hashes = hash_columns(offsets[start : start + PIECE + 1], data)
        at = partition[piece] if isinstance(partition, np.ndarray) else partition
        out[piece] = explained_hashes(hashes, PLACEMENTS, at, count)
    out[_drawn(offsets, partition, count)] |= _DRAWING
    return out


def leading(placement: Placement, offsets: Offsets, data: Data, partition: Partitions, count: int) -> NDArray[np.bool_]:
    """Return which keys this placement explains; for Java's at a fraction of the cost of :func:`explained`."""
    hashes = hash_column(placement.hash, offsets, data).reshape(1, -1)
    found = _masks(hashes, np.zeros(1, i64), _folds((placement,)), partition, count).astype(np.bool_)
    return found | _drawn(offsets, partition, count) if placement.draws_empty else found


def _drawn(offsets: Offsets, partition: Partitions, count: int) -> NDArray[np.bool_]:
    """Return which keys are empty, in a partition that exists: a placement that draws for them explains each of these."""
    out: NDArray[np.bool_] = (offsets[1:] == offsets[:-1]) & (partition >= 0) & (partition < count)
    return out


_DRAWING = u32(sum(1 << bit for bit, each in enumerate(PLACEMENTS) if each.draws_empty))


def explained_hashes(
    hashes: NDArray[np.uint32], placements: tuple[Placement, ...], partition: Partitions, count: int
) -> Masks:
    """Return :func:`explained` for computed hashes; bit i is ``placements[i]``, of at most 32."""
    rows = np.array([HASH_NAMES.index(placement.hash) for placement in placements], i64)
    return _masks(hashes, rows, _folds(placements), partition, count)


def folded(fold: str, hashes: NDArray[np.uint32], count: int) -> NDArray[np.int32]:
    """Return the partitions that a fold computes from hashes."""
    out = np.empty(hashes.size, np.int32)
    _folding()(np.ascontiguousarray(hashes), FOLD_NAMES.index(fold), count, out)
    return out


def chosen_partitions(placement: Placement, offsets: Offsets, data: Data, count: int) -> NDArray[np.int64]:
    """Return the partition that a placement of any kind chooses for each key; -1 for keys that it does not place."""
    if not placement.hash:
        return structured_partitions(placement.slug, offsets, data, count)
    return folded(placement.fold, hash_column(placement.hash, offsets, data), count).astype(i64)


def how_many_explained(
    hashes: NDArray[np.uint32], placements: tuple[Placement, ...], partition: NDArray[np.int32], counts: range
) -> NDArray[np.int64]:
    """Count the keys that each placement explains with each partition count: shape (len(counts), len(placements))."""
    rows = np.array([HASH_NAMES.index(placement.hash) for placement in placements], i64)
    out = np.zeros((len(counts), len(placements)), i64)
    if len(counts):
        _counting()(hashes, rows, _folds(placements), partition, counts.start, out)
    return out


class KeyColumn:
    """The keys of a block with their partitions; derived columns are computed once."""

    def __init__(self, offsets: Offsets, data: Data, partition: Partitions, count: int) -> None:
        self.offsets, self.data, self.partition, self.count = offsets, data, partition, count
        self.size = offsets.size - 1
        self._by: dict[Placed, NDArray[np.bool_]] = {}

    @cached_property
    def masks(self) -> Masks:
        """:func:`explained`."""
        return explained(self.offsets, self.data, self.partition, self.count)

    @cached_property
    def ids(self) -> NDArray[np.uint64]:
        """The identity of each key: :func:`~kafka_conformance.audit.attribution.distinct_keys.identities`."""
        return identities(self.offsets, self.data)

    @cached_property
    def where(self) -> NDArray[np.int32]:
        """The partition of each key."""
        if isinstance(self.partition, np.ndarray):
            return np.ascontiguousarray(self.partition, np.int32)
        return np.full(self.size, self.partition, np.int32)

    def by(self, placed: Placed) -> NDArray[np.bool_]:
        """Return which keys ``placed`` explains."""
        if placed not in self._by:
            rule = find_placement(placed.rule)
            if rule.slug == ANY:
                self._by[placed] = self.where < placed.partitions
            elif not rule.hash:
                chosen = structured_partitions(rule.slug, self.offsets, self.data, placed.partitions)
                self._by[placed] = (chosen == self.where) & (chosen < placed.partitions)
            elif placed.partitions == self.count and ("masks" in self.__dict__ or rule.hash != HASH_NAMES[0]):
                self._by[placed] = (self.masks >> u32(number(placed.rule)) & u32(1)).astype(np.bool_)
            else:
                self._by[placed] = leading(rule, self.offsets, self.data, self.partition, placed.partitions)
        return self._by[placed]

    def rows_by(self, placements: Sequence[Placed]) -> NDArray[np.bool_]:
        """Return a row for each of these placements: which keys it explains."""
        return np.array([self.by(placed) for placed in placements], np.bool_).reshape(len(placements), self.size)

    def explained_by(self, members: Iterable[Placed]) -> NDArray[np.bool_]:
        """Return which keys any of these placements explains."""
        out = np.zeros(self.size, np.bool_)
        for placed in members:
            out |= self.by(placed)
        return out

    def chosen(self, placed: Placed) -> NDArray[np.int64]:
        """Return the partition that ``placed`` chooses for each key; -1 for keys that it does not place."""
        rule = find_placement(placed.rule)
        return np.asarray(chosen_partitions(rule, self.offsets, self.data, placed.partitions), i64)

    def distinct_pairs(self, rows: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Return one row for each key and partition among these rows, or among all."""
        rows = np.arange(self.size) if rows is None else rows
        ids = self.ids[rows].copy()
        ids[:, 0] ^= self.where[rows].astype(u64)
        return rows[distinct(ids)[0]]

    def taken(self, rows: NDArray[np.int64]) -> KeyColumn:
        """Return a copy of the keys of these rows."""
        starts, ends = self.offsets[rows], self.offsets[rows + 1]
        offsets = np.concatenate(([0], np.cumsum(ends - starts))).astype(i64)
        pieces = [self.data[start:end] for start, end in zip(starts, ends, strict=True)]
        data = np.concatenate(pieces) if pieces else np.empty(0, np.uint8)
        return KeyColumn(offsets, data, self.where[rows], self.count)


def _folds(placements: tuple[Placement, ...]) -> NDArray[np.int64]:
    return np.array([FOLD_NAMES.index(placement.fold) for placement in placements], i64)


def _masks(
    hashes: NDArray[np.uint32], rows: NDArray[np.int64], folds: NDArray[np.int64], partition: Partitions, count: int
) -> Masks:
    if not 1 <= count < 2**31:
        raise ValueError(f"invalid partition count {count}: expected an int32 of 1 or more")
    where = partition if isinstance(partition, np.ndarray) else np.full(hashes.shape[1], partition, np.int32)
    out = np.zeros(hashes.shape[1], u32)
    _explaining()(hashes, rows, folds, np.ascontiguousarray(where, np.int32), count, out)
    return out


@inlined
def _number(h: np.uint32, fold: int) -> np.uint32:
    """Return the dividend that a fold computes from a hash."""
    negative = h >= LOWEST
    if fold == MASKED:
        return u32(h & POSITIVE)
    if fold == UNSIGNED:
        return h
    if fold == ABS:
        return u32(u32(0) - h) if negative else h
    if fold == ABS_BUT_LOWEST:
        return u32(0) if h == LOWEST else u32(u32(0) - h) if negative else h
    if fold == INVERTED:
        return u32(~h) if negative else h
    return u32(h >> u32(1))


@inlined
def _by_doubles(h: np.uint32, n: float) -> np.int64:
    quotient = f64(h & POSITIVE) / n
    return i64((quotient - np.floor(quotient)) * n)


@inlined
def _mark(hashes: NDArray[np.uint32], fold: int, where: NDArray[np.int32], n: int, bit: np.uint32, out: Masks) -> None:
    c = u64(u64(0xFFFFFFFFFFFFFFFF) // u64(n) + u64(1))  # for 1 it is 2^64, that is 0: and x * 0 is not above 0 - 1
    for i in range(out.size):
        x = u64(u64(_number(hashes[i], fold)) + u64(n - where[i]))
        fits = u64(x * c) <= u64(c - u64(1))
        out[i] |= u32(bit if fits else u32(0))


@inlined
def _mark_by_doubles(
    hashes: NDArray[np.uint32], where: NDArray[np.int32], n: float, bit: np.uint32, out: Masks
) -> None:
    for i in range(out.size):
        out[i] |= u32(bit if _by_doubles(hashes[i], n) == where[i] else u32(0))


@inlined
def _forget_foreign(where: NDArray[np.int32], n: int, out: Masks) -> None:
    for i in range(out.size):
        if not 0 <= where[i] < n:
            out[i] = u32(0)


def _mark_all(
    hashes: NDArray[np.uint32],
    rows: NDArray[np.int64],
    folds: NDArray[np.int64],
    where: NDArray[np.int32],
    n: int,
    out: Masks,
) -> None:
    for j in range(rows.size):
        row, fold, bit = hashes[rows[j]], folds[j], u32(u32(1) << u32(j))
        if fold == MASKED:  # each with its fold as a constant, so that the loop has no branches
            _mark(row, MASKED, where, n, bit, out)
        elif fold == UNSIGNED:
            _mark(row, UNSIGNED, where, n, bit, out)
        elif fold == ABS:
            _mark(row, ABS, where, n, bit, out)
        elif fold == ABS_BUT_LOWEST:
            _mark(row, ABS_BUT_LOWEST, where, n, bit, out)
        elif fold == INVERTED:
            _mark(row, INVERTED, where, n, bit, out)
        elif fold == SHIFT:
            _mark(row, SHIFT, where, n, bit, out)
        else:
            _mark_by_doubles(row, where, f64(n), bit, out)
    _forget_foreign(where, n, out)


def _count_all(
    hashes: NDArray[np.uint32],
    rows: NDArray[np.int64],
    folds: NDArray[np.int64],
    where: NDArray[np.int32],
    first: int,
    out: NDArray[np.int64],
) -> None:
    for j in range(rows.size):
        row, fold = hashes[rows[j]], folds[j]
        for m in range(len(out)):
            n = first + m
            c = u64(u64(0xFFFFFFFFFFFFFFFF) // u64(n) + u64(1))
            for i in range(where.size):
                if fold == DOUBLES:
                    fits = _by_doubles(row[i], f64(n)) == where[i]
                else:
                    x = u64(u64(_number(row[i], fold)) + u64(n - where[i]))
                    fits = (u64(x * c) <= u64(c - u64(1))) & (where[i] < n)
                out[m, j] += i64(fits)


def _fold_all(hashes: NDArray[np.uint32], fold: int, n: int, out: NDArray[np.int32]) -> None:
    for i in range(out.size):
        if fold == DOUBLES:
            out[i] = _by_doubles(hashes[i], f64(n))
        else:
            out[i] = i64(_number(hashes[i], fold)) % n


@lru_cache(maxsize=1)
def _explaining() -> Callable[..., Any]:
    table = types.Array(types.uint32, 2, "C", readonly=True)
    numbers = read(types.int64)
    return compiled(_mark_all, types.void(table, numbers, numbers, read(types.int32), types.int64, types.uint32[::1]))


@lru_cache(maxsize=1)
def _counting() -> Callable[..., Any]:
    table = types.Array(types.uint32, 2, "C", readonly=True)
    numbers = read(types.int64)
    return compiled(
        _count_all, types.void(table, numbers, numbers, read(types.int32), types.int64, types.int64[:, ::1])
    )


@lru_cache(maxsize=1)
def _folding() -> Callable[..., Any]:
    return compiled(_fold_all, types.void(read(types.uint32), types.int64, types.int64, types.int32[::1]))
