"""An audit, from a source to its result: scanned chunk by chunk into a run's folder, then summed.

What is fixed when a run begins is its plan: which offsets of which partitions, what is expected, how large a chunk is. A run
that is resumed takes all of it from there, and so comes to the same result.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from kafka_conformance.audit.placements import PLACEMENTS
from kafka_conformance.audit.result import Audit, Placed
from kafka_conformance.audit.scanning import SCHEMA, scanner
from kafka_conformance.audit.sources import Source, Span, chunked
from kafka_conformance.audit.summing import Summed, summed
from kafka_conformance.certifying import kit_version
from kafka_conformance.errors import BadInput
from kafka_conformance.pipeline.runs import Run
from kafka_conformance.pipeline.spark_session import Spark
from kafka_conformance.progress import Steps

__all__ = ["Asked", "audit", "planned"]

CHUNK_RECORDS = 8_000_000
"""Some seconds' work: what is done again after a run was ended."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What an audit is asked: ``name`` is the source's, ``where`` the broker or nothing."""

    name: str
    where: str
    expected: str = PLACEMENTS[0].slug
    chunk_records: int = CHUNK_RECORDS
    every_record: bool = False


class _Plan(msgspec.Struct, frozen=True):
    """What ``plan.json`` holds of an audit."""

    job: str
    kit: str
    source: str
    where: str
    expected: str
    chunk_records: int
    every_record: bool
    spans: dict[str, Span]


def planned(spark: Spark, folder: str) -> Mapping[int, Span] | None:
    """What a run in this folder is to read, if one has begun. Raises BadInput for another kind of run."""
    found = Run.plan(spark, folder)
    if found is None:
        return None
    try:
        plan = msgspec.convert(found, _Plan)
    except msgspec.ValidationError as error:
        raise BadInput(f"{folder} holds a run that is no audit: give another folder") from error
    return {int(partition): span for partition, span in plan.spans.items()}


def audit(spark: Spark, source: Source, asked: Asked, folder: str, progress: Steps) -> Audit:
    """Carry it out, or go on with it. Raises KitError."""
    begun = time.monotonic()
    spans = {str(partition): span for partition, span in sorted(source.spans.items())}
    plan = _Plan(
        "audit", kit_version(), asked.name, asked.where, asked.expected, asked.chunk_records, asked.every_record, spans
    )
    chunks = chunked(source.spans, asked.chunk_records)
    expected = Placed(asked.expected, source.partitions)
    scan = scanner(source.partitions, expected, every=asked.every_record)
    with Run.open(spark, folder, msgspec.to_builtins(plan)) as run:
        done = run.finished()
        progress.total = len(chunks) + 1
        for number, each in enumerate(chunks):
            progress.doing(f"auditing {source.name}: chunk {number + 1} of {len(chunks)}")
            if number not in done:
                run.do(number, lambda each=each: source.frame(each).mapInArrow(scan, SCHEMA), by=("kind",))
            progress.advance()
        progress.doing(f"auditing {source.name}: putting it together")
        found = summed(run, len(chunks), source, expected)
        progress.advance()
    return _result(found, source, expected, asked, folder, time.monotonic() - begun)


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
