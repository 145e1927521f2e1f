"""Run an audit from a source to its result: scan the source chunk by chunk into a run's folder, then add up the blocks.

The plan is fixed when a run begins: the offsets of each partition, the expected placement, and the chunk size. A resumed
run reads it back, so its result is the same.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.version import kit_version
from kafka_conformance.spark.audit.attribution.placements import PLACEMENTS
from kafka_conformance.spark.audit.first_look import compile_all, look
from kafka_conformance.spark.audit.result import Audit, Doubt, Placed, Summed
from kafka_conformance.spark.audit.scan import RECORD, SCHEMA, scanner
from kafka_conformance.spark.audit.sources import Source, Span, chunked, offset_count
from kafka_conformance.spark.audit.totals.split_keys import buckets_for
from kafka_conformance.spark.audit.totals.totals import summed
from kafka_conformance.spark.runs import Run
from kafka_conformance.spark.session import Spark
from kafka_conformance.spark.workers import Work, mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["AuditRequest", "Plan", "audit", "planned"]

CHUNK_RECORDS = 25_000_000
"""Records per chunk, about 30 s of work: the most that a resumed run repeats. Each chunk opens every partition again, which
costs a second or more per core."""


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """The options of an audit.

    ``name`` is the source's, ``where`` the broker's address (empty for files), ``expected`` a placement's slug;
    ``every_record`` writes all records to Parquet, not only the offending ones.
    """

    name: str
    where: str
    expected: str = PLACEMENTS[0].slug
    chunk_records: int = CHUNK_RECORDS
    every_record: bool = False


class Plan(msgspec.Struct, frozen=True):
    """The content of an audit's ``plan.json``.

    ``known`` are the placements that a sample of the topic has shown; ``doubt``: the sample has too few keys to tell.
    """

    job: str
    kit: str
    source: str
    where: str
    expected: str
    chunk_records: int
    every_record: bool
    spans: dict[int, Span]
    known: tuple[Placed, ...]
    doubt: Doubt | None = None


def planned(spark: Spark, folder: str) -> Plan | None:
    """Return the plan of the audit in this folder, or None if none has begun. Raises BadInput for another kind of run."""
    found = Run.plan(spark, folder)
    if found is None:
        return None
    try:
        return msgspec.convert(found, Plan, strict=False)
    except msgspec.ValidationError as error:
        raise BadInput(f"{folder} holds a run of another command than audit: give another folder") from error


def audit(spark: Spark, source: Source, request: AuditRequest, folder: str, progress: Steps) -> Audit:
    """Run the audit, or resume it if ``folder`` holds a part of it. Raises KitError."""
    begun = time.monotonic()
    expected = Placed(request.expected, source.partitions)
    plan = _plan(spark, source, request, expected, planned(spark, folder))
    chunks = chunked(source.spans, request.chunk_records)
    buckets = buckets_for(offset_count(source.spans))
    scan = scanner(source.partitions, expected, plan.known, buckets=buckets, every=request.every_record,
                   doubtful=plan.doubt is not None)  # fmt: skip
    spark.register({_PUT: "PutFile"}, "long")
    with Run.open(spark, folder, msgspec.json.decode(msgspec.json.encode(plan))) as run:
        done = run.finished()
        progress.total = len(chunks) + 1
        for number, each in enumerate(chunks):
            progress.doing(f"auditing {source.name}: chunk {number + 1} of {len(chunks)}")
            if number not in done:
                with spark.batches_of(1):
                    frame = partial(_scanned, spark, source, each, scan, f"{run.located(number)}/kind={RECORD}")
                    run.do(number, frame, by=("kind",), settings=_WRITTEN)
            progress.advance()
        progress.doing(f"auditing {source.name}: adding up the blocks")
        found = summed(run, len(chunks), source, expected, buckets, plan.doubt)
        progress.advance()
    return _result(found, source, expected, request, folder, time.monotonic() - begun)


def _plan(spark: Spark, source: Source, request: AuditRequest, expected: Placed, before: Plan | None) -> Plan:
    compile_all()
    known, doubt = look(spark, source, expected) if before is None else (before.known, before.doubt)
    spans = dict(sorted(source.spans.items()))
    kit, chunk = kit_version(), request.chunk_records
    return Plan(
        "audit", kit, request.name, request.where, request.expected, chunk, request.every_record, spans, known, doubt
    )


# A dictionary or a stronger compressor does not shrink hashed keys, and takes time.
_WRITTEN = {"parquet.enable.dictionary": "false", "compression": "snappy"}
_PUT = "kafkaoracle_put_file"


def _scanned(spark: Spark, source: Source, spans: Mapping[int, Span], scan: Work, records: str) -> DataFrame:
    """Return the scan's rows; write its files into the folder ``records``, and keep only their length in the rows."""
    from pyspark.sql import functions as f

    rows = mapped(packed(spark, source.frame(spans)), scan, SCHEMA)
    path = f.concat(f.lit(f"{records}/"), "name")
    return rows.withColumn("length", f.call_function(_PUT, path, "file")).drop("file")


def packed(spark: Spark, records: DataFrame) -> DataFrame:
    """Pack records into blocks, in the JVM (``AuditBlocks.java``)."""
    from pyspark.sql import DataFrame

    blocks = spark.jvm.kafkaoracle.spark.AuditBlocks.of(records._jdf)  # noqa: SLF001  pyspark has no public access to it
    return DataFrame(blocks, spark.session)


def _result(
    found: Summed, source: Source, expected: Placed, request: AuditRequest, folder: str, took_s: float
) -> Audit:
    return Audit(
        source=source.name if not request.where else f"{source.name} at {request.where}",
        partitions=source.partitions,
        expected=expected,
        kit=kit_version(),
        took_s=round(took_s, 3),
        offending_records=f"{folder}/chunks/*/kind=record" if found.offending else "",
        **{field: getattr(found, field) for field in Summed.__struct_fields__},
    )
