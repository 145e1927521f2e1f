from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest
from questions import generated, missing_labels, space_questions

from kafka_conformance.core.protocol import to_json
from kafka_conformance.rules.common.index_steps import FilledFile
from kafka_conformance.rules.offset_index.explain import explain_offset_index
from kafka_conformance.rules.offset_index.mutants import MUTANTS
from kafka_conformance.rules.offset_index.question import OffsetIndexQuestion
from kafka_conformance.rules.offset_index.rule import RULE
from kafka_reference.releases import NEWEST, parse_release


def ask(question: bytes, version: str = "4.4.0") -> Any:
    return RULE.ask(msgspec.json.decode(question, type=OffsetIndexQuestion), parse_release(version))


def test_offset_index_lookup_of_offset_7_finds_the_documented_entry_5() -> None:
    assert ask(b'{"base_offset": 0, "entries": [[5, 0], [9, 4096]], "lookups": [7]}') == {"found": [[5, 0]]}


def test_offset_index_lookup_of_offset_60_finds_entry_24_of_published_article() -> None:
    question = b'{"base_offset": 0, "entries": [[12, 4423], [24, 8773]], "lookups": [60]}'
    assert ask(question) == ask(question, "0.11.0.0") == {"found": [[24, 8773]]}
    assert msgspec.json.decode(question, type=OffsetIndexQuestion) in tuple(RULE.plain())


def test_offset_index_history_of_appends_lookups_and_deletion_has_published_answers() -> None:
    answer = ask(
        b"""{"base_offset": 0, "file": "0000000c00001147", "max_index_size": 16, "steps": [
        {"op": "resize", "size": 16}, {"op": "append", "offset": 24, "position": 8773}, {"op": "lookup", "target": 60},
        {"op": "upper_bound", "position": 0, "size": 5000}, {"op": "entry", "number": 0}, {"op": "entries"},
        {"op": "name", "offset": 97}, {"op": "append", "offset": 30, "position": 9}, {"op": "delete"}, {"op": "bytes"},
        {"op": "look"}]}"""
    )
    assert answer["steps"] == [
        {"resized": True}, {}, {"found": [24, 8773]}, {"bound": [24, 8773]}, {"entry": [12, 4423]},
        {"entries": [[12, 4423], [24, 8773]]}, {"name": "00000000000000000097", "offset": 97},
        {"raises": "IllegalArgumentException", "message": "Attempt to append to a full index (size = 2)."},
        {"deleted": True}, {"bytes": None},
        {"entries": 2, "max_entries": 2, "size": 16, "full": True, "last": 24, "length": 16},
    ]  # fmt: skip


def test_offset_index_with_invalid_max_size_throws_in_every_step() -> None:
    error = {"raises": "IllegalArgumentException", "message": "Invalid max index size: 7"}
    assert ask(b'{"base_offset": 0, "max_index_size": 7}') == error
    assert ask(b'{"base_offset": 0, "max_index_size": 7, "steps": [{"op": "look"}, {"op": "bytes"}]}') == {
        "steps": [error, error]
    }


@pytest.fixture(scope="module")
def shuffled() -> list[Any]:
    """The questions of all spaces in random order, those with long files last."""
    questions = list(space_questions(RULE.slug))
    Random(0).shuffle(questions)
    return sorted(questions, key=lambda question: isinstance(question.file, FilledFile))


def test_offset_index_strategy_and_question_space_cover_required_labels(shuffled: list[Any]) -> None:
    assert not missing_labels(RULE.slug, generated(RULE.slug, 1500))
    assert not missing_labels(RULE.slug, [shuffled[-1], *shuffled])


def test_offset_index_question_spaces_have_at_most_20000_questions() -> None:
    assert len(space_questions(RULE.slug)) <= 20_000


def test_offset_index_differences_are_grouped_as_short_form_life_cycle_size_file_or_entries() -> None:
    paths = {RULE.path(question) for question in generated(RULE.slug, 1500)[:500]}
    assert paths == {"short form", "life cycle", "size", "file", "entries"}


@pytest.mark.parametrize("version", ["0.11.0.0", "1.1.1", "2.2.0", "3.4.1", "4.4.0"])
def test_offset_index_question_has_equal_answers_after_a_json_round_trip(version: str) -> None:
    for question in generated(RULE.slug, 1500)[:100]:
        assert ask(to_json(question), version) == RULE.ask(question, parse_release(version))


def test_offset_index_domain_gives_at_least_3_reasons_and_excludes_no_everyday_question() -> None:
    reasons = {RULE.domain(question) for question in generated(RULE.slug, 1500)[:300]}
    assert "" in reasons
    assert len(reasons) >= 4
    assert all(not RULE.domain(question) for question in RULE.plain())


def test_offset_index_explanation_has_a_row_per_step() -> None:
    for question in generated(RULE.slug, 1500)[:100]:
        answers = RULE.ask(question, NEWEST).get("steps", ())
        rows = list(explain_offset_index(question, NEWEST, answers))
        assert len(rows) == len(question.steps)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.slug)
def test_offset_index_mutant_differs_from_reference_for_some_question(mutant: Any, shuffled: list[Any]) -> None:
    assert any(mutant.ask(question, mutant.release) != RULE.ask(question, mutant.release) for question in shuffled)
