"""Prove the reference against the real Java classes.

Writes a certificate when every answer of the reference matches Java's.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import click

from kafka_conformance.answerers.names import REFERENCE, reference_or_mutant
from kafka_conformance.cli import options
from kafka_conformance.cli.proof_report import print_results, results_document
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.files import report_path
from kafka_conformance.core.notices import warn
from kafka_conformance.core.progress import steps
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.streams import say_json
from kafka_conformance.generated_mutants.certificate_scores import with_scores
from kafka_conformance.oracle.session import chosen_releases, fresh_seed, open_oracle
from kafka_conformance.reports.terminal import console
from kafka_conformance.rules import named
from kafka_conformance.rules.eras import ERAS, newest_of_eras
from kafka_conformance.verify import certificate as certificates
from kafka_conformance.verify.fingerprint import installed_reference
from kafka_conformance.verify.partial_rows import record_rows, resumed_seed
from kafka_conformance.verify.verification import RuleResult, VerificationPlan, Verifier, exit_code
from kafka_conformance.verify.workers import VerifierPool, open_pool, worker_count
from kafka_jars.pins import Pins, load
from kafka_reference.certificate import Certificate
from kafka_reference.certificate import certificate as shipped
from kafka_reference.proven import lacks_proof
from kafka_reference.releases import Release

__all__ = ["run"]


# One release is verified quickly, as in CI; a claim about several rests on more questions.
_GROUPS = ("all", "spread", "newest")
_EXAMPLES_OF_ONE, _EXAMPLES_OF_SEVERAL = 500, 2000


@options.kafka("newest", "'all', or 'eras': each rule in one release of each distinct behaviour")
@options.rules
@options.examples(None)
@options.resumable_seed
@click.option("--exhaustive", default=2, type=click.IntRange(0, 3), show_default=True, metavar="BYTES",
              help="Also ask every key of up to this many bytes.")  # fmt: skip
@click.option("--changed", is_flag=True,
              help="Ask each rule only in those releases in which the shipped certificate does not prove it as installed; "
              "take all other rows over from it. What it lists as not proven so far is left out, unless the rule or the "
              "release is named.")  # fmt: skip
@options.answerer_option("reference or mutant:NAME, whose answers are compared with Java's")
@click.option("-v", "--verbose", is_flag=True, help="Print the sources of all questions.")
@options.as_json
@click.option("--certificate", default=None, type=options.FILE, metavar="FILE",
              help="Where to write the certificate (default: the cache). Run the same command again to "
              "resume a run that was ended, or to ask again only what did not match.")  # fmt: skip
def run(*, kafka: str, rules: Sequence[str], examples: int | None, seed: int | None, exhaustive: int, answerer_name: str,
        as_json: bool, certificate: Path | None, changed: bool = False, verbose: bool = False) -> int:  # fmt: skip
    """Verify, print, write the certificate, and return the exit code."""
    pins = load()
    written = report_path(certificate or certificates.last_certificate())
    every_era = kafka.strip() == ERAS
    releases = _newest_of_eras(named(rules)) if every_era else chosen_releases(kafka, pins)
    if examples is None:
        examples = _EXAMPLES_OF_ONE if len(releases) == 1 else _EXAMPLES_OF_SEVERAL
    actual = reference_or_mutant(answerer_name)
    partial = Path(f"{written}.partial") if written is not None and answerer_name == REFERENCE else None
    if changed and answerer_name != REFERENCE:
        raise BadInput(f"--changed proves the reference: leave it out with --answerer {answerer_name}")
    left_out = _unproven(named(rules), releases) if changed and not rules and kafka.strip() in _GROUPS else frozenset()
    proven = left_out | (certificates.proven_pairs(named(rules), shipped(), pins) if changed else frozenset())
    plan = VerificationPlan(named(rules), releases, examples, seed or 0, exhaustive, every_era, proven)
    if changed and not plan.tasks():
        return _report_unchanged(plan.rules, written, as_json)
    if seed is None:
        resumed = None if partial is None else resumed_seed(partial, plan)
        plan = replace(plan, seed=fresh_seed() if resumed is None else resumed)
    results, jvm = _verify(plan, actual, pins, partial)
    code = exit_code(results)
    certified = answerer_name == REFERENCE and code == 0
    if certified:
        made = certificates.made_from(results, plan, jvm)
        made = certificates.with_rows_of(shipped(), made) if changed else made
        certified = _write(made, written)
    if as_json:
        say_json(results_document(results, plan, jvm, code))
    else:
        print_results(results, plan, jvm, code, str(written) if certified else "", verbose=verbose)
    return code


def _unproven(rules: Sequence[Rule], releases: Sequence[Release]) -> frozenset[tuple[str, str]]:
    """Return the rules and releases that the shipped certificate lists as not proven so far; print them."""
    found = [(rule.slug, str(release)) for release in releases for rule in rules if lacks_proof(release, rule.slug)]
    if found:
        names = ", ".join(f"{slug} in {version}" for slug, version in found)
        warn(f"not proven so far, left out: {names}; name the rules or the releases to ask them")
    return frozenset(found)


def _newest_of_eras(rules: Sequence[Rule]) -> list[Release]:
    """Return the releases that stand for an era of one of these rules. Raises BadInput if no release is proven."""
    found = sorted({release for rule in rules for release in newest_of_eras(rule)})
    if not found:
        raise BadInput("no release of these rules is proven, so they have no eras: name releases with --kafka")
    return found


def _write(made: Certificate, path: Path | None) -> bool:
    """Write the certificate; return whether it is there. The verdict stays without it: then a warning names the option."""
    try:
        if path is not None:
            certificates.write(with_scores(made), path)
    except KitError as error:
        warn(f"{error}; --certificate names another file")
        return False
    return path is not None


def _report_unchanged(rules: Sequence[Rule], path: Path | None, as_json: bool) -> int:
    """Write the shipped certificate for the installed code: it proves all that is asked for."""
    made = replace(shipped(), rows=(), harness={}, reference_sha256=installed_reference())
    _write(certificates.with_rows_of(shipped(), made), path)
    if as_json:
        say_json({"exit_code": 0, "unchanged": [rule.slug for rule in rules], "results": []})
    else:
        words = f"unchanged since the shipped certificate: {', '.join(rule.slug for rule in rules)}; nothing to verify"
        console().print(words, markup=False, soft_wrap=True)
    return 0


def _verify(plan: VerificationPlan, actual: Answerer, pins: Pins, partial: Path | None) -> tuple[list[RuleResult], str]:
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
