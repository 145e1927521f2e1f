"""Keys that live on several partitions: how many, which, and since when.

Every block says which keys it met, each by its identity, and where it met it first (``keys_seen``). To put that together,
equal keys have to come together, and there may be as many keys as records: row by row that would be most of an audit's work.
So what travels is packed. Where a block is judged, its keys are dealt into buckets by their identity; Spark brings each
bucket's pieces to one task, and there equal ones are found (``met``). A bucket is of two million records, however many the
topic holds: so memory is flat.

A key is split *since* the moment it was met on its second partition. Its own bytes are in no block. But a key that lives on
several partitions is out of place on all but one, and of records out of place the whole key is kept: there the earliest are
looked up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_conformance.spark.audit.attribution.distinct_keys import KeysSeen, pack, taken, unpack
from kafka_conformance.spark.audit.result import Place, SplitKey, Splits
from kafka_conformance.spark.audit.totals.split_key_index import Met, met
from kafka_conformance.spark.workers import mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["EARLIEST", "Found", "buckets_for", "dealt", "found_in", "splits"]

EARLIEST = 100
"""So many split keys are shown."""

IN_A_BUCKET = 2_000_000
_MOST_BUCKETS = 4_096
_FOUND = pa.schema([
    ("keys", pa.int64()), ("split", pa.int64()), ("records", pa.int64()), ("earliest", pa.list_(pa.struct([
        ("records", pa.int64()), ("places", pa.list_(pa.struct([
            ("ms", pa.int64()), ("partition", pa.int32()), ("offset", pa.int64()),
        ]))),
    ]))),
])  # fmt: skip
_FOUND_SPARK = (
    "keys long, split long, records long,"
    " earliest array<struct<records: long, places: array<struct<ms: long, partition: int, offset: long>>>>"
)


@dataclass(frozen=True, slots=True)
class Found:
    """What one bucket holds: so many keys; so many of them split, with so many records; the earliest of these."""

    keys: int
    split: int
    records: int
    earliest: list[tuple[tuple[Place, ...], int]]


def buckets_for(records: int) -> int:
    """How many buckets the keys of so many records are dealt into: where most offsets hold no record, too many need none."""
    return min(max(1, -(-records // IN_A_BUCKET)), _MOST_BUCKETS)


def splits(keys: DataFrame, records: DataFrame, buckets: int) -> Splits:
    """Of ``keys`` (``partition``, ``bucket``, ``keys_seen``) in so many buckets; their bytes are in ``records``."""
    brought = keys.repartition(buckets, "bucket") if buckets > 1 else keys.coalesce(1)
    found = mapped(brought, _found, _FOUND_SPARK).collect()
    earliest = sorted(
        (
            (tuple(Place(at["ms"], at["partition"], at["offset"]) for at in one["places"]), int(one["records"]))
            for row in found
            for one in row["earliest"]
        ),
        key=_since,
    )[:EARLIEST]
    different, split, affected = (sum(int(row[name]) for row in found) for name in ("keys", "split", "records"))
    named = _with_keys(earliest, records)
    return Splits(split, different, affected, named[0].places[1] if named else None, tuple(named))


def dealt(seen: KeysSeen, buckets: int) -> Iterator[tuple[int, bytes]]:
    """Keys dealt into buckets by identity, and packed; those that get none are left out."""
    bucket = (seen.ids[:, 1] % np.uint64(buckets)).astype(np.uint16 if buckets <= 1 << 16 else np.uint32)
    order = np.argsort(bucket, kind="stable")
    ordered = taken(seen, order)
    ends = np.cumsum(np.bincount(bucket, minlength=buckets))
    for number, (begin, end) in enumerate(pairwise([0, *ends.tolist()])):
        if begin < end:
            yield number, pack(taken(ordered, slice(begin, end)))


def _found(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """A task's buckets, one after the other; it may have none, or several."""
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
    """The split keys of these pieces, each of one partition: a partition's number and its keys, packed."""
    seen = [unpack(packed) for _, packed in pieces]
    ids, offsets, ms, records = (
        np.concatenate([getattr(one, name) for one in seen]) for name in ("ids", "first_offset", "first_ms", "records")
    )
    partitions = np.repeat(np.array([partition for partition, _ in pieces], np.int32), [len(one.ids) for one in seen])
    keys = met(ids, ms, partitions, offsets, records)
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


def _earliest(keys: Met, split: NDArray[np.int64]) -> list[int]:
    """The keys that were split earliest, in order."""
    if len(split) > EARLIEST:  # most are later than any that is shown, and need not be sorted
        ms = keys.ms[split]
        split = split[ms <= np.partition(ms, EARLIEST - 1)[EARLIEST - 1]]
    order = np.lexsort((keys.offset[split], keys.partition[split], keys.ms[split]))[:EARLIEST]
    found: list[int] = split[order].tolist()
    return found


def _since(found: tuple[tuple[Place, ...], int]) -> Place:
    places, _ = found
    return places[1]


def _with_keys(found: Sequence[tuple[tuple[Place, ...], int]], records: DataFrame) -> list[SplitKey]:
    """The keys found, with their bytes: of its first two places a key is out of place on one at least."""
    wanted: dict[int, list[int]] = defaultdict(list)
    for places, _ in found:
        for place in places[:2]:
            wanted[place.partition].append(place.offset)
    if not wanted:
        return []
    # As a condition, so that Parquet passes by all rows but a few.
    asked = " or ".join(
        f"(partition = {partition} and offset in ({', '.join(map(str, offsets))}))"
        for partition, offsets in sorted(wanted.items())
    )
    rows = records.where(asked).select("partition", "offset", "key").collect()
    keys: dict[tuple[int, int], Any] = {(row["partition"], row["offset"]): row["key"] for row in rows}
    split = []
    for places, count in found:
        key = next(
            (keys[at.partition, at.offset] for at in places[:2] if keys.get((at.partition, at.offset)) is not None), b""
        )
        split.append(SplitKey(bytes(key).hex(), places, count))
    return split
