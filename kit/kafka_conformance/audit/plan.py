"""The request, plan and result of an audit, shared by both engines.

The plan is fixed when a run begins: the offsets of each partition, the expected placement, and the chunk size. A resumed
run reads it back, so its result is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa

from kafka_conformance.audit import retention
from kafka_conformance.audit.attribution.candidates import register_relatives, registered
from kafka_conformance.audit.attribution.key_views import WHOLE
from kafka_conformance.audit.attribution.placements import PLACEMENTS
from kafka_conformance.audit.findings import Findings
from kafka_conformance.audit.initial_sample import Look, look
from kafka_conformance.audit.isolation import notes_of, reading_of
from kafka_conformance.audit.result import NOTHING_FOREIGN, Audit, Deleted, Doubt, Foreign, Placed, Summed
from kafka_conformance.audit.scan import BlockScan, block_scanner
from kafka_conformance.audit.selection import EVERYTHING, RecordSelection
from kafka_conformance.audit.sources import Sized, is_one_of_many
from kafka_conformance.audit.topics import Span, offset_count
from kafka_conformance.audit.totals.split_keys import buckets_for
from kafka_conformance.audit.totals.totals import summed
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.version import kit_version

__all__ = ["AuditPlan", "AuditRequest", "as_plan", "looked", "make_plan", "result_of", "resumed", "scan_of", "sum_up"]

CHUNK_RECORDS = 25_000_000
"""Records per chunk, about 30 s of work: the most that a resumed run repeats. Each chunk opens every partition again, which
costs a second or more per core."""


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
    selection: RecordSelection = EVERYTHING
    key_view: str = ""


class AuditPlan(msgspec.Struct, frozen=True):
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
    selection: RecordSelection = EVERYTHING
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


def as_plan(found: Any, folder: str) -> AuditPlan | None:
    """Return the content of a ``plan.json`` as an audit's plan. Raises BadInput for another kind of run."""
    if found is None:
        return None
    try:
        return msgspec.convert(found, AuditPlan, strict=False)
    except msgspec.ValidationError as error:
        raise BadInput(f"{folder} holds a run of another command than audit: give another folder") from error


def looked(source: Sized, request: AuditRequest, rows: pa.Table) -> Look:
    """Return what a sample of the source shows."""
    expected = Placed(request.expected, source.partitions)
    return look(rows, source.partitions, expected, one_of_many=is_one_of_many(source), view=request.key_view)


def resumed(before: AuditPlan, request: AuditRequest) -> Look:
    """Return what the sample of an earlier run has shown; its view is another if one is asked for."""
    register_relatives(before.relatives)
    found = before.look
    return msgspec.structs.replace(found, view=request.key_view) if request.key_view else found


def make_plan(source: Sized, request: AuditRequest, seen: Look) -> AuditPlan:
    """Return the plan of an audit from what a sample has shown."""
    spans = dict(sorted(source.spans.items()))
    kit, chunk = kit_version(), request.chunk_records
    candidates = {each.name: each.version for each in registered() if each.name not in seen.relatives}
    return AuditPlan(
        "audit", kit, request.name, request.where, request.expected, chunk, request.every_record, spans, seen.known,
        seen.doubt, candidates, seen.foreign, request.key_format, request.isolation, request.selection, seen.view,
        seen.relatives, seen.alike, seen.fitting_views, seen.undecided,
    )  # fmt: skip


def scan_of(plan: AuditPlan) -> BlockScan:
    """Return the scan of an audit with this plan."""
    partitions = len(plan.spans)
    return block_scanner(
        partitions, Placed(plan.expected, partitions), plan.known, plan.foreign, buckets=_buckets(plan),
        every=plan.every_record, doubtful=plan.doubt is not None, key_format=plan.key_format, share=plan.selection.share,
        key_view=plan.key_view,
    )  # fmt: skip


def sum_up(plan: AuditPlan, findings: Findings, source: Sized) -> Summed:
    """Return the totals of a finished scan with this plan."""
    expected = Placed(plan.expected, source.partitions)
    found = summed(findings, source, expected, _buckets(plan), plan.doubt, plan.key_format)
    return _with_look(found, plan)


def _with_look(found: Summed, plan: AuditPlan) -> Summed:
    """Add what the totals have of the sample."""
    shares = tuple(
        msgspec.structs.replace(one, alike=tuple(dict.fromkeys((*one.alike, *plan.alike.get(one.placed.rule, ())))))
        for one in found.shares
    )
    return msgspec.structs.replace(
        found, shares=shares, key_view=plan.key_view, fitting_views=plan.fitting_views, undecided=plan.undecided
    )


def _buckets(plan: AuditPlan) -> int:
    return buckets_for(offset_count(plan.spans))


def result_of(
    found: Summed, source: Sized, request: AuditRequest, folder: str, took_s: float, deleted: tuple[Deleted, ...] = (),
) -> Audit:  # fmt: skip
    """Return the result of a finished run in ``folder``, which took ``seconds``; ``deleted`` offsets were not read."""
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
