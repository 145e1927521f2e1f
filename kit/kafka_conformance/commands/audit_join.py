"""``audit --join A B``: what a join of two topics, partition by partition, would miss.

Exit code 0 if nothing, 1 if anything, or if the counts of partitions differ, so that Kafka Streams refuses.
"""

from __future__ import annotations

import time

import msgspec

from kafka_conformance.audit.joining import JoinSource, join_audit
from kafka_conformance.certifying import kit_version
from kafka_conformance.pipeline.spark_session import Spark
from kafka_conformance.progress import steps
from kafka_conformance.reports import join_terminal
from kafka_conformance.reports.terminal import console

__all__ = ["run"]


def run(spark: Spark, a: JoinSource, b: JoinSource, *, as_json: bool = False) -> int:
    """Join, and print what was missed. Raises BadInput, SparkFault."""
    spark.check_executors()
    with steps(f"joining {a.name} and {b.name}", 1):
        found = join_audit(spark, a, b, kit=kit_version(), clock=time.monotonic)
    if as_json:
        print(msgspec.json.encode(found).decode())
    else:
        join_terminal.show(console(), found)
    return 0 if found.whole else 1
