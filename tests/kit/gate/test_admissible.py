"""Admissible answers: whatever draws the target used, its answer is allowed; what no draws give is not."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import msgspec
import pytest
from questions import generated, shipped_cases, space_questions

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.protocol import Answered
from kafka_conformance.gate.admissible import RULES_WITH_DRAWS, admits, countable
from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.clusters import AskedCluster, AskedNode, AskedPartition
from kafka_conformance.rules.common.partitioner_steps import PartitionStep, StickyQuestion
from kafka_conformance.rules.common.scripts import ClusterStep
from kafka_conformance.rules.mutants import MUTANTS
from kafka_reference.java.thread_local_random import seed_for
from kafka_reference.releases import parse_release

ASKED = [
    ("builtin-partitioner", "4.4.0"),
    ("default-partitioner", "3.9.2"),
    ("default-partitioner", "2.3.1"),
    ("uniform-sticky-partitioner", "3.9.2"),
]


@cache
def _questions(slug: str) -> list[Any]:
    asked = [*generated(slug, 300)[:100], *random.Random(5).sample(space_questions(slug), 600)]
    return [question for question in asked if countable(RULES[slug], question)]


def _other_draws(question: Any, number: int) -> Any:
    if hasattr(question, "seed"):
        return msgspec.structs.replace(question, seed=number * 7919)
    return msgspec.structs.replace(question, draws=tuple((number * 2654435761 + k * 40503) % 2**31 for k in range(40)))


@pytest.mark.parametrize(("slug", "at"), ASKED)
def test_partitioner_answer_of_the_reference_with_other_random_draws_is_accepted(slug: str, at: str) -> None:
    rule, judged = RULES[slug], 0
    for question in _questions(slug):
        other = outcome_of(rule.ask, _other_draws(question, judged), parse_release(at))
        if isinstance(other, Answered):
            judged += 1
            assert admits(rule, question, parse_release(at), other.answer) is None
    assert judged > 100


@pytest.mark.parametrize(("slug", "at"), ASKED)
def test_answer_with_nonexistent_partition_is_rejected_with_the_step_and_the_allowed_partitions(
    slug: str, at: str
) -> None:
    rule, judged = RULES[slug], 0
    for question in _questions(slug):
        right = outcome_of(rule.ask, _other_draws(question, 0), parse_release(at))
        steps = right.answer.get("steps", []) if isinstance(right, Answered) else []
        placed = [number for number, step in enumerate(steps) if step.get("partition", -1) >= 0]
        if placed:
            judged += 1
            wrong = [dict(step) for step in steps]
            wrong[placed[-1]]["partition"] = 999
            refused = admits(rule, question, parse_release(at), {"steps": wrong})
            assert refused is not None
            assert refused.step == placed[-1]
            assert any(step.get("partition", -1) >= 0 for step in refused.allowed)
            assert refused.as_answer(wrong)["steps"][-1] == {"one of": list(refused.allowed)}
    assert judged > 20


def test_builtin_partitioner_answer_with_missing_or_empty_steps_is_rejected() -> None:
    rule, at = RULES["builtin-partitioner"], parse_release("4.4.0")
    question = _questions("builtin-partitioner")[0]
    assert admits(rule, question, at, {"partition": 0}) is not None
    assert admits(rule, question, at, {"steps": []}) is not None


def test_question_of_deterministic_murmur2_rule_has_no_random_draws_to_enumerate() -> None:
    question = RULES["murmur2"].question("00")  # type: ignore[call-arg]
    assert not countable(RULES["murmur2"], question)


# What these do is allowed, with other draws: they differ in how many are used, or in what one means.
ONLY_DRAWS = {
    "default-counts-on", "default-draw-for-one", "uniform-counts-on", "uniform-draw-for-one", "draws-for-choices-only",
    "search-off-by-one",
}  # fmt: skip
# These show in few questions, which the pool may lack: Hypothesis makes others of the same seed when code changes.
RARE = {"null-rack-is-empty", "rack-ignored", "deferred-forgotten", "wide-arithmetic"}


def _notices(slug: str) -> bool:
    mutant = next(mutant for mutant in MUTANTS if mutant.slug == slug)
    rule = RULES[mutant.rule]
    cases = [
        case for case in shipped_cases(mutant.rule).cases if slug in case.kills and str(mutant.release) in case.releases
    ]
    named = [question for case in cases[:40] if countable(rule, question := case.typed_question(rule))]
    for question in (*named, *_questions(mutant.rule)):
        wrong = outcome_of(mutant.ask, question, mutant.release)
        if isinstance(wrong, Answered) and admits(rule, question, mutant.release, wrong.answer) is not None:
            return True
    return False


WITH_DRAWS = sorted({mutant.slug for mutant in MUTANTS if mutant.rule in RULES_WITH_DRAWS} - RARE)
OFTEN = WITH_DRAWS[1::6]


@pytest.mark.parametrize(
    "slug", [pytest.param(each, marks=() if each in OFTEN else pytest.mark.exhaustive) for each in WITH_DRAWS]
)
def test_mutant_gives_some_rejected_answer_unless_the_mutation_only_changes_random_draws(slug: str) -> None:
    assert _notices(slug) == (slug not in ONLY_DRAWS)


def test_default_partitioner_2_3_1_answer_with_counter_begun_at_last_partition_is_accepted() -> None:
    """While one partition alone is led every beginning answers alike: which one it was shows much later."""
    rule, at = RULES["default-partitioner"], parse_release("2.3.1")
    nodes = (AskedNode(0),)
    one_led = AskedCluster(nodes, tuple(AskedPartition(number, None if number else 0) for number in range(12)))
    all_led = AskedCluster(nodes, tuple(AskedPartition(number, 0) for number in range(12)))
    placed = tuple(PartitionStep(topic) for topic in "tuv")
    question = StickyQuestion(0, one_led, (*placed, ClusterStep(all_led), *placed))
    assert countable(rule, question)
    last = rule.ask(msgspec.structs.replace(question, seed=seed_for(11)), at)
    assert last["steps"][4]["partition"] == 0, "the counter of the first topic stood at the last place"
    assert admits(rule, question, at, last) is None
