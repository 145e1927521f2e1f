from __future__ import annotations

import msgspec
import pytest

from kafka_conformance.core.protocol import to_json
from kafka_conformance.rules.record_accumulator.question import AskedProducer, RecordAccumulatorQuestion
from kafka_conformance.rules.record_accumulator.rule import RULE
from kafka_conformance.rules.record_accumulator.sequence_spaces import every_order_of_answers, every_way_round
from kafka_reference.releases import parse_release

# As in the rule's page.
QUESTION = b"""{"config": {"batch_size": 16384, "linger_ms": 5, "retry_backoff_ms": 0, "retry_backoff_max_ms": 0,
    "delivery_timeout_ms": 120000, "buffer_memory": 33554432, "adaptive": true, "availability_timeout_ms": 0,
    "producer": {"id": 7, "epoch": 3, "next_sequences": {"t-0": 2147483646}}},
    "cluster": {"nodes": [{"id": 0}], "partitions": [{"id": 0, "leader": 0}]}, "draws": [],
    "steps": [{"op": "append", "partition": 0, "key": null, "value": "00", "timestamp": 0},
        {"op": "append", "partition": 0, "key": null, "value": "00", "timestamp": 0},
        {"op": "drain", "nodes": [0], "max_size": 1048576}, {"op": "reenqueue", "batch": 0},
        {"op": "drain", "nodes": [0], "max_size": 1048576}, {"op": "fail", "batch": 0, "why": "expired"},
        {"op": "producer", "id": null}, {"op": "look"}]}"""
DRAINED = {"id": 0, "partition": 0, "records": 2, "sequence": 2147483646, "epoch": 3}


def asked(text: bytes = QUESTION) -> RecordAccumulatorQuestion:
    return msgspec.json.decode(text, type=RecordAccumulatorQuestion)


def test_accumulator_history_with_sequences_near_int_max_has_documented_answers() -> None:
    steps = RULE.ask(asked(), parse_release("4.4.0"))["steps"]
    assert steps[2:7] == [{"batches": [DRAINED]}, {}, {"batches": [DRAINED]}, {"memory": 33554432}, {}]
    assert steps[7]["sequences"] == {
        "t-0": {"next": 0, "last_acknowledged": 2147483645, "in_flight": [], "unresolved": -(2**31)}
    }


def test_lost_producer_id_before_2_5_removes_all_sequences() -> None:
    steps = RULE.ask(asked(), parse_release("2.4.1"))["steps"]
    assert steps[2:6] == [{"batches": [DRAINED]}, {}, {"batches": [DRAINED]}, {"memory": 33554432}]
    assert steps[7]["sequences"] == {}


def test_in_flight_batch_does_not_expire_before_2_1_0() -> None:
    assert RULE.ask(asked(), parse_release("2.0.1"))["steps"][5] == {}


def test_producer_id_is_ignored_before_0_11_and_sequences_are_absent_without_a_producer() -> None:
    nobody = msgspec.structs.replace(asked(), config=msgspec.structs.replace(asked().config, producer=None))
    assert RULE.ask(asked(), parse_release("0.10.0.1")) == RULE.ask(nobody, parse_release("0.10.0.1"))
    assert "sequences" not in RULE.ask(nobody, parse_release("4.4.0"))["steps"][7]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [(b"next_sequences", b"sequences"), (b'"t-0"', b'"t0"'), (b'"epoch": 3', b'"epoch": -1'), (b"expired", b"lost")],
)
def test_accumulator_question_with_invalid_sequence_field_raises_validation_error(right: bytes, wrong: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        asked(QUESTION.replace(right, wrong))


def test_producers_with_equal_sequences_in_any_order_are_equal_and_hash_equal() -> None:
    ways = {AskedProducer(7, 0, {"t-0": 1, "t-1": 2}), AskedProducer(7, 0, {"t-1": 2, "t-0": 1}), AskedProducer(7, 0)}
    assert len(ways) == 2
    assert hash(asked()) == hash(asked())


def test_about_a_third_of_generated_histories_have_an_idempotent_producer_and_round_trip(
    histories: list[RecordAccumulatorQuestion],
) -> None:
    assert 75 < sum(question.config.producer is not None for question in histories) < 135
    for question in histories[:50]:
        assert msgspec.json.decode(to_json(question), type=RecordAccumulatorQuestion) == question


def test_sequence_question_spaces_have_all_histories_of_up_to_three_steps() -> None:
    assert sum(1 for _ in every_order_of_answers()) == 12 + 12**2 + 12**3
    assert sum(1 for _ in every_way_round()) == 8 + 8**2 + 8**3
