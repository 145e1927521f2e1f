"""``audit --segments DIR``: a topic in a broker's segment files, without the broker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec

from kafka_conformance.cli import options
from kafka_conformance.cli.audit_source import Given
from kafka_conformance.core.errors import BadInput

if TYPE_CHECKING:
    from kafka_conformance.audit.result import Audit
    from kafka_conformance.core.progress import Steps
    from kafka_conformance.spark.session import Spark

__all__ = ["SegmentOptions", "segment_options", "with_segments"]


class SegmentOptions(msgspec.Struct, frozen=True):
    """The options that :func:`segment_options` adds, named as on the command line."""

    segments: tuple[str, ...] = ()
    topic: str = ""

    def named(self, sources: Sequence[str], given: Given) -> tuple[str, ...]:
        """Return the topic to audit: as given, or the only one in the folders. Raises BadInput."""
        if not self.segments:
            if self.topic:
                raise BadInput("--topic names a topic in --segments DIR: name others as an argument")
            return tuple(sources)
        if self.topic and sources:
            raise BadInput("--segments DIR takes one topic: name it once")
        if "" in self.segments:
            raise BadInput("--segments is empty: name a folder")
        if sources or given.bootstrap or given.form:
            return tuple(sources) or (self.topic or "a topic",)  # what excludes each other is for ``Given.check``
        from kafka_conformance.audit.segments.folders import find_topic

        return (find_topic(self.segments, self.topic).topic,)

    def check(self, *, joins: bool, repairs: bool) -> None:
        """Raise BadInput for what needs a broker."""
        if self.segments and (joins or repairs):
            raise BadInput(f"--segments has no {'--join' if joins else '--repair-to'}: it needs the broker")


def with_segments(found: Audit, source: Any, progress: Steps, spark: Spark | None = None) -> Audit:
    """Add what segment files show of producers, if the source is one of segment files. Raises KitError."""
    from kafka_conformance.audit.engines.local.segments import LocalSegments

    if not isinstance(source, LocalSegments):
        return found
    from kafka_conformance.audit.segments.evidence import with_evidence
    from kafka_conformance.audit.segments.topic import OneByOne

    if spark is None:
        return with_evidence(found, source, OneByOne(progress))
    from kafka_conformance.audit.engines.spark.segments import OnSpark

    return with_evidence(found, source, OnSpark(spark, progress))


segment_options = options.collected(
    "segments", SegmentOptions,
    click.option("--segments", "segments", multiple=True, metavar="DIR",
                 help="Read segment files in place of a topic at a broker: a broker's data directory, or a partition's "
                      "folder such as orders-0; repeatable."),
    click.option("--topic", default="", metavar="NAME",
                 help="With --segments: the topic, if there are several."),
)  # fmt: skip
"""Add the options of :class:`SegmentOptions` to a command, which receives them as ``segments``."""
