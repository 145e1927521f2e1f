from __future__ import annotations

from typing import Any

import msgspec
import pytest
from questions import generated, missing_labels, space_questions

from kafka_conformance.rules.isr.question import InSyncQuestion
from kafka_conformance.rules.isr.rule import RULE
from kafka_reference.releases import parse_release


def ask(question: bytes, version: str = "4.4.0") -> Any:
    return RULE.ask(msgspec.json.decode(question, type=InSyncQuestion), parse_release(version))["steps"]


def test_isr_drops_lagging_follower_and_readmits_after_catch_up() -> None:
    (question,) = RULE.plain()
    steps = RULE.ask(question, parse_release("4.4.0"))["steps"]
    assert [step["in_sync"] for step in steps[7:]] == [[1, 2, 3], [1, 2], [1, 2], [1, 2, 3]]
    assert [step["maximal"] for step in steps[7:]] == [[1, 2, 3], [1, 2], [1, 2, 3], [1, 2, 3]]
    assert steps[7]["sent"] == [{"in_sync": [[1, 100], [2, 102]], "leader_epoch": 1, "partition_epoch": 1}]


@pytest.mark.parametrize(("version", "sent"), [("3.4.1", [[1], [2], [3]]), ("3.5.0", [[1, 100], [2, -1], [3, 103]])])
def test_alter_partition_request_has_broker_epochs_since_3_5(version: str, sent: list[list[int]]) -> None:
    steps = ask(
        b"""{"steps": [{"op": "lead", "epoch": 1, "partition_epoch": 1, "in_sync": [1, 2]},
        {"op": "fetch", "replica": 3, "offset": 0, "broker_epoch": 103}]}""",
        version,
    )
    assert [request["in_sync"] for request in steps[1]["sent"]] == [sent]


def test_isr_questions_cover_required_labels() -> None:
    assert not missing_labels(RULE.slug, [*space_questions(RULE.slug), *generated(RULE.slug, 500)])


def test_everyday_and_all_enumerated_isr_questions_are_in_domain() -> None:
    assert not any(RULE.domain(question) for question in (*RULE.plain(), *space_questions(RULE.slug)))
