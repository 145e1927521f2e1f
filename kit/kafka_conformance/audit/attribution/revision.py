"""Replace placements that were found one after another by others that explain the keys better together.

Each placement was found among the keys that earlier ones leave, and against chance. Two rules that follow each other, such
as an integer modulo 3 and 31 times a hash of its bytes, are then both taken for a pattern of the keys, and a third is found
that agrees with either by arithmetic. So the placements of a set are judged by the likelihood of the whole
(:mod:`.mixture`). A member is *explained away* by another placement in these conditions:

* The set with that placement instead of the member is likelier by CLEARLY.
* The member adds nothing to the set with both.
* Of the keys that one of the two alone explains, more are of the other than by chance. Placements that put all keys of
  a producer alike explain others by chance, a few more or less.

The other placement takes its place, unless what the whole set leaves unexplained follows a pattern of it.

Two rules that differ for a few keys only, such as String.hashCode of bytes and of text, are not told apart by this: one key
of 300 weighs less than CLEARLY. So a member is also replaced by such a rule if the keys that the two place differently, or
else the records of these keys, are LIKELY of it (of the expected member: CLEARLY). If one in twenty partitions would hold
such a key by chance, but 78 in 100 of the other keys are where the rule puts them, one key is 10 nats.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.candidate_search import hits_of_rules, placed_by, possible_counts
from kafka_conformance.audit.attribution.candidates import registered
from kafka_conformance.audit.attribution.distinct_keys import distinct
from kafka_conformance.audit.attribution.evidence import CLEARLY, HINT, LIKELY, evidence, spaced
from kafka_conformance.audit.attribution.explanation import KeyColumn
from kafka_conformance.audit.attribution.mixture import log_likelihoods
from kafka_conformance.audit.attribution.patterns import PRINTABLE, correlated
from kafka_conformance.audit.result import Placed

__all__ = ["Revision"]

EQUAL = 1e-6
"""Nats below which two gains are one: gains of rules that explain the same keys differ by rounding, in the 12th digit."""
SAME = 0.95
"""Two rules are not rivals if they put this share of the keys, or more, into the same partitions.

At 0.9, of two rules that differ for one key in 12, the wrong one could be named. At 0.99, a rule is given up for one
that differs for one key in 50.
"""
BEGINNINGS = 4
"""Sets that are completed from another placement than a member. Each takes a whole search; with 1, the likeliest
beginning alone would count, which may be a weak hash.
"""
SAMPLE = 512
"""Pairs on which all rules are tried: a rule that explains 3 % more than chance of 12 partitions has HINT."""
TRIED = 16
"""Alternatives of a member whose likelihood is computed, those of most evidence first: chance gives HINT to 3 of 30
rules with 12 counts, and the relatives of two members are 8 to 10.
"""


@dataclass(frozen=True, slots=True)
class Swap:
    """What the likelihood gains with ``other`` in the place of ``away``.

    ``held`` is what ``other`` adds to the rest of the set, ``adds`` what ``away`` still adds to both.
    """

    away: Placed
    other: Placed
    gain: float
    held: float
    adds: float


@dataclass(slots=True)
class Revision:
    """What a search requires of placements, and how it goes on from some of them.

    ``wanted`` is the evidence that a placement needs, ``preferred`` the order of equals, the best first; ``completed``
    returns members with what is present beside them.
    """

    keys: KeyColumn
    expected: Placed
    wanted: Callable[[Placed], float]
    preferred: Callable[[Placed], Any]
    completed: Callable[[list[Placed]], list[Placed]]
    pairs: KeyColumn = field(init=False)

    def __post_init__(self) -> None:
        self.pairs = self.keys.taken(self.keys.distinct_pairs())

    def revised(self, members: list[Placed]) -> list[Placed]:
        """Return the members, or what explains keys of several partitions better."""
        for _ in range(2 * len(members)):
            swaps = [swap for away in members for swap in self._swaps(members, away)]
            better = self._explaining_away(members, swaps)
            if better is None:
                better = self._completing(members, swaps)
            if not better:
                return self._grown(members, swaps) if better is None else []
            members = better
        return members

    def _grown(self, members: list[Placed], swaps: list[Swap]) -> list[Placed]:
        """Return the members with another count of one in the place of a rule that explains no other pairs beside them.

        In the place of the current count of a rule, only the current count of another.
        """
        out = list(members)
        for swap in swaps:
            others = [placed for placed in out if placed != swap.away]
            rules = {placed.rule for placed in others} - {swap.away.rule}
            older = swap.away.partitions < self.keys.count or swap.other.partitions == self.keys.count
            if not older or swap.away not in out or swap.other.rule not in rules or swap.other in others:
                continue
            rest = self.pairs.explained_by(others)
            if bool((self.pairs.by(swap.away) | rest == self.pairs.by(swap.other) | rest).all()):
                out[out.index(swap.away)] = swap.other
        return out

    def _alike(self, one: Placed, other: Placed) -> bool:
        return bool((self.pairs.by(one) == self.pairs.by(other)).all())

    def _swaps(self, members: list[Placed], away: Placed) -> list[Swap]:
        """Return what the alternatives of a member gain, the member itself left out."""
        others = [placed for placed in members if placed != away]
        tried = [away, *(placed for placed in _alternatives(self.pairs, others) if placed not in members)]
        nothing = np.zeros((1, self.pairs.size), np.bool_)
        rows = np.concatenate((nothing, self.pairs.rows_by(tried)))
        without, *held = log_likelihoods(self.pairs.rows_by(others), rows, self.pairs.count).tolist()
        beside = log_likelihoods(self.pairs.rows_by(members), self.pairs.rows_by(tried), self.pairs.count)
        return [
            Swap(away, placed, one - held[0], one - without, both - one)
            for one, both, placed in zip(held[1:], beside.tolist()[1:], tried[1:], strict=True)
        ]

    def _explaining_away(self, members: list[Placed], swaps: list[Swap]) -> list[Placed] | None:
        """Return the members with the one explained away replaced, by the largest gain; None if none is."""
        found = [
            swap
            for swap in swaps
            if swap.gain > CLEARLY
            and swap.adds < self.wanted(swap.away)
            and _explains_more(swap.other, swap.away, [placed for placed in members if placed != swap.away], self.pairs)
        ]
        if not found:
            return None
        most = max(swap.gain for swap in found)
        best = min((swap for swap in found if swap.gain > most - EQUAL), key=lambda swap: self.preferred(swap.other))
        others = [placed for placed in members if placed != best.away]
        return [*others, best.other] if self._follows_no_pattern(best.other, others) else others

    def _completing(self, members: list[Placed], swaps: list[Swap]) -> list[Placed] | None:
        """Return the likeliest set that begins with another placement than a member, if it is likelier by what it needs."""
        best, likeliest = None, self._likelihood(members) + CLEARLY
        begun: list[Placed] = []
        for swap in sorted(swaps, key=lambda swap: -swap.gain):
            if len(begun) == BEGINNINGS or swap.held < self.wanted(swap.other):
                continue
            if any(self._alike(swap.other, other) for other in (swap.away, *begun)):
                continue
            begun.append(swap.other)
            others = [placed for placed in members if placed != swap.away]
            if self._follows_no_pattern(swap.other, others):
                found = self.completed([swap.other])
                swapped = {swap.other, *others}  # that was refused before
                if found and set(found) != swapped and self._likelihood(found) > likeliest:
                    best, likeliest = found, self._likelihood(found)
        return best

    def _likelihood(self, members: list[Placed]) -> float:
        """Return the likelihood of a set, less what each of its placements needs."""
        held = log_likelihoods(self.pairs.rows_by(members[:-1]), self.pairs.rows_by(members[-1:]), self.pairs.count)
        return float(held[0]) - sum(self.wanted(placed) for placed in members)

    def nearest(self, members: list[Placed]) -> list[Placed]:
        """Return the members, each replaced by a rule that differs for few keys, if these keys or their records show it."""
        out = list(members)
        for at, away in enumerate(members):
            others = [placed for placed in out if placed != away]
            near = [swap.other for swap in self._swaps(out, away) if self._nearly_alike(swap.other, away)]
            wanted = CLEARLY if away == self.expected else LIKELY
            held = {other: self._shown_by_few(other, away, others) for other in near}
            if all(found <= wanted for found in held.values()):
                held = {other: self._shown_by_records(other, away, others)
                        for other, found in held.items() if found > -LIKELY}  # fmt: skip
            likely = {other: found for other, found in held.items() if found > wanted}
            if likely:
                most = max(likely.values())
                out[at] = min((other for other, found in likely.items() if found > most - EQUAL), key=self.preferred)
        return out

    def _nearly_alike(self, one: Placed, other: Placed) -> bool:
        """Whether two rules put all but few of the keys into the same partitions."""
        first, _ = distinct(self.pairs.ids)
        differ = float((self.pairs.chosen(one)[first] != self.pairs.chosen(other)[first]).mean())
        return 0 < differ <= 1 - SAME

    def _shown_by_records(self, one: Placed, other: Placed, others: list[Placed]) -> float:
        """Return by how much the records, not only the keys, are likelier with the first, in nats.

        Where each of two rules puts a key that they place differently, another member may put it too. Then the number of its
        records there tells them apart: in one of the two places it is that of two producers.
        """
        rows = self.keys.rows_by([one, other])
        first, second = log_likelihoods(self.keys.rows_by(others), rows, self.keys.count).tolist()
        return float(first - second)

    def _shown_by_few(self, one: Placed, other: Placed, others: list[Placed]) -> float:
        """Return by how much the keys that two rules place differently are likelier to be of the first, in nats.

        A producer wrote as large a share of these keys as of those that both rules place in the same partition. A foreign
        producer put a key into each other partition with the same chance. Keys that another member puts there show nothing.
        0 if the other is expected and as many keys may be of another producer, which wrote no more than these.
        """
        pairs, words = self.pairs, self.pairs.ids.view(np.dtype((np.void, 16))).ravel()
        _, first, key = np.unique(words, return_index=True, return_inverse=True)
        chosen = {placed: pairs.chosen(placed)[first] for placed in (one, other, *others)}
        differ = chosen[one] != chosen[other]
        left = ~pairs.explained_by(others)
        strange = np.count_nonzero(left & ~pairs.explained_by([one, other])) + 1
        chance = strange / (first.size * max(pairs.count - len(others) - 1, 1) + 2)

        def free(placed: Placed) -> NDArray[np.bool_]:
            out = np.ones(first.size, np.bool_)
            for each in others:
                out &= chosen[placed] != chosen[each]
            return out

        def seen(placed: Placed) -> NDArray[np.bool_]:
            out = np.zeros(first.size, np.bool_)
            out[key[pairs.by(placed)]] = True
            return out

        share = (np.count_nonzero(~differ & free(one) & seen(one)) + 1) / (np.count_nonzero(~differ & free(one)) + 2)
        apart = left & differ[key]
        hits = int(np.count_nonzero(apart & pairs.by(one)))
        by_chance = evidence(int(np.count_nonzero(apart)), hits, 1 / pairs.count) < LIKELY
        if share <= chance or (other == self.expected and by_chance):
            return 0.0
        missing, present = log((1 - share) / (1 - chance)), log(share / chance)
        held = [float(np.where(seen(each), present, missing)[differ & free(each)].sum()) for each in (one, other)]
        return held[0] - held[1]

    def unambiguous(self, members: list[Placed]) -> list[Placed]:
        """Return the members without those that another placement could replace, if it places some of the keys otherwise."""
        return [away for away in members if not any(self._as_good(swap) for swap in self._swaps(members, away))]

    def _as_good(self, swap: Swap) -> bool:
        if swap.adds >= self.wanted(swap.away) or swap.gain < (CLEARLY if swap.away == self.expected else -CLEARLY):
            return False
        return bool((self.pairs.chosen(swap.away) == self.pairs.chosen(swap.other)).mean() < SAME)

    def _follows_no_pattern(self, placed: Placed, others: list[Placed]) -> bool:
        """Whether the keys that neither the placement nor the others explain are off by any distance from it."""
        pairs = self.pairs
        left = (pairs.where < placed.partitions) & ~pairs.explained_by([placed, *others])
        return not correlated(pairs.chosen(placed)[left], pairs.where[left].astype(np.int64), placed.partitions)


def _alternatives(pairs: KeyColumn, others: list[Placed]) -> list[Placed]:
    """Return the placements that explain most of the keys that the others leave."""
    rows = np.flatnonzero(~pairs.explained_by(others))
    if not rows.size:
        return []
    sample = pairs.taken(spaced(rows, SAMPLE))
    counts = range(max(2, int(sample.where.min()) + 1), pairs.count + 1)
    known = np.array([np.count_nonzero(sample.where < count) for count in counts])
    text = bool(((sample.data >= PRINTABLE[0]) & (sample.data <= PRINTABLE[1])).all())
    found = [
        (evidence(int(known[placed.partitions - counts.start]), hits, 1 / placed.partitions), placed)
        for hits, placed in hits_of_rules(sample, counts)
        if not (text and placed.rule.startswith("int"))
    ]
    for candidate in registered():
        for count in possible_counts(sample):
            explained = int(np.count_nonzero(placed_by(placed := Placed(candidate.name, count), sample)))
            found.append((evidence(int(known[count - counts.start]), explained, 1 / count), placed))
    found = sorted(((held, placed) for held, placed in found if held > HINT), key=lambda one: -one[0])
    best = (placed for _, placed in found if placed not in others and _distinguishes(placed, pairs))
    return list(islice(best, TRIED))


def _distinguishes(placed: Placed, pairs: KeyColumn) -> bool:
    chosen = pairs.chosen(placed)
    return bool((chosen != chosen[0]).any())


def _explains_more(one: Placed, other: Placed, others: list[Placed], pairs: KeyColumn) -> bool:
    """Whether more of the keys that one of the two alone explains are of the first than half would be by chance.

    Of all keys, or of those that the other members leave.
    """
    first, second = pairs.by(one) & ~pairs.by(other), pairs.by(other) & ~pairs.by(one)
    for left in (np.ones(pairs.size, np.bool_), ~pairs.explained_by(others)):
        hits, misses = (int(np.count_nonzero(rows & left)) for rows in (first, second))
        if evidence(hits + misses, hits, 0.5) > CLEARLY:
            return True
    return False
