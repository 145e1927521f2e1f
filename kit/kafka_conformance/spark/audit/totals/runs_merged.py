"""Merge the runs of blocks into runs of partitions, and find increases of the partition count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from kafka_conformance.spark.audit.attribution.block import Summary
from kafka_conformance.spark.audit.result import Growth, Place, Placed, Run

__all__ = ["growth", "merged"]


def merged(summaries: Iterable[Summary]) -> list[Run]:
    """Return the runs of all blocks, given by partition and offset; a run that continues in the next block is one run."""
    runs: list[Run] = []
    for summary in summaries:
        for run in summary.runs:
            before = runs[-1] if runs else None
            if before is not None and before.partition == run.partition and before.placed == run.placed:
                runs[-1] = _joined(before, run)
            else:
                runs.append(run)
    return runs


def _joined(one: Run, other: Run) -> Run:
    firsts = [each for each in (one.first_ms, other.first_ms) if each is not None]
    lasts = [each for each in (one.last_ms, other.last_ms) if each is not None]
    return Run(
        one.partition, one.placed, one.first_offset, other.last_offset, min(firsts, default=None), max(lasts, default=None),
        one.records + other.records,
    )  # fmt: skip


def growth(summaries: Sequence[Summary], partitions: int) -> tuple[Growth, ...]:
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
