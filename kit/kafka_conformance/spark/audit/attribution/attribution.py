"""To whom each record of a partition is attributed: what the placements that are present say, and then its neighbours.

All records have a key and stand in the order of their offsets. A record that one present placement explains was placed by
it, and is *certain*. One that several explain says nothing by itself:

* **Neighbours.** If all certain records among the thousand before it and the thousand behind it are of one placement, on
  both sides at least one, and that placement explains it, it is of that placement too. Otherwise it is of either.
* **A newer count that implies an older one.** In a topic that grew from 3 to 12, whatever ``@12`` put into partitions 0 to 2
  ``@3`` explains too, so that ``@12`` is never alone. But of what ``@3`` put there ``@12`` explains a quarter by chance. A
  stretch in which ``@12`` explains all that ``@3`` does is its work where chance would have made one of so many different
  keys less than once in 10^9 times (15, for a quarter); its first and last so many keys may still be of either, since by
  chance a few of the neighbours' records look alike. Where a block begins or ends within such a stretch nothing is taken
  off: that a topic grew within the few records beside it is as unlikely.
* Among certain records of ``@3``, what ``@12`` explains too is of ``@3``, as its neighbours are, unless there is more of it
  than chance makes (once in a thousand), within one thousand records, eight thousand, or the block, its certain ones left
  aside: then both took turns, and it is of either.

No record is ever attributed to a placement that does not explain it. A key that is there ten thousand times is one key
wherever keys are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import ceil, log
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from kafka_conformance.spark.audit.attribution.compiled import compiled, inlined, read
from kafka_conformance.spark.audit.attribution.presence import SURE, implies
from kafka_conformance.spark.audit.attribution.stretches import inside
from kafka_conformance.spark.audit.result import Placed, Run

__all__ = ["EITHER_AT", "KEYLESS_AT", "UNEXPLAINED_AT", "attribute", "bits_of", "runs"]

UNEXPLAINED_AT, EITHER_AT, KEYLESS_AT = -1, -2, -3
"""In place of an index into the present placements."""

REACH, FURTHER = 1000, 8000
TOOK_TURNS = log(1e3)
SOLID = 16
MOST_RUNS = 64

u32, i64, i16 = np.uint32, np.int64, np.int16
Bits = NDArray[np.uint32]
Attributed = NDArray[np.int16]


def bits_of(explained: list[NDArray[np.bool_]], size: int) -> Bits:
    """For each record the set of present placements that explain it; bit i is the i-th."""
    out = np.zeros(size, u32)
    for at, by in enumerate(explained):
        out |= by.astype(u32) << u32(at)
    return out


def attribute(bits: Bits, members: tuple[Placed, ...], ids: NDArray[np.uint64]) -> Attributed:
    """For each record the index into ``members``, UNEXPLAINED_AT or EITHER_AT.

    ``bits`` are :func:`bits_of` the members, ``ids`` the identities of the keys (:mod:`.distinct_keys`).
    """
    if len(members) < 2:
        return np.where(bits == 0, i16(UNEXPLAINED_AT), i16(0))
    out = np.empty(bits.size, i16)
    _settling()(bits, out)
    implied = np.zeros(len(members), u32)
    chance = np.zeros((len(members), len(members)))
    for newer, placed in enumerate(members):
        below = [at for at, other in enumerate(members) if implies(placed, other)]
        implied[newer] = sum(1 << at for at in below)
        for at in below:
            chance[newer, at] = members[at].partitions / placed.partitions
    for newer, _ in enumerate(members):
        if implied[newer]:
            older = int(chance[newer].argmax())
            _settle_stretches(bits, ids, out, newer, older, implied, float(chance[newer, older]))
    settled, first = out.copy(), out.copy()
    _asking_neighbours()(bits, settled, settled, implied, chance, first)
    _asking_neighbours()(
        bits, settled, first, implied, chance, out
    )  # now that it is known what is surely of the newer one
    return out


def _settle_stretches(
    bits: Bits,
    ids: NDArray[np.uint64],
    out: Attributed,
    newer: int,
    older: int,
    implied: NDArray[np.uint32],
    chance: float,
) -> None:
    """Attribute to ``newer`` the inside of stretches where it explains all that ``older`` does."""
    family = u32(implied[newer] | u32(1) << u32(newer))
    for at in range(len(implied)):
        if implied[at] >> u32(newer) & u32(1):  # what is newer still belongs to it as well
            family |= u32(1) << u32(at)
    rows = np.flatnonzero((bits >> u32(older) & u32(1)).astype(np.bool_) & (bits & ~family == 0))
    flags = (bits[rows] >> u32(newer) & u32(1)).astype(np.uint8)
    rows = rows[inside(flags, ids[rows, 0], ceil(SURE / -log(chance)))]
    alone = bits[rows] == u32(implied[newer] | u32(1) << u32(newer))
    out[rows[alone]] = newer


def runs(
    attributed: Attributed,
    bits: Bits,
    members: tuple[Placed, ...],
    partition: int,
    offsets: NDArray[np.int64],
    timestamps_ms: NDArray[np.int64],
) -> tuple[Run, ...]:
    """A block's attribution as at most MOST_RUNS runs, in order.

    Records of either go with those before them. Runs shorter than SOLID records, of those that follow each other, are one
    run of several placements in turn, and so are longer ones where there would be too many runs otherwise. A run of what is
    unexplained names no placement; in one where producers took turns, unexplained records are not named.
    """
    if not attributed.size:
        return ()
    codes, starts = _raw_runs(attributed, bits)
    lengths = np.diff(np.append(starts, attributed.size))
    solid = SOLID
    begins = _begins(lengths >= solid)
    while begins.size > MOST_RUNS:
        solid *= 2
        begins = _begins(lengths >= solid)
    sets = np.bitwise_or.reduceat(codes, begins)
    begins = begins[np.append(True, sets[1:] != sets[:-1])]
    sets = np.bitwise_or.reduceat(codes, begins)
    firsts = starts[begins]
    lasts = np.append(firsts[1:], attributed.size) - 1
    least, most = _times(timestamps_ms, firsts)
    return tuple(
        Run(
            partition,
            tuple(placed for at, placed in enumerate(members) if int(union) >> at & 1),
            int(offsets[first]),
            int(offsets[last]),
            begin,
            end,
            int(last - first + 1),
        )
        for union, first, last, begin, end in zip(sets, firsts, lasts, least, most, strict=True)
    )


def _begins(solid: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Where a run begins that is solid, or comes after one that is."""
    return np.flatnonzero(np.append(True, solid[1:] | solid[:-1]))


def _raw_runs(attributed: Attributed, bits: Bits) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Where the attribution changes, and of whom it is from there: bit i for the i-th member, bit 63 for nobody."""
    decided = np.where(attributed == EITHER_AT, -1, np.arange(attributed.size))
    decided = np.maximum.accumulate(decided)
    first = int(decided.max())
    if first < 0:
        return np.array([np.bitwise_or.reduce(bits)], np.uint64), np.zeros(1, i64)
    first = int(np.argmax(attributed != EITHER_AT))
    filled = attributed[np.maximum(decided, first)]
    starts = np.append(0, np.flatnonzero(filled[1:] != filled[:-1]) + 1).astype(i64)
    of = filled[starts]
    codes = np.where(of == UNEXPLAINED_AT, np.uint64(1 << 63), np.uint64(1) << np.maximum(of, 0).astype(np.uint64))
    return codes, starts


def _times(timestamps_ms: NDArray[np.int64], firsts: NDArray[np.int64]) -> tuple[list[int | None], list[int | None]]:
    known = timestamps_ms >= 0
    top = np.iinfo(i64).max
    least = np.minimum.reduceat(np.where(known, timestamps_ms, top), firsts)
    most = np.maximum.reduceat(np.where(known, timestamps_ms, -1), firsts)
    return [None if at == top else int(at) for at in least], [None if at < 0 else int(at) for at in most]


def _settle(bits: Bits, out: Attributed) -> None:
    """What one placement alone explains, and what none does."""
    for i in range(bits.size):
        b = bits[i]
        if b == u32(0):
            out[i] = UNEXPLAINED_AT
        elif b & u32(b - u32(1)):
            out[i] = EITHER_AT
        else:
            at = 0
            while u32(b >> u32(at)) != u32(1):
                at += 1
            out[i] = at


@inlined
def _evidence(keys: int, explained: int, chance: float) -> float:
    share = explained / keys
    if share <= chance:
        return 0.0
    missing = (1 - share) * np.log((1 - share) / (1 - chance)) if explained < keys else 0.0
    return float(keys * (share * np.log(share / chance) + missing))


@inlined
def _neighbours(certain: NDArray[np.int32], i: int, members: int) -> int:
    """Who all certain records within reach are of, or -1. ``certain[j, k]``: how many of j there are before record k."""
    low, high = max(i - REACH, 0), min(i + REACH + 1, certain.shape[1] - 1)
    who = -1
    for j in range(members):
        before, behind = certain[j, i] - certain[j, low], certain[j, high] - certain[j, i + 1]
        if before + behind == 0:
            continue
        if who >= 0 or before == 0 or behind == 0:
            return -1
        who = j
    return who


def _ask_neighbours(
    bits: Bits,
    settled: Attributed,
    sure: Attributed,
    implied: NDArray[np.uint32],
    chance: NDArray[np.float64],
    out: Attributed,
) -> None:
    members, size = implied.size, bits.size
    certain = np.zeros((members, size + 1), np.int32)
    explained = np.zeros((members, size + 1), np.int32)
    surely = np.zeros((members, size + 1), np.int32)
    for j in range(members):
        bit = u32(u32(1) << u32(j))
        for i in range(size):
            certain[j, i + 1] = certain[j, i] + np.int32(settled[i] == j)
            surely[j, i + 1] = surely[j, i] + np.int32(sure[i] == j)
            explained[j, i + 1] = explained[j, i] + np.int32((bits[i] & bit) != u32(0))
    for i in range(size):
        if settled[i] != EITHER_AT:
            continue
        who = _neighbours(certain, i, members)
        if who < 0 or not bits[i] >> u32(who) & u32(1):
            continue
        turns = False
        for newer in range(members):
            if implied[newer] >> u32(who) & u32(1) and bits[i] >> u32(newer) & u32(1):
                for reach in (REACH, FURTHER, size):
                    low, high = max(i - reach, 0), min(i + reach + 1, size)
                    aside = surely[newer, high] - surely[newer, low]
                    there = explained[who, high] - explained[who, low] - aside
                    more = explained[newer, high] - explained[newer, low] - aside
                    turns = turns or _evidence(there, more, chance[newer, who]) > TOOK_TURNS
        if not turns:
            out[i] = who


@lru_cache(maxsize=1)
def _settling() -> Callable[..., Any]:
    return compiled(_settle, types.void(read(types.uint32), types.int16[::1]))


@lru_cache(maxsize=1)
def _asking_neighbours() -> Callable[..., Any]:
    numbers = read(types.uint32), read(types.int16), read(types.int16), read(types.uint32)
    return compiled(_ask_neighbours, types.void(*numbers, types.float64[:, ::1], types.int16[::1]))
