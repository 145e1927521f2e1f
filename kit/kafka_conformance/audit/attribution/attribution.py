"""Attribute each record of a partition to a placement: by the placements that explain it, then by its neighbours.

All records have a key and are in the order of their offsets. A record that exactly one present placement explains was placed
by it, and is *certain*. For a record that several explain:

* **Neighbours.** If all certain records among the 1,000 before it and the 1,000 after it belong to one placement, with at
  least one on either side, and that placement explains it, it is attributed to that placement. Otherwise it is "either".
* **A new partition count that implies an old one.** After an increase from 3 to 12 partitions, ``@3`` also explains
  everything that ``@12`` puts into partitions 0 to 2, so no record is explained by ``@12`` alone. But ``@12`` explains only
  a quarter of what ``@3`` placed, by chance. A stretch in which ``@12`` explains every record that ``@3`` explains is
  attributed to ``@12`` if chance would give that many distinct keys less than once in 10^9 times (15 keys for a quarter).
  That many keys at either end of the stretch stay "either", because by chance some neighbouring records look the same. Where
  a block begins or ends within such a stretch nothing is cut off: an increase within the few records beside the border
  is as unlikely.
* Among certain records of ``@3``, a record that ``@12`` explains too is attributed to ``@3`` like its neighbours, unless
  there are more of these than chance gives (once in 1,000) within 1,000 records, 8,000 records or the block, its certain
  records left out: then two producers alternated, and the record is "either".

* **One partition for all keys.** A constant explains every record of its partition, so that no other placement alone
  explains one: a record that another explains as well is "either".
* **Few keys.** If the records of a placement that no other producer could have written have fewer than 20 distinct keys in
  the block, a record that another placement explains as well is "either", unless the other is the same placement with an
  older count: another producer with as many keys would have none here that it alone explains once in 10^6 times.

No record is attributed to a placement that does not explain it. A key with ten thousand records counts as one key.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import ceil, log
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.compilation import compiled, inlined, read
from kafka_conformance.audit.attribution.distinct_keys import distinct
from kafka_conformance.audit.attribution.evidence import LIKELY, SURE
from kafka_conformance.audit.attribution.key_runs import inside
from kafka_conformance.audit.attribution.patterns import follows_bytes
from kafka_conformance.audit.attribution.placements import CONSTANT
from kafka_conformance.audit.attribution.presence import implies
from kafka_conformance.audit.result import AttributedRun, Placed

__all__ = ["EITHER_AT", "KEYLESS_AT", "UNEXPLAINED_AT", "attribute", "bits_of", "runs", "without_few_keys"]

UNEXPLAINED_AT, EITHER_AT, KEYLESS_AT = -1, -2, -3
"""Used instead of an index into the present placements, which begin at 0."""

REACH, FURTHER = 1000, 8000
"""Records before and behind that count as neighbours, and further ones among which a rarer count is looked for.

At 100, the 200 neighbours of a record would show a producer of 1 % only 7 times in 8. At 10,000, records within 10,000
of a change of producers would be "either".
"""
SOLID = 16
"""Records from which a run is reported by itself: of two producers in turn, one writes 16 records in a row once in
65,536.
"""
FEW_KEYS = 20
"""Distinct keys of a placement by which neighbours decide: another producer of as many has none of its own once in 2^20
times.

With 10, once in 1,000. With 40, all shared records of 2,000 keys in 50 partitions would be "either".
"""
MOST_RUNS = 64
"""Runs of a block: more rows than a report shows, and few enough for the driver, which merges the runs of 15,000 blocks."""

u32, i64, i16 = np.uint32, np.int64, np.int16
Bits = NDArray[np.uint32]
Attributed = NDArray[np.int16]


def bits_of(explained: list[NDArray[np.bool_]], size: int) -> Bits:
    """Return for each record the set of present placements that explain it; bit i is the i-th placement."""
    out = np.zeros(size, u32)
    for at, by in enumerate(explained):
        out |= by.astype(u32) << u32(at)
    return out


def attribute(bits: Bits, members: tuple[Placed, ...], ids: NDArray[np.uint64]) -> Attributed:
    """Return for each record the index into ``members``, UNEXPLAINED_AT or EITHER_AT.

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
    for newer, placed in enumerate(members):
        if implied[newer] and not follows_bytes(placed):
            older = int(chance[newer].argmax())
            _settle_stretches(bits, ids, out, newer, older, implied, float(chance[newer, older]))
    settled, first = out.copy(), out.copy()
    _asking_neighbours()(bits, settled, settled, implied, chance, first)
    _asking_neighbours()(
        bits, settled, first, implied, chance, out
    )  # with the certain records of the newer count known
    return out


def without_few_keys(
    attributed: Attributed, bits: Bits, members: tuple[Placed, ...], ids: NDArray[np.uint64]
) -> Attributed:
    """Return :func:`attribute`'s result without the records that neighbours cannot decide: of few keys, or a constant's."""
    out = attributed.copy()
    for number, placed in enumerate(members):
        own = sum(1 << at for at, other in enumerate(members) if other == placed or implies(placed, other))
        mine = attributed == number
        shared = mine & (bits & ~u32(own) != 0)
        if placed.rule.startswith(CONSTANT) or len(distinct(ids[mine & ~shared])[0]) < FEW_KEYS:
            out[shared] = EITHER_AT
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
        if implied[at] >> u32(newer) & u32(1):  # an even newer count belongs to the family as well
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
) -> tuple[AttributedRun, ...]:
    """Return a block's attribution as at most MOST_RUNS runs, in order.

    Records attributed to either extend the run before them. Consecutive runs shorter than SOLID records are merged into one
    run of alternating placements; so are longer ones if there are too many runs. A run of unexplained records has no
    placement; a run of alternating placements does not mention unexplained records.
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
        AttributedRun(
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
    """Return the starts of runs that are solid or follow a solid one."""
    return np.flatnonzero(np.append(True, solid[1:] | solid[:-1]))


def _raw_runs(attributed: Attributed, bits: Bits) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the placement codes and starts of raw runs: bit i for the i-th member, bit 63 for unexplained."""
    decided = np.where(attributed == EITHER_AT, -1, np.arange(attributed.size))
    decided = np.maximum.accumulate(decided)
    first = int(decided.max())
    if first < 0:
        return np.array([np.bitwise_or.reduce(bits)], np.uint64), np.zeros(1, i64)
    first = int(np.argmax(attributed != EITHER_AT))
    filled = attributed[np.maximum(decided, first)]
    starts = np.append(0, np.flatnonzero(filled[1:] != filled[:-1]) + 1).astype(i64)
    owner = filled[starts]
    codes = np.where(
        owner == UNEXPLAINED_AT, np.uint64(1 << 63), np.uint64(1) << np.maximum(owner, 0).astype(np.uint64)
    )
    return codes, starts


def _times(timestamps_ms: NDArray[np.int64], firsts: NDArray[np.int64]) -> tuple[list[int | None], list[int | None]]:
    known = timestamps_ms >= 0
    top = np.iinfo(i64).max
    least = np.minimum.reduceat(np.where(known, timestamps_ms, top), firsts)
    most = np.maximum.reduceat(np.where(known, timestamps_ms, -1), firsts)
    return [None if at == top else int(at) for at in least], [None if at < 0 else int(at) for at in most]


def _settle(bits: Bits, out: Attributed) -> None:
    """Attribute the records that one placement alone explains, and mark those that none explains."""
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
    """Return the member that all certain records within reach belong to, or -1.

    ``certain[j, k]`` is the number of certain records of member j before record k.
    """
    low, high = max(i - REACH, 0), min(i + REACH + 1, certain.shape[1] - 1)
    owner = -1
    for j in range(members):
        before, behind = certain[j, i] - certain[j, low], certain[j, high] - certain[j, i + 1]
        if before + behind == 0:
            continue
        if owner >= 0 or before == 0 or behind == 0:
            return -1
        owner = j
    return owner


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
        owner = _neighbours(certain, i, members)
        if owner < 0 or not bits[i] >> u32(owner) & u32(1):
            continue
        alternated = False
        for newer in range(members):
            if implied[newer] >> u32(owner) & u32(1) and bits[i] >> u32(newer) & u32(1):
                for reach in (REACH, FURTHER, size):
                    low, high = max(i - reach, 0), min(i + reach + 1, size)
                    aside = surely[newer, high] - surely[newer, low]
                    there = explained[owner, high] - explained[owner, low] - aside
                    more = explained[newer, high] - explained[newer, low] - aside
                    alternated = alternated or _evidence(there, more, chance[newer, owner]) > LIKELY
        if not alternated:
            out[i] = owner


@lru_cache(maxsize=1)
def _settling() -> Callable[..., Any]:
    return compiled(_settle, types.void(read(types.uint32), types.int16[::1]))


@lru_cache(maxsize=1)
def _asking_neighbours() -> Callable[..., Any]:
    numbers = read(types.uint32), read(types.int16), read(types.int16), read(types.uint32)
    return compiled(_ask_neighbours, types.void(*numbers, types.float64[:, ::1], types.int16[::1]))
