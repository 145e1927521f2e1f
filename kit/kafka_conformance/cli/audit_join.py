"""``audit --join A B``: find keys that a co-partitioned join of two topics would miss.

Exit code 0 if there is none; 1 if there is one, or if the partition counts differ, which Kafka Streams rejects.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import msgspec

from kafka_conformance.audit.engines.spark.join import join_audit
from kafka_conformance.audit.isolation import reading_of
from kafka_conformance.audit.reports import join_terminal
from kafka_conformance.audit.sources import Sized
from kafka_conformance.audit.topics import Span, offset_count
from kafka_conformance.cli.audit_engine import local_sources
from kafka_conformance.cli.audit_source import Given, open_session, source_of
from kafka_conformance.core import interrupts
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.progress import steps
from kafka_conformance.core.streams import say_json
from kafka_conformance.core.version import kit_version
from kafka_conformance.core.wall_time import elapsed_s
from kafka_conformance.reports.terminal import console

__all__ = ["run"]

_AGAIN = "run the same command again; a join keeps no intermediate results"


def run(*, sources: tuple[str, str], given: Given, expect: str, key_format: str, as_json: bool) -> int:
    """Join two topics, print the missed keys, and return the exit code. Raises BadInput, KitError."""
    if key_format and given.engine == "local":
        raise BadInput("--engine local has no --join with --key-format: use --engine spark")
    with interrupts.explained(_AGAIN), steps(f"looking at {sources[0]} and {sources[1]}", 1) as progress:
        if local := None if key_format else local_sources(sources, given):
            from kafka_conformance.audit.engines.local.join import join_locally

            a, b = map(_spans, local)
            found = join_locally(*local, kit=kit_version(), clock=time.monotonic, rule=expect, progress=progress,
                                 share=given.selection.share)  # fmt: skip
        else:
            progress.doing("starting Spark")
            with open_session(given) as spark:
                progress.doing(f"joining {sources[0]} and {sources[1]}")
                pair = [source_of(spark, name, given) for name in sources]
                a, b = map(_spans, pair)
                found = join_audit(spark, *pair, kit=kit_version(), clock=time.monotonic, rule=expect, key_format=key_format,
                                   share=given.selection.share)  # fmt: skip
    isolation = "" if given.form else given.isolation
    whole = given.selection.share >= 1
    counts = [side.records if whole else offset_count(spans) for side, spans in ((found.a, a), (found.b, b))]
    reading = reading_of(isolation, a, counts[0]), reading_of(isolation, b, counts[1])
    notes = tuple(given.selection.notes())
    found = msgspec.structs.replace(found, took_s=elapsed_s(), reading=reading, notes=notes)
    if as_json:
        say_json(found)
    else:
        join_terminal.show(console(), found)
    return 0 if found.whole else 1


def _spans(source: Sized) -> Mapping[int, Span]:
    return source.spans
