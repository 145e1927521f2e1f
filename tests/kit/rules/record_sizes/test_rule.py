from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

import msgspec
import pytest
from questions import generated

from kafka_conformance.answerers.reference import ReferenceAnswerer, outcome_of
from kafka_conformance.core.protocol import Answered, Failed
from kafka_conformance.rules.record_sizes.mutants import MUTANTS
from kafka_conformance.rules.record_sizes.rule import RULE
from kafka_reference.releases import parse_release

# What the release's own classes answered: two records and one that does not fit, lengths, and what was observed.
QUESTION = """{"batch_size": 82, "records": [{"value": "61"}, {"timestamp": 64, "headers": [["h\u00e9", null]]},
  {"key": {"length": 1}}, {"headers": [[{"utf16": "d800"}, ""]]}],
  "measured": [{"key": 2147483647}, {"offset_delta": -65, "timestamp_delta": "-9223372036854775808", "value": 63}],
  "observed": [[64, 128], [1000, 1001]]}"""


def asked(question: str) -> Any:
    return msgspec.json.decode(question, type=RULE.question)


def answered(question: str, version: str) -> dict[str, Any]:
    (outcome,) = ReferenceAnswerer().answer(RULE, parse_release(version), [asked(question)])
    assert isinstance(outcome, Answered)
    return outcome.answer


def test_record_sizes_question_has_the_published_answer() -> None:
    answer = answered(QUESTION, "4.4.0")
    assert answer == {
        "buffer": 86,
        "empty": {"estimate": 61, "full": False},
        "steps": [
            {"bound": 86, "room": True, "estimate": 69, "full": False},
            {"bound": 90, "room": True, "estimate": 82, "full": False},
            {"bound": 86, "room": False, "estimate": 82, "full": False},
            {"bound": 91, "room": False, "estimate": 82, "full": False},
        ],
        "max_record_size": 90,
        "closed": True,
        "built": 82,
        "measured": [{"varint": 1, "varlong": 1, "size": -2147483634}, {"varint": 2, "varlong": 10, "size": 81}],
        "ratios": [0.9950000047683716, 1.0449999570846558],
    }


def test_record_sizes_for_default_magic_in_0_10_equal_those_for_magic_0() -> None:
    answer = answered(QUESTION, "0.10.0.1")
    assert answer == answered(QUESTION.replace('"batch_size"', '"magic": 0, "batch_size"'), "0.10.0.1")
    assert [step["estimate"] for step in answer["steps"]] == [35, 69, 69, 69]
    assert answer["measured"][1] == {"size": 97}
    assert answer["ratios"] == [0.949999988079071, 0.9549000859260559]


def test_compressed_batch_has_null_built_size() -> None:
    assert answered('{"compression":"gzip","records":[{}]}', "4.4.0")["built"] is None


def test_record_with_headers_in_magic_1_throws_and_next_record_is_estimated() -> None:
    answer = answered('{"magic":1,"records":[{"headers":[["a",null]]},{}]}', "4.4.0")
    assert answer["steps"] == [
        {"raises": "IllegalArgumentException", "message": "Magic v1 does not support record headers"},
        {"bound": 34, "room": True, "estimate": 34, "full": False},
    ]


@pytest.mark.parametrize(
    "question",
    ['{"records":[]}', '{"records":[{}],"magic":3}', '{"records":[{}],"compression":"lz4"}',
     '{"records":[{"key":"6"}]}', '{"records":[{"ket":"61"}]}', '{"records":[{"value":{"length":-1}}]}',
     '{"records":[{"headers":[[{"utf16":"d8"},null]]}]}', '{"records":[{}],"observed":[[1,1]]}',
     '{"records":[{"timestamp":9007199254740993}]}'],
)  # fmt: skip
def test_record_sizes_question_with_invalid_field_raises_validation_error(question: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        asked(question)


@pytest.mark.parametrize("timestamp", ["-2", '"9223372036854775808"'])
def test_timestamp_out_of_range_fails_the_record_sizes_question(timestamp: str) -> None:
    question = asked(f'{{"records":[{{"timestamp":{timestamp}}}]}}')
    assert isinstance(outcome_of(RULE.ask, question, parse_release("4.4.0")), Failed)


def test_record_sizes_question_omits_default_fields_in_json() -> None:
    assert msgspec.json.encode(asked('{"records":[{}]}')).decode() == '{"records":[{}]}'


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ('{"records":[{}],"observed":[[64,64]]}', "observed"),
        ('{"records":[{}],"compression":"gzip"}', "compressed"),
        ('{"records":[{"headers":[[{"utf16":"d800"},null]]}]}', "half a surrogate pair"),
        ('{"records":[{"headers":[[{"utf16":"d83dde00"},null]]}]}', "not compressed"),
        ('{"records":[{}],"magic":0}', "not compressed"),
    ],
)
def test_record_sizes_differences_are_grouped_by_observed_ratio_compression_and_half_surrogate_pair(
    question: str, path: str
) -> None:
    assert RULE.path(asked(question)) == path


@pytest.fixture(scope="module")
def spaces() -> list[Any]:
    """The questions of all spaces, without the largest, shuffled: what a space asks late is met soon."""
    found = [q for space in RULE.spaces for q in space.questions() if len(q.records) < 1000]
    Random(0).shuffle(found)
    return found


def missing_labels(required: Iterable[str], questions: Iterable[Any]) -> set[str]:
    missing = set(required)
    for question in questions:
        missing.difference_update(RULE.labels(question))
        if not missing:
            break
    return missing


def test_record_sizes_question_spaces_cover_required_labels_and_strategy_all_but_three(
    spaces: list[Any],
) -> None:
    assert not missing_labels(RULE.required_labels, spaces)
    assert not missing_labels(
        RULE.required_labels - {"measured", "observed", "a delta that wraps"}, generated(RULE.slug, 600)
    )


@pytest.mark.parametrize("version", ["0.10.0.1", "0.11.0.3", "2.4.1", "4.4.0"])
def test_generated_record_sizes_questions_are_answered_in_four_releases(version: str) -> None:
    for question in generated(RULE.slug, 600)[:150]:
        assert isinstance(outcome_of(RULE.ask, question, parse_release(version)), Answered)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.slug)
def test_record_sizes_mutant_differs_and_leaves_reference_unchanged(mutant: Any, spaces: list[Any]) -> None:
    questions = (question for question in spaces if len(question.records) < 100)
    asked = ((question, RULE.ask(question, mutant.release)) for question in questions)
    wrong, before = next(pair for pair in asked if mutant.ask(pair[0], mutant.release) != pair[1])
    assert RULE.ask(wrong, mutant.release) == before
