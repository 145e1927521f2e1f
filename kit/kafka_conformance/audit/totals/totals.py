"""Add up the results of a topic's blocks: shares, runs, increases of the partition count, split keys, skew.

There are few blocks (mostly of 65,536 records) with small results, so most of them are added up here. Larger work is done
where the rows are: keys in several partitions (``split_keys``), records without a key (``keyless_over_time``), and records
that no block explains by itself (``leftover``).

A placement puts a key into one partition, so a topic with a single placement has no split keys, and is not searched for
them; unless there are empty keys, for which some placements draw.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import fmean, pstdev

import msgspec

from kafka_conformance.audit.attribution.block import JOINT, BlockSummary
from kafka_conformance.audit.attribution.placements import ANY, PLACEMENTS, find_placement
from kafka_conformance.audit.findings import BLOCK, Findings
from kafka_conformance.audit.framing.forms import framing_in
from kafka_conformance.audit.result import (
    EITHER,
    UNEXPLAINED,
    Doubt,
    Growth,
    Interval,
    PartitionLine,
    Place,
    Placed,
    PlacementShare,
    Skew,
    Splits,
    Summed,
)  # fmt: skip
from kafka_conformance.audit.scan import Scanned
from kafka_conformance.audit.sources import Sized
from kafka_conformance.audit.totals.intervals import estimated_shares
from kafka_conformance.audit.totals.keyless_over_time import keyless
from kafka_conformance.audit.totals.run_merge import growth, is_ordered, merged, split_by_moves
from kafka_conformance.audit.totals.split_keys import splits
from kafka_conformance.audit.totals.time_slots import slots
from kafka_conformance.audit.totals.unexplained_records import Leftover, leftover

__all__ = ["MOST_RUNS", "doubt_of_all", "never_splits", "summed"]

ENOUGH = 100
"""Records that two rules explain, equally many in each block: two that differ for some keys would differ here."""

MOST_RUNS = 1_000
"""The maximum number of runs in the result; the longest are kept."""


def summed(
    findings: Findings,
    source: Sized,
    expected: Placed,
    buckets: int,
    sampled: Doubt | None = None,
    key_format: str = "",
) -> Summed:
    """Return the totals of a finished run with ``buckets`` buckets of keys; ``sampled`` is the doubt about a sample."""
    rows = findings.rows(BLOCK, ("partition", "offset", "data"))
    rows = rows.sort_by([("partition", "ascending"), ("offset", "ascending")])
    blocks = [msgspec.json.decode(data, type=Scanned) for data in rows["data"].to_pylist()]
    late: list[Leftover] = []
    if sampled is None and any(block.summary.attributed.get(UNEXPLAINED) for block in blocks):
        late = leftover(findings, source.partitions)
    keyed = sum(block.summary.keyed for block in blocks)
    attributed = _attributed(blocks, late)
    unexplained = sum(counts[UNEXPLAINED] for counts in attributed.values())
    names = {name for counts in attributed.values() for name, count in counts.items() if count}
    of_one = never_splits(names, any(block.summary.empty for block in blocks))
    estimated = {} if sampled else estimated_shares(_sets(blocks, late), source.partitions, _effective(blocks))
    shares = _shares(blocks, late, expected, estimated)
    merged_runs = merged(block.summary for block in blocks)
    keyless_records = sum(block.summary.keyless for block in blocks)
    times = [block.summary for block in blocks if block.summary.first_ms is not None]
    first_ms = min((summary.first_ms for summary in times if summary.first_ms is not None), default=None)
    last_ms = max((summary.last_ms for summary in times if summary.last_ms is not None), default=None)
    by_partition = tuple(_lines(blocks, source, attributed))
    split_keys = _NONE if of_one else splits(findings, buckets)
    summaries = [block.summary for block in blocks]
    counts = growth(summaries, source.partitions)
    ordered = tuple(one for one in counts if is_ordered(one, summaries))
    increases, unmoved = split_by_moves(ordered, split_keys)
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
        mixed_counts=tuple(one for one in counts if one not in ordered and _both_wrote(one, shares)),
        by_partition=by_partition,
        over_time=slots(blocks, first_ms, last_ms, late),
        splits=split_keys,
        keyless=keyless(findings, keyless_records, source.partitions, first_ms, last_ms),
        doubt=doubt,
        foreign=estimated.get(UNEXPLAINED),
        framing=framing_in(findings, buckets, key_format) if key_format else None,
        skew=_skew([line.records for line in by_partition]),
        notes=tuple(_notes(blocks, late, source, sampled if doubt is None else None, unmoved)),
    )  # fmt: skip


_NONE = Splits(0, 0, 0, None, ())


def _both_wrote(one: Growth, shares: Iterable[PlacementShare]) -> bool:
    """Whether records are attributed to both partition counts: the topic's count may be an unused option."""
    counts = {each.placed.partitions for each in shares if each.attributed and each.placed.rule == one.rule}
    return {one.before, one.after} <= counts


def _attributed(blocks: Iterable[Scanned], late: Iterable[Leftover]) -> dict[int, Counter[str]]:
    """Count the keyed records of each partition by attribution."""
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for block in blocks:
        counts[block.summary.partition].update(block.summary.attributed)
    for one in late:
        counts[one.partition][one.name] += one.records
        counts[one.partition][UNEXPLAINED] -= one.records
    return counts


def _sets(blocks: Iterable[Scanned], late: Iterable[Leftover]) -> dict[tuple[str, ...], int]:
    """Count the keyed records by the placements that explain them."""
    counts: Counter[tuple[str, ...]] = Counter()
    for block in blocks:
        for names, count in block.summary.sets.items():
            counts[tuple(names.split(JOINT)) if names else ()] += count
    for one in late:
        counts[one.explained_by] += one.records
        counts[()] -= one.records
    return {names: count for names, count in counts.items() if count > 0}


def _effective(blocks: Iterable[Scanned]) -> float:
    return sum(block.summary.effective for block in blocks)


def _shares(
    blocks: Sequence[Scanned], late: Sequence[Leftover], expected: Placed, estimated: Mapping[str, Interval]
) -> tuple[PlacementShare, ...]:
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
    counted = frozenset(explains)
    for one in late:
        for name in one.explained_by:
            rule, _, count = name.rpartition("@")
            placed.setdefault(name, Placed(rule, int(count)))
            explains[name] += 0 if name in counted else one.records
        if len(one.explained_by) == 1:
            alone[one.explained_by[0]] += one.records
        attributed[one.name] += one.records
        _widen(first, last, {one.name: one.first}, {one.name: one.last})
    shares = [
        PlacementShare(each, find_placement(each.rule).description, explains[name], alone[name], attributed[name],
              first.get(name), last.get(name), each == expected, estimated.get(name), _alike(each, blocks))
        for name, each in placed.items()
    ]  # fmt: skip
    return tuple(sorted(shares, key=lambda share: (-share.attributed, share.placed)))


def _alike(placed: Placed, blocks: Sequence[Scanned]) -> tuple[str, ...]:
    """Return the other rules that explain as many records of each block, if these are enough to show it."""
    name = str(placed)
    if sum(block.summary.explains.get(name, 0) for block in blocks) < ENOUGH:
        return ()
    return tuple(
        each.slug
        for each in PLACEMENTS
        if each.slug != placed.rule
        and all(
            block.summary.explains.get(f"{each.slug}@{placed.partitions}", 0) == block.summary.explains.get(name, 0)
            for block in blocks
        )
    )


def _widen(
    first: dict[str, Place], last: dict[str, Place], early: Mapping[str, Place], late: Mapping[str, Place]
) -> None:
    for name, place in early.items():
        first[name] = min(first.get(name, place), place)
    for name, place in late.items():
        last[name] = max(last.get(name, place), place)


def _lines(blocks: Iterable[Scanned], source: Sized, attributed: Mapping[int, Counter[str]]) -> Iterable[PartitionLine]:
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
    rule = name.rpartition("@")[0]
    return name not in {UNEXPLAINED, EITHER} and rule != ANY and not (empty and find_placement(rule).draws_empty)


def doubt_of_all(
    summaries: Sequence[BlockSummary], sampled: Doubt | None, different: int, partitions: int
) -> Doubt | None:
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
    source: Sized,
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
            " the runs and the files of offending records still list them as unexplained"
        )
    if not blocks:
        yield f"{source.name} has no records"
