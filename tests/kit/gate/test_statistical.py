"""Shares: a target that chooses by the right chances passes, one with a bias, or that uses dead partitions, does not."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from kafka_conformance.answerers.reference import ReferenceAnswerer, outcome_of
from kafka_conformance.core.protocol import Answered, Errored, Failed, Outcome, Question
from kafka_conformance.core.rule import Rule
from kafka_conformance.gate.grades import judge_distributions
from kafka_conformance.gate.statistical import UNLIKELY, measure, p_value, scenarios
from kafka_conformance.rules import RULES
from kafka_reference.releases import Release, parse_release

NEWEST = parse_release("4.4.0")
BUILTIN = RULES["builtin-partitioner"]


class _Chooser:
    """Answers every question by what ``choose`` says of its cluster."""

    name = "chooser"

    def __init__(self, choose: Callable[[Any], Any]) -> None:
        self._choose = choose

    def answer(self, _: Rule, __: Release, questions: Sequence[Question]) -> list[Outcome]:
        return [self._one(question) for question in questions]

    def _one(self, question: Any) -> Outcome:
        last = {"partition": self._choose(question.cluster)}
        return Answered({"steps": [*[{"range_end": 1}] * (len(question.steps) - 1), last]})


def _led(cluster: Any) -> list[int]:
    return [partition.id for partition in cluster.partitions if partition.leader is not None]


@pytest.mark.parametrize(
    ("slug", "at"),
    [("builtin-partitioner", "4.4.0"), ("default-partitioner", "3.9.2"), ("default-partitioner", "2.3.1"),
     ("uniform-sticky-partitioner", "2.8.2")],
)  # fmt: skip
def test_reference_partitioner_passes_the_statistical_test_of_the_rule(slug: str, at: str) -> None:
    for scenario in scenarios(RULES[slug], 7):
        measured = measure(ReferenceAnswerer(), RULES[slug], parse_release(at), scenario)
        assert not measured.differs, measured.distribution
        assert sum(measured.distribution.actual) == len(scenario.questions)


def _only(choose: Callable[[Any], Any], number: int) -> bool:
    return measure(_Chooser(choose), BUILTIN, NEWEST, scenarios(BUILTIN, 7)[number]).differs


def test_statistical_test_rejects_partitioner_that_favours_partition_0() -> None:
    dice = random.Random(3)
    assert not _only(lambda cluster: dice.choice(_led(cluster)), 0)
    assert _only(lambda cluster: dice.choice([*_led(cluster), 0]), 0)


def test_statistical_test_rejects_partitioner_that_rarely_chooses_a_partition_without_leader() -> None:
    dice = random.Random(3)
    assert not _only(lambda cluster: dice.choice(_led(cluster)), 1)
    assert _only(lambda cluster: 1 if dice.random() < 0.001 else dice.choice(_led(cluster)), 1)


def test_statistical_test_rejects_uniform_choice_that_ignores_queue_sizes() -> None:
    dice = random.Random(3)
    assert _only(lambda cluster: dice.choice(_led(cluster)), 2)
    assert not _only(lambda _: dice.choices(range(6), (6, 5, 4, 3, 2, 1))[0], 2)


@pytest.mark.parametrize("odd", [99, None, True, "0"])
def test_statistical_test_rejects_answer_that_is_not_a_partition_of_the_cluster(odd: Any) -> None:
    assert _only(lambda _: odd, 0)


def test_client_that_fails_every_question_is_not_judged_statistically() -> None:
    class Fails:
        name = "fails"

        def answer(self, _: Rule, __: Release, questions: Sequence[Question]) -> list[Outcome]:
            return [Failed("no")] * len(questions)

    measured = measure(Fails(), BUILTIN, NEWEST, scenarios(BUILTIN, 7)[0])
    assert not measured.differs
    assert len(measured.broken) == 4000


def test_deterministic_rule_has_no_statistical_scenario() -> None:
    assert scenarios(RULES["murmur2"], 1) == []


def test_p_value_bound_is_1_for_expected_counts_and_near_0_for_unlikely_counts() -> None:
    assert p_value([], []) == 1
    assert p_value([500, 500], [0.5, 0.5]) == 1
    assert p_value([1000, 0], [0.5, 0.5]) < UNLIKELY
    assert p_value([999, 1], [1.0, 0.0]) == 0


def test_failed_question_of_a_statistical_scenario_is_the_only_reported_error() -> None:
    rule = RULES["uniform-sticky-partitioner"]
    bad = scenarios(rule, 1)[0].questions[7]

    class Fails:
        name = "mine"

        def answer(self, rule: Rule, release: Release, questions: Sequence[Question]) -> list[Outcome]:
            return [Failed("no") if each == bad else outcome_of(rule.ask, each, release) for each in questions]

    judgements = next(
        each for each in judge_distributions(Fails(), rule, parse_release("3.2.3"), 1) if isinstance(each, list)
    )
    assert [each.question for each in judgements if isinstance(each.verdict, Errored)] == [bad]
