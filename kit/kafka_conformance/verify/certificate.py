"""The certificate: from the counts of ``verify`` to the file, and from the file to the tables that people read."""

from __future__ import annotations

import datetime
import hashlib
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import msgspec

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import working_folder, write_whole
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.version import kit_version
from kafka_conformance.rules import RULES
from kafka_conformance.verify.coverage.record import Ratio, Record
from kafka_conformance.verify.coverage.record import shipped as shipped_coverage
from kafka_conformance.verify.coverage.summary import MethodSummary, newest_summaries
from kafka_conformance.verify.fingerprint import fingerprint, installed_reference
from kafka_conformance.verify.verification import RuleResult, VerificationPlan
from kafka_jars.pins import Pins
from kafka_jars.store import cache_folder
from kafka_reference.certificate import Certificate, CertificateRow, MutationScore
from kafka_reference.releases import parse_release

__all__ = [
    "last_certificate",
    "made_from",
    "markdown",
    "merged",
    "proven_pairs",
    "unproven_releases",
    "void_rules",
    "with_rows_of",
    "write",
]


_HEADS = (
    "rule", "Java's branches run", "Java's lines run", "not Kafka's", "mutants killed", "kinds of question",
    "enumerated spaces", "releases", "questions per release", "matching answers",
)  # fmt: skip
_COVERAGE = (
    "*Branches* and *lines* belong to the methods of Kafka that the rule mirrors, in its newest release; JaCoCo "
    "measures them while Kafka's classes answer. [The page on coverage](coverage.md) lists what has not run, and why. "
    "A *mutant* is a copy of the rule's code with one mistake that a program made. The column counts the mutants that "
    "can change an answer, and those that [the questions of a gate](selftest.md#generated-mistakes) find. A mutant of "
    "code that several rules share counts for one of them."
)


def last_certificate() -> Path:
    """Return where ``verify`` writes by default: in the cache, one file for each working directory."""
    name = hashlib.sha256(os.fsencode(working_folder())).hexdigest()[:16]
    return cache_folder() / "certificates" / f"{name}.json"


def made_from(results: Sequence[RuleResult], plan: VerificationPlan, jvm: str) -> Certificate:
    """Return the certificate of one run."""
    fingerprints = _fingerprints([result.tally.rule for result in results])
    return Certificate(
        made=datetime.datetime.now(datetime.UTC).date().isoformat(),
        kit=kit_version(),
        seed=plan.seed,
        jvm=jvm,
        reference_sha256=installed_reference(),
        rows=tuple(
            CertificateRow(
                rule=result.tally.rule.slug,
                release=str(result.release),
                asked=result.tally.total,
                agreed=result.tally.agreed,
                sources=dict(result.tally.asked),
                jar_sha256=result.jar_sha256,
                pinned=result.pinned,
                fingerprint=fingerprints[result.tally.rule.slug],
            )
            for result in results
        ),
        harness={rule.slug: rule.harness for rule in plan.rules if rule.harness},
    )


def void_rules(made: Certificate) -> list[str]:
    """Return the rules that the certificate proves in another form than is installed, or that are not installed.

    A certificate without fingerprints by rule is void as a whole once any code of the reference changed.
    """
    current = _fingerprints([rule for rule in RULES.values() if rule.slug in made.rules()])
    same_reference = made.reference_sha256 == installed_reference()
    void = {
        row.rule
        for row in made.rows
        if (row.fingerprint != current.get(row.rule) if row.fingerprint else not same_reference)
    }
    return [rule for rule in made.rules() if rule in void]


def proven_pairs(rules: Sequence[Rule], proven: Certificate, pins: Pins) -> frozenset[tuple[str, str]]:
    """Return the slug and release of each row by which ``proven`` proves the installed code of one of these rules.

    A row proves its rule if all its answers match, from the jar that is pinned, and its fingerprint is the rule's.
    """
    current = _fingerprints(rules)
    return frozenset(
        (row.rule, row.release)
        for row in proven.rows
        if row.fingerprint == current.get(row.rule)
        and row.asked == row.agreed
        and row.jar_sha256 in {jar.sha256 for jar in (*pins.clients(row.release), *pins.broker(row.release))}
    )


def unproven_releases(made: Certificate, pins: Pins) -> dict[str, list[str]]:
    """Return, by rule, the pinned releases that have the rule but no row of it in ``made``."""
    present = {(row.rule, row.release) for row in made.rows}
    found = {
        slug: [
            version
            for version in map(str, sorted(map(parse_release, pins.releases)))
            if (slug, version) not in present and rule.has_java(parse_release(version))
        ]
        for slug, rule in RULES.items()
    }
    return {slug: versions for slug, versions in found.items() if versions}


def with_rows_of(earlier: Certificate, made: Certificate) -> Certificate:
    """Return ``made`` with the rows of ``earlier`` that still prove their rule in a release that ``made`` has no row of.

    Each row that is taken over notes its own run: seed, JVM, kit and day.
    """
    present = {(row.rule, row.release) for row in made.rows}
    current = _fingerprints(list(RULES.values()))
    rows = [
        row
        for row in earlier.rows
        if (row.rule, row.release) not in present and row.fingerprint == current.get(row.rule)
    ]
    taken = [replace(row, **_run_of(row, earlier, made)) for row in rows]
    harness = {rule: RULES[rule].harness for rule in dict.fromkeys(row.rule for row in rows) if RULES[rule].harness}
    every = _sorted([*made.rows, *taken])
    proven = {(row.rule, row.release) for row in every}
    left = {slug: [one for one in some if (slug, one) not in proven] for slug, some in earlier.unproven.items()}
    unproven = {slug: some for slug, some in left.items() if some}
    return replace(made, rows=every, harness={**made.harness, **harness}, unproven=unproven)


def _run_of(row: CertificateRow, earlier: Certificate, made: Certificate) -> dict[str, Any]:
    """Return the fields of a row's run that differ from those of ``made``."""
    run = {
        name: getattr(earlier, name) if getattr(row, name) is None else getattr(row, name)
        for name in ("seed", "jvm", "kit", "made")
    }
    return {name: None if value == getattr(made, name) else value for name, value in run.items()}


def merged(parts: Sequence[Certificate]) -> Certificate:
    """Return one certificate of several runs over the same code with the same seed, sorted by release and rule.

    Raises BadInput if they differ in code, kit, seed or JVM, or if two of them have the same row.
    """
    first, *others = parts
    if not others:
        return first
    for part in others:
        for field in ("reference_sha256", "kit", "seed", "jvm"):
            here, there = getattr(first, field), getattr(part, field)
            if here != there:
                raise BadInput(f"certificates of different runs cannot be one: their {field} is {here}, and {there}")
    rows = [row for part in parts for row in part.rows]
    twice = [key for key, times in Counter((row.rule, row.release) for row in rows).items() if times > 1]
    if twice:
        raise BadInput(f"two of the certificates have a row for {' in '.join(twice[0])}: give each row once")
    harness = {rule: words for part in parts for rule, words in part.harness.items()}
    scores = {rule: score for part in parts for rule, score in part.scores.items()}
    return replace(first, made=max(part.made for part in parts), rows=_sorted(rows), harness=harness, scores=scores)


def write(made: Certificate, path: Path) -> None:
    """Write it. Raises KitError."""
    document = asdict(made)
    document["rows"] = [{name: value for name, value in row.items() if value is not None} for row in document["rows"]]
    write_whole(path, msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n")


def markdown(made: Certificate, coverage: Record | None = None) -> str:
    """Return the table of ``kit/docs/proof.md``: a row for each rule; below, which logic of the answers is not Kafka's.

    ``coverage`` is the record of coverage, by default the one that ships.
    """
    summaries = newest_summaries(shipped_coverage() if coverage is None else coverage)
    lines = [
        f"| {' | '.join(_HEADS)} |",
        "|---|---:|---:|---|---:|---:|---:|---|---:|---:|",
    ]
    for rule in made.rules():
        rows = [row for row in made.rows if row.rule == rule]
        each = sorted({row.asked for row in rows})
        asked, agreed = sum(row.asked for row in rows), sum(row.agreed for row in rows)
        span = f"{len(rows)}: {rows[0].release} to {rows[-1].release}" if len(rows) > 1 else rows[0].release
        if unproven := made.unproven.get(rule):
            span = f"{span}; not proven so far: {', '.join(unproven)}"
        per = f"{each[0]:,}" if len(each) == 1 else f"{each[0]:,} to {each[-1]:,}"
        match = "all" if agreed == asked else f"{agreed:,} of {asked:,}"
        lines.append(
            f"| `{rule}` | {_coverage_cells(summaries.get(rule), made.scores.get(rule))} | {span} | {per} | {match} |"
        )
    missing = [f"`{rule}` in {', '.join(some)}" for rule, some in made.unproven.items() if rule not in made.rules()]
    if missing:
        lines += ["", f"Not proven so far: {'; '.join(missing)}."]
    lines += ["", _COVERAGE]
    if made.harness:
        lines += ["", "Harness: the logic in the Java half of a rule that is the kit's and not Kafka's.", ""]
        rules_with: dict[str, list[str]] = {}
        for rule in made.rules():
            if rule in made.harness:
                rules_with.setdefault(str(made.harness[rule]), []).append(f"`{rule}`")
        lines += [f"- {', '.join(slugs)}: {words}" for words, slugs in rules_with.items()]
    return "\n".join(lines) + "\n"


def _coverage_cells(summary: MethodSummary | None, score: MutationScore | None) -> str:
    if summary is None:
        return f"not measured | not measured | | {_killed(score)} | | "
    row = summary.row
    killed = _killed(score)
    return f"{summary.branches} | {summary.lines} | {summary.harness} | {killed} | {row.kinds} | {len(row.spaces)}"


def _killed(score: MutationScore | None) -> str:
    if score is None:
        return "not measured"
    if not score.mutants:
        return "none of its own"
    return str(Ratio(score.by_gate, score.mutants))


def _fingerprints(rules: Sequence[Rule]) -> dict[str, str]:
    by_slug = {rule.slug: rule for rule in rules}
    return {slug: fingerprint(rule) for slug, rule in by_slug.items()}


def _sorted(rows: Sequence[CertificateRow]) -> tuple[CertificateRow, ...]:
    order = {slug: number for number, slug in enumerate(RULES)}
    return tuple(sorted(rows, key=lambda row: (parse_release(row.release), order.get(row.rule, len(order)))))
