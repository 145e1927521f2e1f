"""Diagnoses of clients that draw by themselves: a mistake is named if draws exist with which it gives every answer."""

from __future__ import annotations

import random
from itertools import islice
from typing import Any

import pytest
from msgspec.structs import replace

from kafka_conformance.core.mutant import Ask
from kafka_conformance.core.pipeline import Difference
from kafka_conformance.gate.admissible import admits
from kafka_conformance.gate.diagnosis.admissible import admitted_by, diagnose_admissible
from kafka_conformance.rules.builtin_partitioner.question import SendBytesStep
from kafka_conformance.rules.builtin_partitioner.rule import RULE
from kafka_conformance.rules.mutants import mutant_named
from kafka_reference.releases import NEWEST

RECORDS = [one for one in islice(RULE.plain(), 160) if set(map(type, one.steps)) == {SendBytesStep}]


def by(slug: str, seed: int) -> Ask:
    """A client with this mistake that makes its own draws."""
    drawn, mutant = random.Random(seed), mutant_named(slug)

    def ask(question: Any, release: Any) -> Any:
        draws = tuple(drawn.randrange(2**31) for _ in range(40))
        return mutant.ask(replace(question, draws=draws), release)

    return ask


def anywhere(seed: int) -> Ask:
    """A client that draws a partition for every record."""
    drawn = random.Random(seed)

    def ask(question: Any, _: Any) -> Any:
        count = len(question.cluster.partitions)
        return {"steps": [{"partition": drawn.randrange(count)} for _ in question.steps]}

    return ask


def judged(ask: Ask, questions: Any = RECORDS) -> tuple[list[Difference], list[tuple[Any, Any]]]:
    """The wrong and the right answers of a client."""
    wrong, right = [], []
    for question in questions:
        answer = ask(question, NEWEST)
        refused = admits(RULE, question, NEWEST, answer)
        if refused is None:
            right.append((question, answer))
        else:
            wrong.append(Difference(question, refused.as_answer(answer["steps"]), answer))
    return wrong, right


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("slug", ["switches-one-record-early", "crossing-record-moves", "counted-after-the-switch"])
def test_diagnosis_names_partition_switch_bug_of_builtin_partitioner_client_with_own_random_draws(
    slug: str, seed: int
) -> None:
    wrong, right = judged(by(slug, seed))
    (explained,) = diagnose_admissible(RULE, NEWEST, wrong, right, frozenset({"0"}))
    assert (explained.kinds, explained.candidate.slug) == ({"0"}, slug)
    found = explained.diagnosis
    assert found.mutant == slug
    assert (found.equal, found.also) == (found.wrong, found.right)
    assert min(found.wrong, found.right) > 10
    assert found.references == mutant_named(slug).references


@pytest.mark.parametrize("seed", range(3))
def test_client_that_picks_a_random_partition_for_every_record_gets_no_diagnosis(seed: int) -> None:
    wrong, right = judged(anywhere(seed))
    assert len(wrong) > 10
    assert diagnose_admissible(RULE, NEWEST, wrong, right) == ()


def test_one_correct_answer_that_the_diagnosed_bug_cannot_give_removes_the_diagnosis() -> None:
    wrong, right = judged(by("switches-one-record-early", 1))
    question = next(one for one in RECORDS if [step.bytes for step in one.steps] == [60, 60, 20, 60])
    javas = {"steps": [{"partition": number} for number in (0, 0, 1, 1)]}  # the mistake draws for the second record
    assert admits(RULE, question, NEWEST, javas) is None
    assert diagnose_admissible(RULE, NEWEST, wrong, [*right, (question, javas)]) == ()


def test_known_failure_diagnosis_covers_only_answers_that_the_named_bug_can_give() -> None:
    wrong, _ = judged(by("switches-one-record-early", 1))

    def admitted(slug: str) -> int:
        return sum(admitted_by(slug, RULE, NEWEST, one.question, one.actual) for one in wrong)

    assert admitted("switches-one-record-early") == len(wrong)
    assert admitted("counted-after-the-switch") < len(wrong)
    assert admitted("no such") == admitted("one-bit") == 0


def test_too_few_wrong_or_correct_answers_give_no_diagnosis() -> None:
    wrong, right = judged(by("switches-one-record-early", 1))
    assert diagnose_admissible(RULE, NEWEST, wrong[:2], right) == ()
    assert diagnose_admissible(RULE, NEWEST, wrong[:3], []) == ()
    assert diagnose_admissible(RULE, NEWEST, [], right) == ()


def test_wrong_answers_to_scripts_with_steps_other_than_byte_sends_get_no_diagnosis() -> None:
    others = [one for one in islice(RULE.plain(), 60) if set(map(type, one.steps)) != {SendBytesStep}]
    wrong, right = judged(by("no-plus-one", 1), others)
    assert len(wrong) > 3
    assert len(right) > 3
    assert diagnose_admissible(RULE, NEWEST, wrong, right) == ()
