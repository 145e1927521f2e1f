"""Merge the runs of blocks into runs of partitions, and find increases of the partition count.

An increase has an order: in each partition the records with the old count end where those with the new one begin, but for
producers that refresh their metadata later. A mirror that keeps the partitions of a smaller topic, beside a direct producer,
has none: both counts are in use from the first record to the last.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import median

import numpy as np

from kafka_conformance.audit.attribution.block import BlockSummary
from kafka_conformance.audit.attribution.explanation import KeyColumn
from kafka_conformance.audit.result import AttributedRun, Growth, Place, Placed, SplitKey, Splits

__all__ = ["growth", "is_ordered", "merged", "split_by_moves"]

OVERLAP = 0.25
"""The share of a partition's offsets, or of the time, in which both counts may be in use at an increase: the producers of a
topic of some minutes take as long to refresh their metadata."""


def merged(summaries: Iterable[BlockSummary]) -> list[AttributedRun]:
    """Return the runs of all blocks, given by partition and offset; a run that continues in the next block is one run."""
    runs: list[AttributedRun] = []
    for summary in summaries:
        for run in summary.runs:
            before = runs[-1] if runs else None
            if before is not None and before.partition == run.partition and before.placed == run.placed:
                runs[-1] = _joined(before, run)
            else:
                runs.append(run)
    return runs


def _joined(one: AttributedRun, other: AttributedRun) -> AttributedRun:
    firsts = [each for each in (one.first_ms, other.first_ms) if each is not None]
    lasts = [each for each in (one.last_ms, other.last_ms) if each is not None]
    return AttributedRun(
        one.partition, one.placed, one.first_offset, other.last_offset, min(firsts, default=None), max(lasts, default=None),
        one.records + other.records,
    )  # fmt: skip


def growth(summaries: Sequence[BlockSummary], partitions: int) -> tuple[Growth, ...]:
    """Return for each placement with an old partition count the last offset of each partition attributed to it."""
    last: dict[Placed, dict[int, Place]] = defaultdict(dict)
    counts: dict[str, set[int]] = defaultdict(set)
    for summary in summaries:
        for placed in summary.present:
            place = summary.last.get(str(placed))
            if place is None:
                continue
            counts[placed.rule].add(placed.partitions)
            if placed.partitions < partitions:
                before = last[placed].get(place.partition, place)
                last[placed][place.partition] = max(before, place, key=lambda one: one.offset)
    increases = []
    for placed, places in sorted(last.items()):
        larger = min((count for count in counts[placed.rule] if count > placed.partitions), default=partitions)
        until = {partition: place.offset for partition, place in sorted(places.items())}
        until_ms = max(place.time_ms for place in places.values())
        increases.append(Growth(placed.rule, placed.partitions, larger, until, until_ms if until_ms >= 0 else None))
    return tuple(increases)


def is_ordered(one: Growth, summaries: Sequence[BlockSummary]) -> bool:
    """Return whether the old count ends where the new one begins: by offsets, or else by time."""
    old, new = (str(Placed(one.rule, count)) for count in (one.before, one.after))
    ends: dict[int, list[int]] = defaultdict(list)
    begins: dict[int, list[int]] = defaultdict(list)
    spans: dict[int, list[int]] = defaultdict(list)
    for summary in summaries:
        ends[summary.partition] += [place.offset for name, place in summary.last.items() if name == old]
        begins[summary.partition] += [place.offset for name, place in summary.first.items() if name == new]
        spans[summary.partition] += [at for at in (summary.first_offset, summary.last_offset) if at is not None]
    overlaps = [
        (max(ends[number]) - min(begins[number])) / max(max(spans[number]) - min(spans[number]), 1)
        for number in spans
        if ends[number] and begins[number]
    ]
    return median(overlaps) <= OVERLAP if overlaps else _ordered_by_time(one, new, summaries)


def _ordered_by_time(one: Growth, new: str, summaries: Sequence[BlockSummary]) -> bool:
    begins = [place.time_ms for each in summaries for name, place in each.first.items() if name == new]
    times = [at for each in summaries for at in (each.first_ms, each.last_ms) if at is not None]
    if one.until_ms is None or not begins or min(begins) < 0:
        return False
    return one.until_ms - min(begins) <= OVERLAP * (max(times) - min(times))


def split_by_moves(increases: tuple[Growth, ...], splits: Splits) -> tuple[tuple[Growth, ...], tuple[Growth, ...]]:
    """Split increases into those that moved a key from its old partition to its new one, and those that did not.

    If there are more split keys than ``splits`` holds, none of which moved, others may have.
    """
    unknown = splits.keys > len(splits.earliest)
    moved = tuple(one for one in increases if unknown or any(_moved(one, each) for each in splits.earliest))
    return moved, tuple(one for one in increases if one not in moved)


def _moved(one: Growth, split: SplitKey) -> bool:
    key = bytes.fromhex(split.key)
    here = {place.partition for place in split.places}
    before, after = (
        {where for where in here if where < count and _chooses(Placed(one.rule, count), key, where)}
        for count in (one.before, one.after)
    )
    return bool(before and after and before != after)


def _chooses(placed: Placed, key: bytes, partition: int) -> bool:
    column = KeyColumn(np.array([0, len(key)], np.int32), np.frombuffer(key, np.uint8), partition, placed.partitions)
    return bool(column.by(placed)[0])
