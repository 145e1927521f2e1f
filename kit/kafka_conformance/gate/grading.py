"""What a target's answers are held to: Java's own, what the rule admits, or the chances of many.

=========== ===========================================================================================================
exact       Java's answer, as JSON. Everybody is, who takes the draws that the question holds
admissible  an answer that some draws give (``admitting``): for a target that draws by itself
statistical the shares of a few thousand first choices (``shares``): for a target whose steps cannot be followed
=========== ===========================================================================================================

A target names the weaker two in its hello, by rule, and every report says which it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.events import Distribution, Grade
from kafka_conformance.core.protocol import (
    Agrees,
    Answer,
    Answered,
    Differs,
    Outcome,
    Question,
    Unsupported,
    Verdict,
    judge,
)
from kafka_conformance.core.rule import Rule
from kafka_conformance.gate.admissible import RULES_WITH_DRAWS, admits
from kafka_conformance.gate.statistical import Measured, measure, scenarios
from kafka_reference.releases import Release

__all__ = ["Judgement", "check_grade", "judge_batch", "judge_shares"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A question, what became of it, and the right answer where there is one."""

    question: Question
    verdict: Verdict
    expected: Answer | None = None


def check_grade(rule: Rule, grade: Grade) -> None:
    """Raises BadInput where a rule has no such grade: everything in its answers follows from its questions."""
    if grade != "exact" and rule.slug not in RULES_WITH_DRAWS:
        raise BadInput(
            f"the target asks to be held to the {grade} answers of {rule.slug}, whose answers hold no chance: only "
            f"{', '.join(sorted(RULES_WITH_DRAWS))} may be, leave {rule.slug} out of its grades"
        )


def judge_batch(target: Answerer, rule: Rule, at: Release, grade: Grade, batch: Sequence[tuple[Question, Outcome]]) -> list[
    Judgement
]:  # fmt: skip
    """The verdicts on a batch of questions, in order. What the release does not have is not put to the target."""
    put = [question for question, right in batch if isinstance(right, Answered)]
    said = iter(target.answer(rule, at, put))
    judged = []
    for question, right in batch:
        if not isinstance(right, Answered):
            why = right.why if isinstance(right, Unsupported) else right.what
            judged.append(Judgement(question, Unsupported(why)))
            continue
        verdict = _verdict(rule, at, grade, question, right, next(said), target.name)
        judged.append(Judgement(question, verdict, right.answer))
    return judged


def _verdict(rule: Rule, at: Release, grade: Grade, question: Question, right: Answered, said: Outcome,
             name: str) -> Verdict:  # fmt: skip
    if grade == "exact" or not isinstance(said, Answered):
        return _held(right, said, name)
    refused = admits(rule, question, at, said.answer)
    if refused is None:
        return Agrees()
    steps = said.answer.get("steps")
    return Differs(refused.as_answer(steps if isinstance(steps, list) else []), said.answer)


def _held(right: Answered, said: Outcome, name: str) -> Verdict:
    """Of a target, unlike of the reference, it is no breakdown to lack a part of a rule."""
    return said if isinstance(said, Unsupported) else judge(right, said, ("kafka", name))


def judge_shares(target: Answerer, rule: Rule, at: Release, seed: int) -> tuple[Distribution | None, list[Judgement]]:
    """The scenarios of a rule: the least likely distribution, and a judgement for each scenario and each breakdown."""
    found = [measure(target, rule, at, scenario) for scenario in scenarios(rule, seed)]
    judged = [judgement for one in found for judgement in _judged(one, target.name)]
    worst = min(found, key=lambda one: one.distribution.p_value, default=None)
    return (worst.distribution if worst else None), judged


def _judged(one: Measured, name: str) -> list[Judgement]:
    question, told = one.scenario.questions[0], one.distribution
    judged = [Judgement(question, _held(Answered({}), what, name)) for what in one.broken]
    if one.differs:
        shares = {"shares": [[i, round(chance, 4)] for i, chance in sorted(one.scenario.chances.items())]}
        counts = [[i, count] for i, count in zip(told.partitions, told.actual, strict=True)]
        seen = {"counts": counts, "scenario": told.title, **({"elsewhere": one.elsewhere[0]} if one.elsewhere else {})}
        judged.append(Judgement(question, Differs(shares, seen)))
    elif sum(told.actual):
        judged.append(Judgement(question, Agrees()))
    return judged
