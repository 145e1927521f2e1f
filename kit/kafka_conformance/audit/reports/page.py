"""Write an audit as one HTML page: the verdict, plots of which placement wrote what and when, and tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from markupsafe import Markup

from kafka_conformance.audit.reports import figures, framing, producers, summary
from kafka_conformance.audit.reports.formatting import named, percent, when
from kafka_conformance.audit.result import Audit
from kafka_conformance.core.sanitize import clipped
from kafka_conformance.reports.page import render
from kafka_conformance.reports.terminal import plural

__all__ = ["write"]

_SOURCE = 200
_RUNS, _KEYS, _PRODUCERS = 24, 100, 100


def write(audit: Audit) -> str:
    """Return the page as HTML."""
    variables = {
        "audit": audit,
        "source": clipped(audit.source, _SOURCE),
        "mood": "exit-2" if audit.doubt else "exit-1" if not audit.conforms else "exit-0" if audit.keyed else "plain",
        "summary": summary,
        "framing": framing,
        "producers": producers,
        "producer_rows": list(producers.rows(audit.segments))[:_PRODUCERS] if audit.segments else [],
        "problems": list(producers.problem_lines(audit.segments))[:_PRODUCERS] if audit.segments else [],
        "expected": named(audit.expected),
        "details": summary.details(audit),
        "growth": [(summary.growth(one), *summary.until(one)) for one in audit.growth],
        "runs": summary.foreign_runs(audit, _RUNS),
        "keys": list(summary.split_rows(audit))[:_KEYS],
        "patterns": sorted(audit.keyless.patterns.items(), key=lambda one: -one[1]),
        "partitions": summary.select_partitions(audit.by_partition),
        **_plots(audit),
    }
    filters: dict[str, Callable[..., Any]] = {"plural": plural, "percent": percent, "number": _number, "when": when}
    return render(
        "audit/reports/audit_page.html.j2",
        ("reports/page.css", "audit/reports/audit_page.css"),
        filters,
        variables,
    )


def _plots(audit: Audit) -> dict[str, Any]:
    """Return the template's variables for the plots; plots are empty for a topic without records."""
    drawn = figures.series(audit)
    line, unseen = figures.timeline(audit, drawn)
    plots = {
        "hatchings": figures.hatchings(drawn),
        "over_time": figures.over_time(audit, drawn),
        "by_partition": figures.by_partition(audit, drawn),
        "timeline": line,
        "skew": figures.records_by_partition(audit),
    }
    made = {name: Markup(plot) for name, plot in plots.items()}  # noqa: S704  built as element trees
    return {"drawn": drawn, "unseen": unseen, "plots": made}


def _number(count: int) -> str:
    return f"{count:,}"
