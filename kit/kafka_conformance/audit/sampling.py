"""Select a share of the keys by a hash of the key, so that all records of a key are selected, or none.

The hash is the identity of keys (``attribution.distinct_keys``), which no placement uses: a sample is as even over
partitions and placements as the keys are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.block import Block, column_of
from kafka_conformance.audit.framing.formats import separate

__all__ = ["in_sample", "sampled"]


def in_sample(keys: Any, share: float, key_format: str = "") -> NDArray[np.bool_]:
    """Return which keys of an Arrow column of bytes are selected, by their logical keys with a format; a null is not."""
    out = np.asarray(keys.is_valid()).copy()
    if share < 1:
        column = column_of(keys, 0, 1)
        column = separate(column, key_format).logical if key_format else column
        out[out] = column.ids[:, 0] < np.uint64(share * 2**64)
    return out


def sampled(blocks: Iterable[Block], share: float, key_format: str = "") -> Iterator[Block]:
    """Yield the blocks' records of this share of the keys, without blocks that have none; all blocks for a share of 1."""
    for block in blocks:
        if share >= 1:
            yield block
            continue
        rows = np.flatnonzero(in_sample(block.keys, share, key_format))
        if rows.size:
            keys = block.keys.take(pa.array(rows))
            yield Block(block.partition, block.offsets[rows], block.timestamps_ms[rows], keys)
