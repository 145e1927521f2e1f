"""Run the checks of the kit: without a mistake each has to be green, and with each mistake those that it names, red."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_conformance.core.errors import BadInput, WrongRelease
from kafka_conformance.core.progress import Steps
from kafka_conformance.kit_mistakes.bench import Bench
from kafka_conformance.kit_mistakes.checks import JAVA_CHECKS, Check
from kafka_conformance.kit_mistakes.comparison_mistakes import COMPARISON_MISTAKES
from kafka_conformance.kit_mistakes.count_mistakes import COUNT_MISTAKES
from kafka_conformance.kit_mistakes.gate_checks import GATE_CHECKS
from kafka_conformance.kit_mistakes.mistake import Mistake
from kafka_conformance.kit_mistakes.oracle_mistakes import ORACLE_MISTAKES
from kafka_conformance.kit_mistakes.verdict_mistakes import VERDICT_MISTAKES

__all__ = ["CHECKS", "MISTAKES", "KitResult", "Outcome", "run_checks"]

CHECKS: Sequence[Check] = (*JAVA_CHECKS, *GATE_CHECKS)
"""All checks."""
MISTAKES: Sequence[Mistake] = (*ORACLE_MISTAKES, *COMPARISON_MISTAKES, *COUNT_MISTAKES, *VERDICT_MISTAKES)
"""All mistakes."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A mistake, and what each of its checks said, by name; an empty text: the check was green."""

    mistake: Mistake
    said: dict[str, str]

    @property
    def missed_by(self) -> list[str]:
        """The checks that did not find the mistake."""
        return [name for name, problem in self.said.items() if not problem]

    @property
    def is_found(self) -> bool:
        """Whether the mistake names a check, and each that it names found it."""
        return bool(self.said) and not self.missed_by


@dataclass(frozen=True, slots=True)
class KitResult:
    """The checks that are red without a mistake, with why, and the outcome of each mistake."""

    broken: dict[str, str]
    outcomes: Sequence[Outcome]

    @property
    def exit_code(self) -> int:
        """1 if a check is red without a mistake, or a mistake is missed by one of its checks; else 0."""
        return 1 if self.broken or not all(one.is_found for one in self.outcomes) else 0


def run_checks(
    bench: Bench, progress: Steps, checks: Sequence[Check] = CHECKS, mistakes: Sequence[Mistake] = MISTAKES
) -> KitResult:
    """Run every check without a mistake, then those of each mistake with it.

    Raises BadInput for a mistake that names an unknown check, KitError or JarError where Java cannot be asked.
    """
    by_name = {check.name: check for check in checks}
    for mistake in mistakes:
        if unknown := [name for name in mistake.checks if name not in by_name]:
            raise BadInput(f"the mistake {mistake.slug} names no check: {', '.join(unknown)}")
    progress.begin("without a mistake", len(checks) + len(mistakes))
    broken = {}
    for check in checks:
        if problem := _problem(check, bench):
            broken[check.name] = problem
        progress.advance()
    outcomes = []
    for mistake in mistakes:
        progress.doing(mistake.slug)
        with mistake.plant(bench):
            outcomes.append(Outcome(mistake, {name: _problem(by_name[name], bench) for name in mistake.checks}))
        progress.advance()
    return KitResult(broken, outcomes)


def _problem(check: Check, bench: Bench) -> str:
    """Run a check. A wrong release is what it has to find; any other error means that it could not be run."""
    try:
        return check.run(bench)
    except WrongRelease as error:
        return str(error)
