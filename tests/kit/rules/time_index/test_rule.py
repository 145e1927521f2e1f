from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest
from questions import generated, missing_labels, space_questions

from kafka_conformance.core.protocol import to_json
from kafka_conformance.rules.common.index_steps import FilledFile
from kafka_conformance.rules.time_index.explain import explain_time_index
from kafka_conformance.rules.time_index.mutants import MUTANTS
from kafka_conformance.rules.time_index.question import TimeIndexQuestion
from kafka_conformance.rules.time_index.rule import RULE
from kafka_reference.releases import NEWEST, parse_release


def ask(question: bytes, version: str = "4.4.0") -> Any:
    return RULE.ask(msgspec.json.decode(question, type=TimeIndexQuestion), parse_release(version))


def test_time_index_lookup_finds_last_entry_before_timestamp_or_minus_1_with_base_offset() -> None:
    assert ask(b'{"base_offset": 0, "entries": [[1000, 5], [2000, 9]], "lookups": [1500, 3]}') == {
        "found": [[1000, 5], [-1, 0]]
    }


def test_time_index_append_after_offset_overflow_throws_for_misaligned_position() -> None:
    answer = ask(
        b"""{"base_offset": 0, "steps": [{"op": "maybe_append", "timestamp": 5, "offset": 4294967296},
        {"op": "maybe_append", "timestamp": 6, "offset": 1}, {"op": "look"}]}"""
    )
    first, second, seen = answer["steps"]
    assert first["raises"] == "IndexOffsetOverflowException"
    assert second == {"raises": "IllegalStateException", "message": "1 entries but file position in index is 20"}
    assert seen["last"] == [6, 1]


@pytest.fixture(scope="module")
def shuffled() -> list[Any]:
    """The questions of all spaces in random order, those with long files last."""
    questions = list(space_questions(RULE.slug))
    Random(0).shuffle(questions)
    return sorted(questions, key=lambda question: isinstance(question.file, FilledFile))


def test_time_index_strategy_and_question_space_cover_required_labels(shuffled: list[Any]) -> None:
    assert not missing_labels(RULE.slug, generated(RULE.slug, 1500))
    assert not missing_labels(RULE.slug, [shuffled[-1], *shuffled])


def test_time_index_question_spaces_have_at_most_20000_questions() -> None:
    assert len(space_questions(RULE.slug)) <= 20_000


def test_time_index_differences_are_grouped_as_short_form_life_cycle_size_file_or_entries() -> None:
    paths = {RULE.path(question) for question in generated(RULE.slug, 1500)[:500]}
    assert paths == {"short form", "life cycle", "size", "file", "entries"}


@pytest.mark.parametrize("version", ["0.11.0.0", "1.1.1", "2.2.0", "3.4.1", "4.4.0"])
def test_time_index_question_has_equal_answers_after_a_json_round_trip(version: str) -> None:
    for question in generated(RULE.slug, 1500)[:100]:
        assert ask(to_json(question), version) == RULE.ask(question, parse_release(version))


def test_time_index_domain_gives_at_least_3_reasons_and_excludes_no_everyday_question() -> None:
    reasons = {RULE.domain(question) for question in generated(RULE.slug, 1500)[:300]}
    assert "" in reasons
    assert len(reasons) >= 4
    assert all(not RULE.domain(question) for question in RULE.plain())


def test_time_index_explanation_has_a_row_per_step() -> None:
    for question in generated(RULE.slug, 1500)[:100]:
        answers = RULE.ask(question, NEWEST).get("steps", ())
        rows = list(explain_time_index(question, NEWEST, answers))
        assert len(rows) == len(question.steps)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.slug)
def test_time_index_mutant_differs_from_reference_for_some_question(mutant: Any, shuffled: list[Any]) -> None:
    assert any(mutant.ask(question, mutant.release) != RULE.ask(question, mutant.release) for question in shuffled)
