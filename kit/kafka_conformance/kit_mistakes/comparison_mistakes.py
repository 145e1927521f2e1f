"""Mistakes of the comparison: everything is equal, or the first field or step alone is compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kafka_conformance.core import pipeline
from kafka_conformance.core.protocol import Agrees, Answer, Answered, Outcome, Question, Verdict, judge
from kafka_conformance.core.rule import Rule
from kafka_conformance.gate import answer_parts, grades
from kafka_conformance.gate.answer_parts import is_same
from kafka_conformance.gate.grades import GradedComparison
from kafka_conformance.kit_mistakes.mistake import Mistake, Plant, replacing

__all__ = ["COMPARISON_MISTAKES"]


def _judging(equal: Callable[[Answer, Answer], bool]) -> Plant:
    """Two answers that are ``equal`` agree; all else is judged as always."""

    def wrong(expected: Outcome, actual: Outcome, names: tuple[str, str]) -> Verdict:
        match expected, actual:
            case Answered(one), Answered(other) if equal(one, other):
                return Agrees()
        return judge(expected, actual, names)

    def same(one: Answer, other: Answer) -> bool:
        return equal(one, other) or is_same(one, other)

    return replacing((pipeline, "judge", wrong), (grades, "judge", wrong), (answer_parts, "is_same", same))


def _first_field(one: Answer, other: Answer) -> bool:
    name = min(one, default="")
    return name != "steps" and one.get(name) == other.get(name)


def _first_step(one: Answer, other: Answer) -> bool:
    return "steps" in one and "steps" in other and one["steps"][:1] == other["steps"][:1]


def _echoed(
    self: GradedComparison, rule: Rule, questions: Sequence[Question]
) -> tuple[Sequence[Outcome], Sequence[Outcome]]:
    actual = self.actual.answer(rule, self.release, questions)
    return actual, actual


COMPARISON_MISTAKES: Sequence[Mistake] = (
    Mistake("all-equal", "all answers are equal",
            ("verify, wrong reference", "verify, wrong Java", "selftest", "gate, wrong", "gate, counts"),
            _judging(lambda *_: True)),
    Mistake("first-field", "only the first field of two answers is compared", ("selftest",), _judging(_first_field)),
    Mistake("first-step", "only the first step of two scripts is compared", ("selftest",), _judging(_first_step)),
    Mistake("gate-echo", "a gate expects what the target answers", ("gate, wrong", "gate, counts"),
            replacing((GradedComparison, "outcomes", _echoed))),
    Mistake("any-draw-admissible", "a target that makes its own draws may answer anything", ("gate, own draws",),
            replacing((grades, "admits", lambda *_: None))),
)  # fmt: skip
