"""Runs of blocks joined to runs of partitions, and what of them is a topic that grew."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from kafka_conformance.audit.judging import Summary
from kafka_conformance.audit.result import Growth, Placed, Run

__all__ = ["growth", "merged"]


def merged(summaries: Iterable[Summary]) -> list[Run]:
    """The runs of all blocks, given in the order of partition and offset; what goes on in the next block is one run."""
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


def growth(runs: Sequence[Run], partitions: int) -> tuple[Growth, ...]:
    """For each rule and older count that runs name: until which offset of each partition it was reckoned with."""
    until: dict[Placed, dict[int, Run]] = defaultdict(dict)
    after: dict[str, set[int]] = defaultdict(set)
    for run in runs:
        for placed in run.placed:
            after[placed.rule].add(placed.partitions)
            if placed.partitions < partitions:
                until[placed][run.partition] = run
    grown = []
    for placed, last in sorted(until.items()):
        larger = sorted(count for count in after[placed.rule] if count > placed.partitions)
        times = [run.last_ms for run in last.values() if run.last_ms is not None]
        offsets = {partition: run.last_offset for partition, run in sorted(last.items())}
        grown.append(Growth(placed.rule, placed.partitions, (larger or [partitions])[0], offsets, max(times, default=None)))
    return tuple(grown)
