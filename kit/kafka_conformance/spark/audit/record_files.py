"""The records that an audit tells one by one, as Parquet files that are made where they are judged.

In a topic that two producers share, half of all records are out of place. Handed to Spark as rows, to be written by it,
they took longer than everything else of an audit. So Python makes the files, and hands over their bytes (``PutFile.java``
puts them into the run's folder, whatever file system that is on).

A file is of one task, in the order of the records, and is named by the first of them. So a chunk that is done again has the
same files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from kafka_conformance.spark.audit.attribution.attribution import KEYLESS_AT, UNEXPLAINED_AT
from kafka_conformance.spark.audit.attribution.block import Block, Judged, whose
from kafka_conformance.spark.audit.attribution.placements import PLACEMENTS
from kafka_conformance.spark.audit.result import Placed
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
"""A file ends with the block in which it comes to so much, before it is compressed."""

_GROUP = 65_536
"""Records of a row group: whoever asks for a few offsets reads only the groups that have them."""


@dataclass(frozen=True, slots=True)
class RecordFile:
    """A file: its first record's place, and what it holds."""

    partition: int
    offset: int
    content: bytes

    @property
    def name(self) -> str:
        """Of no other file of a chunk."""
        return f"p{self.partition:06d}-{self.offset:020d}.parquet"


class RecordFiles:
    """The files of one task. ``every``: all records, not only those that are out of place or that nobody explains."""

    def __init__(self, expected: Placed, partitions: int, *, every: bool) -> None:
        self._expected, self._partitions, self._every = expected, partitions, every
        self._held: list[pa.RecordBatch] = []

    def add(self, block: Block, judged: Judged) -> Iterator[RecordFile]:
        """A file, if this block makes one full."""
        told = judged.offending | (judged.attributed == UNEXPLAINED_AT)
        rows = np.arange(len(block.offsets)) if self._every else np.flatnonzero(told)
        if len(rows):
            self._held.append(self._batch(block, judged, rows))
        if sum(map(len, self._held)) >= _RECORDS or sum(each.nbytes for each in self._held) >= _BYTES:
            yield from self.end()

    def end(self) -> Iterator[RecordFile]:
        """What is left, as a file."""
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
        masks = np.zeros(len(rows), np.uint32) if judged.masks is None else judged.masks[rows]  # there was no key
        times, codes = block.timestamps_ms[rows], judged.attributed[rows]
        columns = [
            np.full(len(rows), block.partition, np.int32), block.offsets[rows], pa.array(times, mask=times < 0), keys,
            self._expects(keys), _named(judged, codes), _explained(masks, self._partitions, codes),
        ]  # fmt: skip
        return pa.RecordBatch.from_arrays(
            [column if isinstance(column, pa.Array) else pa.array(column) for column in columns], schema=_ARROW
        )

    def _expects(self, keys: pa.Array) -> pa.Array:
        """Where the expected placement, if it is Java's, would put each."""
        if self._expected.rule != PLACEMENTS[0].slug:
            return pa.nulls(len(keys), pa.int32())
        return bulk.partition_for_key(keys, self._expected.partitions)


def _named(judged: Judged, codes: NDArray[np.int16]) -> pa.Array:
    """Whom each is attributed to, as text."""
    names = dict(sorted(whose(judged.present).items()))
    places = np.searchsorted(list(names), codes).astype(np.int32)
    return pa.DictionaryArray.from_arrays(places, list(names.values()))


def _explained(masks: NDArray[np.uint32], partitions: int, codes: NDArray[np.int16]) -> pa.Array:
    """All that explain each with as many partitions as there are now, joined by commas."""
    kinds, places = np.unique(masks, return_inverse=True)
    texts = [_names_of(mask, partitions) for mask in kinds.tolist()]
    return pa.DictionaryArray.from_arrays(pa.array(places.astype(np.int32), mask=codes == KEYLESS_AT), texts)


@lru_cache(maxsize=1 << 16)
def _names_of(mask: int, partitions: int) -> str:
    """A set of placements in words; the same few thousand sets come again in every block."""
    return ",".join(f"{each.slug}@{partitions}" for bit, each in enumerate(PLACEMENTS) if mask >> bit & 1)
