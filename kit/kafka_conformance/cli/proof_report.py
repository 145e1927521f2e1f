"""Reports of a proof: results of ``verify`` and rows of a certificate, as tables of at most 80 columns and as JSON.

One release: a line for each rule. Several releases: a line for each release. What failed follows, one line for each reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, Group
from rich.text import Text

from kafka_conformance.core.pipeline import Tally
from kafka_conformance.core.version import kit_version
from kafka_conformance.reports.tables import table
from kafka_conformance.reports.terminal import console, finding, plural
from kafka_conformance.verify.verification import RuleResult, VerificationPlan

__all__ = ["ProofRow", "print_results", "proof_table", "results_document"]

_COUNTS = ("questions", "match", "differ", "errors", "unsupported")


@dataclass(frozen=True, slots=True)
class ProofRow:
    """One rule in one release: ``counts`` are questions, matching answers, differences, errors, unsupported questions."""

    release: str
    rule: str
    counts: tuple[int, ...]
    jar_sha256: str
    pinned: bool = True


def proof_table(rows: Sequence[ProofRow]) -> Group:
    """Return a table by rule, or by release if there are several. A column of differences and the like needs one above 0."""
    releases = list(dict.fromkeys(row.release for row in rows))
    shown = [place for place in range(len(_COUNTS)) if place < 2 or any(row.counts[place] for row in rows)]
    heads = [_COUNTS[place] for place in shown]

    def line(some: Sequence[ProofRow]) -> list[str]:
        return [f"{sum(row.counts[place] for row in some):,}" for place in shown]

    if len(releases) == 1:
        jars = ", ".join(dict.fromkeys(row.jar_sha256[:12] for row in rows))
        title = Text(f"Kafka {_name(rows)}, sha256 of the jars: {jars}", style="bold")
        return Group(title, table("", ["rule", *heads], [[row.rule, *line([row])] for row in rows]))
    lines = []
    for release in releases:
        some = [row for row in rows if row.release == release]
        lines.append([_name(some), str(len(some)), *line(some), some[0].jar_sha256[:12]])
    return Group(table("", ["release", "rules", *heads, "jar sha256"], lines))


def _name(rows: Sequence[ProofRow]) -> str:
    """Return the release of these rows."""
    return f"{rows[0].release}{'' if all(row.pinned for row in rows) else ' (unpinned)'}"


def print_results(results: Sequence[RuleResult], plan: VerificationPlan, jvm: str, code: int, certificate: str, *,
                  verbose: bool) -> None:  # fmt: skip
    """Print results for people: the table, what failed, the verdict; ``verbose`` adds the sources of all questions."""
    out = console()
    if results:
        out.print(proof_table([_row(result) for result in results]))
    if verbose:
        _print_sources(out, results)
    for result in results:
        for found in result.findings:
            out.print(finding(found.rule, found.difference, found.names, found.count, found.id), soft_wrap=True)
        for line in _errors(result):
            out.print(line, style="bold red", markup=False, soft_wrap=True)
    asked = sum(result.tally.total for result in results)
    agreed = sum(result.tally.agreed for result in results)
    verdict = {0: "no difference", 1: f"{plural(asked - agreed, 'answer')} not Java's", 2: "not verified"}[code]
    if not results:
        verdict += ": none of these rules exists in these releases"
    unsupported = sum(result.tally.unsupported for result in results)
    if unsupported:
        verdict += f" ({unsupported:,} more questions do not exist in their release)"
    out.print(f"{agreed:,} of {plural(asked, 'answer')} match: {verdict}. seed {plan.seed}, JVM {jvm}",
              markup=False, soft_wrap=True)  # fmt: skip
    if certificate:
        out.print(f"certificate: {certificate}", style="dim", markup=False, soft_wrap=True)


def _row(result: RuleResult) -> ProofRow:
    tally = result.tally
    counts = tally.total, tally.agreed, tally.differ, len(tally.errors), tally.unsupported
    return ProofRow(str(result.release), tally.rule.slug, counts, result.jar_sha256, result.pinned)


def _errors(result: RuleResult) -> Iterator[str]:
    """Yield why a result is not verified, one line for each reason."""
    name = f"{result.tally.rule.slug} in {result.release}"
    if result.tally.differ:
        yield f"{name}: {plural(result.tally.differ, 'answer')} of {result.tally.total:,} not Java's"
    for line in result.tally.error_lines(3):
        yield f"{name} could not be judged: {line}"
    if result.tally.missing_labels:
        yield f"{name}: never asked: {', '.join(result.tally.missing_labels)}"


def _print_sources(out: Console, results: Sequence[RuleResult]) -> None:
    """Print the sources of each rule's questions and the number of their kinds; they are the same in every release."""
    fullest: dict[str, Tally] = {}
    for result in results:  # a release that lacks a part of the rule answers fewer of them
        slug = result.tally.rule.slug
        if slug not in fullest or result.tally.total > fullest[slug].total:
            fullest[slug] = result.tally
    for slug, tally in fullest.items():
        parts = "; ".join(f"{count:,} {source}" for source, count in tally.asked.items())
        out.print(f"{slug}: {parts} ({len(tally.labels)} kinds)", style="dim", markup=False, soft_wrap=True)


def results_document(results: Sequence[RuleResult], plan: VerificationPlan, jvm: str, code: int) -> dict[str, Any]:
    """Return results as the JSON document of ``verify --json``."""
    return {
        "exit_code": code,
        "seed": plan.seed,
        "examples": plan.examples,
        "jvm": jvm,
        "kit": kit_version(),
        "results": [
            {
                "rule": result.tally.rule.slug,
                "release": str(result.release),
                "jar_sha256": result.jar_sha256,
                "pinned": result.pinned,
                "asked": result.tally.total,
                "agreed": result.tally.agreed,
                "differ": result.tally.differ,
                "unsupported": result.tally.unsupported,
                "errored": result.tally.error_lines(len(result.tally.errors)),
                "sources": dict(result.tally.asked),
                "kinds": dict(sorted(result.tally.labels.items())),
                "findings": [
                    {
                        "id": found.id,
                        "question": found.difference.question,
                        "expected": found.difference.expected,
                        "actual": found.difference.actual,
                        "count": found.count,
                    }
                    for found in result.findings
                ],
            }
            for result in results
        ],
    }
