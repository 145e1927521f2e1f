"""Run an audit from a source to its result: scan the source chunk by chunk into a run's folder, then add up the blocks.

The plan is fixed when a run begins: the offsets of each partition, the expected placement, and the chunk size. A resumed
run reads it back, so its result is the same.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.version import kit_version
from kafka_conformance.spark.arrow import to_arrow
from kafka_conformance.spark.audit import retention
from kafka_conformance.spark.audit.attribution.candidates import register_relatives, registered
from kafka_conformance.spark.audit.attribution.key_views import WHOLE
from kafka_conformance.spark.audit.attribution.placements import PLACEMENTS
from kafka_conformance.spark.audit.findings import RECORD, Findings
from kafka_conformance.spark.audit.first_look import SAMPLE_RECORDS, Look, compile_all, look
from kafka_conformance.spark.audit.isolation import notes_of, reading_of
from kafka_conformance.spark.audit.result import NOTHING_FOREIGN, Audit, Deleted, Doubt, Foreign, Placed, Summed
from kafka_conformance.spark.audit.retention import Deletions
from kafka_conformance.spark.audit.scan import SCHEMA, BlockScan, block_scanner, scanner
from kafka_conformance.spark.audit.selection import Selection
from kafka_conformance.spark.audit.sources import Sized, Source, chunked, is_one_of_many
from kafka_conformance.spark.audit.spark_findings import SparkFindings
from kafka_conformance.spark.audit.topics import Span, offset_count
from kafka_conformance.spark.audit.totals.split_keys import buckets_for
from kafka_conformance.spark.audit.totals.totals import summed
from kafka_conformance.spark.runs import Run
from kafka_conformance.spark.session import Spark
from kafka_conformance.spark.workers import Work, mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["AuditRequest", "Plan", "as_plan", "audit", "make_plan", "planned", "result_of", "scan_of", "sum_up"]

CHUNK_RECORDS = 25_000_000
"""Records per chunk, about 30 s of work: the most that a resumed run repeats. Each chunk opens every partition again, which
costs a second or more per core."""

FEW_RECORDS = 50_000_000
"""The most records whose findings are added up by this process, if it can read them."""

_EVERYTHING = Selection()


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """The options of an audit.

    ``name`` is the source's, ``where`` the broker's address (empty for files), ``expected`` a placement's slug;
    ``every_record`` writes all records to Parquet, not only the offending ones; ``key_format`` is one of
    ``framing.formats.FORMATS``, or empty. ``isolation`` is the level with which the source reads (``isolation.LEVELS``);
    empty for files. ``selection`` are the records to judge. ``key_view`` is a view of
    the keys (``attribution.key_views``); empty for the one that explains the topic.
    """

    name: str
    where: str
    expected: str = PLACEMENTS[0].slug
    chunk_records: int = CHUNK_RECORDS
    every_record: bool = False
    key_format: str = ""
    isolation: str = ""
    selection: Selection = _EVERYTHING
    key_view: str = ""


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
    candidates: dict[str, str] = {}
    """The user's own partitioners, each with the version of its module."""
    foreign: Foreign = NOTHING_FOREIGN
    """The records of the sample that no known placement explains."""
    key_format: str = ""
    isolation: str = ""
    selection: Selection = Selection()
    key_view: str = WHOLE
    """The view of the keys that is judged."""
    relatives: tuple[str, ...] = ()
    """The rules beyond the built-in ones that are present."""
    alike: dict[str, tuple[str, ...]] = {}
    fitting_views: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()

    @property
    def look(self) -> Look:
        """What the sample has shown."""
        return Look(
            self.known,
            self.doubt,
            self.foreign,
            self.key_view,
            self.relatives,
            self.alike,
            self.fitting_views,
            self.undecided,
        )


def planned(spark: Spark, folder: str) -> Plan | None:
    """Return the plan of the audit in this folder, or None if none has begun. Raises BadInput for another kind of run."""
    return as_plan(Run.plan(spark, folder), folder)


def as_plan(found: Any, folder: str) -> Plan | None:
    """Return the content of a ``plan.json`` as an audit's plan. Raises BadInput for another kind of run."""
    if found is None:
        return None
    try:
        return msgspec.convert(found, Plan, strict=False)
    except msgspec.ValidationError as error:
        raise BadInput(f"{folder} holds a run of another command than audit: give another folder") from error


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


def _plan(spark: Spark, source: Source, request: AuditRequest, before: Plan | None) -> Plan:
    compile_all()
    if before is not None:
        return make_plan(source, request, resumed(before, request))
    rows = retention.read_remaining(source, lambda: _sample(spark, source))
    return make_plan(source, request, looked(source, request, rows))


def looked(source: Sized, request: AuditRequest, rows: pa.Table) -> Look:
    """Return what a sample of the source shows."""
    expected = Placed(request.expected, source.partitions)
    return look(rows, source.partitions, expected, one_of_many=is_one_of_many(source), view=request.key_view)


def resumed(before: Plan, request: AuditRequest) -> Look:
    """Return what the sample of an earlier run has shown; its view is another if one is asked for."""
    register_relatives(before.relatives)
    found = before.look
    return msgspec.structs.replace(found, view=request.key_view) if request.key_view else found


def _sample(spark: Spark, source: Source) -> pa.Table:
    """Return the records of a sample: read by this process if it can, which takes a tenth of the time of a Spark job."""
    if (reader := source.reader()) is not None:
        with suppress(KitError):  # Java's client may reach the broker where librdkafka does not
            return reader.sample(SAMPLE_RECORDS)
    columns = "partition", "offset", "key"
    return spark.call(lambda: to_arrow(source.sample(SAMPLE_RECORDS).select(*columns)), f"sampling {source.name}")


def _findings(run: Run, chunks: int, records: int) -> Findings:
    """Return the rows of a run: read by this process if they are few and on this machine, which saves Spark jobs."""
    from kafka_conformance.spark.audit.local.findings import LocalFindings
    from kafka_conformance.spark.audit.local.folder import RunFolder

    if records <= FEW_RECORDS and run.spark.on_one_machine and run.located(0).startswith("file:"):
        return LocalFindings(RunFolder(run.folder.removeprefix("file://")))
    return SparkFindings(run, chunks)


def make_plan(source: Sized, request: AuditRequest, seen: Look) -> Plan:
    """Return the plan of an audit from what a sample has shown."""
    spans = dict(sorted(source.spans.items()))
    kit, chunk = kit_version(), request.chunk_records
    candidates = {each.name: each.version for each in registered() if each.name not in seen.relatives}
    return Plan(
        "audit", kit, request.name, request.where, request.expected, chunk, request.every_record, spans, seen.known,
        seen.doubt, candidates, seen.foreign, request.key_format, request.isolation, request.selection, seen.view,
        seen.relatives, seen.alike, seen.fitting_views, seen.undecided,
    )  # fmt: skip


def scan_of(plan: Plan) -> BlockScan:
    """Return the scan of an audit with this plan."""
    partitions = len(plan.spans)
    return block_scanner(
        partitions, Placed(plan.expected, partitions), plan.known, plan.foreign, buckets=_buckets(plan),
        every=plan.every_record, doubtful=plan.doubt is not None, key_format=plan.key_format, share=plan.selection.share,
        key_view=plan.key_view,
    )  # fmt: skip


def sum_up(plan: Plan, findings: Findings, source: Sized) -> Summed:
    """Return the totals of a finished scan with this plan."""
    expected = Placed(plan.expected, source.partitions)
    found = summed(findings, source, expected, _buckets(plan), plan.doubt, plan.key_format)
    return _with_look(found, plan)


def _with_look(found: Summed, plan: Plan) -> Summed:
    """Add what the totals have of the sample."""
    shares = tuple(
        msgspec.structs.replace(one, alike=tuple(dict.fromkeys((*one.alike, *plan.alike.get(one.placed.rule, ())))))
        for one in found.shares
    )
    return msgspec.structs.replace(
        found, shares=shares, key_view=plan.key_view, fitting_views=plan.fitting_views, undecided=plan.undecided
    )


def _buckets(plan: Plan) -> int:
    return buckets_for(offset_count(plan.spans))


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


def result_of(
    found: Summed, source: Sized, request: AuditRequest, folder: str, took_s: float, deleted: tuple[Deleted, ...] = (),
) -> Audit:  # fmt: skip
    """Return the result of a finished run in ``folder``, which took so many seconds; ``deleted`` offsets were not read."""
    gone = sum(one.end - one.first for one in deleted)
    whole = request.selection.share >= 1
    reading = reading_of(request.isolation, source.spans, found.records + gone if whole else offset_count(source.spans))
    notes = *request.selection.notes(), *retention.notes_of(deleted), *notes_of(reading), *found.notes
    of_records = {field: getattr(found, field) for field in Summed.__struct_fields__}
    return Audit(
        source=source.name if not request.where else f"{source.name} at {request.where}",
        partitions=source.partitions,
        expected=Placed(request.expected, source.partitions),
        kit=kit_version(),
        took_s=round(took_s, 3),
        offending_records=f"{folder}/chunks/*/kind=record" if found.offending else "",
        reading=reading,
        selection=" ".join(request.selection.texts()),
        deleted=deleted,
        **of_records | {"notes": notes},
    )
