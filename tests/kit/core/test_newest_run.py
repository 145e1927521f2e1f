"""One run of the reference in the newest release that labels a question and answers it."""

from __future__ import annotations

from collections import Counter
from threading import Thread
from typing import Any

import pytest
from tests.shared.questions import generated, space_questions

from kafka_conformance.answerers.reference import LabellingAnswerer, ReferenceAnswerer
from kafka_conformance.core.newest_run import Watch, keep_run, newest_answer
from kafka_conformance.core.protocol import Answer, Answered
from kafka_conformance.rules import RULES
from kafka_reference.releases import NEWEST, Release, parse_release

LABELLED_BY_RUN = (
    "broker-producer-state", "delivery", "high-watermark", "isr", "log-segment", "offset-index", "produce-acks",
    "producer-send", "producer-sequences", "record-accumulator", "record-batch", "record-sizes", "time-index",
)  # fmt: skip


def some_questions(slug: str) -> tuple[Any, ...]:
    """Return about fifty questions of a rule's spaces, and a few generated ones."""
    questions = space_questions(slug)
    return (*questions[:: len(questions) // 50], *generated(slug, 10))


class History:
    """Adds numbers."""

    def __init__(self, begin: int) -> None:
        self.total = begin

    def take(self, step: int) -> int:
        """Add ``step``."""
        self.total += step
        return self.total


class Noted(Watch):
    """Notes what is seen of a history."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def begin(self, history: History) -> None:
        self.seen.append(history.total)

    def before(self, history: History, step: int) -> int:  # noqa: ARG002
        return history.total

    def after(self, history: History, step: int, before: int, answer: int) -> None:
        self.seen.append((before, step, answer, history.total))


def add(question: Any, _: Release) -> Answer:
    history = History(10)
    return {"steps": [history.take(step) for step in question]}


def fail(question: Any, _: Release) -> Answer:
    History(0).take(1)
    raise ValueError(question)


def test_history_watch_records_steps_and_restores_methods_after_exception() -> None:
    noted, own = Noted(), (History.__init__, History.take)
    assert newest_answer(add, (1, 2), History, noted) == add((1, 2), NEWEST)  # type: ignore[arg-type]
    assert noted.seen == [10, (10, 1, 11, 11), (11, 2, 13, 13)]
    with pytest.raises(ValueError, match="7"):
        newest_answer(fail, 7, History, noted)  # type: ignore[arg-type]
    assert (History.__init__, History.take) == own


def test_history_watch_ignores_steps_taken_in_another_thread() -> None:
    def add_elsewhere(question: Any, release: Release) -> Answer:
        other = Thread(target=add, args=((5, 6), release))
        other.start()
        other.join()
        return add(question, release)

    noted = Noted()
    newest_answer(add_elsewhere, (1,), History, noted)  # type: ignore[arg-type]
    assert noted.seen == [10, (10, 1, 11, 11)]


def test_kept_run_returns_answer_only_for_identical_question_rule_and_release() -> None:
    question: Any = (1,)
    with keep_run() as run:
        answer = newest_answer(add, question)
    assert run.answer_of(add, question, NEWEST) is answer
    assert run.answer_of(fail, question, NEWEST) is None
    assert run.answer_of(add, tuple([1]), NEWEST) is None  # type: ignore[arg-type]  # noqa: C409  equal, another object
    assert run.answer_of(add, question, parse_release("3.9.2")) is None
    newest_answer(add, (2,))  # type: ignore[arg-type]
    assert run.answer_of(add, question, NEWEST) is answer, "nothing is kept after the block"


@pytest.mark.parametrize("slug", LABELLED_BY_RUN)
def test_labelling_answerer_equals_reference_and_rule_labels_and_over_half_of_runs_are_kept(slug: str) -> None:
    rule, questions = RULES[slug], some_questions(slug)
    labelling = LabellingAnswerer(ReferenceAnswerer())
    assert labelling.answer(rule, NEWEST, questions) == ReferenceAnswerer().answer(rule, NEWEST, questions)
    assert labelling.labels == Counter(label for question in questions for label in rule.labels(question))
    kept = 0
    for question in questions:
        with keep_run() as run:
            list(rule.labels(question))
        kept += run.answer_of(rule.ask, question, NEWEST) is not None
    assert kept > len(questions) / 2, "the run that labels is one of the rule's own reference"


def test_labelling_answerer_returns_answers_of_the_wrapped_mutant() -> None:
    rule, questions = RULES["isr"], some_questions("isr")
    wrong = LabellingAnswerer(ReferenceAnswerer("wrong", lambda *_: {"wrong": 1}))
    assert wrong.answer(rule, NEWEST, questions) == [Answered({"wrong": 1})] * len(questions)
