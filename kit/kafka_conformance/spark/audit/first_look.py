"""Find the placements present in a topic from a sample of every partition, before the scan.

A single partition cannot distinguish all placements: on partition 4 of 6, murmur2 with its sign dropped by ``abs`` places
keys as Java does. All partitions together can. The topic is therefore sampled at its beginning, middle and end, and the
placements found are passed to every block; a block finds by itself what the sample misses.

The compile_all functions that judge blocks take some seconds to build at first use. :func:`compile_all` builds them once, so
that no worker has to.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pyarrow as pa

from kafka_conformance.spark.audit.attribution.block import Block, column_of, judge
from kafka_conformance.spark.audit.attribution.doubt import find_doubt
from kafka_conformance.spark.audit.attribution.explanation import KeyColumn
from kafka_conformance.spark.audit.attribution.presence import present
from kafka_conformance.spark.audit.attribution.rivals import find_foreign
from kafka_conformance.spark.audit.result import NOTHING_FOREIGN, Doubt, Foreign, Placed

__all__ = ["SAMPLE_RECORDS", "Sampled", "compile_all", "examine", "look"]

SAMPLE_RECORDS = 30_000


class Sampled(Protocol):
    """Records of which this process reads a sample."""

    def sample(self, records: int) -> pa.Table:
        """Return about this many records from all partitions (``partition``, ``offset``, ``key``), the same each time."""
        ...


def look(
    rows: pa.Table, partitions: int, expected: Placed, *, one_of_many: bool = False
) -> tuple[tuple[Placed, ...], Doubt | None, Foreign]:
    """Return :func:`examine` and :func:`~.rivals.find_foreign` of a sample (``partition``, ``offset``, ``key``).

    ``one_of_many``: the records are of one partition only because no other was read, so that no placement is "one partition
    for every key". The result depends on the records alone, not on their order.
    """
    rows = rows.filter(rows["key"].is_valid()).sort_by([("partition", "ascending"), ("offset", "ascending")])
    if not rows.num_rows:
        return (), None, NOTHING_FOREIGN
    where = rows["partition"].to_numpy()
    keys = column_of(rows["key"].combine_chunks(), int(where[0]) if one_of_many else where, partitions)
    known, doubt = examine(keys, expected)
    return known, doubt, find_foreign(keys, known)


def examine(keys: KeyColumn, expected: Placed) -> tuple[tuple[Placed, ...], Doubt | None]:
    """Return the placements present among these keys of a topic, and the doubt about them: with a doubt, none is present."""
    found = present(keys, expected)
    doubt = find_doubt(keys, expected, found)
    return (() if doubt else found), doubt


def compile_all() -> None:
    """Compile every function that ``attribution.block.judge`` uses, and cache the code for all processes."""
    count = 3_000
    keys = pa.array([b"%d" % number for number in range(count)], pa.binary())
    offsets = np.arange(count, dtype=np.int64)
    judge(
        Block(0, offsets, offsets, keys),
        12,
        Placed("murmur2", 12),
        (Placed("murmur2", 3), Placed("crc32", 12)),
        whole=True,
    )
