"""Keys that live on several partitions: how many, which, and since when.

Every block says which keys it met, each by its identity, and where it met it first (``keys_seen``). These are put together
by Spark, which spills what does not fit into memory: first each key's first place on each of its partitions, then the keys
with more than one. A key is split *since* the moment it was met on its second partition.

A key's own bytes are in no block. But a key that lives on several partitions is out of place on all but one, and of records
out of place the whole key is kept: there the earliest are looked up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from kafka_conformance.audit.keys_seen import unpack
from kafka_conformance.audit.result import Place, SplitKey, Splits

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["EARLIEST", "splits", "unpacked"]

EARLIEST = 100
"""So many split keys are shown."""

_SEEN = "low long, high long, partition int, offset long, ms long, records long"
_KEYS = ["low", "high"]


def splits(blocks: DataFrame, records: DataFrame) -> Splits:
    """Of ``blocks`` (``partition``, ``keys_seen``); the keys' bytes from ``records`` (``partition``, ``offset``, ``key``)."""
    from pyspark import StorageLevel
    from pyspark.sql import functions as f

    seen = blocks.select("partition", "keys_seen").mapInArrow(unpacked, _SEEN)
    place = f.min(f.struct("ms", "partition", "offset")).alias("place")
    places = seen.groupBy(*_KEYS, "partition").agg(place, f.sum("records").alias("records"))
    places.persist(StorageLevel.DISK_ONLY)
    try:
        keys = places.groupBy(*_KEYS).agg(f.count("*").alias("parts"), f.sum("records").alias("records"))
        split = keys.where("parts > 1")
        both = places.drop("records").join(split, _KEYS)
        listed = both.groupBy(*_KEYS, "records").agg(f.sort_array(f.collect_list("place")).alias("places"))
        listed = listed.withColumn("since", f.col("places")[1])
        counted = keys.agg(
            f.count("*"), f.sum(f.expr("if(parts > 1, 1, 0)")), f.sum(f.expr("if(parts > 1, records, 0)"))
        ).head()
        of_keys, count, affected = (int(number or 0) for number in counted or (0, 0, 0))
        first = listed.orderBy("since", *_KEYS).limit(EARLIEST).collect() if count else []
    finally:
        places.unpersist()
    earliest = _with_keys(first, records)
    return Splits(count, of_keys, affected, earliest[0].places[1] if earliest else None, tuple(earliest))


def unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Blocks' packed keys as rows."""
    for batch in batches:
        for partition, packed in zip(
            batch.column("partition").to_pylist(), batch.column("keys_seen").to_pylist(), strict=True
        ):
            seen = unpack(packed)
            count = len(seen.first_offset)
            if count:
                ids = seen.ids.view(np.int64)
                yield pa.RecordBatch.from_pydict({
                    "low": np.ascontiguousarray(ids[:, 0]),
                    "high": np.ascontiguousarray(ids[:, 1]),
                    "partition": np.full(count, partition, np.int32),
                    "offset": seen.first_offset,
                    "ms": seen.first_ms,
                    "records": seen.records.astype(np.int64),
                })  # fmt: skip


def _with_keys(found: Sequence[Any], records: DataFrame) -> list[SplitKey]:
    """The rows found, with the bytes of their keys."""
    wanted = [(int(at["partition"]), int(at["offset"])) for row in found for at in row["places"]]
    if not wanted:
        return []
    session = records.sparkSession
    asked = session.createDataFrame(wanted, "partition int, offset long")
    rows = records.join(asked, ["partition", "offset"], "left_semi").select("partition", "offset", "key").collect()
    keys = {(row["partition"], row["offset"]): bytes(row["key"]).hex() for row in rows if row["key"] is not None}
    split = []
    for row in found:
        places = tuple(Place(int(at["ms"]), int(at["partition"]), int(at["offset"])) for at in row["places"])
        key = next((keys[each.partition, each.offset] for each in places if (each.partition, each.offset) in keys), "")
        split.append(SplitKey(key, places, int(row["records"])))
    return split
