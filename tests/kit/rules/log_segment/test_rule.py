from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest
from questions import generated, missing_labels, space_questions

from kafka_conformance.core.protocol import to_json
from kafka_conformance.rules.log_segment.mutants import MUTANTS
from kafka_conformance.rules.log_segment.question import AppendStep, LogSegmentQuestion, NewBatch
from kafka_conformance.rules.log_segment.rule import RULE
from kafka_reference.releases import parse_release


def ask(question: bytes, version: str = "4.4.0") -> Any:
    return RULE.ask(msgspec.json.decode(question, type=LogSegmentQuestion), parse_release(version))


def test_log_segment_lookup_of_offset_60_finds_byte_position_9253_of_published_article() -> None:
    (question,) = RULE.plain()
    steps = RULE.ask(question, parse_release("4.4.0"))["steps"]
    assert steps[6]["index"].startswith("0000000c 00001147 00000018 00002245".replace(" ", ""))
    assert steps[7] == {"found": [60, 9253, 160]}
    assert steps[8] == {"found": [60, 9253, 160], "incomplete": False}
    assert steps[9:] == [{"found": None}, {"offset": 61}]


def test_log_segment_history_with_lookups_damage_and_recovery_has_documented_answers() -> None:
    answer = ask(
        b"""{"index_interval_bytes": 100, "max_index_size": 24, "steps": [
        {"op": "append", "batches": [{"offset": 0, "timestamps": [1000, 990], "value_bytes": 40}]},
        {"op": "append", "batches": [{"offset": 2, "timestamps": [1010]}]}, {"op": "look"},
        {"op": "translate", "offset": 1}, {"op": "find", "timestamp": 995, "offset": 1},
        {"op": "should_roll", "bytes": 0, "timestamp": 1010, "offset": 3, "now": 0}, {"op": "damage", "batch": 1},
        {"op": "recover"}, {"op": "next_offset"}, {"op": "read", "offset": 0, "max_size": -1}]}"""
    )
    assert answer["steps"] == [
        {}, {},
        {"size": 223, "index": "00000002" "0000009b" + "00" * 16, "time_index": "00000000000003f200000002" + "00" * 12},
        {"found": [0, 0, 155]}, {"found": [1010, 2]}, {"roll": True}, {}, {"truncated": 68}, {"offset": 2},
        {"raises": "IllegalArgumentException"},
    ]  # fmt: skip


@pytest.fixture(scope="module")
def shuffled() -> list[Any]:
    """The questions of all spaces and some generated ones, in random order."""
    questions = [*space_questions(RULE.slug), *generated(RULE.slug, 1500)]
    Random(0).shuffle(questions)
    return questions


def test_segment_strategy_and_question_spaces_cover_required_labels() -> None:
    assert not missing_labels(RULE.slug, generated(RULE.slug, 1500))
    assert not missing_labels(RULE.slug, space_questions(RULE.slug))


def test_segment_question_spaces_have_at_most_20000_questions() -> None:
    assert len(space_questions(RULE.slug)) <= 20_000


def test_segment_differences_are_grouped_as_growth_cut_or_recovery() -> None:
    assert {RULE.path(question) for question in generated(RULE.slug, 1500)[:500]} == {"growth", "cut", "recovery"}


@pytest.mark.parametrize("version", ["0.11.0.0", "1.1.1", "2.3.0", "3.4.1", "4.0.0", "4.4.0"])
def test_log_segment_question_has_equal_answers_after_a_json_round_trip(version: str) -> None:
    for question in generated(RULE.slug, 1500)[:100]:
        assert ask(to_json(question), version) == RULE.ask(question, parse_release(version))


def test_log_segment_domain_gives_at_least_3_reasons_and_excludes_no_everyday_question() -> None:
    reasons = {RULE.domain(question) for question in generated(RULE.slug, 1500)}
    assert "" in reasons
    assert len(reasons) >= 4
    assert all(not RULE.domain(question) for question in RULE.plain())


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.slug)
def test_segment_mutant_differs_from_reference_for_some_question(mutant: Any, shuffled: list[Any]) -> None:
    assert any(mutant.ask(question, mutant.release) != RULE.ask(question, mutant.release) for question in shuffled)


def test_leader_append_to_log_segment_without_exactly_one_batch_raises_validation_error() -> None:
    batch = b'{"offset": 0, "timestamps": [7]}'
    assert ask(b'{"steps": [{"op": "append", "leader": true, "batches": [' + batch + b"]}]}") == {"steps": [{}]}
    for batches in (b"", batch + b"," + batch):
        with pytest.raises(msgspec.ValidationError, match="a leader appends one batch with one call"):
            ask(b'{"steps": [{"op": "append", "leader": true, "batches": [' + batches + b"]}]}")


def test_log_segment_append_step_without_leader_flag_has_no_leader_field_in_json() -> None:
    question = LogSegmentQuestion((AppendStep((NewBatch(0, (7,)),)),))
    assert b"leader" not in msgspec.json.encode(question)
