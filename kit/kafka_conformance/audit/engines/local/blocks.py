"""Pack the records of a partition into blocks, as ``AuditBlocks.java`` does: the same records give the same blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.block import Block

__all__ = ["BlockPacker"]

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
