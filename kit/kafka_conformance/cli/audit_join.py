"""``audit --join A B``: find keys that a co-partitioned join of two topics would miss.

Exit code 0 if there is none; 1 if there is one, or if the partition counts differ, which Kafka Streams rejects.
"""

from __future__ import annotations

import time

import msgspec

from kafka_conformance.cli.audit_source import Given, open_session, source_of
from kafka_conformance.core.progress import steps
from kafka_conformance.core.version import kit_version
from kafka_conformance.reports.terminal import console
from kafka_conformance.spark.audit.join import join_audit
from kafka_conformance.spark.audit.reports import join_terminal

__all__ = ["run"]


def run(*, sources: tuple[str, str], given: Given, expect: str, as_json: bool) -> int:
    """Join two topics, print the missed keys, and return the exit code. Raises BadInput, KitError."""
    with steps("starting Spark", 1) as progress, open_session(given) as spark:
        progress.doing(f"joining {sources[0]} and {sources[1]}")
        a, b = (source_of(spark, name, given) for name in sources)
        found = join_audit(spark, a, b, kit=kit_version(), clock=time.monotonic, rule=expect)
    if as_json:
        print(msgspec.json.encode(found).decode())
    else:
        join_terminal.show(console(), found)
    return 0 if found.whole else 1
