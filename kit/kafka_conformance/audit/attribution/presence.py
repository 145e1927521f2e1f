"""Find the placements present among some keys, with their partition counts: those that explain more than chance would.

A placement with m partitions explains one in m keys that it did not place. Its count of explained keys is therefore compared
with chance, and it is present only if chance would give as many less than once in 10^9 searches (six sigma). Placements are
found one after another, each among the keys that the earlier ones leave unexplained, by best evidence; of nearly equal
evidence the expected placement wins, then the current partition count, then the order of ``PLACEMENTS``. Placements by
what a key says compete with the hashes (:mod:`.patterns`).

Evidence is in nats: a lower bound of -log P, where P is the probability of as many keys or more (Chernoff's bound: the
number of keys times the relative entropy of the explained share to the share by chance). Four effects make chance larger
than 1/m, and each is accounted for:

* A repeated key is not new evidence: keys are distinguished by their identity.
* A hash may not distinguish keys (the first byte only): its equal hashes count once.
* A hash may favour some partitions for every key (31 times and 31 partitions: the last byte decides, and all keys may end
  in the same). With keys of several partitions, the explained keys are compared with the keys of other partitions that
  the hash would have put there too. With keys of one partition, they are compared with *similar* keys: each byte is taken
  from some key of the same length at the same position. A property of all such keys is not the effect of a placement.
* After an increase from 3 to 12 partitions, ``@3`` explains every key that ``@12`` explains in partitions 0 to 2, so nothing
  is left unexplained once ``@3`` is found. ``@12`` explains a share of the keys of ``@3`` by chance, which is measured on
  random hashes (1/4); it is present if it explains more than that, or more keys in a row than chance would.

Several partitions distinguish what one cannot: for some partitions, and for all if their number is a power of two, a hash
without its sign and one with its sign inverted choose the same keys. The earlier of ``PLACEMENTS`` is then chosen. So search
the keys of all partitions first, and pass the result as ``known`` when searching a single one.

What was found one after another is then judged together: a member may be explained away (:mod:`.revision`), or be part of
another function of the key (:func:`.beside.founded`).

The sample is bounded and evenly spaced over the keys that are not explained yet, so a producer of a few hundred records
among a hundred thousand is found like any other. If more than half of these keys are in one partition, as those of a
producer that puts all of its keys there, a second sample has as many of each partition: nine in ten of one partition would
hide a producer of the others. Chance stays 1/m, because a partition tells nothing about what a hash makes of its keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from math import gcd, log

import numpy as np
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.candidate_search import candidates_present
from kafka_conformance.audit.attribution.candidates import find_candidate
from kafka_conformance.audit.attribution.chance import (
    UNFAIR,
    held_against_crowding,
    made_alike,
    mean_chance,
    random_hashes,
)
from kafka_conformance.audit.attribution.evidence import (
    CLEARLY,
    HANDFUL,
    HINT,
    SURE,
    SURE_OF_EXPECTED,
    evidence,
    spaced,
)
from kafka_conformance.audit.attribution.explanation import KeyColumn, folded, how_many_explained
from kafka_conformance.audit.attribution.hash_columns import hash_columns
from kafka_conformance.audit.attribution.joint_presence import evidence_beside, founded, is_function_of_key
from kafka_conformance.audit.attribution.key_runs import longest
from kafka_conformance.audit.attribution.patterns import (
    WEAK,
    WEAKEST,
    follows_a_pattern,
    follows_bytes,
    structured_candidates,
)
from kafka_conformance.audit.attribution.placements import JAVA, PLACEMENTS, STRUCTURED, find_placement, rank
from kafka_conformance.audit.attribution.relatives import RELATIVES
from kafka_conformance.audit.attribution.revision import Revision
from kafka_conformance.audit.result import Placed

__all__ = ["UNSEEN", "implies", "present"]

SAMPLE, SPACED = 512, 8192
"""Rows of distinct keys that are judged, and rows that they are taken from.

With 2 partitions, a rule has to explain 80 keys more than half of 512, 16 %; of 128 it would be 40, 31 %. Of 8,192
rows, 819 are left where one key has nine of ten records.
"""
MEMBERS = 8
"""The most placements in a topic: records are counted by the set that explains them, of which there are 2^8."""
TRIES = 200
"""Placements that are held against crowding, those of most evidence first: of 30 rules with 12 counts, more than half."""
ROUNDS = 3
"""Revisions of what is present. The 2nd judges what the 1st has brought; the 3rd is a bound."""
UNSEEN = 0.02
"""The share of keys that a producer may have written which none of them shows.

With 12 partitions, 747 keys rule out 2 %. At 0.01, it would take 1,500 keys. At 0.04, 370 would do, and a producer of
2 % would be overlooked once in 900 topics.
"""


def implies(one: Placed, other: Placed) -> bool:
    """Whether ``other`` explains every key that ``one`` explains, in the partitions of ``other``."""
    if one.rule != other.rule or one == other or one.partitions % other.partitions:
        return False
    candidate = find_candidate(one.rule)
    return candidate is None or candidate.by_remainder


def present(
    keys: KeyColumn, expected: Placed | None = None, known: tuple[Placed, ...] | None = None, *, weakest: bool = True
) -> tuple[Placed, ...]:
    """Return the placements present among these keys: the expected one first, then by count and by ``PLACEMENTS``.

    ``known`` are present among other keys of the topic: those that explain any of these keys are present here too, unless
    the expected placement explains all keys. Without ``weakest``, one of the WEAK hashes is present only if it is known.
    If a sample of the topic shows nothing (``known`` is empty, not None), that the expected placement explains a few keys is
    no evidence. With one partition the result is the expected placement; without keys it is empty.
    """
    expected = expected or Placed(JAVA, keys.count)
    if not keys.size:
        return ()
    if keys.count == 1:
        return (expected,)
    unfounded = known is not None and expected not in known
    known = known or ()
    search = _Search(keys, expected, weakest)
    if search.expected_alone(known):
        return (expected,)
    members = [placed for placed in known if keys.by(placed).any()][:MEMBERS]
    members = search.completed(members, known)
    if search.several and members and not (len(members) == 1 and keys.by(members[0]).all()):
        members = search.revised(members, known)
    if not members and not unfounded and keys.by(expected).all():
        return (expected,)
    return tuple(sorted(members, key=search.rank))


@dataclass(slots=True)
class _Search:
    keys: KeyColumn
    expected: Placed
    weakest: bool

    @property
    def several(self) -> bool:
        """Whether the keys are of several partitions."""
        return isinstance(self.keys.partition, np.ndarray)

    def rank(self, placed: Placed) -> tuple[bool, bool, int, int]:
        """Return the order among placements with equal evidence: the lowest is preferred."""
        return placed != self.expected, placed.partitions != self.keys.count, rank(placed.rule), -placed.partitions

    def preferred(self, placed: Placed) -> tuple[bool, tuple[bool, bool, int, int]]:
        """Which of those with nearly equal evidence is chosen: of the weakest hashes none but the expected one."""
        return placed != self.expected and _is_weakest(placed), self.rank(placed)

    def completed(self, members: list[Placed], known: tuple[Placed, ...] = ()) -> list[Placed]:
        """Return the members with the placements that are present beside them, without those that these make superfluous."""
        members = list(members)
        while len(members) < MEMBERS:
            found = self.further(members) or self.implying(members)
            if not found:
                break
            members.append(found)
        return self.needed(members, known)

    def revised(self, members: list[Placed], known: tuple[Placed, ...]) -> list[Placed]:
        """Return what is present if the members are judged together."""
        revision = Revision(self.keys, self.expected, self.wanted, self.preferred, self.completed)
        for _ in range(ROUNDS):
            better = revision.revised(members)
            members = self.completed(better, known)
            if set(better) == set(members):
                break
        members = revision.unambiguous(revision.nearest(members))
        return founded([one for one in members if self._admissible(one, members)], self.keys, self.wanted)

    def expected_alone(self, known: tuple[Placed, ...]) -> bool:
        """Whether the expected placement explains all, and any that is known would not have left it at that.

        Another rule that explains some of these keys may have written a few: with 100 keys and 12 partitions, one partition
        in 2,000 has only keys of it that the expected rule puts there too.
        """
        if not self.keys.by(self.expected).all():
            return False
        others = [placed for placed in known if placed != self.expected]
        if not others:
            rows = self._rows(np.ones(self.keys.size, np.bool_))
            return evidence(rows.size, rows.size, 1 / self.expected.partitions) >= SURE_OF_EXPECTED
        if any(self.keys.by(placed).all() and not implies(self.expected, placed) for placed in others):
            return False
        different = self._rows(np.ones(self.keys.size, np.bool_), SPACED).size
        return all(different * -log(self._overlap(placed)) >= SURE for placed in others) and all(
            different * -log(1 - UNSEEN * (1 - self._overlap(placed))) >= SURE_OF_EXPECTED
            for placed in others
            if placed.rule != self.expected.rule and self.keys.by(placed).any()
        )

    def further(self, members: list[Placed]) -> Placed | None:
        """Return the placement that best explains the keys no member explains, or None if none beats chance."""
        left = ~self.keys.explained_by(members)
        return self._best(self._rows(left), members) or self._best(self._rows_by_partition(left), members)

    def _best(self, rows: NDArray[np.int64], members: list[Placed]) -> Placed | None:
        """Return the placement that best explains the keys of these rows, or None if none beats chance."""
        if rows.size < HANDFUL:
            return None
        sample = self.keys.taken(rows)
        hashes = hash_columns(sample.offsets, sample.data)
        explaining = self._by_evidence(sample.where, hashes)
        at_hand = [one for one in explaining if one[1] not in members and self._admissible(one[1], members)]
        structured = [
            (held, placed)
            for held, placed in (self._without_hash(sample) if self.several else [])
            if placed not in members and self._beside(placed, members, sample)
        ]
        if not at_hand and not structured:
            return None
        alike = self._alike(sample, members)
        best, chosen = max((held for held, _ in structured), default=0.0), structured
        for raw, placed in islice(at_hand, TRIES):
            if raw < max(best - CLEARLY, self.wanted(placed)):
                break
            held = held_against_crowding(hashes, sample.where, alike, placed)
            if (
                held >= self.wanted(placed)
                and not follows_a_pattern(placed, explaining, sample.where, hashes)
                and self._beside(placed, members, sample)
            ):
                best = max(best, held)
                chosen.append((held, placed))
        chosen = [(held, placed) for held, placed in chosen if held >= best - CLEARLY]
        rules = {member.rule for member in members}

        def order(placed: Placed) -> tuple[bool, object]:
            """An old partition count is likelier that of a member than that of another producer."""
            return placed.partitions != self.keys.count and placed.rule not in rules, self.preferred(placed)

        return min((placed for _, placed in chosen), key=order, default=None)

    def _without_hash(self, sample: KeyColumn) -> list[tuple[float, Placed]]:
        """Return the structured placements and the user's candidates among keys of several partitions, with evidence."""
        candidates = [(held, placed) for held, placed in candidates_present(sample) if held >= self.wanted(placed)]
        return structured_candidates(sample) + candidates

    def _beside(self, placed: Placed, members: list[Placed], sample: KeyColumn) -> bool:
        """Whether a placement is present beside the members: more than chance, and not a part of a pattern."""
        if placed == self.expected or not self.several:
            return True
        structured = not find_placement(placed.rule).hash
        wanted = SURE_OF_EXPECTED + log(len(STRUCTURED)) if structured else self.wanted(placed)
        if members and evidence_beside(placed, members, sample) < wanted:
            return False
        if not structured and not _is_weakest(placed):
            return True
        left = np.flatnonzero(~self.keys.explained_by(members))
        return bool(sample.by(placed).all()) or not is_function_of_key(self.keys, left)

    def implying(self, members: list[Placed]) -> Placed | None:
        """Return a placement whose count implies an older one and that explains more of its keys than chance, or None."""
        best: tuple[float, Placed] | None = None
        for older in members:
            rule = find_placement(older.rule)
            if rule.fold == UNFAIR or not rule.hash:
                continue
            for newer in self._worth_testing(older, members):
                held = self._beyond_overlap(newer, older, members)
                if held >= SURE + log(self.keys.count) and (best is None or held > best[0]):
                    best = held, newer
        return best and best[1]

    def _worth_testing(self, older: Placed, members: list[Placed]) -> list[Placed]:
        """Return the multiples of an older count to test: those a small sample suggests, and always the current count."""
        counts = range(2 * older.partitions, self.keys.count + 1)
        rows = self._rows(self.keys.by(older))
        if not counts or rows.size < HANDFUL:
            return []
        sample = self.keys.taken(rows)
        hashes = hash_columns(sample.offsets, sample.data)
        explained = how_many_explained(hashes, (find_placement(older.rule),), sample.where, counts)[:, 0]
        out = []
        for count, hits in zip(counts, explained, strict=True):
            if count % older.partitions or Placed(older.rule, count) in members:
                continue
            if count == self.keys.count or evidence(rows.size, int(hits), older.partitions / count) > HINT:
                out.append(Placed(older.rule, count))
        return out

    def needed(self, members: list[Placed], known: tuple[Placed, ...]) -> list[Placed]:
        """Return the members without those that later ones have made superfluous."""
        kept = list(members)
        for placed in members:
            others = [other for other in kept if other != placed]
            if placed in known or any(implies(placed, other) for other in others):
                continue
            left = ~self.keys.explained_by(others)
            samples = self._rows(left), self._rows_by_partition(left)
            if max(self._evidence(placed, rows) for rows in samples) < self.wanted(placed):
                kept = others
        return kept

    def _evidence(self, placed: Placed, rows: NDArray[np.int64]) -> float:
        explained = int(np.count_nonzero(self.keys.by(placed)[rows]))
        return evidence(rows.size, explained, mean_chance(placed, self.keys.where[rows]))

    def wanted(self, placed: Placed) -> float:
        if placed == self.expected:
            return SURE_OF_EXPECTED
        return SURE + log(len(PLACEMENTS) * self.keys.count)

    def _rows(self, wanted: NDArray[np.bool_], most: int = SAMPLE) -> NDArray[np.int64]:
        """Return up to ``most`` evenly spaced rows of distinct keys among those wanted; a key counts once per partition."""
        return spaced(self.keys.distinct_pairs(spaced(np.flatnonzero(wanted), SPACED)), most)

    def _rows_by_partition(self, wanted: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return :meth:`_rows` with as many of each partition, if more than half of those wanted are in one; else none."""
        nothing = np.empty(0, np.int64)
        if not self.several:
            return nothing
        sizes = np.bincount(self.keys.where[wanted], minlength=1)
        used = np.flatnonzero(sizes)
        if used.size < 2 or 2 * int(sizes.max()) <= int(sizes.sum()):
            return nothing
        most = max(SAMPLE // used.size, 1)
        return np.sort(np.concatenate([self._rows(wanted & (self.keys.where == at), most) for at in used.tolist()]))

    def _by_evidence(self, where: NDArray[np.int32], hashes: NDArray[np.uint32]) -> list[tuple[float, Placed]]:
        """Return every placement with every count that beats chance, most evidence first; chance is taken as 1/m."""
        counts = range(max(2, int(where.min()) + 1), self.keys.count + 1)
        explained = how_many_explained(hashes, PLACEMENTS, where, counts)
        out: list[tuple[float, Placed]] = []
        for count, row in zip(counts, explained, strict=True):
            known = int(np.count_nonzero(where < count))
            for at in np.flatnonzero(row > known / count + HANDFUL * (1 - 1 / count)):
                placed = Placed(PLACEMENTS[at].slug, count)
                if PLACEMENTS[at].fold == UNFAIR and count != self.keys.count:
                    continue
                held = evidence(known, int(row[at]), mean_chance(placed, where))
                if held >= self.wanted(placed):
                    out.append((held, placed))
        return sorted(out, key=lambda found: (-found[0], self.rank(found[1])))

    def _admissible(self, placed: Placed, members: list[Placed]) -> bool:
        """Whether to consider a placement; a weak one with an old count only beside itself, or without newer partitions."""
        if not self.weakest and placed != self.expected and find_placement(placed.rule).hash in WEAK:
            return False
        current = Placed(placed.rule, self.keys.count)
        if self.several and int(self.keys.where.max()) < placed.partitions:
            return True
        weak = find_placement(placed.rule).hash in WEAK or follows_bytes(placed)
        return placed == current or current in members or not weak

    def _alike(self, sample: KeyColumn, members: list[Placed]) -> NDArray[np.uint32] | None:
        """Return hashes of similar keys that no member explains; None if the keys are of several partitions."""
        if (sample.where != sample.where[0]).any():
            return None
        made = made_alike(sample)
        return np.ascontiguousarray(hash_columns(made.offsets, made.data)[:, ~made.explained_by(members)])

    def _overlap(self, other: Placed) -> float:
        """Return the share of the keys of ``other`` that the expected placement explains by chance."""
        if other.rule == self.expected.rule:
            return gcd(other.partitions, self.expected.partitions) / self.expected.partitions
        if find_placement(other.rule).hash == find_placement(self.expected.rule).hash:
            return 0.75
        return 1 / self.expected.partitions

    def _beyond_overlap(self, newer: Placed, older: Placed, members: list[Placed]) -> float:
        """Return the evidence that ``newer`` explains more of the keys of ``older`` than for random hashes."""
        rivals = [placed for placed in members if placed != older and not implies(older, placed)]
        wanted = self.keys.by(older) & ~self.keys.explained_by(rivals)
        rows = self._rows(wanted, SPACED)
        if rows.size < HANDFUL:
            return 0.0
        partition = int(np.bincount(self.keys.where[rows]).argmax())
        rows = rows[self.keys.where[rows] == partition]
        same = [placed for placed in rivals if find_placement(placed.rule).hash == find_placement(older.rule).hash]
        left = _explains(older, partition)
        for placed in same:
            left &= ~_explains(placed, partition)
        both = left & _explains(newer, partition)
        chance = (np.count_nonzero(both) + 1) / (np.count_nonzero(left) + 2)
        spread = evidence(rows.size, int(np.count_nonzero(self.keys.by(newer)[rows])), float(chance))
        if self.several:
            return spread
        rows = np.flatnonzero(wanted)
        in_a_row = longest(self.keys.by(newer)[rows].astype(np.uint8), self.keys.ids[rows, 0])
        return max(spread, in_a_row * -log(chance) - log(rows.size))


def _is_weakest(placed: Placed) -> bool:
    relative = RELATIVES.get(placed.rule)
    return (relative.hash_name if relative else find_placement(placed.rule).hash) in WEAKEST


def _explains(placed: Placed, partition: int) -> NDArray[np.bool_]:
    out: NDArray[np.bool_] = folded(find_placement(placed.rule).fold, random_hashes(), placed.partitions) == partition
    return out
