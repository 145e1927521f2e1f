"""An inspection as one HTML page (``write``)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from kafka_conformance.log_inspect.reports.text import (
    loss_lines,
    offsets_of,
    place_of,
    start_answers,
    verdict_line,
    worst_first,
)
from kafka_conformance.log_inspect.result import FindingRow, Inspection
from kafka_conformance.reports.page import render

__all__ = ["write"]

_SIGNS = {"broken": "✗", "suspicious": "?", "note": "·"}


def write(found: Inspection) -> str:
    """Return the page."""
    groups = [
        (severity, kind, each[0].meaning, each)
        for severity in _SIGNS
        for kind, each in _by_kind(found, severity)
    ]  # fmt: skip
    return render(
        "log_inspect/reports/inspection_page.html.j2",
        ["reports/page.css", "log_inspect/reports/inspection_page.css"],
        {"place": place_of, "offsets": offsets_of, "losses": loss_lines},
        {
            "found": found,
            "partitions": worst_first(found),
            "verdict": verdict_line(found),
            "answers": list(start_answers(found)),
            "groups": groups,
            "signs": _SIGNS,
        },
    )


def _by_kind(found: Inspection, severity: str) -> Iterator[tuple[str, list[FindingRow]]]:
    rows = sorted((each for each in found.findings if each.severity == severity), key=lambda each: each.kind)
    for kind, each in groupby(rows, key=lambda row: row.kind):
        yield kind, list(each)
