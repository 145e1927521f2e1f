from __future__ import annotations

import msgspec
import pytest
from questions import generated, missing_labels, space_questions

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.protocol import Answered, Failed
from kafka_conformance.rules.producer_partition.rule import RULE
from kafka_reference.releases import parse_release

NODES = '"nodes":[{"id":0},{"id":1}]'
LED = f'{{{NODES},"partitions":[{{"id":0,"leader":0}},{{"id":1,"leader":null}},{{"id":2,"leader":1}}]}}'
UNLED = f'{{{NODES},"partitions":[{{"id":0,"leader":null}}]}}'
EMPTY = f'{{{NODES},"partitions":[]}}'
NEGATIVE = "The partitioner generated an invalid partition number: -1. Partition number should always be non-negative."


def asked(record: str, config: str = "{}", cluster: str = LED, draws: str = "[4]") -> msgspec.Struct:
    text = f'{{"record":{record},"config":{config},"cluster":{cluster},"draws":{draws}}}'
    return msgspec.json.decode(text, type=RULE.question)


# What KafkaProducer.partition of the release answered.
@pytest.mark.parametrize(
    ("version", "question", "answer"),
    [
        ("4.4.0", asked('{"partition":null,"key":"666f6f"}'), {"partition": 2}),
        ("4.4.0", asked('{"key":"666f6f"}', '{"ignore_keys":true}'), {"partition": -1}),
        ("3.2.3", asked('{"key":"666f6f"}', '{"ignore_keys":true}'), {"partition": 2}),
        ("4.4.0", asked("{}"), {"partition": -1}),
        ("2.3.1", asked("{}"), {"partition": 0}),
        ("2.3.1", asked("{}", cluster=EMPTY), {"raises": "ArithmeticException"}),
        ("0.10.0.1", asked("{}", cluster=EMPTY), {"raises": "NullPointerException"}),
        ("3.1.2", asked("{}", '{"partitioner":{"returns":-1}}'), {"partition": -1}),
        ("3.2.3", asked("{}", '{"partitioner":{"returns":-1}}'),
         {"raises": "IllegalArgumentException", "message": NEGATIVE}),
        ("4.4.0", asked('{"partition":7}', '{"partitioner":{"returns":-1}}'), {"partition": 7}),
        ("0.10.0.1", asked('{"partition":7}'),
         {"raises": "IllegalArgumentException",
          "message": "Invalid partition given with record: 7 is not in the range [0...2]."}),
    ],
)  # fmt: skip
def test_producer_partition_has_java_partition_or_exception_by_release(
    version: str, question: msgspec.Struct, answer: dict[str, object]
) -> None:
    assert ReferenceAnswerer().answer(RULE, parse_release(version), [question]) == [Answered(answer)]


def test_producer_partition_without_random_draws_fails_only_in_release_that_picks_at_random() -> None:
    (outcome,) = ReferenceAnswerer().answer(RULE, parse_release("2.3.1"), [asked("{}", draws="[]")])
    assert outcome == Failed("the question holds 0 draws and the rule asks for one more: add draws to it")
    (outcome,) = ReferenceAnswerer().answer(RULE, parse_release("4.4.0"), [asked("{}", draws="[]")])
    assert outcome == Answered({"partition": -1})


@pytest.mark.parametrize(
    ("question", "labels"),
    [
        (asked('{"partition":2,"key":"61"}'), ["explicit"]),
        (asked('{"partition":3}'), ["explicit, not there"]),
        (asked('{"partition":-1}'), ["explicit, negative"]),
        (asked("{}", '{"partitioner":{"returns":0}}'), ["plugged"]),
        (asked('{"key":"61"}', '{"partitioner":{"returns":-1}}'), ["plugged, negative"]),
        (asked("{}"), ["no key"]),
        (asked('{"key":""}'), ["empty key"]),
        (asked('{"key":"61"}'), ["keyed"]),
        (asked('{"key":"61"}', '{"ignore_keys":true}'), ["keyed, ignore_keys"]),
        (asked('{"key":"61"}', cluster=EMPTY), ["keyed", "no partitions"]),
        (asked('{"key":"61"}', cluster=UNLED), ["keyed", "no leader"]),
    ],
)
def test_producer_partition_labels_and_group_name_explicit_custom_or_keyed_branch(
    question: msgspec.Struct, labels: list[str]
) -> None:
    assert list(RULE.labels(question)) == labels
    assert RULE.path(question) == labels[0]


def test_producer_partition_question_space_and_strategy_cover_required_labels() -> None:
    assert missing_labels(RULE.slug, space_questions(RULE.slug)) == set()
    assert missing_labels(RULE.slug, generated(RULE.slug, 300)) == set()


def test_generated_producer_partition_questions_are_answered_in_four_releases() -> None:
    questions = generated(RULE.slug, 300)
    for version in ("0.10.0.1", "2.3.1", "3.2.3", "4.4.0"):
        outcomes = ReferenceAnswerer().answer(RULE, parse_release(version), questions)
        assert [outcome for outcome in outcomes if not isinstance(outcome, Answered)] == []
