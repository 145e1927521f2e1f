"""Find the placements present in a topic from a sample of every partition, before the scan.

A single partition cannot distinguish all placements: on partition 4 of 6, murmur2 with its sign dropped by ``abs`` places
keys as Java does. All partitions together can. The topic is therefore sampled at its beginning, middle and end, and the
placements found are passed to every block; a block finds by itself what the sample misses.

Where these leave records unexplained, the same keys are looked at as other views show them
(:mod:`.attribution.key_views`), and with further rules (:mod:`.attribution.relatives`).

The functions that judge blocks take some seconds to build at first use. :func:`compile_all` builds them once, so
that no worker has to.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import Any, Protocol

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.alternatives import contenders
from kafka_conformance.audit.attribution.block import Block, column_of, judge
from kafka_conformance.audit.attribution.candidates import find_candidate, register_relatives
from kafka_conformance.audit.attribution.evidence import SURE, SURE_OF_EXPECTED, evidence, spaced
from kafka_conformance.audit.attribution.explanation import KeyColumn, Partitions, chosen_partitions
from kafka_conformance.audit.attribution.key_views import WHOLE, other_end, viewed, views_of
from kafka_conformance.audit.attribution.placements import ANY, PLACEMENTS, STRUCTURED
from kafka_conformance.audit.attribution.presence import present
from kafka_conformance.audit.attribution.relatives import RELATIVES, relative_partitions
from kafka_conformance.audit.attribution.sufficiency import find_doubt
from kafka_conformance.audit.attribution.weak_candidates import find_foreign
from kafka_conformance.audit.result import NOTHING_FOREIGN, Doubt, Foreign, Placed

__all__ = ["SAMPLE_RECORDS", "Look", "Sampled", "compile_all", "examine", "look"]

SAMPLE_RECORDS = 30_000
"""Records of all partitions that are looked at before the scan: of a producer of 0.3 %, 90."""
SCREENED = 512
"""Distinct keys on which views and further rules are tried: with 2 partitions, a rule needs 40 for the evidence."""
TRIED = 4
"""Views that are judged with all keys, those that explain most first: 4 are before and after a separator, a field and
an encoding.
"""
MOST_RELATIVES = 4
"""Further rules that are judged together: a topic has few producers, and each beyond 4 is another search of every block."""
ROUNDS = 2
"""How often the rules found are held against further ones: the 2nd time, those that the first has brought."""
LEFT = 0.02
"""The share of records that a verdict may leave unexplained, where a view or a further rule takes its place.

At 0.001, 10 strange records of 10,000 would start the search for another view. At 0.1, a topic whose tenth record has a
key of another form would be judged by a view of the rest.
"""


class Sampled(Protocol):
    """Records of which this process reads a sample."""

    def sample(self, records: int) -> pa.Table:
        """Return about this many records from all partitions (``partition``, ``offset``, ``key``), the same each time."""
        ...


class Look(msgspec.Struct, frozen=True):
    """What a sample shows: the placements present, the doubt about them, and the records that none explains.

    ``view`` is the view of the keys with which this holds, ``relatives`` the rules beyond the built-in ones that it takes.
    ``alike`` has by rule the others that put every key of the sample into the same partition. ``fitting_views``: with a
    doubt, the other views of the keys with which the expected placement puts every key where it is. ``undecided``: rules of
    which any may have placed records that are therefore unexplained, since no key shows which.
    """

    known: tuple[Placed, ...] = ()
    doubt: Doubt | None = None
    foreign: Foreign = NOTHING_FOREIGN
    view: str = WHOLE
    relatives: tuple[str, ...] = ()
    alike: dict[str, tuple[str, ...]] = {}
    fitting_views: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()


def look(rows: pa.Table, partitions: int, expected: Placed, *, one_of_many: bool = False, view: str = "") -> Look:
    """Return what a sample (``partition``, ``offset``, ``key``) shows; ``view`` is the only one to try, empty for all.

    ``one_of_many``: the records are of one partition only because no other was read, so that no placement is "one partition
    for every key", and only the given view is tried. The result depends on the records alone, not on their order.
    """
    rows = rows.filter(rows["key"].is_valid()).sort_by([("partition", "ascending"), ("offset", "ascending")])
    register_relatives(())
    if not rows.num_rows:
        return Look(view=view or WHOLE)
    where = rows["partition"].to_numpy()
    at: Partitions = int(where[0]) if one_of_many else where
    keys = rows["key"].combine_chunks()
    views = [view] if view or one_of_many else None
    return _Search(keys, at, partitions, expected, [one or WHOLE for one in views] if views else None).found()


class _Search:
    """The search for the view and the rules that explain a sample."""

    def __init__(
        self, keys: Any, where: Partitions, partitions: int, expected: Placed, views: list[str] | None
    ) -> None:
        self._keys, self._where, self._partitions, self._expected = keys, where, partitions, expected
        self._columns: dict[str, KeyColumn] = {}
        self._views = views

    def found(self) -> Look:
        """Return what the sample shows: of the first view, unless another one, or further rules, explain much more."""
        first = self._judged(self._views[0] if self._views else WHOLE, ())
        if not _leaves(first):
            return self._with_alike(self._contended(first))
        size = len(self._distinct(first.view)[0])
        views = self._views or [WHOLE, *(one.slug for one in views_of(self._distinct(WHOLE)[0]))]
        if first.doubt is not None and first.doubt.fitting:
            return self._with_fitting_views(first, views)
        found = [self._screened(view, len(views)) for view in views] if size and self._partitions > 1 else []
        likely = sorted((one for one in found if one.evidence), key=lambda one: (-one.explained, -one.evidence))
        tried = [self._judged(one.view, one.relatives) for one in likely[:TRIED]]
        better = [one for one in tried if _explains_instead(one, first)]
        if better:
            best = self._at_other_end(min(better, key=lambda one: one.foreign.share))
            register_relatives(best.relatives)
            return self._with_alike(self._contended(best))
        register_relatives(())
        if first.doubt is not None:
            return self._with_fitting_views(first, views)
        return self._with_alike(self._contended(first))

    def _at_other_end(self, found: Look) -> Look:
        """Return what the keys cut at their other separator show, if that leaves less: few keys may have a second one."""
        other = other_end(found.view)
        if other is None or (self._views and other not in self._views):
            return found
        if np.array_equal(self._column(other).ids, self._column(found.view).ids):
            return found
        return min(found, self._judged(other, found.relatives), key=lambda one: one.foreign.share)

    def _contended(self, found: Look) -> Look:
        """Return what the sample shows once it is judged with the rules that are as good as those found."""
        considered = found.relatives
        undecided: tuple[str, ...] = ()
        for _ in range(ROUNDS):
            rules = contenders(self._column(found.view), found.known, self._expected)
            rules = tuple(slug for slug in rules if slug not in considered)[:MOST_RELATIVES]
            if not rules:
                break
            considered += rules
            again = self._judged(found.view, tuple(dict.fromkeys((*found.relatives, *rules))))
            if again.foreign.share > found.foreign.share:
                named = {placed.rule for placed in again.known}
                candidates = (*undecided, *(placed.rule for placed in found.known), *rules)
                undecided = tuple(dict.fromkeys(slug for slug in candidates if slug not in named))
            found = again
        return msgspec.structs.replace(found, undecided=undecided)

    def _with_fitting_views(self, found: Look, views: list[str]) -> Look:
        if found.doubt is None or self._expected.rule in found.doubt.fitting:
            return found
        fitting = tuple(view for view in views if view != found.view and self._fits(view))
        return msgspec.structs.replace(found, fitting_views=fitting)

    def _column(self, view: str) -> KeyColumn:
        if view not in self._columns:
            self._columns[view] = column_of(viewed(self._keys, view), self._where, self._partitions)
        return self._columns[view]

    def _judged(self, view: str, relatives: tuple[str, ...]) -> Look:
        register_relatives(relatives)
        keys = self._column(view)
        known, doubt = examine(keys, self._expected)
        used = tuple(slug for slug in relatives if any(one.rule == slug for one in known))
        if used != relatives and known:
            register_relatives(used)
        return Look(known, doubt, find_foreign(keys, known), view, used)

    def _distinct(self, view: str) -> tuple[list[bytes], KeyColumn]:
        """Return up to SCREENED distinct keys and partitions, evenly spaced."""
        column = self._column(view)
        sample = column.taken(spaced(column.distinct_pairs(), SCREENED))
        content, ends = sample.data.tobytes(), sample.offsets.tolist()
        return [content[first:end] for first, end in pairwise(ends)], sample

    def _screened(self, view: str, views: int) -> _Screened:
        """Return the evidence of the best rule for a view, more than a search among all of them would give by chance."""
        _, sample = self._distinct(view)
        count, size = self._partitions, sample.size
        log_searched = log(views * (len(PLACEMENTS) + len(STRUCTURED) + len(RELATIVES)))
        by_rule = {slug: relative_partitions(slug, sample.offsets, sample.data, count) for slug in RELATIVES}
        held = {slug: _held(chosen, sample) for slug, chosen in by_rule.items()}
        relatives = _best_of_each_hash({slug: one for slug, one in held.items() if one >= SURE + log_searched})
        best, explained = max(((held[slug], int((by_rule[slug] == sample.where).sum())) for slug in relatives),
                              default=(0.0, 0))  # fmt: skip
        for rule in (*PLACEMENTS, *STRUCTURED) if view != WHOLE else ():
            sure = SURE_OF_EXPECTED + log(views) if rule.slug == self._expected.rule else SURE + log_searched
            chosen = chosen_partitions(rule, sample.offsets, sample.data, count)
            if (own := _held(chosen, sample)) >= sure:
                best, explained = max((best, explained), (own, int((chosen == sample.where).sum())))
        return _Screened(view, relatives[:MOST_RELATIVES], best, explained / size if size else 0.0)

    def _fits(self, view: str) -> bool:
        return bool(self._column(view).by(self._expected).all())

    def _with_alike(self, found: Look) -> Look:
        """Add the rules that place all keys of the sample as a present one does."""
        _, sample = self._distinct(found.view)
        alike = {}
        for placed in found.known:
            if placed.rule == ANY or (find_candidate(placed.rule) and placed.rule not in RELATIVES):
                continue
            mine = sample.chosen(placed)
            others = [each.slug for each in (*PLACEMENTS, *STRUCTURED) if each.slug != placed.rule]
            others = [slug for slug in (*others, *RELATIVES) if slug != placed.rule
                      and np.array_equal(sample.chosen(Placed(slug, placed.partitions)), mine)]  # fmt: skip
            if others:
                alike[placed.rule] = tuple(others)
        return msgspec.structs.replace(found, alike=alike)


@dataclass(frozen=True, slots=True)
class _Screened:
    """What a screening of a view has found: relatives to try, the evidence of the best rule, and the share it explains."""

    view: str
    relatives: tuple[str, ...]
    evidence: float
    explained: float


def _held(chosen: NDArray[np.int64], keys: KeyColumn) -> float:
    return evidence(keys.size, int(np.count_nonzero(chosen == keys.where)), 1 / keys.count)


def _best_of_each_hash(held: dict[str, float]) -> tuple[str, ...]:
    """Return the rule of most evidence of each hash, most evidence first: half of what one fold places fits another."""
    best: dict[str, str] = {}
    for slug in sorted(held, key=lambda slug: -held[slug]):
        best.setdefault(RELATIVES[slug].hash_name, slug)
    return tuple(best.values())


def _leaves(found: Look) -> bool:
    """Whether records are unexplained, or no rule is found."""
    if found.doubt is not None:
        return True
    return not found.known or found.foreign.share > LEFT


def _explains_instead(one: Look, first: Look) -> bool:
    """Whether a look explains all but few records, of which the first one leaves many."""
    if one.doubt is not None or not one.known or one.foreign.share > LEFT:
        return False
    return first.doubt is not None or not first.known or first.foreign.share > 5 * max(one.foreign.share, LEFT)


def examine(keys: KeyColumn, expected: Placed) -> tuple[tuple[Placed, ...], Doubt | None]:
    """Return the placements present among these keys of a topic, and the doubt about them: with a doubt, none is present."""
    found = present(keys, expected)
    doubt = find_doubt(keys, expected, found)
    return (() if doubt else found), doubt


def compile_all() -> None:
    """Compile every function that ``attribution.block.judge`` uses, and cache the code for all processes."""
    count = 3_000
    keys = pa.array([b"%d" % number for number in range(count)], pa.binary())
    offsets = np.arange(count, dtype=np.int64)
    judge(
        Block(0, offsets, offsets, keys),
        12,
        Placed("murmur2", 12),
        (Placed("murmur2", 3), Placed("crc32", 12)),
        whole=True,
    )
