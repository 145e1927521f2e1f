from __future__ import annotations

from typing import Any

import msgspec
import pytest
from questions import generated, missing_labels

from kafka_conformance.core.protocol import question_id, to_json
from kafka_conformance.rules.broker_producer_state.question import BrokerProducerStateQuestion
from kafka_conformance.rules.broker_producer_state.rule import RULE
from kafka_reference.releases import NEWEST, parse_release

# As pinned for everyone: steps need not say what they have a default for.
QUESTION = b"""{"config": {"producer_id_expiration_ms": 86400000}, "steps": [
    {"op": "append", "producer_id": 7, "epoch": 0, "first_sequence": 0, "records": 3, "timestamp": 1000, "origin": "client"},
    {"op": "append", "producer_id": 7, "epoch": 0, "first_sequence": 0, "records": 3, "timestamp": 1000},
    {"op": "append", "producer_id": 7, "epoch": 0, "first_sequence": 5, "records": 1},
    {"op": "expire", "now": 9}, {"op": "snapshot"}, {"op": "reload", "end": 4},
    {"op": "append", "producer_id": 7, "epoch": 0, "first_sequence": 3, "records": 1, "transactional": true},
    {"op": "marker", "producer_id": 7, "epoch": 0, "commit": true},
    {"op": "verify", "producer_id": 7, "epoch": 0, "sequence": 4},
    {"op": "look"}]}"""


def test_documented_producer_history_with_duplicate_gap_and_marker_has_documented_answers() -> None:
    question = msgspec.json.decode(QUESTION, type=BrokerProducerStateQuestion)
    first, again, gap, expired, file, opened, later, marker, verified, seen = RULE.ask(question, NEWEST)["steps"]
    assert (first, again, gap) == ({"appended": 0}, {"duplicate": 0}, {"raises": "OutOfOrderSequenceException"})
    assert (expired, opened) == ({}, {})
    assert file["bytes"].startswith("0001")
    assert later == {"appended": 3}
    assert marker == {"appended": 4, "completed": [[7, 3, 4, False, 5]]}
    assert verified == {"verifying": [7, 4, 0, False]}
    assert seen["producers"] == [
        {
            "id": 7,
            "epoch": 0,
            "last_sequence": 3,
            "last_offset": 3,
            "timestamp": 0,
            "coordinator_epoch": 0,
            "transaction": None,
            "batches": [[0, 2, 0, 2, 1000], [3, 3, 3, 3, 0]],
        }
    ]
    assert (seen["end"], seen["first_unstable"], seen["first_undecided"], seen["latest_snapshot"]) == (5, 3, None, 3)


@pytest.mark.parametrize("field", ["sequence", "acks"])
def test_append_step_with_misspelt_field_raises_validation_error(field: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(
            QUESTION.replace(b'"first_sequence"', f'"{field}"'.encode()), type=BrokerProducerStateQuestion
        )


@pytest.mark.parametrize("bad", ['"origin": "broker"', '"producer_id": -2', '"records": 0'])
def test_unknown_origin_negative_producer_id_or_zero_records_raise_validation_error(bad: str) -> None:
    step = '"op": "append", "producer_id": 7, "epoch": 0, "first_sequence": 0, "records": 1'
    good = f'{{"config": {{"producer_id_expiration_ms": 1}}, "steps": [{{{step}}}]}}'
    msgspec.json.decode(good, type=BrokerProducerStateQuestion)
    name = bad.partition(":")[0]
    worse = ", ".join([*(each for each in step.split(", ") if not each.startswith(name)), bad])
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(good.replace(step, worse), type=BrokerProducerStateQuestion)


def test_producer_state_questions_are_equal_after_json_round_trip() -> None:
    for question in generated(RULE.slug, 200)[:50]:
        assert msgspec.json.decode(to_json(question), type=BrokerProducerStateQuestion) == question


def test_generated_producer_state_histories_cover_labels_and_over_100_have_at_least_30_steps() -> None:
    questions = generated(RULE.slug, 200)
    assert missing_labels(RULE.slug, questions) == set()
    assert sum(len(question.steps) >= 30 for question in questions) > 100


@pytest.mark.parametrize(
    ("ops", "path"),
    [
        (("append",), "batches"),
        (("append", "expire"), "expiry"),
        (("append", "marker"), "markers and requests"),
        (("verify", "append", "marker"), "verification"),
        (("verify", "snapshot"), "files and truncation"),
    ],
)
def test_producer_state_differences_are_grouped_by_kind_of_step(ops: tuple[str, ...], path: str) -> None:
    full: dict[str, Any] = {
        "append": {"producer_id": 7, "epoch": 0, "first_sequence": 0, "records": 1},
        "marker": {"producer_id": 7, "epoch": 0, "commit": True},
        "verify": {"producer_id": 7, "epoch": 0, "sequence": 0},
        "expire": {"now": 5},
        "snapshot": {},
    }
    steps = [{"op": op, **full[op]} for op in ops]
    question = msgspec.convert(
        {"config": {"producer_id_expiration_ms": 1}, "steps": steps}, type=BrokerProducerStateQuestion
    )
    assert RULE.path(question) == path


def test_producer_state_question_spaces_have_expected_sizes_without_duplicates() -> None:
    asked = {space.name.partition(":")[0]: list(space.questions()) for space in RULE.spaces}
    sizes = [len(questions) for questions in asked.values()]
    # Of a file of 102 bytes: whole, one more, prefixes, bits; 18 more.
    # Then files that no broker writes, and pairs of verifications.
    assert sizes[2:] == [
        *(9 * 2 * 5 * 3 * 4 * 3, 4 * 3 * 16**2, 1 + 1 + 102 + 102 * 8 + 18, 16 + 16**2 + 16**3),
        *(107 * 7, 3 * 3 * 2 * 9),
    ]
    for questions in asked.values():
        assert len({question_id(RULE.slug, "4.4.0", question) for question in questions}) == len(questions)


@pytest.mark.parametrize("version", ["0.11.0.3", "2.4.1", "4.4.0"])
def test_produce_request_with_one_out_of_order_batch_changes_no_state(version: str) -> None:
    question = msgspec.json.decode(
        b"""{"config": {"producer_id_expiration_ms": 9}, "steps": [
        {"op": "append", "producer_id": 7, "epoch": 0, "first_sequence": 0, "records": 1}, {"op": "look"},
        {"op": "request", "batches": [
            {"op": "append", "producer_id": 7, "epoch": 0, "first_sequence": 1, "records": 1},
            {"op": "append", "producer_id": 7, "epoch": 0, "first_sequence": 9, "records": 1}]}, {"op": "look"}]}""",
        type=BrokerProducerStateQuestion,
    )
    _, before, refused, after = RULE.ask(question, parse_release(version))["steps"]
    assert refused == {"raises": "OutOfOrderSequenceException"}
    assert after == before
