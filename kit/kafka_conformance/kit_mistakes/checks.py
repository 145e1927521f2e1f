"""What a check of the kit is, and the checks that ask Java: ``verify``, ``selftest`` and ``freeze --check``.

A check runs what a command runs, on a few questions, and compares the exit code with the one that is right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kafka_conformance.answerers.recorded_outcomes import CachedAnswerer, RecordedAnswerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.pipeline import Comparison, tally
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.protocol import Answered
from kafka_conformance.kit_mistakes.bench import MUTANTS, RELEASE, SLUGS, Bench, cases_of, source
from kafka_conformance.kit_mistakes.java_half import JavaEdit, changed_java
from kafka_conformance.kit_mistakes.mistake import patched
from kafka_conformance.rules import RULES
from kafka_conformance.verify import verification
from kafka_conformance.verify.mutants import comparison as mutants
from kafka_conformance.verify.verification import RuleResult, VerificationPlan, Verifier
from kafka_reference.partitioning import murmur2_fast
from kafka_reference.partitioning.murmur2 import M

__all__ = ["JAVA_CHECKS", "Check"]

_WRONG, _RIGHT, _DRAWS = "murmur2", "round-robin-partitioner", "builtin-partitioner"
_WRONG_JAVA: JavaEdit = ("rule/QuestionDraws.java", "Rule.integer(draws.get(taken))", "~Rule.integer(draws.get(taken))")
"""Each draw with all its bits inverted."""


@dataclass(frozen=True, slots=True)
class Check:
    """A check: its name, what it runs, and ``run``, which returns why the kit is wrong, or an empty text."""

    name: str
    description: str
    run: Callable[[Bench], str]


def _verified(bench: Bench, slugs: Sequence[str]) -> list[RuleResult]:
    """Return the results of ``verify`` for these rules."""
    rules = [RULES[slug] for slug in slugs]
    plan = VerificationPlan(rules, [RELEASE], 0, 0, -1)
    verifier = Verifier(bench.oracle, ReferenceAnswerer(), plan, lambda rule: [source(rule)], bench.folder)
    return [verifier.verify(rule, release) for rule, release in plan.tasks()]


def _verify(bench: Bench) -> str:
    results = _verified(bench, SLUGS)
    code = verification.exit_code(results)
    wrong = [one for one in results if not one.matches]
    rules = ", ".join(f"{one.tally.differ} of {one.tally.total} answers of {one.tally.rule.slug}" for one in wrong)
    return "" if code == 0 else f"exit code {code}: not Java's are {rules}"


def _verify_wrong_reference(bench: Bench) -> str:
    """Make the reference itself wrong, for every caller and not in this comparison alone."""
    for slugs in ((_WRONG, _RIGHT), (_RIGHT, _WRONG)):
        with patched((murmur2_fast, "M", M ^ 1 << 5)):
            results = _verified(bench, slugs)
        code = verification.exit_code(results)
        if code != 1:
            return f"exit code {code}, although the reference of {_WRONG} is wrong"
    return ""


def _verify_wrong_java(bench: Bench) -> str:
    """Whatever answers in Java's place does not notice that Java is wrong."""
    with changed_java(bench, _WRONG_JAVA):
        code = verification.exit_code(_verified(bench, (_RIGHT, _DRAWS)))
    return "" if code == 1 else f"exit code {code}, although the Java half of {_DRAWS} is wrong"


def _killed(bench: Bench, planted: Sequence[Mutant]) -> mutants.MutantFailures:
    """Return the verdict of ``selftest`` on these mutants."""
    java, results = CachedAnswerer(bench.java), []
    slugs = list(dict.fromkeys(mutant.rule for mutant in planted))
    for slug in slugs:
        own = [mutant for mutant in planted if mutant.rule == slug]
        tallies = mutants.compare_mutants(RULES[slug], own, java, iter([source(RULES[slug])]), Steps("", len(own)))
        results += [(mutant, tallies[mutant.slug]) for mutant in own]
    return mutants.verdict(slugs, results)


def _selftest(bench: Bench) -> str:
    found = _killed(bench, MUTANTS)
    code = found.exit_code
    return "" if code == 0 else f"exit code {code}: alive: {', '.join(found.alive) or 'none'}"


def _selftest_survivor(bench: Bench) -> str:
    survivor = Mutant("no-mistake", _RIGHT, "none", RULES[_RIGHT].ask, RELEASE)
    code = _killed(bench, [survivor, *(mutant for mutant in MUTANTS if mutant.rule == _RIGHT)]).exit_code
    return "" if code == 1 else f"exit code {code}, although a mutant that makes no mistake is alive"


def _frozen(bench: Bench) -> str:
    for slug in SLUGS:
        expected = RecordedAnswerer("frozen", {one: Answered(case.answer) for one, case in cases_of(slug).items()})
        counts = tally(RULES[slug], Comparison(expected, bench.java, RELEASE), [source(RULES[slug])])
        if counts.agreed < counts.total or not counts.total:
            return f"{counts.total - counts.agreed} of {counts.total} frozen answers of {slug} are not Java's"
    return ""


JAVA_CHECKS: Sequence[Check] = (
    Check("verify", "the reference matches Java: exit code 0", _verify),
    Check(
        "verify, wrong reference", "the reference of one of two rules is wrong: exit code 1", _verify_wrong_reference
    ),
    Check("verify, wrong Java", "the Java half of one of two rules is wrong: exit code 1", _verify_wrong_java),
    Check("selftest", "mutants are killed: exit code 0", _selftest),
    Check("selftest, survivor", "a mutant makes no mistake: exit code 1", _selftest_survivor),
    Check("freeze --check", "Java gives the frozen answers again", _frozen),
)
