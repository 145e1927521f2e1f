from __future__ import annotations

from typing import Any

import msgspec
import pytest
from questions import generated, missing_labels, space_questions

from kafka_conformance.rules.produce_acks.question import ProduceQuestion
from kafka_conformance.rules.produce_acks.rule import RULE
from kafka_reference.releases import parse_release


def ask(question: bytes, version: str = "4.4.0") -> Any:
    return RULE.ask(msgspec.json.decode(question, type=ProduceQuestion), parse_release(version))["steps"]


def test_produce_response_waits_for_the_replicas_required_by_acks() -> None:
    (question,) = RULE.plain()
    steps = RULE.ask(question, parse_release("4.4.0"))["steps"]
    assert [step["responses"] for step in steps] == [
        [], [], [], [[0, "NONE", 0]], [[1, "NONE", 2]], [[2, "NONE", 3]], [], [],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("version", "responses"), [("3.6.2", [[0, "NOT_ENOUGH_REPLICAS_AFTER_APPEND", 0]]), ("3.7.0", [])]
)
def test_isr_below_minimum_after_append_fails_produce_only_before_3_7(version: str, responses: list[Any]) -> None:
    steps = ask(
        b"""{"min_in_sync": 2, "steps": [{"op": "lead", "epoch": 1, "partition_epoch": 1, "in_sync": [1, 2]},
        {"op": "produce", "acks": -1}, {"op": "wait", "ms": 101}, {"op": "shrink"},
        {"op": "respond", "partition_epoch": 2}]}""",
        version,
    )
    assert steps[4]["responses"] == responses


def test_produce_acks_questions_cover_required_labels() -> None:
    assert not missing_labels(RULE.slug, [*space_questions(RULE.slug), *generated(RULE.slug, 500)])


def test_everyday_and_all_enumerated_produce_acks_questions_are_in_domain() -> None:
    assert not any(RULE.domain(question) for question in (*RULE.plain(), *space_questions(RULE.slug)))
