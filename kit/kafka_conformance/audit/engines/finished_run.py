"""Read the result of a finished run from its folder, without its broker or files.

``audit.json`` is the result. A run that ended between its last chunk and this file, or whose folder is on a file system of a
cluster, has none: then the rows of its chunks are added up again.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_conformance.audit.attribution.candidates import register_relatives
from kafka_conformance.audit.engines.local.findings import LocalFindings
from kafka_conformance.audit.engines.local.folder import RunFolder
from kafka_conformance.audit.findings import Findings
from kafka_conformance.audit.plan import AuditPlan, AuditRequest, as_plan, result_of, sum_up
from kafka_conformance.audit.result import Audit
from kafka_conformance.audit.retention import Deletions
from kafka_conformance.audit.sources import chunked
from kafka_conformance.audit.topics import Span
from kafka_conformance.core.decoding import UNREADABLE
from kafka_conformance.core.errors import BadInput

if TYPE_CHECKING:
    from kafka_conformance.spark.session import Spark

__all__ = ["finished_audit", "finished_on_spark"]


class _Planned:
    """The source of a plan, of which nothing is read."""

    def __init__(self, plan: AuditPlan) -> None:
        self.name, self.partitions = plan.source, len(plan.spans)
        self.spans: dict[int, Span] = plan.spans


def finished_audit(folder: str) -> Audit:
    """Return the result of the run in a folder of this machine. Raises BadInput if there is none, or it is not finished."""
    written = Path(folder) / "audit.json"
    if written.is_file():
        try:
            return msgspec.json.decode(written.read_bytes(), type=Audit)
        except (OSError, *UNREADABLE) as error:
            raise BadInput(f"{written} is not the result of an audit by this version: {error}") from error
    run = RunFolder(folder)
    plan = _plan(run.plan(), folder)
    chunks = chunked(plan.spans, plan.chunk_records)
    _check(folder, [number for number in range(len(chunks)) if not run.finished(number)], len(chunks))
    return _result(plan, LocalFindings(run), Deletions(run, chunks), folder)


def finished_on_spark(spark: Spark, folder: str) -> Audit:
    """Return the result of the run in a folder on any file system. Raises BadInput as :func:`finished_audit`, SparkFault."""
    from kafka_conformance.audit.engines.spark.findings import SparkFindings
    from kafka_conformance.spark.runs import Run

    plan = _plan(Run.plan(spark, folder), folder)
    chunks, run = chunked(plan.spans, plan.chunk_records), Run(spark, folder, resumed=True)
    _check(folder, sorted(set(range(len(chunks))) - run.finished()), len(chunks))
    findings = SparkFindings(run, len(chunks))
    return spark.call(lambda: _result(plan, findings, Deletions(run.files, chunks), folder), "adding up the audit")


def _plan(found: Any, folder: str) -> AuditPlan:
    plan = as_plan(found, folder)
    if plan is None:
        raise BadInput(f"{folder} holds no audit: give the --folder of a finished one")
    register_relatives(plan.relatives)
    return plan


def _check(folder: str, missing: list[int], chunks: int) -> None:
    if missing:
        raise BadInput(
            f"{folder}: chunk {missing[0] + 1} of {chunks} is not finished: run the audit again, without --report-only"
        )


def _result(plan: AuditPlan, findings: Findings, deletions: Deletions, folder: str) -> Audit:
    source = _Planned(plan)
    request = AuditRequest(plan.source, plan.where, plan.expected, plan.chunk_records, plan.every_record, plan.key_format,
                           plan.isolation, plan.selection, plan.key_view)  # fmt: skip
    return result_of(sum_up(plan, findings, source), source, request, folder, 0.0, deletions.deleted())
