"""Which placements are present among some keys, and with which numbers of partitions: what chance would not do.

A placement with m partitions explains one of m keys it never saw. So what it explains is held against chance, and counts only
where chance would do as much less than once in 10^9 searches (six sigma). Placements are found one after another, each
among the keys that those before leave unexplained, best evidence first; of evidence that is all but equal the expected
placement's, then the current number of partitions, then the order of ``PLACEMENTS``.

Evidence is a number of nats: the least that -log P can be, where P is the chance of as many keys or more (Chernoff's bound:
keys times the relative entropy of the share that is explained to the share chance explains). Four things make chance larger
than 1/m, and each is allowed for:

* The same key again says nothing new: keys are told apart by their identity.
* A hash may not tell keys apart (the first byte only): its equal hashes count once.
* A hash may crowd some partitions, of whatever key (31 times, over digits). One partition's keys say so: what is explained
  is held against the fullest of the *other* partitions the hash would choose. Keys of several partitions say it better:
  against how many keys of the others it would have put there too.
* A topic that grew from 3 to 12: every key that 12 explains in partitions 0 to 2, 3 explains too, so that nothing is left
  unexplained once 3 is found. Of the keys that ``@3`` explains, 12 explains a share by chance that is measured on random
  hashes (1/4); it is present where it explains more than that.

The sample is bounded and evenly spaced over the keys in question, which are those that are *not* yet explained: so a producer
of a few hundred records among a hundred thousand is found like any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from math import gcd, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kafka_conformance.audit.explaining import KeyColumn, folded, how_many_explained
from kafka_conformance.audit.hash_columns import HASH_NAMES, hash_columns
from kafka_conformance.audit.keys_seen import distinct
from kafka_conformance.audit.placements import JAVA, PLACEMENTS, number, of
from kafka_conformance.audit.result import Placed

__all__ = ["SURE", "could_be", "evidence", "implies", "present"]

SURE = log(1e9)
"""The evidence that is asked for, in nats; of a search among c candidates log c more."""
SURE_OF_EXPECTED = log(1e6)
"""That the user expects a placement is a reason to believe less evidence."""
ALL_BUT_EQUAL = 12.0
HANDFUL = 5
SAMPLE, SPACED = 512, 8192
MEMBERS = 8
TRIES = 200
DRAWS = 1 << 18
UNFAIR = "float-arithmetic"


def evidence(keys: int, explained: int, chance: float) -> float:
    """That ``explained`` of ``keys`` are more than chance explains: a lower bound of -log of how probable that is."""
    if not keys or explained <= keys * chance:
        return 0.0
    share = explained / keys
    missing = (1 - share) * log((1 - share) / (1 - chance)) if explained < keys else 0.0
    return keys * (share * log(share / chance) + missing)


def could_be(placed: Placed, partition: int) -> bool:
    """Whether this placement knows of the partition at all."""
    return partition < placed.partitions


def implies(one: Placed, other: Placed) -> bool:
    """Whether all that ``one`` explains ``other`` explains too, in the partitions that ``other`` has."""
    return one.rule == other.rule and one != other and one.partitions % other.partitions == 0


def present(keys: KeyColumn, expected: Placed | None = None, known: tuple[Placed, ...] = ()) -> tuple[Placed, ...]:
    """The placements that put these keys where they are: the expected first, then by count and by ``PLACEMENTS``.

    ``known`` are present in the topic, as other keys of it say: those that explain any of these are taken to be here too,
    unless the expected one explains all of them. With one partition everything explains everything, and it is held to be
    the expected. No keys, nothing present.
    """
    expected = expected or Placed(JAVA, keys.count)
    if not keys.size:
        return ()
    if keys.count == 1:
        return (expected,)
    search = _Search(keys, expected)
    if search.expected_alone(known):
        return (expected,)
    members = [placed for placed in known if keys.by(placed).any()][:MEMBERS]
    while len(members) < MEMBERS:
        found = search.further(members) or search.implying(members)
        if not found:
            break
        members.append(found)
    members = search.needed(members, known)
    if not members and keys.by(expected).all():
        return (expected,)
    return tuple(sorted(members, key=search.rank))


@dataclass(slots=True)
class _Search:
    keys: KeyColumn
    expected: Placed

    def rank(self, placed: Placed) -> tuple[bool, bool, int, int]:
        """Whom to believe first among equals."""
        return placed != self.expected, placed.partitions != self.keys.count, number(placed.rule), -placed.partitions

    def expected_alone(self, known: tuple[Placed, ...]) -> bool:
        """Whether the expected placement explains all, and any that is known would not have left it at that."""
        if not self.keys.by(self.expected).all():
            return False
        others = [placed for placed in known if placed != self.expected]
        if not others:
            rows = self._rows(np.ones(self.keys.size, np.bool_))
            return evidence(rows.size, rows.size, 1 / self.expected.partitions) >= SURE_OF_EXPECTED
        rows = self._rows(np.ones(self.keys.size, np.bool_))
        return all(rows.size * -log(self._overlap(placed)) >= SURE for placed in others)

    def further(self, members: list[Placed]) -> Placed | None:
        """The one that best explains what none of ``members`` does, if it is beyond chance."""
        rows = self._rows(~self._explained_by(members))
        if rows.size < HANDFUL:
            return None
        sample = self.keys.taken(rows)
        hashes = hash_columns(sample.offsets, sample.data)
        at_hand = [placed for placed in self._by_evidence(sample.where, hashes) if placed[1] not in members]
        best, chosen = 0.0, []
        for raw, placed in islice(at_hand, TRIES):
            if raw < max(best - ALL_BUT_EQUAL, self._wanted(placed)):
                break
            held = _held_against_crowding(hashes, sample.where, placed)
            if held >= self._wanted(placed):
                best = max(best, held)
                chosen.append((held, placed))
        chosen = [(held, placed) for held, placed in chosen if held >= best - ALL_BUT_EQUAL]
        return min((placed for _, placed in chosen), key=self.rank, default=None)

    def implying(self, members: list[Placed]) -> Placed | None:
        """One that explains nothing new, since it implies an older count, but more than its share of that."""
        best: tuple[float, Placed] | None = None
        for older in members:
            if of(older.rule).fold == UNFAIR:
                continue
            for count in range(2 * older.partitions, self.keys.count + 1, older.partitions):
                newer = Placed(older.rule, count)
                if newer in members:
                    continue
                held = self._beyond_overlap(newer, older, members)
                if held >= SURE + log(self.keys.count) and (best is None or held > best[0]):
                    best = held, newer
        return best and best[1]

    def needed(self, members: list[Placed], known: tuple[Placed, ...]) -> list[Placed]:
        """Without those that were found on the way and that the others make superfluous."""
        kept = list(members)
        for placed in members:
            others = [other for other in kept if other != placed]
            if placed in known or any(implies(placed, other) for other in others):
                continue
            rows = self._rows(~self._explained_by(others))
            explained = int(np.count_nonzero(self.keys.by(placed)[rows]))
            chance = _mean_chance(placed, self.keys.where[rows])
            if evidence(rows.size, explained, chance) < self._wanted(placed):
                kept = others
        return kept

    def _wanted(self, placed: Placed) -> float:
        if placed == self.expected:
            return SURE_OF_EXPECTED
        return SURE + log(len(PLACEMENTS) * self.keys.count)

    def _explained_by(self, members: list[Placed]) -> NDArray[np.bool_]:
        out = np.zeros(self.keys.size, np.bool_)
        for placed in members:
            out |= self.keys.by(placed)
        return out

    def _rows(self, wanted: NDArray[np.bool_], most: int = SAMPLE) -> NDArray[np.int64]:
        """At most so many evenly spaced rows of different keys among those wanted; a key in two partitions is two."""
        rows = np.flatnonzero(wanted)
        if rows.size > SPACED:
            rows = rows[np.linspace(0, rows.size - 1, SPACED).astype(np.int64)]
        ids = self.keys.ids[rows].copy()
        ids[:, 0] ^= self.keys.where[rows].astype(np.uint64)
        rows = rows[distinct(ids)[0]]
        return rows[np.linspace(0, rows.size - 1, most).astype(np.int64)] if rows.size > most else rows

    def _by_evidence(self, where: NDArray[np.int32], hashes: NDArray[np.uint32]) -> list[tuple[float, Placed]]:
        """Every placement with every count, most evidence first; chance taken to be 1/m."""
        counts = range(max(2, int(where.min()) + 1), self.keys.count + 1)
        explained = how_many_explained(hashes, PLACEMENTS, where, counts)
        out: list[tuple[float, Placed]] = []
        for count, row in zip(counts, explained, strict=True):
            known = int(np.count_nonzero(where < count))
            for at in np.flatnonzero(row > known / count + HANDFUL * (1 - 1 / count)):
                placed = Placed(PLACEMENTS[at].slug, count)
                if PLACEMENTS[at].fold == UNFAIR and count != self.keys.count:
                    continue
                held = evidence(known, int(row[at]), _mean_chance(placed, where))
                if held >= self._wanted(placed):
                    out.append((held, placed))
        return sorted(out, key=lambda found: (-found[0], self.rank(found[1])))

    def _overlap(self, other: Placed) -> float:
        """The share of what ``other`` explains that the expected placement explains by chance."""
        if other.rule == self.expected.rule:
            return gcd(other.partitions, self.expected.partitions) / self.expected.partitions
        if of(other.rule).hash == of(self.expected.rule).hash:
            return 0.75
        return 1 / self.expected.partitions

    def _beyond_overlap(self, newer: Placed, older: Placed, members: list[Placed]) -> float:
        """The evidence that ``newer`` explains more of what ``older`` explains than random hashes have it."""
        rivals = [placed for placed in members if placed != older and not implies(older, placed)]
        rows = self._rows(self.keys.by(older) & ~self._explained_by(rivals), SPACED)
        if rows.size < HANDFUL:
            return 0.0
        partition = int(np.bincount(self.keys.where[rows]).argmax())
        rows = rows[self.keys.where[rows] == partition]
        same = [placed for placed in rivals if of(placed.rule).hash == of(older.rule).hash]
        left = _explains(older, partition)
        for placed in same:
            left &= ~_explains(placed, partition)
        both = left & _explains(newer, partition)
        chance = (np.count_nonzero(both) + 1) / (np.count_nonzero(left) + 2)
        return evidence(rows.size, int(np.count_nonzero(self.keys.by(newer)[rows])), float(chance))


@lru_cache(maxsize=1)
def _draws() -> NDArray[np.uint32]:
    """Random hashes, always the same."""
    return np.random.default_rng(0).integers(0, 1 << 32, DRAWS, np.uint32)


def _explains(placed: Placed, partition: int) -> NDArray[np.bool_]:
    return folded(of(placed.rule).fold, _draws(), placed.partitions) == partition


@lru_cache(maxsize=64)
def _chances(fold: str, count: int) -> NDArray[np.float64]:
    """The chance of each partition. Doubles round some remainders down, and so are not fair."""
    if fold != UNFAIR:
        return np.full(count, 1 / count)
    shares = np.bincount(folded(fold, _draws(), count), minlength=count) / DRAWS
    return np.maximum(shares, 1 / count)


def _mean_chance(placed: Placed, where: NDArray[Any]) -> float:
    """The share of keys in these partitions that this placement explains by chance, of those it knows of."""
    known = where[where < placed.partitions]
    return float(_chances(of(placed.rule).fold, placed.partitions)[known].mean()) if known.size else 1.0


def _held_against_crowding(hashes: NDArray[np.uint32], where: NDArray[np.int32], placed: Placed) -> float:
    """The evidence where equal hashes count once, and what the hash crowds anyway is not held to be its doing."""
    placement = of(placed.rule)
    known = where < placed.partitions
    pairs = hashes[HASH_NAMES.index(placement.hash)][known].astype(np.uint64) << np.uint64(32)
    pairs = np.unique(pairs | where[known].astype(np.uint64))
    if pairs.size < HANDFUL:
        return 0.0
    at = (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)
    chosen = folded(placement.fold, (pairs >> np.uint64(32)).astype(np.uint32), placed.partitions).astype(np.int64)
    explained = int(np.count_nonzero(chosen == at))
    chance = max(_mean_chance(placed, at), _crowding(chosen, at, placed.partitions))
    if explained < pairs.size * chance + HANDFUL * (1 - chance):
        return 0.0
    return evidence(pairs.size, explained, chance)


def _crowding(chosen: NDArray[np.int64], at: NDArray[np.int64], count: int) -> float:
    """The share of keys that the hash would put where they are, had they been dealt out without it; 0 if that is plain 1/m."""
    full = np.bincount(chosen, minlength=count)
    if (at == at[0]).all():
        full[at[0]] = 0
        share = float(full.max()) / at.size
        return share if evidence(at.size, int(full.max()), 1 / count) >= log(count) + 9 else 0.0
    here = np.bincount(at, minlength=count)
    both = np.bincount(at[chosen == at], minlength=count)
    foreign = (full - both)[at] / np.maximum(at.size - here[at], 1)
    return float(foreign.mean())
