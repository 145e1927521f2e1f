"""How a target's answers are graded: against Java's own, against what the rule allows, or by their distribution.

=========== ===========================================================================================================
exact       Java's answer, as JSON: for every target that uses the draws in the question
admissible  an answer that some draws give (``admissible``): for a target that makes its own random draws; an assignment
            that keeps what sticky assignors promise (``promises``): for a target that breaks ties differently
statistical the shares of a few thousand first choices (``statistical``): for a target whose steps cannot be followed
=========== ===========================================================================================================

A target names the weaker two in its hello, by rule, and every report shows the grade.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.events import Coverage, Distribution, Grade
from kafka_conformance.core.pipeline import Comparison, Judgement
from kafka_conformance.core.protocol import (
    Agrees,
    Answer,
    Answered,
    Differs,
    Failed,
    Outcome,
    Question,
    Unsupported,
    Verdict,
    judge,
)
from kafka_conformance.core.rule import Rule
from kafka_conformance.gate.admissible import RULES_WITH_DRAWS, admits
from kafka_conformance.gate.answer_parts import read, unsupported_step
from kafka_conformance.gate.completeness import LEAST
from kafka_conformance.gate.statistical import Measured, measure, scenarios
from kafka_conformance.gate.stickiness import RULES_WITH_PROMISES, broken_promise
from kafka_reference.releases import Release

__all__ = ["DomainComparison", "GradedComparison", "check_grade", "judge_distributions"]


@dataclass(frozen=True)
class GradedComparison(Comparison):
    """Compares a target with the expected answers by a grade.

    The target does not receive a question that has no expected answer in its release, and may report a question as
    unsupported.
    """

    grade: Grade = "exact"

    def outcomes(self, rule: Rule, questions: Sequence[Question]) -> tuple[Sequence[Outcome], Sequence[Outcome]]:
        """Ask the target what has an expected answer."""
        expected = self.expected.answer(rule, self.release, questions)
        asked = [question for question, each in zip(questions, expected, strict=True) if isinstance(each, Answered)]
        answers = self.actual.answer(rule, self.release, asked)
        if len(answers) != len(asked):
            raise ValueError(f"{self.actual.name} gave {len(answers)} answers to {len(asked)} questions")
        rest = iter(answers)
        return expected, [next(rest) if isinstance(each, Answered) else each for each in expected]

    def verdict(self, rule: Rule, question: Question, expected: Outcome, actual: Outcome) -> Verdict:
        """Judge an answer by the grade."""
        match expected, actual:
            case Failed(what), _:
                return Unsupported(what)
            case (Unsupported() as absent, _) | (_, Unsupported() as absent):
                return absent
            case (Answered(), Answered(answer)) if self.grade == "admissible" and rule.slug in RULES_WITH_PROMISES:
                broken = broken_promise(rule, question, self.release, answer)
                return Differs(broken.as_answer(), answer) if broken else Agrees()
            case Answered(), Answered(answer) if self.grade != "exact":
                refused = admits(rule, question, self.release, answer)
                steps = answer.get("steps")
                return (
                    Differs(refused.as_answer(steps if isinstance(steps, list) else []), answer)
                    if refused
                    else Agrees()
                )
            case Answered(right), Answered(answer) if _is_same_hash(right, answer):
                return Agrees()
            case Answered(right), Answered(answer):
                if why := unsupported_step(rule, question, answer):
                    return Unsupported(why)
                reading = read(rule, question, right, answer)
                return Agrees() if reading.agrees else Differs(reading.expected, reading.actual)
        return judge(expected, actual, self.names)


@dataclass(frozen=True)
class DomainComparison(GradedComparison):
    """Finds differences in domain alone, or out of it alone: for the search of a smaller question."""

    out_of_domain: bool = False

    def verdict(self, rule: Rule, question: Question, expected: Outcome, actual: Outcome) -> Verdict:
        """Judge an answer; a question on the other side of the domain agrees."""
        if bool(rule.domain(question)) != self.out_of_domain:
            return Agrees()
        return super().verdict(rule, question, expected, actual)


def _is_same_hash(expected: Answer, actual: Answer) -> bool:
    """Return whether both are one hash of 32 bits, with or without a sign: how it is written places no record."""
    if expected.keys() != {"hash"} or actual.keys() != {"hash"}:
        return False
    one, other = expected["hash"], actual["hash"]
    return type(one) is type(other) is int and -(2**31) <= other < 2**32 and (one - other) % 2**32 == 0


def check_grade(rule: Rule, grade: Grade) -> None:
    """Raise BadInput where a rule has no such grade: its answers follow from its questions alone."""
    if grade == "admissible" and rule.slug in RULES_WITH_PROMISES:
        return
    if grade != "exact" and rule.slug not in RULES_WITH_DRAWS:
        raise BadInput(
            f"the target asks for the grade {grade} of {rule.slug}, whose answers do not depend on chance: remove "
            f"{rule.slug} from its grades; only {', '.join(sorted(RULES_WITH_DRAWS))} may have one"
        )


def judge_distributions(target: Answerer, rule: Rule, release: Release, seed: int) -> tuple[
    Distribution | None, list[Judgement], tuple[Coverage, ...]
]:  # fmt: skip
    """Measure the scenarios of a rule.

    Returns the least likely distribution; a judgement for each scenario and each question without a choice; and the
    scenarios that every client has to answer, of which too few choices are known.
    """
    measured = [measure(target, rule, release, scenario) for scenario in scenarios(rule, seed)]
    chosen = [each for each in measured if sum(each.distribution.actual) or each.elsewhere]
    worst = min(chosen, key=lambda each: each.distribution.p_value, default=None)
    judgements = [judgement for each in measured for judgement in _judgements(each, target.name)]
    answered = [(each.scenario, len(each.scenario.questions) - len(each.broken)) for each in measured]
    missing = tuple(
        Coverage(scenario.title, count, len(scenario.questions))
        for scenario, count in answered
        if not scenario.optional and count < LEAST * len(scenario.questions)
    )
    return (worst.distribution if worst else None), judgements, missing


def _judgements(measured: Measured, name: str) -> Iterator[Judgement]:
    question, distribution = measured.scenario.questions[0], measured.distribution
    shares = {"shares": [[i, round(chance, 4)] for i, chance in sorted(measured.scenario.chances.items())]}
    counts = [[i, count] for i, count in zip(distribution.partitions, distribution.actual, strict=True)]
    elsewhere = {"elsewhere": measured.elsewhere[0]} if measured.elsewhere else {}
    seen = {"counts": counts, "scenario": distribution.title, **elsewhere}
    expected, actual = Answered(shares), Answered(seen)
    for asked, outcome in measured.broken:
        verdict = outcome if isinstance(outcome, Unsupported) else judge(expected, outcome, ("kafka", name))
        yield Judgement("fresh", asked, expected, outcome, verdict)
    if measured.differs:
        yield Judgement("fresh", question, expected, actual, Differs(shares, seen))
    elif sum(distribution.actual):
        yield Judgement("fresh", question, expected, actual, Agrees())
