from __future__ import annotations

from functools import partial
from itertools import chain
from random import Random
from typing import Any

import msgspec
import pytest
from questions import generated, missing_labels, space_questions

from kafka_conformance.core.protocol import to_json
from kafka_conformance.rules.producer_sequences import explain
from kafka_conformance.rules.producer_sequences.adapter import SenderHistory
from kafka_conformance.rules.producer_sequences.question import LookStep, ProducerSequencesQuestion
from kafka_conformance.rules.producer_sequences.rule import RULE
from kafka_reference.idempotence.batch_actions import TABLE
from kafka_reference.idempotence.sender import Sender
from kafka_reference.releases import NEWEST, parse_release

# As in the rule's page.
QUESTION = b"""{"config": {"idempotence": true, "acks": "all", "retries": 2147483647, "max_in_flight": 5, "batch_size": 120,
    "linger_ms": 0, "request_timeout_ms": 30, "delivery_timeout_ms": 100, "retry_backoff_ms": 0, "retry_backoff_max_ms": 0},
    "leaders": [0, 0], "draws": [], "producer": {"id": 7, "epoch": 0, "next_sequences": {"0": 5}}, "steps": [
    {"op": "append", "partition": 0, "records": 2, "bytes": 10}, {"op": "run"},
    {"op": "respond", "base_offset": 100}, {"op": "run"}, {"op": "look"}]}"""


def test_idempotent_producer_history_of_send_and_acknowledgement_has_documented_answers() -> None:
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


def test_producer_sequences_question_with_misspelt_field_raises_validation_error() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(QUESTION.replace(b"base_offset", b"offset"), type=ProducerSequencesQuestion)


def test_response_with_error_unknown_to_the_release_neither_ends_nor_requeues_the_batch() -> None:
    text = QUESTION.replace(b'"base_offset": 100', b'"error": "UNKNOWN_PRODUCER_ID"')
    question = msgspec.json.decode(text, type=ProducerSequencesQuestion)
    steps = RULE.ask(question, parse_release("0.11.0.3"))["steps"]
    assert steps[3] == {"sent": [], "ended": []}
    assert steps[4]["queues"] == {"0": []}


@pytest.mark.parametrize("space", RULE.spaces, ids=lambda space: space.name)
def test_producer_sequences_space_questions_round_trip_as_json_and_end_with_a_look_step(space: object) -> None:
    for question in list(space.questions())[::97]:  # type: ignore[attr-defined]
        assert msgspec.json.decode(to_json(question), type=ProducerSequencesQuestion) == question
        assert question.steps[-1] == LookStep()


def test_over_a_third_of_sender_histories_have_30_steps_some_retries_or_epoch_bumps() -> None:
    asked = generated(RULE.slug, 150)[:60]
    assert sum(len(question.steps) >= 30 for question in asked) > len(asked) // 3
    found = {label for question in asked for label in RULE.labels(question)}
    assert {"not idempotent", "sent again", "another epoch"} <= found


def test_producer_sequences_question_spaces_and_strategy_together_cover_required_labels() -> None:
    spread = Random(0).sample(space_questions(RULE.slug), 3_800)  # in order, a rare label is found late
    questions = chain(generated(RULE.slug, 150), spread)
    assert missing_labels(RULE.slug, questions) == set()


def test_producer_sequences_differences_are_grouped_by_idempotence_and_first_error() -> None:
    question = msgspec.json.decode(QUESTION, type=ProducerSequencesQuestion)
    assert RULE.path(question) == "idempotent"
    wrong = QUESTION.replace(b'"base_offset": 100', b'"error": "INVALID_TIMESTAMP"').replace(b"true", b"false")
    assert RULE.path(msgspec.json.decode(wrong, type=ProducerSequencesQuestion)) == "not idempotent, INVALID_TIMESTAMP"


def test_producer_sequences_explanation_shows_answer_and_state_per_step() -> None:
    question = msgspec.json.decode(QUESTION, type=ProducerSequencesQuestion)
    answers = RULE.ask(question, NEWEST)["steps"]
    assert RULE.explain is not None
    explained = list(RULE.explain(question, NEWEST, answers))
    assert [one.answer for one in explained] == [
        "–", "records 0, 1 of partition 0, epoch 0, sequence 5 to node 0", "–",
        "record 0 is at offset 100; record 1 is at offset 101",
        ("producer 7, epoch 0, READY; queue of 0: empty; partition t-0: next 7, last_acknowledged 6, in_flight [], "
         "unresolved null, last_offset 101, producer [7,0]"),
    ]  # fmt: skip
    assert ("producer", "id 7, epoch 0") in explained[0].state
    assert [box.kind for box in explained[0].lanes[0].queue] == ["open"]
    assert [box.kind for box in explained[1].lanes[0].out] == ["sent"]


CONFIG = {
    "idempotence": True, "acks": "all", "retries": 3, "max_in_flight": 5, "batch_size": 1, "linger_ms": 0,
    "request_timeout_ms": 50, "delivery_timeout_ms": 200, "retry_backoff_ms": 0, "retry_backoff_max_ms": 0,
}  # fmt: skip
SENT = [{"op": "append", "partition": 0}, {"op": "run"}]


def reasons_of(steps: list[Any], version: str = "4.4.0", **config: Any) -> list[str]:
    question = msgspec.convert(
        {
            "config": {**CONFIG, **config},
            "leaders": [0],
            "draws": [1] * 30,
            "producer": {"id": 5, "epoch": 2},
            "steps": steps,
        },
        ProducerSequencesQuestion,
    )
    release = parse_release(version)
    assert RULE.explain is not None
    explained = RULE.explain(question, release, RULE.ask(question, release)["steps"])
    return [reason for one in explained for reason in one.reasons]


def answered(error: str, *before: Any) -> list[Any]:
    return [*SENT, *before, {"op": "respond", "error": error}, {"op": "run"}]


LEFT = "retries are left after attempt 1"
CURRENT = "its id and epoch are the current ones"
BUMP = (
    "it is of this producer, no batch comes before it, a sequence error begins another epoch, it waits for no unresolved "
    "batch → retried, another epoch is requested"
)


@pytest.mark.parametrize(
    ("steps", "config", "reason"),
    [
        (answered("NOT_ENOUGH_REPLICAS"), {}, f"received NOT_ENOUGH_REPLICAS: {LEFT}, {CURRENT} → retried"),
        (answered("NOT_ENOUGH_REPLICAS"), {"retries": 0}, "received NOT_ENOUGH_REPLICAS: no retry is left of 0 → fails"),
        (answered("INVALID_TIMESTAMP"), {}, "received INVALID_TIMESTAMP: the error is not retriable → fails"),
        (answered("MESSAGE_TOO_LARGE"), {}, "received MESSAGE_TOO_LARGE: it has one record, or has ended → fails"),
        (answered("OUT_OF_ORDER_SEQUENCE_NUMBER"), {}, f"received OUT_OF_ORDER_SEQUENCE_NUMBER: {LEFT}, {BUMP}"),
        ([{"op": "append", "partition": 0}, {"op": "advance", "ms": 201}, {"op": "run"}], {},
         "is 201 ms old, delivery.timeout.ms is 200 → fails with TimeoutException"),
        ([*SENT, {"op": "disconnect", "node": 0}, {"op": "run"}], {},
         f"received NETWORK_EXCEPTION: {LEFT}, {CURRENT} → retried"),
    ],
)  # fmt: skip
def test_explanation_of_retried_or_failed_batch_names_reason(
    steps: list[Any], config: dict[str, Any], reason: str
) -> None:
    assert f"t-0 #0 {reason}" in reasons_of(steps, **config)


def test_explanation_of_acknowledged_batch_has_no_reason() -> None:
    assert reasons_of(answered("NONE")) == []


def test_retry_decision_table_conditions_all_have_explanation_text() -> None:
    words = {word.removeprefix("!") for line in TABLE.strip().splitlines() for word in line[22:].split()[:-2]}
    assert words - {"may_retry", "always"} == set(explain._FACTS)


def _take(history: SenderHistory, step: Any, taken: list[Any]) -> None:
    taken.append(history.take(step))


@pytest.mark.parametrize("version", ["0.11.0.3", "2.3.1", "4.4.0"])
def test_recording_explanation_reasons_leaves_producer_sequences_answers_unchanged(version: str) -> None:
    release = parse_release(version)
    for question in generated(RULE.slug, 150)[:40]:
        answers = RULE.ask(question, release)["steps"]
        history = SenderHistory(Sender, question, release)
        taken = list[Any]()
        for step in question.steps:
            list(explain.observe(history.sender, partial(_take, history, step, taken)))
        assert taken == answers
