"""Prove the reference against the real Java classes.

Writes a certificate when every answer of the reference matches Java's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from kafka_conformance.answerers.mutant import mutant_answerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cli import options
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.pipeline import Tally
from kafka_conformance.core.progress import steps
from kafka_conformance.core.version import kit_version
from kafka_conformance.oracle.session import chosen_releases, open_oracle
from kafka_conformance.reports.terminal import console, finding, plural, table
from kafka_conformance.rules import named
from kafka_conformance.verify import certificate as certifying
from kafka_conformance.verify.verification import Judged, Plan, verify
from kafka_jars.pins import load

__all__ = ["run"]


# Asking one release is for a quick look, and for CI; what is claimed of all of them rests on more.
_EXAMPLES_OF_ONE, _EXAMPLES_OF_SEVERAL = 500, 2000


@options.kafka("newest")
@options.rules
@options.examples(None)
@options.seed
@click.option("--exhaustive", default=2, type=click.IntRange(0, 3), show_default=True, metavar="BYTES",
              help="Also ask every key of up to this many bytes.")  # fmt: skip
@options.who("reference or mutant:NAME, whose answers are compared with Java's")
@options.as_json
@click.option("--certificate", default=certifying.LAST, type=options.FILE, show_default=True, metavar="FILE",
              help="Where to write the certificate.")  # fmt: skip
def run(*, kafka: str, rules: Sequence[str], examples: int | None, seed: int, exhaustive: int, who: str,
        as_json: bool, certificate: Path) -> int:  # fmt: skip
    """Ask, print, certify; the exit code."""
    pins = load()
    releases = chosen_releases(kafka, pins)
    if examples is None:
        examples = _EXAMPLES_OF_ONE if len(releases) == 1 else _EXAMPLES_OF_SEVERAL
    plan = Plan(named(rules), releases, examples, seed, exhaustive)
    judged_one = _answerer(who)
    with steps("starting Spark's JVM", len(plan.rules) * len(plan.releases)) as progress, open_oracle(pins) as oracle:
        results = verify(oracle, judged_one, plan, progress)
        jvm = f"{oracle.jvm.version} ({oracle.jvm.java.found_by})"
    code = _exit_code(results)
    made = certifying.made_from(results, plan, jvm)
    if who == "reference" and code == 0:
        certifying.write(made, certificate)
    if as_json:
        print(msgspec.json.encode(_document(results, plan, jvm, code)).decode())
    else:
        _print(results, plan, jvm, code, str(certificate) if who == "reference" and code == 0 else "")
    return code


def _answerer(who: str) -> ReferenceAnswerer:
    if who == "reference":
        return ReferenceAnswerer()
    if who.startswith("mutant:"):
        return mutant_answerer(who.removeprefix("mutant:"))
    raise BadInput(f"{who} is nobody verify knows: reference, or mutant:NAME")


def _exit_code(results: Sequence[Judged]) -> int:
    """A disagreement is certain whatever else went wrong; agreement is only claimed where everything was judged."""
    if any(judged.tally.differences for judged in results):
        return 1
    unsure = any(judged.tally.errors or judged.tally.missing_labels or not judged.tally.total for judged in results)
    return 2 if unsure or not results else 0


def _print(results: Sequence[Judged], plan: Plan, jvm: str, code: int, certificate: str) -> None:
    out = console()
    out.print(_matrix(results))
    _print_sources(out, results)
    for judged in results:
        for found in judged.found:
            out.print(finding(found.rule, found.difference, found.names, found.count, found.saved_as), soft_wrap=True)
        for line in _troubles(judged):
            out.print(line, style="bold red", markup=False, soft_wrap=True)
    asked = sum(judged.tally.total for judged in results)
    agreed = sum(judged.tally.agreed for judged in results)
    words = {0: "no disagreement", 1: f"{plural(asked - agreed, 'answer')} not Java's", 2: "could not be judged"}[code]
    if not results:
        words += ": none of these rules exists in these releases"
    absent = sum(judged.tally.unsupported for judged in results)
    if absent:
        words += f" ({absent:,} more are about what their release does not have)"
    said = f"{plural(asked, 'question')}, {agreed:,} answered alike: {words}. seed {plan.seed}, JVM {jvm}"
    out.print(said, markup=False, soft_wrap=True)
    if certificate:
        out.print(f"certificate: {certificate}", style="dim", markup=False, soft_wrap=True)


def _matrix(results: Sequence[Judged]) -> Any:
    """A row for each release, a column for each rule: how many questions were answered alike, and how many were not."""
    rules = list(dict.fromkeys(judged.tally.rule.slug for judged in results))
    rows: dict[str, dict[str, str]] = {}
    for judged in results:
        row = rows.setdefault(
            f"{judged.release}{'' if judged.pinned else ' (unpinned)'}", {"jar": judged.jar_sha256[:12]}
        )
        row[judged.tally.rule.slug] = _cell(judged)
    lines = [[at, *(row.get(rule, "-") for rule in rules), row["jar"]] for at, row in rows.items()]
    return table("questions answered alike", ["release", *(rule.replace("-", "-\n") for rule in rules), "jar"], lines)


def _cell(judged: Judged) -> str:
    tally = judged.tally
    counts = (tally.differ, "differ"), (len(tally.errors), "errored"), (tally.unsupported, "unsupported")
    notes = [f"{count:,} {what}" for count, what in counts if count]
    return "  ".join([f"{tally.agreed:,}", *notes])


def _troubles(judged: Judged) -> Iterator[str]:
    slug = judged.tally.rule.slug
    for _, what in judged.tally.errors[:3]:
        yield f"{slug} in {judged.release} could not be judged: {what}"
    if judged.tally.missing_labels:
        yield f"{slug} in {judged.release}: never asked: {', '.join(judged.tally.missing_labels)}"


def _print_sources(out: Any, results: Sequence[Judged]) -> None:
    """Where the questions of a rule came from and how many kinds there were; once, since every release gets the same."""
    fullest: dict[str, Tally] = {}
    for judged in results:  # a release that lacks a part of the rule answers fewer of them
        slug = judged.tally.rule.slug
        if slug not in fullest or judged.tally.total > fullest[slug].total:
            fullest[slug] = judged.tally
    for slug, tally in fullest.items():
        parts = "; ".join(f"{count:,} {source}" for source, count in tally.asked.items())
        out.print(f"{slug}: {parts} ({len(tally.labels)} kinds)", style="dim", markup=False, soft_wrap=True)


def _document(results: Sequence[Judged], plan: Plan, jvm: str, code: int) -> dict[str, Any]:
    return {
        "exit_code": code,
        "seed": plan.seed,
        "examples": plan.examples,
        "jvm": jvm,
        "kit": kit_version(),
        "results": [
            {
                "rule": judged.tally.rule.slug,
                "release": str(judged.release),
                "jar_sha256": judged.jar_sha256,
                "pinned": judged.pinned,
                "asked": judged.tally.total,
                "agreed": judged.tally.agreed,
                "differ": judged.tally.differ,
                "unsupported": judged.tally.unsupported,
                "errored": [what for _, what in judged.tally.errors],
                "sources": dict(judged.tally.asked),
                "kinds": dict(sorted(judged.tally.labels.items())),
                "findings": [
                    {
                        "id": found.saved_as,
                        "question": found.difference.question,
                        "expected": found.difference.expected,
                        "actual": found.difference.actual,
                        "count": found.count,
                    }
                    for found in judged.found
                ],
            }
            for judged in results
        ],
    }
