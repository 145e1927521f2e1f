from __future__ import annotations

from typing import Any

import msgspec
import pytest
from questions import generated, missing_labels, space_questions

from kafka_conformance.rules.high_watermark.question import HighWatermarkQuestion
from kafka_conformance.rules.high_watermark.rule import RULE
from kafka_reference.releases import parse_release


def ask(question: bytes, version: str = "4.4.0") -> Any:
    typed = msgspec.json.decode(question, type=HighWatermarkQuestion)
    return RULE.ask(typed, parse_release(version))["steps"]


def test_high_watermark_advances_after_both_followers_fetch() -> None:
    (question,) = RULE.plain()
    steps = RULE.ask(question, parse_release("4.4.0"))["steps"]
    assert [step["high_watermark"] for step in steps] == [0, 0, 0, 0, 0, 5]


@pytest.mark.parametrize(("version", "expected"), [("3.9.2", (3, 3)), ("4.0.0", (0, 0))])
def test_fetch_inside_a_batch_advances_high_watermark_only_before_4_0(version: str, expected: tuple[int, int]) -> None:
    steps = ask(
        b"""{"steps": [{"op": "lead", "epoch": 1, "partition_epoch": 1, "in_sync": [1, 2], "replicas": [1, 2]},
        {"op": "append", "records": 5}, {"op": "fetch", "replica": 2, "offset": 3, "broker_epoch": 102}]}""",
        version,
    )
    assert (steps[2]["followers"][0][1], steps[2]["high_watermark"]) == expected


@pytest.mark.parametrize(("version", "end"), [("3.9.0", 3), ("3.9.1", 1), ("4.0.0", 3), ("4.0.1", 1)])
def test_follower_refuses_newer_epoch_batch_since_3_9_1_and_4_0_1(version: str, end: int) -> None:
    steps = ask(
        b"""{"steps": [{"op": "follow", "epoch": 1, "partition_epoch": 1}, {"op": "replicate", "batches": [
        {"offset": 0, "records": 1, "epoch": 1}, {"offset": 1, "records": 2, "epoch": 2}]}]}""",
        version,
    )
    assert steps[1]["end"] == end


def test_high_watermark_questions_cover_required_labels() -> None:
    assert not missing_labels(RULE.slug, [*space_questions(RULE.slug), *generated(RULE.slug, 500)])


def test_everyday_and_all_enumerated_high_watermark_questions_are_in_domain() -> None:
    assert not any(RULE.domain(question) for question in (*RULE.plain(), *space_questions(RULE.slug)))


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (b'{"op": "lead", "epoch": 1, "partition_epoch": 1, "in_sync": [2]}', "is in sync"),
        (b'{"op": "lead", "epoch": 1, "partition_epoch": 1, "in_sync": [1, 1]}', "twice"),
        (b'{"op": "follow", "epoch": 1, "partition_epoch": 1, "leader": 4}', "assigned"),
        (b'{"op": "append"}', "the metadata know"),
        (b'{"op": "truncate", "offset": 0}', "copies its leader's log"),
    ],
)
def test_high_watermark_question_out_of_domain_has_a_reason(step: bytes, why: str) -> None:
    question = msgspec.json.decode(b'{"steps": [' + step + b"]}", type=HighWatermarkQuestion)
    assert why in RULE.domain(question)
