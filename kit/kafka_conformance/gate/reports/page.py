"""A gate as one HTML page (``page``). Anchors are numbers, and only plain web addresses become links."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from markupsafe import Markup

from kafka_conformance.core.events import Diagnosis, Distribution, Event
from kafka_conformance.core.sanitize import clipped
from kafka_conformance.gate.reports.outline import (
    CODES,
    UNEXPLAINED,
    UNFINISHED,
    Outline,
    ReportedFinding,
    RuleRow,
    address,
    as_json,
    compared,
    counted,
    diagnosed,
    explanations,
    findings,
    outline,
    protocol_errors,
    replay_command,
    unanswered,
    verdict,
    worst_verdict,
)
from kafka_conformance.gate.reports.page_figure import figure
from kafka_conformance.gate.reports.release_ranges import Places
from kafka_conformance.gate.reports.remarks import remarks
from kafka_conformance.gate.severity import RANKS, rank
from kafka_conformance.reports.page import render
from kafka_conformance.reports.terminal import plural

__all__ = ["write"]

_SHORT = 2_000
_MOST = 200
_WIDE = 7  # releases side by side that have room for words

# Distinct without colours: a sign and a word for each verdict.
_VERDICTS = {
    "agrees": ("✓", "every answer matches Java's"),
    "differs": ("✗", "some answers differ from Java's"),
    "known": ("≈", "all differences are known"),
    "unsupported": ("–", "the target does not support it"),
    "not judged": ("?", "too few questions were answered"),
    "errored": ("!", "the target failed on questions"),
    "crashed": ("‼", "the target broke the protocol or ended"),
    UNFINISHED: ("…", "the event stream is incomplete"),
}


def write(events: Iterable[Event]) -> str:
    """The page."""
    seen = outline(events)
    rules = [_rule(number, rule, seen) for number, rule in enumerate(seen.rules)]
    given = {
        "seen": seen,
        "places": Places(seen.rows),
        "verdict": verdict(seen),
        "word": CODES.get(seen.exit_code, CODES[2]),
        "counts": counted(seen.ended) if seen.ended else "",
        "rules": rules,
        "sections": sorted(rules, key=lambda rule: rule["harm"]),
        "verdicts": _VERDICTS,
        "dense": len(seen.releases) > _WIDE,
    }
    filters: dict[str, Callable[..., Any]] = {
        "count_of": _count,
        "picture": _picture,
        "address": address,
        "plural": plural,
        "diagnosed": _diagnosed,
        "unanswered": unanswered,
        "lines": _lines,
        "short": _short,
        "replay": replay_command,
    }
    return render("gate/reports/gate_page.html.j2", ("reports/page.css", "gate/reports/gate_page.css"), filters, given)


def _rule(number: int, rule: str, seen: Outline) -> dict[str, Any]:
    """A rule, as the template takes it: its cells of the matrix, its findings, its counts by release."""
    rows = [row for row in seen.rows if row.rule == rule]
    by_release = {row.release: row for row in rows}
    found = findings(rows)
    new = [one for one in found if one.first.known is None]
    known = [one for one in found if one.first.known is not None]
    return {
        "harm": min((rank(one.first) for one in new if one.first.effect), default=(len(RANKS), 0)),
        "number": number,
        "slug": rule,
        "rows": rows,
        "cells": [(release, by_release.get(release)) for release in seen.releases],
        "worst": worst_verdict(rows),
        "new": list(map(_finding, new[:_MOST])),
        "known": list(map(_finding, known[:_MOST])),
        "more": max(0, len(new) - _MOST) + max(0, len(known) - _MOST),
        "explained": explanations(rows),
        "remarks": remarks(rows),
        "outside": findings(rows, outside=True)[:_MOST],
        "protocol_errors": protocol_errors(rows)[:_MOST],
        "spread": [row for row in rows if row.ended and row.ended.distribution],
    }


def _finding(one: ReportedFinding) -> dict[str, Any]:
    first = one.first
    parts = compared(first)
    scripted = any(part.asked for part in parts)
    question = {name: value for name, value in first.question.items() if not (scripted and name == "steps")}
    return {
        "first": first,
        "where": one.where,
        "times": ", ".join(filter(None, (plural(one.times, "question"), one.impact))),
        "unexplained": UNEXPLAINED if one.unexplained else "",
        "question": as_json(question),
        "parts": parts,
        "scripted": scripted,
    }


def _count(row: RuleRow) -> str:
    """The count next to the sign in the matrix, if any."""
    counts = {"differs": row.ended.differed, "known": row.ended.known, "errored": row.ended.failed} if row.ended else {}
    return f"{count:,}" if (count := counts.get(row.verdict, 0)) else ""


def _diagnosed(one: Diagnosis) -> tuple[str, str, str]:
    """The line without its references, as what stands before the mutant's name, that name, and the rest."""
    return diagnosed(one, references=False).partition(f"`{one.mutant}`")


def _picture(seen: Distribution) -> Markup:
    return Markup(figure(seen))  # noqa: S704  built as a tree


def _lines(names: Sequence[str]) -> str:
    return ", ".join(names)


def _short(text: str) -> str:
    return clipped(text, _SHORT)
