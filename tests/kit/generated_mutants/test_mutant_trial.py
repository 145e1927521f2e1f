"""Asking one mutant: what kills it, and what it is asked before."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_conformance.generated_mutants import mutant_trial
from kafka_conformance.generated_mutants.mutant_trial import ask_until_killed
from kafka_conformance.generated_mutants.questions import Asked, RuleQuestions
from kafka_conformance.rules import RULES

RULE = RULES["sequence-increment"]
ASKED = RuleQuestions(RULE, 1).asked("frozen")[:20]


class Wrong:
    """The rule, with a mistake at one question."""

    question = RULE.question

    def __init__(self, mistake: Any) -> None:
        self._mistake = mistake
        self._count = 0

    def ask(self, question: Any, release: Any) -> Any:
        self._count += 1
        return self._mistake(question, release) if self._count == 7 else RULE.ask(question, release)


def result_of(
    mistake: Any, monkeypatch: pytest.MonkeyPatch, questions: tuple[Asked, ...] = ASKED
) -> mutant_trial.Result:
    monkeypatch.setattr(mutant_trial, "rule_anew", lambda _: Wrong(mistake))
    monkeypatch.setattr(mutant_trial, "_LIMIT_S", 0.3)
    return ask_until_killed("key", questions)


def fail(*_: object) -> Any:
    raise ZeroDivisionError


def work_for_ever() -> None:
    while True:
        pass


@pytest.mark.parametrize(
    ("mistake", "how"),
    [
        (lambda *_: {"sequence": -7}, "differs"),
        (fail, "fails"),
        (lambda *_: object(), "fails"),
        (lambda *_: work_for_ever(), "takes too long"),
    ],
)
def test_mutant_is_killed_at_the_first_question_with_another_answer_exception_or_timeout(
    mistake: Any, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = result_of(mistake, monkeypatch)
    assert (result.verdict, result.asked, result.number, result.how) == ("frozen", 7, 6, how)
    assert result.killer == ASKED[6].name


def test_unmutated_reference_survives_all_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    result = result_of(RULE.ask, monkeypatch)
    assert (result.verdict, result.asked, result.killer) == ("survived", 20, "")


def test_mutant_killed_by_a_generated_question_is_recorded_as_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = RuleQuestions(RULE, 1).asked("fresh")[:20]
    result = result_of(fail, monkeypatch, fresh)
    assert result.verdict == "fresh"
    assert result.killer.startswith('fresh {"by":')


def test_mutant_whose_rule_fails_to_import_is_invalid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutant_trial, "rule_anew", fail)
    assert ask_until_killed("key", ASKED).verdict == "invalid"
