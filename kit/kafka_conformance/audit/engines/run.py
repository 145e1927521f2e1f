"""Run an audit or a join from end to end, with the engine that suits its sources."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_conformance.audit.engines.choice import Engine, local_source, local_sources, open_session, spark_source
from kafka_conformance.audit.isolation import reading_of
from kafka_conformance.audit.join_result import Join
from kafka_conformance.audit.plan import AuditRequest
from kafka_conformance.audit.result import Audit
from kafka_conformance.audit.selection import RecordSelection
from kafka_conformance.audit.sources import SegmentFolders, Sized, SourceAddress
from kafka_conformance.audit.topics import Span, offset_count
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.progress import Steps, steps
from kafka_conformance.core.version import kit_version
from kafka_conformance.core.wall_time import elapsed_s

if TYPE_CHECKING:
    from kafka_conformance.spark.session import Spark

__all__ = ["AuditJob", "JoinJob", "run_audit", "run_join"]


class AuditJob(msgspec.Struct, frozen=True):
    """All that an audit does: what it reads, what it judges, with which engine, and the folder of its results."""

    source: SourceAddress
    request: AuditRequest
    engine: Engine
    folder: str


class JoinJob(msgspec.Struct, frozen=True):
    """All that a join does: the two topics, the rule that should place their keys, and the records to join."""

    a: SourceAddress
    b: SourceAddress
    rule: str
    key_format: str
    selection: RecordSelection
    engine: Engine


def run_audit(job: AuditJob) -> Audit:
    """Run the audit, or resume it if its folder holds a part of it. Raises BadInput, KitError."""
    name, asked = job.source.name, job.request
    with steps(f"looking at {name}", 1) as progress:
        local = local_source(job.source, job.engine, asked.selection, job.folder, progress)
        if local is not None:
            from kafka_conformance.audit.engines.local.run import audit_locally

            found = audit_locally(local, asked, job.folder, progress)
            if isinstance(job.source, SegmentFolders):
                found = _with_evidence(found, local, progress)
        else:
            progress.doing("starting Spark")
            with open_session(job.engine, job.source) as spark:
                found = _audit_on_spark(spark, job, progress)
    return msgspec.structs.replace(found, took_s=elapsed_s())


def _audit_on_spark(spark: Spark, job: AuditJob, progress: Steps) -> Audit:
    from kafka_conformance.audit.engines.spark.run import audit, planned

    progress.doing(f"looking at {job.source.name}")
    before = planned(spark, job.folder)
    spans = None if before is None else before.spans
    source = spark_source(spark, job.source, job.request.selection, spans, progress)
    found = audit(spark, source, job.request, job.folder, progress)
    return _with_evidence(found, source, progress, spark) if isinstance(job.source, SegmentFolders) else found


def _with_evidence(found: Audit, source: Any, progress: Steps, spark: Spark | None = None) -> Audit:
    """Add what segment files show of producers."""
    from kafka_conformance.audit.segments.evidence import with_evidence
    from kafka_conformance.audit.segments.topic import OneByOne

    if spark is None:
        return with_evidence(found, source, OneByOne(progress))
    from kafka_conformance.audit.engines.spark.segments import OnSpark

    return with_evidence(found, source, OnSpark(spark, progress))


def run_join(job: JoinJob) -> Join:
    """Find the keys that a join of two topics would miss. Raises BadInput, KitError."""
    if job.key_format and job.engine.kind == "local":
        raise BadInput("--engine local does not join with --key-format: use --engine spark")
    addresses, share = (job.a, job.b), job.selection.share
    with steps(f"looking at {job.a.name} and {job.b.name}", 1) as progress:
        if local := None if job.key_format else local_sources(addresses, job.engine, job.selection):
            from kafka_conformance.audit.engines.local.join import join_locally

            a, b = map(_spans, local)
            found = join_locally(*local, kit=kit_version(), clock=time.monotonic, rule=job.rule, progress=progress,
                                 share=share)  # fmt: skip
        else:
            from kafka_conformance.audit.engines.spark.join import join_audit

            progress.doing("starting Spark")
            with open_session(job.engine, *addresses) as spark:
                progress.doing(f"joining {job.a.name} and {job.b.name}")
                pair = [spark_source(spark, address, job.selection) for address in addresses]
                a, b = map(_spans, pair)
                found = join_audit(spark, *pair, kit=kit_version(), clock=time.monotonic, rule=job.rule,
                                   key_format=job.key_format, share=share)  # fmt: skip
    counts = [side.records if share >= 1 else offset_count(spans) for side, spans in ((found.a, a), (found.b, b))]
    reading = reading_of(job.a.isolation, a, counts[0]), reading_of(job.b.isolation, b, counts[1])
    return msgspec.structs.replace(found, took_s=elapsed_s(), reading=reading, notes=tuple(job.selection.notes()))


def _spans(source: Sized) -> Mapping[int, Span]:
    return source.spans
