"""Write the records that an audit lists one by one as Parquet files, in the worker that judges them.

In a topic shared by two producers, half of all records may be misplaced. Passing them to Spark as rows took longer than the
rest of the audit. So Python writes the Parquet content and passes on bytes, which ``PutFile.java`` stores in the run's
folder on any file system.

A file holds records of one task, in order, and is named by the first of them. A repeated chunk thus gives the same files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.attribution import KEYLESS_AT, UNEXPLAINED_AT
from kafka_conformance.audit.attribution.block import Block, Judged, attribution_names
from kafka_conformance.audit.attribution.placements import PLACEMENTS
from kafka_conformance.audit.result import Placed
from kafka_reference import bulk

__all__ = ["RECORD_SCHEMA", "RecordFile", "RecordFiles"]

RECORD_SCHEMA = (
    "partition int, offset long, timestamp_ms long, key binary, expected_partition int, attributed string,"
    " explained_by string"
)
_FEW = pa.dictionary(pa.int32(), pa.string())
_ARROW = pa.schema([
    ("partition", pa.int32()), ("offset", pa.int64()), ("timestamp_ms", pa.int64()), ("key", pa.binary()),
    ("expected_partition", pa.int32()), ("attributed", _FEW), ("explained_by", _FEW),
])  # fmt: skip
_RECORDS, _BYTES = 500_000, 32 << 20
"""Limits of a file, in records and in bytes before compression; it ends with the block that reaches one."""

_GROUP = 65_536
"""Records per row group: a reader of a few offsets reads only their groups."""


@dataclass(frozen=True, slots=True)
class RecordFile:
    """A file: the partition and offset of its first record, and its content."""

    partition: int
    offset: int
    content: bytes

    @property
    def name(self) -> str:
        """A name that is unique within a chunk."""
        return f"p{self.partition:06d}-{self.offset:020d}.parquet"


class RecordFiles:
    """The files of one task. ``every`` writes all records, not only the offending and the unexplained ones."""

    def __init__(self, expected: Placed, partitions: int, *, every: bool) -> None:
        self._expected, self._partitions, self._every = expected, partitions, every
        self._held: list[pa.RecordBatch] = []

    def add(self, block: Block, judged: Judged) -> Iterator[RecordFile]:
        """Add a block's records; yield a file if it is full."""
        listed = judged.offending | (judged.attributed == UNEXPLAINED_AT)
        rows = np.arange(len(block.offsets)) if self._every else np.flatnonzero(listed)
        if len(rows):
            self._held.append(self._batch(block, judged, rows))
        if sum(map(len, self._held)) >= _RECORDS or sum(each.nbytes for each in self._held) >= _BYTES:
            yield from self.end()

    def end(self) -> Iterator[RecordFile]:
        """Yield the remaining records as a file."""
        if not self._held:
            return
        table = pa.Table.from_batches(self._held, _ARROW).unify_dictionaries()
        self._held = []
        sink = pa.BufferOutputStream()
        few = ["partition", "expected_partition", "attributed", "explained_by"]
        pq.write_table(table, sink, compression="zstd", use_dictionary=few, store_schema=False, row_group_size=_GROUP)
        first = table.slice(0, 1)
        yield RecordFile(first["partition"][0].as_py(), first["offset"][0].as_py(), sink.getvalue().to_pybytes())

    def _batch(self, block: Block, judged: Judged, rows: NDArray[np.int64]) -> pa.RecordBatch:
        keys = block.keys.take(pa.array(rows))
        masks = np.zeros(len(rows), np.uint32) if judged.masks is None else judged.masks[rows]  # the block has no keys
        times, codes = block.timestamps_ms[rows], judged.attributed[rows]
        columns = [
            np.full(len(rows), block.partition, np.int32), block.offsets[rows], pa.array(times, mask=times < 0), keys,
            self._expected_partitions(keys), _named(judged, codes), _explained(masks, self._partitions, codes),
        ]  # fmt: skip
        return pa.RecordBatch.from_arrays(
            [column if isinstance(column, pa.Array) else pa.array(column) for column in columns], schema=_ARROW
        )

    def _expected_partitions(self, keys: pa.Array) -> pa.Array:
        """Return the partition that the expected placement chooses for each key; null unless it is Java's."""
        if self._expected.rule != PLACEMENTS[0].slug:
            return pa.nulls(len(keys), pa.int32())
        return bulk.partition_for_key(keys, self._expected.partitions)


def _named(judged: Judged, codes: NDArray[np.int16]) -> pa.Array:
    """Return the name of each record's attribution."""
    names = dict(sorted(attribution_names(judged.present).items()))
    places = np.searchsorted(list(names), codes).astype(np.int32)
    return pa.DictionaryArray.from_arrays(places, list(names.values()))


def _explained(masks: NDArray[np.uint32], partitions: int, codes: NDArray[np.int16]) -> pa.Array:
    """Return the placements that explain each record with the current partition count, joined by commas."""
    kinds, places = np.unique(masks, return_inverse=True)
    texts = [_names_of(mask, partitions) for mask in kinds.tolist()]
    return pa.DictionaryArray.from_arrays(pa.array(places.astype(np.int32), mask=codes == KEYLESS_AT), texts)


@lru_cache(maxsize=1 << 16)
def _names_of(mask: int, partitions: int) -> str:
    """Return the names of a set of placements; cached, because the same few thousand sets recur in every block."""
    return ",".join(f"{each.slug}@{partitions}" for bit, each in enumerate(PLACEMENTS) if mask >> bit & 1)
