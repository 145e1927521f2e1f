"""Keys that live on several partitions: how many, which, and since when.

Every block says which keys it met, each by its identity, and where it met it first (``keys_seen``). To put that together,
equal keys have to come together, and there may be as many keys as records: row by row that would be most of an audit's work.
So what travels is packed. Each block's keys are dealt into buckets by their identity, Spark brings each bucket's pieces to
one task, and there they are sorted. A bucket is two million keys, whatever the topic holds: so memory is flat.

A key is split *since* the moment it was met on its second partition. Its own bytes are in no block. But a key that lives on
several partitions is out of place on all but one, and of records out of place the whole key is kept: there the earliest are
looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_conformance.audit.keys_seen import KeysSeen, pack, unpack
from kafka_conformance.audit.result import Place, SplitKey, Splits
from kafka_conformance.pipeline.workers import mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["EARLIEST", "Found", "dealt", "found_in", "splits"]

EARLIEST = 100
"""So many split keys are shown."""

IN_A_BUCKET = 2_000_000
_DEALT = pa.schema([("bucket", pa.int32()), ("partition", pa.int32()), ("keys_seen", pa.binary())])
_FOUND = pa.schema([
    ("keys", pa.int64()), ("split", pa.int64()), ("records", pa.int64()), ("earliest", pa.list_(pa.struct([
        ("records", pa.int64()), ("places", pa.list_(pa.struct([
            ("ms", pa.int64()), ("partition", pa.int32()), ("offset", pa.int64()),
        ]))),
    ]))),
])  # fmt: skip
_DEALT_SPARK = "bucket int, partition int, keys_seen binary"
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


def splits(blocks: DataFrame, records: DataFrame, keyed: int) -> Splits:
    """Of ``blocks`` (``partition``, ``keys_seen``) of so many records with a key; their keys' bytes are in ``records``."""
    buckets = max(1, -(-keyed // IN_A_BUCKET))
    pieces = mapped(blocks.select("partition", "keys_seen"), partial(dealt, buckets=buckets), _DEALT_SPARK)
    brought = pieces.repartition(buckets, "bucket") if buckets > 1 else pieces.coalesce(1)
    rows = mapped(brought, _found, _FOUND_SPARK).collect()
    earliest = sorted(
        (
            (tuple(Place(at["ms"], at["partition"], at["offset"]) for at in one["places"]), int(one["records"]))
            for row in rows
            for one in row["earliest"]
        ),
        key=_since,
    )[:EARLIEST]
    keys, split, affected = (sum(int(row[name]) for row in rows) for name in ("keys", "split", "records"))
    named = _with_keys(earliest, records)
    return Splits(split, keys, affected, named[0].places[1] if named else None, tuple(named))


def dealt(batches: Iterable[pa.RecordBatch], *, buckets: int) -> Iterator[pa.RecordBatch]:
    """Blocks' packed keys, each block's dealt into buckets by identity."""
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in ("partition", "keys_seen"))
        for partition, packed in zip(*columns, strict=True):
            seen = unpack(packed)
            if buckets == 1:
                yield _piece(0, partition, packed)
                continue
            bucket = (seen.ids[:, 1] % np.uint64(buckets)).astype(np.int32)
            for number in np.unique(bucket).tolist():
                rows = np.flatnonzero(bucket == number)
                part = KeysSeen(seen.ids[rows], seen.first_offset[rows], seen.first_ms[rows], seen.records[rows])
                yield _piece(number, partition, pack(part))


def _piece(bucket: int, partition: int, packed: bytes) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array([bucket], pa.int32()), pa.array([partition], pa.int32()), pa.array([packed], pa.binary())],
        schema=_DEALT,
    )


def _found(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """A task's buckets, one after the other; it may have none, or several."""
    buckets: dict[int, list[tuple[int, bytes]]] = {}
    for batch in batches:
        for row in batch.to_pylist():
            buckets.setdefault(row["bucket"], []).append((row["partition"], row["keys_seen"]))
    for number in sorted(buckets):
        found = found_in(buckets.pop(number))
        earliest = [
            {
                "records": records,
                "places": [_row(place) for place in places],
            }
            for places, records in found.earliest
        ]
        row = {"keys": found.keys, "split": found.split, "records": found.records, "earliest": earliest}
        yield pa.RecordBatch.from_pylist([row], schema=_FOUND)


def _row(place: Place) -> dict[str, int]:
    return {"ms": place.time_ms, "partition": place.partition, "offset": place.offset}


def found_in(pieces: Sequence[tuple[int, bytes]]) -> Found:
    """The split keys of these pieces, each of one partition: a partition's number and its keys, packed."""
    seen = [unpack(packed) for _, packed in pieces]
    ids = np.concatenate([one.ids for one in seen])
    if not len(ids):
        return Found(0, 0, 0, [])
    partitions = np.repeat(np.array([partition for partition, _ in pieces], np.int32), [len(one.ids) for one in seen])
    order = _grouped(ids)
    ids, partitions = ids[order], partitions[order]
    begins = np.flatnonzero(np.r_[True, (ids[1:] != ids[:-1]).any(axis=1)])
    several = np.minimum.reduceat(partitions, begins) != np.maximum.reduceat(partitions, begins)
    records = np.add.reduceat(np.concatenate([one.records for one in seen])[order].astype(np.int64), begins)
    split = np.flatnonzero(several)
    ends = np.r_[begins[1:], len(ids)]
    rows = np.flatnonzero(np.repeat(several, ends - begins))
    met = _Met(
        np.repeat(np.arange(len(begins)), ends - begins)[rows],
        np.concatenate([one.first_ms for one in seen])[order][rows],
        partitions[rows],
        np.concatenate([one.first_offset for one in seen])[order][rows],
    )
    earliest = [(places, int(records[key])) for key, places in _earliest(met)]
    return Found(len(begins), len(split), int(records[split].sum()), earliest)


@dataclass(frozen=True, slots=True, eq=False)
class _Met:
    """Where split keys were met: the key's number, and the place."""

    key: NDArray[np.int64]
    ms: NDArray[np.int64]
    partition: NDArray[np.int32]
    offset: NDArray[np.int64]

    def taken(self, rows: NDArray[Any]) -> _Met:
        return _Met(self.key[rows], self.ms[rows], self.partition[rows], self.offset[rows])


def _earliest(met: _Met) -> Iterator[tuple[int, tuple[Place, ...]]]:
    """The keys that were split earliest, each with its first place on each of its partitions, in order."""
    if not len(met.key):
        return
    met = met.taken(np.lexsort((met.offset, met.ms, met.partition, met.key)))
    met = met.taken(np.r_[True, (met.key[1:] != met.key[:-1]) | (met.partition[1:] != met.partition[:-1])])
    met = met.taken(np.lexsort((met.offset, met.partition, met.ms, met.key)))
    begins = np.flatnonzero(np.r_[True, met.key[1:] != met.key[:-1]])
    ends = np.r_[begins[1:], len(met.key)]
    since = begins + 1
    for at in np.lexsort((met.offset[since], met.partition[since], met.ms[since]))[:EARLIEST]:
        rows = range(int(begins[at]), int(ends[at]))
        yield (
            int(met.key[begins[at]]),
            tuple(Place(int(met.ms[row]), int(met.partition[row]), int(met.offset[row])) for row in rows),
        )


def _grouped(ids: NDArray[np.uint64]) -> NDArray[np.int64]:
    """An order in which equal identities lie together."""
    order = np.argsort(ids[:, 0])
    low, high = ids[order, 0], ids[order, 1]
    apart = (low[1:] == low[:-1]) & (high[1:] != high[:-1])
    return np.lexsort((ids[:, 1], ids[:, 0])) if apart.any() else order


def _since(found: tuple[tuple[Place, ...], int]) -> Place:
    places, _ = found
    return places[1]


def _with_keys(found: Sequence[tuple[tuple[Place, ...], int]], records: DataFrame) -> list[SplitKey]:
    """The keys found, with their bytes."""
    wanted = [(place.partition, place.offset) for places, _ in found for place in places]
    if not wanted:
        return []
    asked = records.sparkSession.createDataFrame(wanted, "partition int, offset long")
    rows = records.join(asked, ["partition", "offset"], "left_semi").select("partition", "offset", "key").collect()
    keys: dict[tuple[int, int], Any] = {(row["partition"], row["offset"]): row["key"] for row in rows}
    split = []
    for places, count in found:
        key = next(
            (keys[at.partition, at.offset] for at in places if keys.get((at.partition, at.offset)) is not None), b""
        )
        split.append(SplitKey(bytes(key).hex(), places, count))
    return split
