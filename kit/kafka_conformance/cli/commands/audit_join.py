"""``audit --join A B``: what a join of two topics, partition by partition, would miss.

Exit code 0 if nothing, 1 if anything, or if the counts of partitions differ, so that Kafka Streams refuses.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

from kafka_conformance.core.progress import steps
from kafka_conformance.core.version import kit_version
from kafka_conformance.reports.terminal import console
from kafka_conformance.spark.audit.join import join_audit
from kafka_conformance.spark.audit.reports import join_terminal

if TYPE_CHECKING:
    from kafka_conformance.cli.commands.audit import Given

__all__ = ["run"]


def run(*, sources: tuple[str, str], given: Given, expect: str, as_json: bool) -> int:
    """Join, and print what was missed. Raises BadInput, KitError."""
    from kafka_conformance.cli.commands.audit import opened, source_of

    with steps("starting Spark", 1) as progress, opened(given) as spark:
        progress.doing(f"joining {sources[0]} and {sources[1]}")
        a, b = (source_of(spark, name, given) for name in sources)
        found = join_audit(spark, a, b, kit=kit_version(), clock=time.monotonic, rule=expect)
    if as_json:
        print(msgspec.json.encode(found).decode())
    else:
        join_terminal.show(console(), found)
    return 0 if found.whole else 1
