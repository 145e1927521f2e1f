"""Summarize what segment files show of producers, in sentences and rows that all reports share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_conformance.audit.segments.result import Producer, SegmentEvidence
from kafka_conformance.reports.terminal import plural

__all__ = ["HEADS", "by_rule", "problem_lines", "rows", "verdict"]

HEADS = ("producer id", "epochs", "records", "partitions", "contradicting", "rule of its records")
"""The columns of :func:`rows`."""

_ALIKE = 3


def verdict(found: SegmentEvidence) -> str:
    """Return what was checked, and how many problems there are."""
    checked = f"{plural(found.files, 'segment')}: sequences and epochs of {found.checked_batches:,} batches"
    if not found.problems_in_all:
        return f"{checked} break no rule of idempotent producers."
    sure, legal = found.problems_certain, found.problems_in_all - found.problems_certain
    parts = [plural(sure, "problem")] if sure else []
    parts += [f"{plural(legal, 'jump')} that retention or compaction may explain"] if legal else []
    return f"{checked} were checked: {', and '.join(parts)}."


def by_rule(found: SegmentEvidence) -> str:
    """Return how many keyed records each rule placed, as far as the producer ids show it; empty without keys."""
    parts = []
    for share in found.by_rule:
        if share.anonymous:
            parts.append(f"{share.keyed:,} have no producer id")
        elif share.rules:
            parts.append(f"{_alternatives(share.rules)} placed {share.keyed:,} ({plural(share.producers, 'id')})")
        else:
            parts.append(f"{share.keyed:,} are of {plural(share.producers, 'id')} without one rule for all")
    keyed = sum(share.keyed for share in found.by_rule)
    return f"By producer id, of {keyed:,} keyed records: {'; '.join(parts)}." if parts else ""


def problem_lines(found: SegmentEvidence) -> Iterator[str]:
    """Yield the problems, the certain ones first."""
    for problem in sorted(found.problems, key=lambda one: not one.certain):
        legal = "" if problem.certain else " (may be legal)"
        where = f"{problem.file}, byte {problem.position:,}, offset {problem.offset:,}"
        yield f"{problem.kind}{legal}: {where}: {problem.what}"


def rows(found: SegmentEvidence) -> Iterator[tuple[str, str, str, str, str, str]]:
    """Yield the producers: those with contradictions first, then by the number of their records."""
    for one in sorted(found.producers, key=lambda each: not each.contradictions):
        epochs = f"{one.first_epoch}" if one.first_epoch == one.last_epoch else f"{one.first_epoch} to {one.last_epoch}"
        yield (
            "none" if one.producer_id < 0 else f"{one.producer_id}", "-" if one.producer_id < 0 else epochs,
            f"{one.records:,}", f"{one.partitions:,}", f"{one.contradictions:,}", _rule(one),
        )  # fmt: skip


def _rule(one: Producer) -> str:
    named = _alternatives(one.rules)
    if one.verdict == "rule":
        return named
    if one.verdict == "contradicted":
        return f"{named}, not for all" if named else "none fits"
    if one.verdict == "too few keys":
        return f"too few keys: {named or 'none fits'}"
    return one.verdict


def _alternatives(rules: Sequence[str]) -> str:
    return " or ".join(rules[:_ALIKE]) + (f" or {len(rules) - _ALIKE} more" if len(rules) > _ALIKE else "")
