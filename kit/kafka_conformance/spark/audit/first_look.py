"""A first look at a topic: who is present in it, as a few records of every partition say.

One partition alone cannot tell everybody apart: on partition 4 of 6 murmur2 with its sign dropped by ``abs`` puts what Java
puts there. All partitions together can. So the topic is asked first, at its beginning, middle and end, and every block is
told who is known to be present; a block finds for itself whoever the look has missed.

What the blocks are judged with is compiled at first use, which takes some seconds; done here, once, no worker has to.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from kafka_conformance.spark.audit.attribution.block import Block, column_of, judge
from kafka_conformance.spark.audit.attribution.presence import present
from kafka_conformance.spark.audit.result import Placed
from kafka_conformance.spark.audit.sources import Source
from kafka_conformance.spark.session import Spark

__all__ = ["LOOKED_AT", "compiled", "known"]

LOOKED_AT = 30_000


def known(spark: Spark, source: Source, expected: Placed) -> tuple[Placed, ...]:
    """Who is present. Raises SparkFault."""
    rows = spark.call(
        lambda: source.sample(LOOKED_AT).select("partition", "key").toArrow(), f"looking at {source.name}"
    )
    rows = rows.filter(rows.column("key").is_valid()).combine_chunks()
    if not rows.num_rows:
        return ()
    keys = rows.column("key").combine_chunks()
    partitions = rows.column("partition").to_numpy()
    return present(column_of(keys, partitions, source.partitions), expected)


def compiled() -> None:
    """Compile everything that ``attribution.block.judge`` uses, and cache it for all processes."""
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
