"""Prove the reference against the real Java classes.

Writes a certificate when every answer of the reference matches Java's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import msgspec

from kafka_conformance.answerers.names import REFERENCE, reference_or_mutant
from kafka_conformance.cli import options
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.pipeline import Tally
from kafka_conformance.core.progress import steps
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.version import kit_version
from kafka_conformance.oracle.session import chosen_releases, fresh_seed, open_oracle
from kafka_conformance.reports.terminal import console, finding, plural, table
from kafka_conformance.rules import named
from kafka_conformance.verify import certificate as certificates
from kafka_conformance.verify.partial import record_rows, resumed_seed
from kafka_conformance.verify.verification import Plan, RuleResult, Verifier
from kafka_conformance.verify.workers import VerifierPool, open_pool, worker_count
from kafka_jars.pins import Pins, load
from kafka_reference.certificate import certificate as shipped
from kafka_reference.certificate import reference_fingerprint

__all__ = ["run"]


# One release is verified quickly, as in CI; a claim about several rests on more questions.
_EXAMPLES_OF_ONE, _EXAMPLES_OF_SEVERAL = 500, 2000


@options.kafka("newest")
@options.rules
@options.examples(None)
@options.resumable_seed
@click.option("--exhaustive", default=2, type=click.IntRange(0, 3), show_default=True, metavar="BYTES",
              help="Also ask every key of up to this many bytes.")  # fmt: skip
@click.option("--changed", is_flag=True,
              help="Ask only the rules that the shipped certificate does not prove as installed, in these releases; take "
              "the rows of all others over from it.")  # fmt: skip
@options.answerer_option("reference or mutant:NAME, whose answers are compared with Java's")
@options.as_json
@click.option("--certificate", default=certificates.LAST, type=options.FILE, show_default=True, metavar="FILE",
              help="Where to write the certificate. Run the same command again to resume a run that was ended.")  # fmt: skip
def run(*, kafka: str, rules: Sequence[str], examples: int | None, seed: int | None, exhaustive: int, answerer_name: str,
        as_json: bool, certificate: Path, changed: bool = False) -> int:  # fmt: skip
    """Verify, print, write the certificate, and return the exit code."""
    pins = load()
    releases = chosen_releases(kafka, pins)
    if examples is None:
        examples = _EXAMPLES_OF_ONE if len(releases) == 1 else _EXAMPLES_OF_SEVERAL
    actual, partial = reference_or_mutant(answerer_name), Path(f"{certificate}.partial")
    if changed and answerer_name != REFERENCE:
        raise BadInput(f"--changed proves the reference: leave it out with --answerer {answerer_name}")
    asked = certificates.rules_to_prove(named(rules), releases, shipped(), pins) if changed else named(rules)
    if not asked:
        return _report_unchanged(named(rules), certificate, as_json)
    plan = Plan(asked, releases, examples, seed or 0, exhaustive)
    if seed is None:
        resumed = resumed_seed(partial, plan) if answerer_name == REFERENCE else None
        plan = replace(plan, seed=fresh_seed() if resumed is None else resumed)
    results, jvm = _verify(plan, actual, pins, partial if answerer_name == REFERENCE else None)
    code = _exit_code(results)
    certified = answerer_name == REFERENCE and code == 0
    if certified:
        made = certificates.made_from(results, plan, jvm)
        certificates.write(certificates.with_rows_of(shipped(), made) if changed else made, certificate)
    if as_json:
        print(msgspec.json.encode(_document(results, plan, jvm, code)).decode())
    else:
        _print(results, plan, jvm, code, str(certificate) if certified else "")
    return code


def _report_unchanged(rules: Sequence[Rule], certificate: Path, as_json: bool) -> int:
    """Write the shipped certificate for the installed code: it proves all that is asked for."""
    made = replace(shipped(), rows=(), harness={}, reference_sha256=reference_fingerprint())
    certificates.write(certificates.with_rows_of(shipped(), made), certificate)
    if as_json:
        print(msgspec.json.encode({"exit_code": 0, "unchanged": [rule.slug for rule in rules], "results": []}).decode())
    else:
        words = f"unchanged since the shipped certificate: {', '.join(rule.slug for rule in rules)}; nothing to verify"
        console().print(words, markup=False, soft_wrap=True)
    return 0


def _verify(plan: Plan, actual: Answerer, pins: Pins, partial: Path | None) -> tuple[list[RuleResult], str]:
    """Verify what is not in ``partial`` yet; return all results in the order of the plan, and the JVM."""
    tasks = plan.tasks()
    with ExitStack() as stack:
        progress = stack.enter_context(steps("starting Spark's JVM", len(tasks)))
        verifier: VerifierPool | Verifier
        if (workers := worker_count(len(tasks))) > 1:
            verifier = stack.enter_context(open_pool(plan, actual.name, workers))
        else:
            verifier = Verifier(stack.enter_context(open_oracle(pins)), actual, plan)
        finished, record = stack.enter_context(record_rows(partial, plan, verifier.jvm))
        progress.advance(len(finished))
        results = dict(finished)
        left = [(rule, release) for rule, release in tasks if (rule.slug, str(release)) not in finished]
        for result in verifier.results(left, progress):
            record(result)
            results[result.tally.rule.slug, str(result.release)] = result
        return [results[rule.slug, str(release)] for rule, release in tasks], verifier.jvm


def _exit_code(results: Sequence[RuleResult]) -> int:
    """Return 1 for a difference, whatever else failed; 0 only where everything was judged."""
    if any(result.tally.differences for result in results):
        return 1
    return 0 if results and all(result.matches for result in results) else 2


def _print(results: Sequence[RuleResult], plan: Plan, jvm: str, code: int, certificate: str) -> None:
    out = console()
    out.print(_matrix(results))
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


def _matrix(results: Sequence[RuleResult]) -> Any:
    """Return a table of matching answers: a row for each release, a column for each rule."""
    rules = list(dict.fromkeys(result.tally.rule.slug for result in results))
    rows: dict[str, dict[str, str]] = {}
    for result in results:
        row = rows.setdefault(
            f"{result.release}{'' if result.pinned else ' (unpinned)'}", {"jar": result.jar_sha256[:12]}
        )
        row[result.tally.rule.slug] = _cell(result)
    lines = [[release, *(row.get(rule, "-") for rule in rules), row["jar"]] for release, row in rows.items()]
    return table("answers that match", ["release", *(rule.replace("-", "-\n") for rule in rules), "jar"], lines)


def _cell(result: RuleResult) -> str:
    tally = result.tally
    counts = (tally.differ, "differ"), (len(tally.errors), "errored"), (tally.unsupported, "unsupported")
    notes = [f"{count:,} {what}" for count, what in counts if count]
    return "  ".join([f"{tally.agreed:,}", *notes])


def _errors(result: RuleResult) -> Iterator[str]:
    """Yield why a result is not verified, one line for each reason."""
    name = f"{result.tally.rule.slug} in {result.release}"
    for line in result.tally.error_lines(3):
        yield f"{name} could not be judged: {line}"
    if result.tally.missing_labels:
        yield f"{name}: never asked: {', '.join(result.tally.missing_labels)}"


def _print_sources(out: Any, results: Sequence[RuleResult]) -> None:
    """Print the sources of each rule's questions and the number of their kinds; they are the same in every release."""
    fullest: dict[str, Tally] = {}
    for result in results:  # a release that lacks a part of the rule answers fewer of them
        slug = result.tally.rule.slug
        if slug not in fullest or result.tally.total > fullest[slug].total:
            fullest[slug] = result.tally
    for slug, tally in fullest.items():
        parts = "; ".join(f"{count:,} {source}" for source, count in tally.asked.items())
        out.print(f"{slug}: {parts} ({len(tally.labels)} kinds)", style="dim", markup=False, soft_wrap=True)


def _document(results: Sequence[RuleResult], plan: Plan, jvm: str, code: int) -> dict[str, Any]:
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
