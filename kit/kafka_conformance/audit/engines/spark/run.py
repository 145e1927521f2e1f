"""Run an audit with Spark, or resume it: scan the source chunk by chunk into a run's folder, then add up the blocks."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa

from kafka_conformance.audit import retention
from kafka_conformance.audit.engines.local.findings import LocalFindings
from kafka_conformance.audit.engines.local.folder import RunFolder
from kafka_conformance.audit.engines.spark.findings import SparkFindings
from kafka_conformance.audit.engines.spark.sources import Source
from kafka_conformance.audit.findings import RECORD, Findings
from kafka_conformance.audit.initial_sample import SAMPLE_RECORDS, compile_all
from kafka_conformance.audit.plan import (
    AuditPlan,
    AuditRequest,
    as_plan,
    looked,
    make_plan,
    result_of,
    resumed,
    scan_of,
    sum_up,
)
from kafka_conformance.audit.result import Audit
from kafka_conformance.audit.retention import Deletions
from kafka_conformance.audit.scan import SCHEMA, scanner
from kafka_conformance.audit.sources import chunked
from kafka_conformance.audit.topics import Span, offset_count
from kafka_conformance.core.errors import KitError
from kafka_conformance.core.progress import Steps
from kafka_conformance.spark.arrow import to_arrow
from kafka_conformance.spark.runs import Run
from kafka_conformance.spark.session import Spark
from kafka_conformance.spark.workers import Work, mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["audit", "packed", "planned"]

FEW_RECORDS = 50_000_000
"""The most records whose findings are added up by this process, if it can read them."""


def planned(spark: Spark, folder: str) -> AuditPlan | None:
    """Return the plan of the audit in this folder, or None if none has begun. Raises BadInput for another kind of run."""
    return as_plan(Run.plan(spark, folder), folder)


def audit(spark: Spark, source: Source, request: AuditRequest, folder: str, progress: Steps) -> Audit:
    """Run the audit, or resume it if ``folder`` holds a part of it. Raises KitError."""
    begun = time.monotonic()
    plan = _plan(spark, source, request, planned(spark, folder))
    chunks = chunked(source.spans, request.chunk_records)
    scan = scanner(scan_of(plan))
    spark.register({_PUT: "PutFile"}, "long")
    with Run.open(spark, folder, msgspec.json.decode(msgspec.json.encode(plan))) as run:
        done = run.finished()
        progress.begin(f"auditing {source.name}", len(chunks) + 1)
        deletions = Deletions(run.files, chunks)
        for number in range(len(chunks)):
            progress.doing(f"auditing {source.name}: chunk {number + 1} of {len(chunks)}")
            if number not in done:
                read = partial(_write_chunk, run, number, source, scan)
                deletions.read_chunk(number, read, source.earliest)
            progress.advance()
        progress.doing(f"auditing {source.name}: adding up the blocks")
        findings = _findings(run, len(chunks), offset_count(source.spans))
        found = spark.call(lambda: sum_up(plan, findings, source), "adding up the audit")
        progress.advance()
    return result_of(found, source, request, folder, time.monotonic() - begun, deletions.deleted())


def _plan(spark: Spark, source: Source, request: AuditRequest, before: AuditPlan | None) -> AuditPlan:
    compile_all()
    if before is not None:
        return make_plan(source, request, resumed(before, request))
    rows = retention.read_remaining(source, lambda: _sample(spark, source))
    return make_plan(source, request, looked(source, request, rows))


def _sample(spark: Spark, source: Source) -> pa.Table:
    """Return the records of a sample: read by this process if it can, which takes a tenth of the time of a Spark job."""
    if (reader := source.reader()) is not None:
        with suppress(KitError):  # Java's client may reach the broker where librdkafka does not
            return reader.sample(SAMPLE_RECORDS)
    columns = "partition", "offset", "key"
    return spark.call(lambda: to_arrow(source.sample(SAMPLE_RECORDS).select(*columns)), f"sampling {source.name}")


def _findings(run: Run, chunks: int, records: int) -> Findings:
    """Return the rows of a run: read by this process if they are few and on this machine, which saves Spark jobs."""
    if records <= FEW_RECORDS and run.spark.on_one_machine and run.located(0).startswith("file:"):
        return LocalFindings(RunFolder(run.folder.removeprefix("file://")))
    return SparkFindings(run, chunks)


# A dictionary or a stronger compressor does not shrink hashed keys, and takes time.
_WRITTEN = {"parquet.enable.dictionary": "false", "compression": "snappy"}
_PUT = "kafkaoracle_put_file"


def _write_chunk(run: Run, number: int, source: Source, scan: Work, spans: Mapping[int, Span]) -> None:
    with run.spark.batches_of(1):
        frame = partial(_scanned, run.spark, source, spans, scan, f"{run.located(number)}/kind={RECORD}")
        run.do(number, frame, by=("kind",), settings=_WRITTEN)


def _scanned(spark: Spark, source: Source, spans: Mapping[int, Span], scan: Work, records: str) -> DataFrame:
    """Return the scan's rows; write its files into the folder ``records``, and keep only their length in the rows."""
    from pyspark.sql import functions as f

    rows = mapped(packed(spark, source.frame(spans)), scan, SCHEMA)
    path = f.concat(f.lit(f"{records}/"), "name")
    return rows.withColumn("length", f.call_function(_PUT, path, "file")).drop("file")


def packed(spark: Spark, records: DataFrame) -> DataFrame:
    """Pack records into blocks, in the JVM (``AuditBlocks.java``)."""
    from pyspark.sql import DataFrame

    spark.add_java("AuditBlocks")
    blocks = spark.jvm.kafkaoracle.spark.AuditBlocks.of(records._jdf)  # noqa: SLF001  pyspark has no public access to it
    return DataFrame(blocks, spark.session)
