"""Pack the records of a partition into blocks, as ``AuditBlocks.java`` does: the same records give the same blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.block import Block
from kafka_conformance.audit.sources import slices
from kafka_conformance.audit.topics import Span, offset_count

__all__ = ["BlockPacker", "BlockReader", "ranges"]

MOST_RECORDS, MOST_BYTES = 65_536, 32 << 20
"""A block ends with the record that reaches the first, or exceeds the second with the bytes of all keys."""

Piece = tuple[NDArray[np.int64], NDArray[np.int64], pa.BinaryArray]


@dataclass(slots=True, eq=False)
class BlockPacker:
    """The records of a partition that are not yet in a block."""

    partition: int
    _pieces: list[Piece] = field(default_factory=list)
    _records: int = 0
    _bytes: int = 0

    def add(
        self, offsets: NDArray[np.int64], timestamps_ms: NDArray[np.int64], keys: pa.BinaryArray
    ) -> Iterator[Block]:
        """Add records in the order of their offsets; yield the blocks that are full. A missing time is -1."""
        self._pieces.append((offsets, timestamps_ms, keys))
        self._records += len(offsets)
        self._bytes += _size(keys)
        while self._records >= MOST_RECORDS or self._bytes > MOST_BYTES:
            yield self._cut()

    def end(self) -> Iterator[Block]:
        """Yield the remaining records as a block."""
        if self._records:
            yield self._cut()

    def _cut(self) -> Block:
        offsets, times, keys = (
            self._pieces[0]
            if len(self._pieces) == 1
            else (
                np.concatenate([piece[0] for piece in self._pieces]),
                np.concatenate([piece[1] for piece in self._pieces]),
                pa.concat_arrays([piece[2] for piece in self._pieces]),
            )
        )
        count = min(len(offsets), MOST_RECORDS)
        if self._bytes > MOST_BYTES:
            ends = np.cumsum(pc.fill_null(pc.binary_length(keys.slice(0, count)), 0).to_numpy().astype(np.int64))
            count = min(count, int(np.searchsorted(ends, MOST_BYTES, side="right")) + 1)
        rest = offsets[count:], times[count:], keys.slice(count)
        self._pieces, self._records, self._bytes = [rest], len(rest[0]), _size(rest[2])
        return Block(self.partition, offsets[:count], times[:count], keys.slice(0, count))


def _size(keys: pa.BinaryArray) -> int:
    return int(pc.sum(pc.binary_length(keys)).as_py() or 0)


class BlockReader(ABC):
    """The records of a topic in ``spans``, read in the order of their offsets. A small topic is read once and held."""

    def __init__(self, spans: Mapping[int, Span]) -> None:
        self.spans = spans
        self._held: Sequence[Block] = ()

    def sample(self, records: int) -> pa.Table:
        """Return the records that Spark samples: slices of partitions, all records of a small topic."""
        if offset_count(self.spans) > records:
            return table_of([block for spans in slices(self.spans, records) for block in self._read(spans)])
        self._held = list(self._read(self.spans))
        return table_of(self._held)

    def blocks(self, spans: Mapping[int, Span]) -> Iterator[Block]:
        """Yield the records in these spans as blocks, those of a partition in the order of their offsets."""
        if self._held and ranges(spans) == ranges(self.spans):
            yield from self._held
        else:
            yield from self._read(spans)

    def narrow(self, spans: Mapping[int, Span]) -> None:
        """Read these offsets only, by partition."""
        self.spans, self._held = spans, ()

    @abstractmethod
    def _read(self, spans: Mapping[int, Span]) -> Iterator[Block]:
        """Read these spans."""


def ranges(spans: Mapping[int, Span]) -> list[tuple[int, int, int]]:
    """Return the partitions to read, each with its first offset and its end."""
    return [(number, span.first, span.end) for number, span in sorted(spans.items()) if span.end > span.first]


def table_of(blocks: Sequence[Block]) -> pa.Table:
    """Return the records of blocks as a table, as ``initial_sample.look`` takes them."""
    rows = [(np.full(len(block.offsets), block.partition, np.int32), block.offsets, block.keys) for block in blocks]
    kinds = (pa.int32(), pa.int64(), pa.binary())
    columns = [pa.chunked_array([pa.array(row[at], kind) for row in rows], kind) for at, kind in enumerate(kinds)]
    return pa.table(dict(zip(("partition", "offset", "key"), columns, strict=True)))
