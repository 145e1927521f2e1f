from __future__ import annotations

from itertools import chain
from typing import Any

import msgspec
import pytest
from questions import generated, missing_labels, space_questions

from kafka_conformance.core.protocol import to_json
from kafka_conformance.rules.producer_send.question import ProducerSendQuestion
from kafka_conformance.rules.producer_send.rule import RULE
from kafka_reference.errors import ConfigException, NotInThisRelease
from kafka_reference.releases import NEWEST, parse_release

QUESTION = b"""{"config": {"batch_size": 120, "linger_ms": 0, "buffer_memory": 250}, "leaders": [0, 1, 1],
    "draws": [4, 0, 0, 0, 0, 0], "steps": [
    {"op": "send", "key": "6b", "bytes": 30, "records": 3}, {"op": "run"}, {"op": "run"}, {"op": "flush"},
    {"op": "respond", "base_offset": 100, "node": 1}, {"op": "run"}, {"op": "look"}]}"""


def _ask(question: bytes, release: str = "4.4.0") -> Any:
    return RULE.ask(msgspec.json.decode(question, type=ProducerSendQuestion), parse_release(release))["steps"]


def test_producer_send_history_with_full_buffer_flush_and_response_has_documented_answers() -> None:
    batch = {"partition": 2, "records": [0], "producer_id": 1000, "epoch": 0, "sequence": 0}
    assert _ask(QUESTION) == [
        {
            "partitions": [2, 2, {"returns": "BufferExhaustedException", "partition": None}],
            "wakeups": 2,
            "ended": [[2, "BufferExhaustedException"]],
        },
        {"sent": [], "ended": [], "asked_id": 1},
        {"sent": [{"node": 1, "batches": [batch]}], "ended": []},
        {},
        {},
        {"sent": [{"node": 1, "batches": [batch | {"records": [1], "sequence": 1}]}], "ended": [[0, 100]]},
        {"queues": {"2": []}, "memory": 130, "now_ms": 0, "flushes": 1, "producer": [1000, 0], "state": "READY"},
    ]


def test_idempotence_with_acks_1_or_in_4_4_0_a_short_delivery_timeout_raises_config_exception() -> None:
    refused = QUESTION.replace(b'"linger_ms": 0', b'"idempotence": true, "acks": "1"')
    with pytest.raises(ConfigException, match="Must set acks to all"):
        _ask(refused)
    short = QUESTION.replace(b'"linger_ms": 0', b'"delivery_timeout_ms": 30000')
    with pytest.raises(ConfigException, match=r"delivery\.timeout\.ms should be equal to or larger"):
        _ask(short)
    assert _ask(short, "3.9.2")
    assert _ask(short, "2.0.1")


@pytest.mark.parametrize(
    ("partitioner", "releases"),
    [("round-robin", ["2.3.1"]), ("uniform-sticky", ["2.3.1", "4.0.2"]), ("default", ["4.0.2"])],
)
def test_send_question_with_partitioner_missing_in_release_raises_not_in_this_release(
    partitioner: str, releases: list[str]
) -> None:
    question = QUESTION.replace(b'"linger_ms": 0', b'"partitioner": "%s"' % partitioner.encode())
    for release in releases:
        with pytest.raises(NotInThisRelease):
            _ask(question, release)
    assert _ask(question, "2.8.2")


def test_producer_send_question_with_misspelt_field_raises_validation_error() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(QUESTION.replace(b"linger_ms", b"linger"), type=ProducerSendQuestion)


@pytest.mark.parametrize("space", RULE.spaces, ids=lambda space: space.name)
def test_producer_send_question_space_has_distinct_questions_that_round_trip_as_json(space: Any) -> None:
    questions = list(space.questions())
    assert len({to_json(question) for question in questions}) == len(questions)
    for question in questions[::97]:
        assert msgspec.json.decode(to_json(question), type=ProducerSendQuestion) == question


def test_over_a_quarter_of_generated_send_histories_have_30_steps_and_some_have_retries() -> None:
    asked = generated(RULE.slug, 300)[:60]
    assert sum(len(question.steps) >= 30 for question in asked) > len(asked) // 4
    assert {"sent again", "keyed", "flush waits"} <= {label for question in asked for label in RULE.labels(question)}


def test_producer_send_questions_cover_required_labels() -> None:
    questions = chain(generated(RULE.slug, 300), space_questions(RULE.slug)[::3])
    assert missing_labels(RULE.slug, questions) == set()


def test_producer_send_differences_are_grouped_by_partitioner_and_first_error() -> None:
    question = msgspec.json.decode(QUESTION, type=ProducerSendQuestion)
    assert RULE.path(question) == "no partitioner.class"
    wrong = QUESTION.replace(b'"base_offset": 100', b'"error": "INVALID_TIMESTAMP"')
    assert RULE.path(msgspec.json.decode(wrong, type=ProducerSendQuestion)) == "no partitioner.class, INVALID_TIMESTAMP"


def test_producer_send_explanation_shows_answer_and_state_per_step() -> None:
    question = msgspec.json.decode(QUESTION, type=ProducerSendQuestion)
    assert RULE.explain is not None
    explained = list(RULE.explain(question, NEWEST, _ask(QUESTION)))
    assert explained[0].answer == (
        "partition 2; partition 2; returns BufferExhaustedException; the sender is woken 2 times"
    )
    assert explained[2].answer == "records 0 of partition 2, epoch 0, sequence 0 to node 1"
    assert ("memory", "10 B") in explained[0].state
    assert ("flush", "1 call waiting") in explained[3].state
    assert [box.kind for box in explained[2].lanes[0].out] == ["sent"]
