"""Run an audit in this process: the plan, the judgement of blocks and the totals are those of an audit with Spark.

A chunk's records are read as a stream of blocks, and a block's findings are written before the next is read. So memory holds
a few blocks, and the keys of one bucket while split keys are found.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Protocol

import msgspec
import pyarrow as pa

from kafka_conformance.audit.attribution.block import Block
from kafka_conformance.audit.engines.local.findings import LocalFindings
from kafka_conformance.audit.engines.local.folder import RunFolder
from kafka_conformance.audit.initial_sample import SAMPLE_RECORDS
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
from kafka_conformance.audit.retention import Deletions, read_remaining
from kafka_conformance.audit.scan import BlockScan
from kafka_conformance.audit.sources import Shrinking, chunked
from kafka_conformance.audit.topics import Span, offset_count
from kafka_conformance.core.progress import Steps

__all__ = ["LocalSource", "audit_locally", "planned_locally"]


class LocalSource(Shrinking, Protocol):
    """Records that this process reads."""

    def blocks(self, spans: Mapping[int, Span]) -> Iterator[Block]:
        """Yield the records in these spans as blocks, those of a partition in the order of their offsets."""
        ...

    def sample(self, records: int) -> pa.Table:
        """Return about this many records from all partitions (``partition``, ``offset``, ``key``), the same each time."""
        ...


def planned_locally(folder: str) -> AuditPlan | None:
    """Return the plan of the audit in this folder, or None if none has begun. Raises BadInput for another kind of run."""
    return as_plan(RunFolder(folder).plan(), folder)


def audit_locally(source: LocalSource, request: AuditRequest, folder: str, progress: Steps) -> Audit:
    """Run the audit, or resume it if ``folder`` holds a part of it. Raises KitError."""
    begun = time.monotonic()
    run = RunFolder(folder)
    before = planned_locally(folder)
    progress.doing(f"sampling {source.name}")
    if before is None:
        rows = read_remaining(source, lambda: source.sample(SAMPLE_RECORDS))
        seen = looked(source, request, rows)
    else:
        seen = resumed(before, request)
    plan = make_plan(source, request, seen)
    scan = scan_of(plan)
    progress.begin(f"auditing {source.name}", offset_count(source.spans))
    with run.open(msgspec.json.decode(msgspec.json.encode(plan))):
        chunks = chunked(source.spans, request.chunk_records)
        deletions = Deletions(run, chunks)
        for number in range(len(chunks)):
            if not run.finished(number):
                read = partial(_write_chunk, run, number, source, scan, progress)
                deletions.read_chunk(number, read, source.earliest)
        progress.doing(f"auditing {source.name}: adding up the blocks")
        found = sum_up(plan, LocalFindings(run), source)
    return result_of(found, source, request, folder, time.monotonic() - begun, deletions.deleted())


def _write_chunk(
    run: RunFolder, number: int, source: LocalSource, scan: BlockScan, progress: Steps, spans: Mapping[int, Span]
) -> None:
    run.write_chunk(number, scan(_shown(source.blocks(spans), progress)))


def _shown(blocks: Iterable[Block], progress: Steps) -> Iterator[Block]:
    for block in blocks:
        yield block
        progress.advance(len(block.offsets))
