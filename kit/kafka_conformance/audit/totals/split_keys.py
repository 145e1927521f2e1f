"""Find keys with records in several partitions: how many, which, and since when.

Every block reports its distinct keys, each by its identity, with its first place (``distinct_keys``). Equal keys of all
blocks must be brought together, and there may be as many keys as records: row by row that would be most of an audit's work.
So the keys travel packed. Where a block is judged, its keys are distributed into buckets by identity; Spark brings each
bucket's pieces to one task, which finds equal keys (``split_key_index``). A bucket holds about two million records, so the
memory is bounded for any topic.

A key is split *since* its first record in a second partition. Blocks do not report a key's own bytes. But a split key is
misplaced in all partitions but one, and the files of misplaced records hold the whole key: the earliest are looked up there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.distinct_keys import KeysSeen, pack, taken, unpack
from kafka_conformance.audit.findings import KEYS, RECORD, Findings
from kafka_conformance.audit.result import Place, SplitKey, Splits
from kafka_conformance.audit.totals.split_key_index import SplitKeyIndex, build_index

__all__ = ["EARLIEST", "Found", "buckets_for", "found_in", "into_buckets", "splits"]

EARLIEST = 100
"""The maximum number of split keys in the result."""

IN_A_BUCKET = 2_000_000
_MOST_BUCKETS = 4_096
_FOUND = pa.schema([
    ("keys", pa.int64()), ("split", pa.int64()), ("records", pa.int64()), ("earliest", pa.list_(pa.struct([
        ("records", pa.int64()), ("places", pa.list_(pa.struct([
            ("ms", pa.int64()), ("partition", pa.int32()), ("offset", pa.int64()),
        ]))),
    ]))),
])  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """A bucket's ``keys``, the ``split`` ones among them with their ``records``, and the earliest split keys."""

    keys: int
    split: int
    records: int
    earliest: list[tuple[tuple[Place, ...], int]]


def buckets_for(records: int) -> int:
    """Return the number of buckets for the keys of this many records; offsets without records may leave buckets empty."""
    return min(max(1, -(-records // IN_A_BUCKET)), _MOST_BUCKETS)


def splits(findings: Findings, buckets: int) -> Splits:
    """Return the split keys among the keys of all blocks, which are in ``buckets`` buckets."""
    found = findings.mapped(KEYS, ("bucket", "partition", "keys_seen"), _found, _FOUND, buckets=buckets).to_pylist()
    earliest = sorted(
        (
            (tuple(Place(at["ms"], at["partition"], at["offset"]) for at in one["places"]), int(one["records"]))
            for row in found
            for one in row["earliest"]
        ),
        key=_since,
    )[:EARLIEST]
    different, split, affected = (sum(int(row[name]) for row in found) for name in ("keys", "split", "records"))
    named = _with_keys(earliest, findings)
    return Splits(split, different, affected, named[0].places[1] if named else None, tuple(named))


def into_buckets(seen: KeysSeen, buckets: int) -> Iterator[tuple[int, bytes]]:
    """Distribute keys into buckets by identity, packed; empty buckets are left out."""
    bucket = (seen.ids[:, 1] % np.uint64(buckets)).astype(np.uint16 if buckets <= 1 << 16 else np.uint32)
    order = np.argsort(bucket, kind="stable")
    ordered = taken(seen, order)
    ends = np.cumsum(np.bincount(bucket, minlength=buckets))
    for number, (begin, end) in enumerate(pairwise([0, *ends.tolist()])):
        if begin < end:
            yield number, pack(taken(ordered, slice(begin, end)))


def _found(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Find the split keys of a task's buckets, one after the other; there may be none."""
    buckets: dict[int, list[tuple[int, bytes]]] = {}
    for batch in batches:
        for row in batch.to_pylist():
            buckets.setdefault(row["bucket"], []).append((row["partition"], row["keys_seen"]))
    for number in sorted(buckets):
        found = found_in(buckets.pop(number))
        earliest = [
            {"records": records, "places": [_row(place) for place in places]} for places, records in found.earliest
        ]
        row = {"keys": found.keys, "split": found.split, "records": found.records, "earliest": earliest}
        yield pa.RecordBatch.from_pylist([row], schema=_FOUND)


def _row(place: Place) -> dict[str, int]:
    return {"ms": place.time_ms, "partition": place.partition, "offset": place.offset}


def found_in(pieces: Sequence[tuple[int, bytes]]) -> Found:
    """Return the split keys of these pieces, each a partition's number with its packed keys."""
    seen = [unpack(packed) for _, packed in pieces]
    ids, offsets, ms, records = (
        np.concatenate([getattr(one, name) for one in seen]) for name in ("ids", "first_offset", "first_ms", "records")
    )
    partitions = np.repeat(np.array([partition for partition, _ in pieces], np.int32), [len(one.ids) for one in seen])
    keys = build_index(ids, ms, partitions, offsets, records)
    split = np.flatnonzero(keys.partition >= 0)
    shown = _earliest(keys, split)
    places: dict[int, dict[int, Place]] = {key: {} for key in shown}
    wanted = np.zeros(len(keys.records), np.bool_)
    wanted[shown] = True
    for row in np.flatnonzero(wanted[keys.key_of]).tolist():
        place = Place(int(ms[row]), int(partitions[row]), int(offsets[row]))
        firsts = places[int(keys.key_of[row])]
        firsts[place.partition] = min(firsts.get(place.partition, place), place)
    earliest = [(tuple(sorted(places[key].values())), int(keys.records[key])) for key in shown]
    return Found(len(keys.records), len(split), int(keys.records[split].sum()), earliest)


def _earliest(keys: SplitKeyIndex, split: NDArray[np.int64]) -> list[int]:
    """Return the keys that were split earliest, in order."""
    if len(split) > EARLIEST:  # most keys are split later, and need not be sorted
        ms = keys.ms[split]
        split = split[ms <= np.partition(ms, EARLIEST - 1)[EARLIEST - 1]]
    order = np.lexsort((keys.offset[split], keys.partition[split], keys.ms[split]))[:EARLIEST]
    found: list[int] = split[order].tolist()
    return found


def _since(found: tuple[tuple[Place, ...], int]) -> Place:
    places, _ = found
    return places[1]


def _with_keys(found: Sequence[tuple[tuple[Place, ...], int]], findings: Findings) -> list[SplitKey]:
    """Return the keys with their bytes: a key is misplaced in at least one of its first two places."""
    wanted: dict[int, list[int]] = defaultdict(list)
    for places, _ in found:
        for place in places[:2]:
            wanted[place.partition].append(place.offset)
    if not wanted:
        return []
    # By partition, so that Parquet skips most row groups.
    where = [{"partition": (partition,), "offset": offsets} for partition, offsets in sorted(wanted.items())]
    rows = findings.rows(RECORD, ("partition", "offset", "key"), where).to_pylist()
    keys: dict[tuple[int, int], Any] = {(row["partition"], row["offset"]): row["key"] for row in rows}
    split = []
    for places, count in found:
        key = next(
            (keys[at.partition, at.offset] for at in places[:2] if keys.get((at.partition, at.offset)) is not None), b""
        )
        split.append(SplitKey(bytes(key).hex(), places, count))
    return split
