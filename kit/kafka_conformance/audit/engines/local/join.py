"""Find the keys that a join of two topics would miss, in this process: only the counting of records differs from Spark's.

Memory holds a row for each key and partition of both topics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.block import Block
from kafka_conformance.audit.engines.local.run import LocalSource
from kafka_conformance.audit.join_judgement import JUDGED, PLACES, join_of, key_judge
from kafka_conformance.audit.join_result import KEPT, Join
from kafka_conformance.audit.sampling import sampled
from kafka_conformance.audit.topics import offset_count
from kafka_conformance.core.progress import Steps

__all__ = ["join_locally"]

_MERGED = 1_000_000
"""Rows after which equal keys and partitions are merged."""

_BATCH = 65_536


def join_locally(
    a: LocalSource, b: LocalSource, *, kit: str, clock: Callable[[], float], rule: str, progress: Steps,
    kept: int = KEPT, share: float = 1.0,
) -> Join:  # fmt: skip
    """Return what a join of ``a`` and ``b`` would miss; arguments and errors are those of ``join.join_audit``."""
    began = clock()
    progress.total = offset_count(a.spans) + offset_count(b.spans)
    progress.doing(f"joining {a.name} and {b.name}")
    names, counts = (a.name, b.name), (a.partitions, b.partitions)
    keys = _by_key(_counted(a, share, progress), _counted(b, share, progress))
    judged = pa.Table.from_batches(key_judge(rule, counts, kept)(keys), JUDGED)
    return join_of(judged, names, counts, rule, kept, kit=kit, took_s=clock() - began)


def _counted(source: LocalSource, share: float, progress: Steps) -> pa.Table:
    """Return a row for each key and partition: ``key``, ``partition``, ``n``, ``time_ms`` and ``offset``."""
    held: list[pa.Table] = []
    for block in sampled(source.blocks(source.spans), share):
        held.append(_merged([_rows(block)]))
        if len(held) > 1 and sum(map(len, held[1:])) > max(_MERGED, len(held[0])):
            held = [_merged(held)]
        progress.advance(len(block.offsets))
    return _merged(held or [_rows(Block(0, np.empty(0, np.int64), np.empty(0, np.int64), pa.array([], pa.binary())))])


def _rows(block: Block) -> pa.Table:
    count = len(block.offsets)
    return pa.table({
        "key": block.keys, "partition": np.full(count, block.partition, np.int32), "n": np.ones(count, np.int64),
        "time_ms": block.timestamps_ms, "offset": block.offsets,
    })  # fmt: skip


def _merged(tables: list[pa.Table]) -> pa.Table:
    """Return each key and partition once, with the sum of its records and its first place."""
    rows = pa.concat_tables(tables).sort_by([("time_ms", "ascending"), ("offset", "ascending")])
    columns = {"n": "sum", "time_ms": "first", "offset": "first"}
    grouped = rows.group_by(["key", "partition"], use_threads=False).aggregate(list(columns.items()))
    return grouped.rename_columns({f"{name}_{how}": name for name, how in columns.items()})


def _by_key(a: pa.Table, b: pa.Table) -> Iterator[pa.RecordBatch]:
    """Yield the input of ``join_judgement``: a row per key, and one for all records without a key."""
    keys = pa.chunked_array([*a["key"].chunks, *b["key"].chunks], pa.binary()).combine_chunks()
    keys = keys if isinstance(keys, pa.Array) else pa.concat_arrays(keys.chunks)
    coded = keys.dictionary_encode(null_encoding="encode")
    distinct = coded.dictionary
    codes = coded.indices.to_numpy()
    sides = [_lists(side, part, len(distinct)) for side, part in zip((a, b), np.split(codes, [len(a)]), strict=True)]
    rows = pa.table({"key": distinct, "a": sides[0], "b": sides[1]})
    yield from rows.to_batches(max_chunksize=_BATCH)


def _lists(rows: pa.Table, codes: NDArray[Any], count: int) -> pa.ListArray:
    """Return the places of each of ``count`` keys; ``codes`` are the keys of the rows."""
    order = pa.array(np.lexsort((rows["partition"].to_numpy(), codes)))
    ends = np.concatenate(([0], np.cumsum(np.bincount(codes, minlength=count)))).astype(np.int32)
    columns = [rows[field.name].take(order).combine_chunks() for field in PLACES.value_type]
    return pa.ListArray.from_arrays(pa.array(ends), pa.StructArray.from_arrays(columns, fields=list(PLACES.value_type)))
