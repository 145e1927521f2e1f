"""``selftest --kit``: mistakes planted in the kit itself, and a table of the checks that found each."""

from __future__ import annotations

from kafka_conformance.core.progress import steps
from kafka_conformance.kit_mistakes.bench import RELEASE, open_bench
from kafka_conformance.kit_mistakes.gate_checks import SEED
from kafka_conformance.kit_mistakes.run import CHECKS, MISTAKES, KitResult, Outcome, run_checks
from kafka_conformance.reports.tables import table
from kafka_conformance.reports.terminal import console, plural

__all__ = ["print_result", "run_kit_mistakes"]


def run_kit_mistakes() -> int:
    """Plant every mistake, print what found it, and return the exit code. Raises KitError or JarError."""
    with steps("starting Spark's JVM", len(CHECKS) + len(MISTAKES)) as progress, open_bench() as bench:
        result = run_checks(bench, progress)
    print_result(result)
    return result.exit_code


def print_result(result: KitResult) -> None:
    """Print a line for each mistake, then every check that is wrong, and the verdict."""
    out = console()
    rows = [[one.mistake.slug, one.mistake.description, _found_by(one)] for one in result.outcomes]
    out.print(table("", ["mistake in the kit", "what is wrong", "found by"], rows))
    missed = [one for one in result.outcomes if not one.is_found]
    for one in missed:
        words = f"{one.mistake.slug} is not found by: {', '.join(one.missed_by) or 'any check'}"
        out.print(words, style="bold red", markup=False, soft_wrap=True)
    for name, problem in result.broken.items():
        words = f"{name}: red without a mistake: {problem}"
        out.print(words, style="bold red", markup=False, soft_wrap=True)
    found = len(result.outcomes) - len(missed)
    words = f"{found} of {plural(len(result.outcomes), 'mistake')} in the kit found, Kafka {RELEASE}, seed {SEED}"
    out.print(words, markup=False, soft_wrap=True)


def _found_by(outcome: Outcome) -> str:
    return "; ".join(name for name, problem in outcome.said.items() if problem) or "nothing"
