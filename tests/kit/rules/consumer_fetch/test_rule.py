"""The rule ``consumer-fetch``: its kinds of question, its domain, what it explains, and its spaces."""

from __future__ import annotations

from typing import Any

import pytest
from questions import generated, missing_labels, space_questions

from kafka_conformance.core.sources import collect
from kafka_conformance.rules.consumer_fetch import spaces
from kafka_conformance.rules.consumer_fetch.adapter import ask
from kafka_conformance.rules.consumer_fetch.domain import OPTIONAL_LABELS, domain, nearest, plain
from kafka_conformance.rules.consumer_fetch.explain import explain_fetch
from kafka_conformance.rules.consumer_fetch.generators import Log
from kafka_conformance.rules.consumer_fetch.labels import labels, path
from kafka_conformance.rules.consumer_fetch.question import ConsumerFetchQuestion
from kafka_conformance.rules.consumer_fetch.rule import RULE
from kafka_reference.releases import NEWEST


def test_consumer_fetch_question_generators_cover_every_required_label() -> None:
    assert not missing_labels(RULE.slug, generated(RULE.slug, 500))
    assert not missing_labels(RULE.slug, space_questions(RULE.slug))


def test_consumer_fetch_question_generation_is_deterministic_for_equal_seed() -> None:
    assert collect(RULE, 40, 7) == collect(RULE, 40, 7)


def test_consumer_fetch_rule_uses_every_exported_question_space_under_unique_names() -> None:
    assert {space.questions for space in RULE.spaces} == {getattr(spaces, name) for name in spaces.__all__}
    assert len({space.name for space in RULE.spaces}) == len(RULE.spaces)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (ConsumerFetchQuestion(""), {"read_uncommitted", "no whole batch"}),
        (Log(4).append(3).question(5), {"read_uncommitted", "a fetch offset within a batch"}),
        (Log().append(1, codec="gzip").append(1).question(check_crcs=False),
         {"read_uncommitted", "a compressed batch", "several batches", "check.crcs off"}),
        (Log().legacy(1).question(), {"read_uncommitted", "message format 0 or 1"}),
        (Log().append(3, kept=(0,)).question(), {"read_uncommitted", "offsets removed by compaction"}),
        (Log().append(3, kept=()).question(), {"read_uncommitted", "a batch without records"}),
        (Log().append(1, producer=1, transactional=True).end(1).question(read_committed=True),
         {"read_committed", "several batches", "an aborted transaction", "a batch skipped whole", "a control batch"}),
        (Log().append(1, crc_xor=1).question(), {"read_uncommitted", "an exception"}),
        (Log().append(1).append(1, crc_xor=1).question(),
         {"read_uncommitted", "several batches", "records before an exception"}),
    ],
)  # fmt: skip
def test_consumer_fetch_question_labels_describe_isolation_level_batches_and_outcome(
    question: ConsumerFetchQuestion, expected: set[str]
) -> None:
    assert set(labels(question)) == expected


def test_consumer_fetch_differences_are_grouped_by_isolation_level_magic_and_fetch_offset() -> None:
    assert path(ConsumerFetchQuestion("")) == "read_uncommitted, magic -1"
    assert path(Log().append(2).question(1, read_committed=True)) == "read_committed, magic 2, offset"


def test_fetch_response_batch_below_fetch_offset_is_impossible_and_nearest_question_lowers_offset() -> None:
    question = Log(4).append(3).append(1).question(7, read_committed=True, check_crcs=False)
    assert domain(question) == "a broker returns no batch that ends below the fetch offset"
    assert nearest(question) == Log(4).append(3).append(1).question(6, read_committed=True, check_crcs=False)
    inside = Log(4).append(3).question(6)
    assert domain(inside) == ""
    assert nearest(inside) is inside
    assert domain(Log().append(1, attributes=7).question()) == ""


def test_ordinary_fetch_questions_are_in_domain_without_exception_and_optional_labels_are_required() -> None:
    for question in plain():
        assert domain(question) == ""
        assert "raises" not in ask(question, NEWEST)
    assert set(OPTIONAL_LABELS) <= RULE.required_labels


def rows(question: ConsumerFetchQuestion) -> list[tuple[str, str]]:
    found = explain_fetch(question, NEWEST, [ask(question, NEWEST)])
    return [(row.step, row.answer) for row in found]


def test_fetch_explanation_lists_offsets_delivered_from_every_batch_and_final_consumer_position() -> None:
    log = Log(4).append(3).append(1, producer=1, transactional=True).end(1, commit=True)
    assert rows(log.question(5)) == [
        ("batch 0: offsets 4 to 6, magic 2", "delivers 5, 6"),
        ("batch 1: offsets 7 to 7, magic 2, transactional, producer 1", "delivers 7"),
        ("batch 2: offsets 8 to 8, magic 2, control, transactional, producer 1", "delivers nothing"),
        ("the consumer", "position 9"),
    ]


def test_fetch_explanation_of_corrupt_batch_names_exception_and_consumer_position() -> None:
    assert rows(Log().append(1).append(1, length=13).question())[-2:] == [
        ("no further batch", "CorruptRecordException"),
        ("the consumer", "position 1, raises KafkaException"),
    ]


@pytest.mark.parametrize("answer", [None, {"raises": "KafkaException"}, {}])
def test_fetch_explanation_of_answer_without_delivered_offsets_is_empty(answer: Any) -> None:
    assert list(explain_fetch(Log().append(1).question(), NEWEST, [answer])) == []


def test_fetch_exception_with_different_name_is_harmless_but_missing_exception_is_a_difference() -> None:
    question = Log().append(1, crc_xor=1).question()
    expected = ask(question, NEWEST)
    other = {**expected, "raises": "CorruptRecord"}
    assert RULE.harmless(question, expected, other) == (expected, ("exceptions have other names than Java's",))
    assert RULE.harmless(question, expected, expected) == (expected, ())
    silent = {"delivered": [], "position": 0}
    assert RULE.harmless(question, expected, silent) == (silent, ())
