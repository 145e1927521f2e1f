"""Add up the results of a topic's blocks: shares, runs, increases of the partition count, split keys, skew.

There are few blocks (mostly of 65,536 records) with small results, so most of them are added up here. Larger work is done by
Spark: keys in several partitions (``split_keys``), records without a key (``keyless_over_time``), and records that no block
explains by itself (``leftover``).

A placement puts a key into one partition, so a topic with a single placement has no split keys, and is not searched for
them; unless there are empty keys, for which some placements draw.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

import msgspec

from kafka_conformance.spark.audit.attribution.block import Summary
from kafka_conformance.spark.audit.attribution.placements import find_placement
from kafka_conformance.spark.audit.record_files import RECORD_SCHEMA
from kafka_conformance.spark.audit.result import (
    EITHER,
    UNEXPLAINED,
    Doubt,
    Growth,
    PartitionLine,
    Place,
    Placed,
    Share,
    Skew,
    Splits,
    Summed,
)  # fmt: skip
from kafka_conformance.spark.audit.scan import BLOCK, BLOCK_SCHEMA, KEYS, KEYS_SCHEMA, RECORD, Scanned
from kafka_conformance.spark.audit.sources import Source
from kafka_conformance.spark.audit.totals.keyless_over_time import keyless
from kafka_conformance.spark.audit.totals.leftover import Leftover, leftover
from kafka_conformance.spark.audit.totals.runs_merged import growth, merged, split_by_moves
from kafka_conformance.spark.audit.totals.slots import slots
from kafka_conformance.spark.audit.totals.split_keys import splits
from kafka_conformance.spark.runs import Run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["MOST_RUNS", "doubt_of_all", "never_splits", "summed"]

MOST_RUNS = 1_000
"""The maximum number of runs in the result; the longest are kept."""


def summed(run: Run, chunks: int, source: Source, expected: Placed, buckets: int, doubt: Doubt | None = None) -> Summed:
    """Return the totals of a finished run, counted keys are in ``buckets`` buckets; ``doubt`` is that of a sample.

    Raises KitError.
    """
    return run.spark.call(lambda: _summed(run, chunks, source, expected, buckets, doubt), "adding up the audit")


def _summed(run: Run, chunks: int, source: Source, expected: Placed, buckets: int, sampled: Doubt | None) -> Summed:
    block_rows = run.read(chunks, BLOCK_SCHEMA, f"kind={BLOCK}")
    records = run.read(chunks, RECORD_SCHEMA, f"kind={RECORD}")
    blocks = [
        msgspec.json.decode(row[0], type=Scanned)
        for row in block_rows.orderBy("partition", "offset").select("data").collect()
    ]
    late: list[Leftover] = []
    if sampled is None and any(block.summary.attributed.get(UNEXPLAINED) for block in blocks):
        _, late = leftover(records, source.partitions)
    keyed = sum(block.summary.keyed for block in blocks)
    attributed = _attributed(blocks, late)
    unexplained = sum(counts[UNEXPLAINED] for counts in attributed.values())
    names = {name for counts in attributed.values() for name, count in counts.items() if count}
    of_one = never_splits(names, any(block.summary.empty for block in blocks))
    shares = _shares(blocks, late, expected)
    merged_runs = merged(block.summary for block in blocks)
    keyless_records = sum(block.summary.keyless for block in blocks)
    times = [block.summary for block in blocks if block.summary.first_ms is not None]
    first_ms = min((summary.first_ms for summary in times if summary.first_ms is not None), default=None)
    last_ms = max((summary.last_ms for summary in times if summary.last_ms is not None), default=None)
    by_partition = tuple(_lines(blocks, source, attributed))
    split_keys = _NONE if of_one else _splits(run, chunks, records, buckets)
    increases, unmoved = split_by_moves(growth([block.summary for block in blocks], source.partitions), split_keys)
    doubt = doubt_of_all([block.summary for block in blocks], sampled, split_keys.of_keys, source.partitions)
    return Summed(
        records=sum(block.summary.records for block in blocks),
        keyed=keyed,
        explained=keyed - unexplained,
        offending=sum(block.summary.offending for block in blocks),
        shares=shares,
        runs=tuple(sorted(sorted(merged_runs, key=lambda one: -one.records)[:MOST_RUNS],
                          key=lambda one: (one.partition, one.first_offset))),
        runs_in_all=len(merged_runs),
        growth=increases,
        by_partition=by_partition,
        over_time=slots(blocks, first_ms, last_ms),
        splits=split_keys,
        keyless=keyless(block_rows, keyless_records, source.partitions, first_ms, last_ms),
        doubt=doubt,
        skew=_skew([line.records for line in by_partition]),
        notes=tuple(_notes(blocks, late, source, sampled if doubt is None else None, unmoved)),
    )  # fmt: skip


_NONE = Splits(0, 0, 0, None, ())


def _splits(run: Run, chunks: int, records: DataFrame, buckets: int) -> Splits:
    keys = run.read(chunks, KEYS_SCHEMA, f"kind={KEYS}")
    with run.spark.batches_of(8):  # each row may hold all keys of a block
        return splits(keys, records, buckets)


def _attributed(blocks: Iterable[Scanned], late: Iterable[Leftover]) -> dict[int, Counter[str]]:
    """Count the keyed records of each partition by attribution."""
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for block in blocks:
        counts[block.summary.partition].update(block.summary.attributed)
    for one in late:
        counts[one.partition][one.name] += one.records
        counts[one.partition][UNEXPLAINED] -= one.records
    return counts


def _shares(blocks: Sequence[Scanned], late: Sequence[Leftover], expected: Placed) -> tuple[Share, ...]:
    """Return the placements with attributed records, and always the expected one; most records first."""
    attributed: Counter[str] = Counter()
    explains: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    first: dict[str, Place] = {}
    last: dict[str, Place] = {}
    placed = {str(expected): expected}
    for summary in (block.summary for block in blocks):
        placed |= {str(one): one for one in summary.present}
        attributed.update(summary.attributed)
        explains.update(summary.explains)
        alone.update(summary.alone)
        _widen(first, last, summary.first, summary.last)
    for one in late:
        if one.name != EITHER:
            rule, _, count = one.name.rpartition("@")
            placed.setdefault(one.name, Placed(rule, int(count)))
            explains[one.name] += 0
            alone[one.name] += one.records
        attributed[one.name] += one.records
        _widen(first, last, {one.name: one.first}, {one.name: one.last})
    shares = [
        Share(each, find_placement(each.rule).story, explains[name], alone[name], attributed[name], first.get(name),
              last.get(name), each == expected)
        for name, each in placed.items()
    ]  # fmt: skip
    return tuple(sorted(shares, key=lambda share: (-share.attributed, share.placed)))


def _widen(
    first: dict[str, Place], last: dict[str, Place], early: Mapping[str, Place], late: Mapping[str, Place]
) -> None:
    for name, place in early.items():
        first[name] = min(first.get(name, place), place)
    for name, place in late.items():
        last[name] = max(last.get(name, place), place)


def _lines(
    blocks: Iterable[Scanned], source: Source, attributed: Mapping[int, Counter[str]]
) -> Iterable[PartitionLine]:
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for block in blocks:
        for field in ("records", "keyed", "keyless", "offending"):
            counts[block.summary.partition][field] += getattr(block.summary, field)
    for partition in sorted(source.spans):
        span, seen = source.spans[partition], counts[partition]
        counted = {name: count for name, count in sorted(attributed.get(partition, Counter()).items()) if count}
        yield PartitionLine(
            partition,
            span.first,
            span.end,
            seen["records"],
            seen["keyed"],
            seen["keyless"],
            seen["offending"],
            counted,
        )


def _skew(records: Sequence[int]) -> Skew:
    mean = fmean(records) if records else 0.0
    if not mean:
        return Skew(0, 0.0, 0, 0.0, 0.0)
    fullest, emptiest = max(records), min(records)
    return Skew(
        records.index(fullest), fullest / mean, records.index(emptiest), emptiest / mean, pstdev(records) / mean
    )


def never_splits(names: Collection[str], empty: bool) -> bool:
    """Whether records with these attributions have each key in one partition; ``empty``: some keys are empty."""
    if len(names) != 1:
        return not names
    (name,) = names
    return name not in {UNEXPLAINED, EITHER} and not (empty and find_placement(name.rpartition("@")[0]).draws_empty)


def doubt_of_all(summaries: Sequence[Summary], sampled: Doubt | None, different: int, partitions: int) -> Doubt | None:
    """Return the doubt about all records, from that about a sample: None if there are more distinct keys than needed."""
    if sampled is None:
        return None
    if sampled.needed is not None and different >= sampled.needed:
        return None
    keyed = sum(summary.keyed for summary in summaries)
    fitting = tuple(
        rule
        for rule in sampled.fitting
        if sum(summary.explains.get(f"{rule}@{partitions}", 0) for summary in summaries) == keyed
    )
    return Doubt(different, fitting, sampled.needed, sampled.chance)


def _notes(
    blocks: Sequence[Scanned],
    late: Sequence[Leftover],
    source: Source,
    unfounded: Doubt | None,
    unmoved: Sequence[Growth],
) -> Iterable[str]:
    for one in unmoved:
        yield (
            f"records are where {one.rule} puts them with {one.before:,} partitions, but no key has moved from there to"
            f" its partition of {one.after:,}: this does not show that the partition count increased"
        )
    if unfounded is not None:
        yield (
            f"a sample of the topic has {unfounded.keys:,} distinct keys, too few to tell placements apart, and so no record"
            " is attributed"
        )
    skipped = sum(block.summary.skipped for block in blocks)
    if skipped:
        yield f"{skipped:,} offsets hold no record: compacted away, or transaction markers"
    empty = sum(block.summary.empty for block in blocks)
    if empty:
        yield f"{empty:,} records have an empty key, which is a key for Java; librdkafka's default draws a partition for it"
    timeless = sum(block.summary.records for block in blocks if block.summary.first_ms is None)
    if timeless:
        yield f"{timeless:,} records are in blocks without timestamps: their times and patterns are unknown"
    if late:
        count = sum(one.records for one in late)
        yield (
            f"{count:,} records are explained only by all blocks together;"
            " the files of offending records still list them as unexplained"
        )
    if not blocks:
        yield f"{source.name} has no records"
