"""Find the placements present in a topic from a sample of every partition, before the scan.

A single partition cannot distinguish all placements: on partition 4 of 6, murmur2 with its sign dropped by ``abs`` places
keys as Java does. All partitions together can. The topic is therefore sampled at its beginning, middle and end, and the
placements found are passed to every block; a block finds by itself what the sample misses.

The compile_all functions that judge blocks take some seconds to build at first use. :func:`compile_all` builds them once, so
that no worker has to.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from kafka_conformance.spark.audit.attribution.block import Block, column_of, judge
from kafka_conformance.spark.audit.attribution.doubt import find_doubt
from kafka_conformance.spark.audit.attribution.explanation import KeyColumn
from kafka_conformance.spark.audit.attribution.presence import present
from kafka_conformance.spark.audit.result import Doubt, Placed
from kafka_conformance.spark.audit.sources import Source
from kafka_conformance.spark.session import Spark

__all__ = ["SAMPLE_RECORDS", "compile_all", "examine", "look"]

SAMPLE_RECORDS = 30_000


def look(spark: Spark, source: Source, expected: Placed) -> tuple[tuple[Placed, ...], Doubt | None]:
    """Return the placements present in a sample of ``source``, and the doubt about them. Raises SparkFault."""
    rows = spark.call(
        lambda: source.sample(SAMPLE_RECORDS).select("partition", "key").toArrow(), f"sampling {source.name}"
    )
    rows = rows.filter(rows.column("key").is_valid()).combine_chunks()
    if not rows.num_rows:
        return (), None
    keys = rows.column("key").combine_chunks()
    partitions = rows.column("partition").to_numpy()
    return examine(column_of(keys, partitions, source.partitions), expected)


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
