"""An audit, from a source to its result: scanned chunk by chunk into a run's folder, then summed.

What is fixed when a run begins is its plan: which offsets of which partitions, what is expected, how large a chunk is. A run
that is resumed takes all of it from there, and so comes to the same result.
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
from kafka_conformance.spark.audit.first_look import compiled, known
from kafka_conformance.spark.audit.result import Audit, Placed, Summed
from kafka_conformance.spark.audit.scan import RECORD, SCHEMA, scanner
from kafka_conformance.spark.audit.sources import Source, Span, chunked, in_all
from kafka_conformance.spark.audit.totals.split_keys import buckets_for
from kafka_conformance.spark.audit.totals.totals import summed
from kafka_conformance.spark.runs import Run
from kafka_conformance.spark.session import Spark
from kafka_conformance.spark.workers import Work, mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Asked", "Plan", "audit", "planned"]

CHUNK_RECORDS = 25_000_000
"""Half a minute's work: what is done again after a run was ended. Each chunk begins anew with every partition, which takes
a second and more for each core."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What an audit is asked: ``name`` is the source's, ``where`` the broker or nothing."""

    name: str
    where: str
    expected: str = PLACEMENTS[0].slug
    chunk_records: int = CHUNK_RECORDS
    every_record: bool = False


class Plan(msgspec.Struct, frozen=True):
    """What ``plan.json`` holds of an audit. ``known``: who is present in the topic, as a first look at it says."""

    job: str
    kit: str
    source: str
    where: str
    expected: str
    chunk_records: int
    every_record: bool
    spans: dict[int, Span]
    known: tuple[Placed, ...]


def planned(spark: Spark, folder: str) -> Plan | None:
    """The plan of the audit in this folder, if one has begun. Raises BadInput for another kind of run."""
    found = Run.plan(spark, folder)
    if found is None:
        return None
    try:
        return msgspec.convert(found, Plan, strict=False)
    except msgspec.ValidationError as error:
        raise BadInput(f"{folder} holds a run that is no audit: give another folder") from error


def audit(spark: Spark, source: Source, asked: Asked, folder: str, progress: Steps) -> Audit:
    """Carry it out, or go on with it. Raises KitError."""
    begun = time.monotonic()
    expected = Placed(asked.expected, source.partitions)
    plan = _plan(spark, source, asked, expected, planned(spark, folder))
    chunks = chunked(source.spans, asked.chunk_records)
    buckets = buckets_for(in_all(source.spans))
    scan = scanner(source.partitions, expected, plan.known, buckets=buckets, every=asked.every_record)
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
        progress.doing(f"auditing {source.name}: putting it together")
        found = summed(run, len(chunks), source, expected, buckets)
        progress.advance()
    return _result(found, source, expected, asked, folder, time.monotonic() - begun)


def _plan(spark: Spark, source: Source, asked: Asked, expected: Placed, before: Plan | None) -> Plan:
    compiled()
    seen = known(spark, source, expected) if before is None else before.known
    spans = dict(sorted(source.spans.items()))
    kit, chunk = kit_version(), asked.chunk_records
    return Plan("audit", kit, asked.name, asked.where, asked.expected, chunk, asked.every_record, spans, seen)


# Keys that are hashes are not written shorter by a dictionary or a compressor, and trying takes time.
_WRITTEN = {"parquet.enable.dictionary": "false", "compression": "snappy"}
_PUT = "kafkaoracle_put_file"


def _scanned(spark: Spark, source: Source, spans: Mapping[int, Span], scan: Work, records: str) -> DataFrame:
    """What the scan gives; files are put into the folder ``records``, and rows have their length instead."""
    from pyspark.sql import functions as f

    rows = mapped(packed(spark, source.frame(spans)), scan, SCHEMA)
    path = f.concat(f.lit(f"{records}/"), "name")
    return rows.withColumn("length", f.call_function(_PUT, path, "file")).drop("file")


def packed(spark: Spark, records: DataFrame) -> DataFrame:
    """Records, packed into blocks in the JVM (``AuditBlocks.java``)."""
    from pyspark.sql import DataFrame

    blocks = spark.jvm.kafkaoracle.spark.AuditBlocks.of(records._jdf)  # noqa: SLF001  the one way to it
    return DataFrame(blocks, spark.session)


def _result(found: Summed, source: Source, expected: Placed, asked: Asked, folder: str, took_s: float) -> Audit:
    return Audit(
        source=source.name if not asked.where else f"{source.name} at {asked.where}",
        partitions=source.partitions,
        expected=expected,
        kit=kit_version(),
        took_s=round(took_s, 3),
        offending_records=f"{folder}/chunks/*/kind=record" if found.offending else "",
        **{field: getattr(found, field) for field in Summed.__struct_fields__},
    )
