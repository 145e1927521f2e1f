from __future__ import annotations

from itertools import chain

import msgspec
import pytest
from questions import generated, missing_labels, space_questions

from kafka_conformance.core.protocol import to_json
from kafka_conformance.rules.producer_sequences.question import LookStep, ProducerSequencesQuestion
from kafka_conformance.rules.producer_sequences.rule import RULE
from kafka_reference.releases import NEWEST, parse_release

# As in the rule's page.
QUESTION = b"""{"config": {"idempotence": true, "acks": "all", "retries": 2147483647, "max_in_flight": 5, "batch_size": 120,
    "linger_ms": 0, "request_timeout_ms": 30, "delivery_timeout_ms": 100, "retry_backoff_ms": 0, "retry_backoff_max_ms": 0},
    "leaders": [0, 0], "draws": [], "producer": {"id": 7, "epoch": 0, "next_sequences": {"0": 5}}, "steps": [
    {"op": "append", "partition": 0, "records": 2, "bytes": 10}, {"op": "run"},
    {"op": "respond", "base_offset": 100}, {"op": "run"}, {"op": "look"}]}"""


def test_the_pinned_question_as_anyone_would_write_it() -> None:
    question = msgspec.json.decode(QUESTION, type=ProducerSequencesQuestion)
    sent = {"partition": 0, "records": [0, 1], "producer_id": 7, "epoch": 0, "sequence": 5}
    partition = {
        "next": 7, "last_acknowledged": 6, "in_flight": [], "unresolved": None, "last_offset": 101, "producer": [7, 0],
    }  # fmt: skip
    assert RULE.ask(question, NEWEST)["steps"] == [
        {},
        {"sent": [{"node": 0, "batches": [sent]}], "ended": []},
        {},
        {"sent": [], "ended": [[0, 100], [1, 101]]},
        {"queues": {"0": []}, "now_ms": 0, "producer": [7, 0], "state": "READY", "partitions": {"t-0": partition}},
    ]


def test_a_misspelt_field_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(QUESTION.replace(b"base_offset", b"offset"), type=ProducerSequencesQuestion)


def test_an_error_that_the_release_does_not_have_is_no_answer() -> None:
    text = QUESTION.replace(b'"base_offset": 100', b'"error": "UNKNOWN_PRODUCER_ID"')
    question = msgspec.json.decode(text, type=ProducerSequencesQuestion)
    steps = RULE.ask(question, parse_release("0.11.0.3"))["steps"]
    assert steps[3] == {"sent": [], "ended": []}
    assert steps[4]["queues"] == {"0": []}


@pytest.mark.parametrize("space", RULE.spaces, ids=lambda space: space.name)
def test_questions_of_spaces_are_questions(space: object) -> None:
    for question in list(space.questions())[::97]:  # type: ignore[attr-defined]
        assert msgspec.json.decode(to_json(question), type=ProducerSequencesQuestion) == question
        assert question.steps[-1] == LookStep() or question.steps


def test_histories_are_long_and_of_every_kind() -> None:
    asked = generated(RULE.slug, 150)[:60]
    assert sum(len(question.steps) >= 30 for question in asked) > len(asked) // 3
    found = {label for question in asked for label in RULE.labels(question)}
    assert {"not idempotent", "sent again", "another epoch"} <= found


def test_required_labels_occur_in_the_spaces_and_a_few_histories() -> None:
    questions = chain(generated(RULE.slug, 150), space_questions(RULE.slug)[::3])
    assert missing_labels(RULE.slug, questions) == set()


def test_paths_go_by_what_goes_wrong_first() -> None:
    question = msgspec.json.decode(QUESTION, type=ProducerSequencesQuestion)
    assert RULE.path(question) == "idempotent"
    wrong = QUESTION.replace(b'"base_offset": 100', b'"error": "INVALID_TIMESTAMP"').replace(b"true", b"false")
    assert RULE.path(msgspec.json.decode(wrong, type=ProducerSequencesQuestion)) == "not idempotent, INVALID_TIMESTAMP"


def test_explained_step_by_step() -> None:
    question = msgspec.json.decode(QUESTION, type=ProducerSequencesQuestion)
    answers = RULE.ask(question, NEWEST)["steps"]
    assert RULE.explain is not None
    explained = list(RULE.explain(question, NEWEST, answers))
    assert [one.answer for one in explained] == [
        "–", "records 0, 1 of partition 0, epoch 0, sequence 5 to node 0", "–",
        "record 0 is at offset 100; record 1 is at offset 101",
        "see the state",
    ]  # fmt: skip
    assert ("producer", "id 7, epoch 0") in explained[0].state
    assert [box.kind for box in explained[0].lanes[0].queue] == ["open"]
    assert [box.kind for box in explained[1].lanes[0].out] == ["sent"]
