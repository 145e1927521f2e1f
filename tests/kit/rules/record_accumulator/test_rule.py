from __future__ import annotations

from itertools import chain
from typing import Any

import msgspec
import pytest
from questions import missing_labels

from kafka_conformance.core.protocol import to_json
from kafka_conformance.rules.record_accumulator.generators import spelled_history
from kafka_conformance.rules.record_accumulator.question import (
    LookStep,
    RecordAccumulatorQuestion,
)
from kafka_conformance.rules.record_accumulator.rule import RULE
from kafka_conformance.rules.record_accumulator.sequence_spaces import every_way_round
from kafka_conformance.rules.record_accumulator.spaces import (
    every_end_of_a_batch,
    every_producers_choice,
    every_rare_answer,
    every_short_history,
)
from kafka_reference.releases import parse_release

# As in the rule's page.
QUESTION = b"""{"config": {"batch_size": 16384, "linger_ms": 5, "retry_backoff_ms": 100, "retry_backoff_max_ms": 1000,
    "delivery_timeout_ms": 120000, "buffer_memory": 33554432, "adaptive": true, "availability_timeout_ms": 0},
    "cluster": {"nodes": [{"id": 0}], "partitions": [{"id": 0, "leader": 0}]}, "draws": [7],
    "steps": [{"op": "append", "partition": 0, "key": null, "value": "00", "timestamp": 0}, {"op": "advance", "ms": 5},
        {"op": "ready"}, {"op": "drain", "nodes": [0], "max_size": 1048576}, {"op": "reenqueue", "batch": 0},
        {"op": "ready"}, {"op": "load"}, {"op": "complete", "batch": 0}, {"op": "look"}]}"""


def test_documented_accumulator_history_with_linger_drain_and_retry_has_documented_answers() -> None:
    question = msgspec.json.decode(QUESTION, type=RecordAccumulatorQuestion)
    answer = RULE.ask(question, parse_release("3.6.2"))
    assert answer["steps"] == [
        {"partition": 0, "batch_full": False, "new_batch": True, "bytes": 69},
        {},
        {"nodes": [0], "delay_ms": None, "unknown_leader_topics": []},
        {"batches": [{"id": 0, "partition": 0, "records": 1}]},
        {},
        {"nodes": [], "delay_ms": 100, "unknown_leader_topics": []},
        None,
        {},
        {"queues": {"t-0": [[0, 1, 69]]}, "incomplete": [0], "undrained": True, "memory": 33554432 - 16384},
    ]


@pytest.mark.parametrize("field", ["bytes", "partitions"])
def test_accumulator_question_with_misspelt_field_raises_validation_error(field: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(QUESTION.replace(b'"partition"', f'"{field}"'.encode()), type=RecordAccumulatorQuestion)


def test_history_generated_from_empty_or_zero_bytes_only_inspects_the_accumulator_state() -> None:
    assert spelled_history(b"").steps == (LookStep(),)
    assert spelled_history(bytes(60)).steps == (LookStep(),)


def test_over_half_of_generated_accumulator_histories_have_50_steps_and_spaces_add_missing_labels(
    histories: list[Any],
) -> None:
    assert sum(len(question.steps) >= 50 for question in histories) > 150
    questions = chain(histories, every_rare_answer(), every_producers_choice(), every_way_round())
    assert missing_labels(RULE.slug, questions) == set()


def test_accumulator_questions_are_equal_after_json_round_trip(histories: list[Any]) -> None:
    for question in histories[:50]:
        assert msgspec.json.decode(to_json(question), type=RecordAccumulatorQuestion) == question


def test_accumulator_question_spaces_have_all_histories_of_up_to_four_steps() -> None:
    assert sum(1 for _ in every_short_history()) == 11 + 11**2 + 11**3 + 11**4
    assert sum(1 for _ in every_end_of_a_batch()) == 8 + 8**2 + 8**3 + 8**4
