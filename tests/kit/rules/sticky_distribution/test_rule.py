from __future__ import annotations

from typing import Any

import msgspec
import pytest
from questions import generated, space_questions

from kafka_conformance.answerers.reference import ReferenceAnswerer, outcome_of
from kafka_conformance.core.protocol import Answered, Outcome, Unsupported
from kafka_conformance.rules.sticky_distribution.rule import RULE
from kafka_reference.releases import parse_release

CLUSTER = """{"nodes":[{"id":0},{"id":1}],"partitions":[
  {"id":5,"leader":0},{"id":3,"leader":null},{"id":2,"leader":1},{"id":0,"leader":1}]}"""
EMPTY = '{"nodes":[{"id":0}],"partitions":[]}'


def question(partitioner: str, cluster: str = CLUSTER, drain: str = "[3,null,null,1]", more: str = "") -> Any:
    text = f'{{"partitioner":"{partitioner}","seed":7,"cluster":{cluster},"records":100,"batch_records":8'
    return msgspec.json.decode(f'{text},"drain_after":{drain}{more}}}', type=RULE.question)


def said(asked: Any, version: str) -> Outcome:
    (outcome,) = ReferenceAnswerer().answer(RULE, parse_release(version), [asked])
    return outcome


# What the loop around the classes of the release answered.
@pytest.mark.parametrize(
    ("version", "asked", "counts", "switches"),
    [
        ("0.10.0.1", question("default"), [[0, 34], [2, 33], [5, 33]], 0),
        ("2.3.1", question("default"), [[0, 34], [2, 33], [5, 33]], 0),
        ("2.8.2", question("default"), [[0, 9], [2, 64], [5, 27]], 26),
        ("3.9.2", question("uniform-sticky"), [[0, 9], [2, 64], [5, 27]], 26),
        ("3.9.1", question("round-robin"), [[0, 5], [2, 48], [5, 47]], 58),
        ("3.9.2", question("round-robin"), [[0, 33], [2, 33], [5, 34]], 72),
        ("4.0.2", question("round-robin"), [[0, 33], [2, 33], [5, 34]], 0),
        ("3.3.2", question("builtin"), [[0, 24], [2, 24], [5, 52]], 11),
        ("4.4.0", question("builtin"), [[0, 24], [2, 24], [5, 52]], 11),
        ("4.4.0", question("builtin", more=',"queue_sizes":[0,0,9,4]'), [[0, 32], [2, 8], [5, 60]], 11),
    ],
)
def test_sticky_distribution_reference_gives_java_counts_and_switches_in_each_release(
    version: str, asked: Any, counts: list[list[int]], switches: int
) -> None:
    assert said(asked, version) == Answered({"counts": counts, "switches": switches})


def test_sticky_distribution_of_topic_without_partitions_throws_as_java() -> None:
    assert said(question("builtin", EMPTY, "null"), "4.4.0") == Answered({"raises": "ArithmeticException"})
    assert said(question("default", EMPTY, "[]"), "0.10.0.1") == Answered({"raises": "NullPointerException"})


@pytest.mark.parametrize(
    ("partitioner", "version", "why"),
    [
        ("default", "4.4.0", "DefaultPartitioner of Kafka 4.4.0 is not mirrored: expected 0.9.0.0 to 3.9.x"),
        ("uniform-sticky", "2.3.1", "UniformStickyPartitioner of Kafka 2.3.1 is not mirrored: expected 2.4.0 to 3.9.x"),
        ("round-robin", "0.10.0.1", "RoundRobinPartitioner of Kafka 0.10.0.1 is not mirrored: expected since 2.4.0"),
        ("builtin", "3.2.3", "BuiltInPartitioner of Kafka 3.2.3 is not mirrored: expected since 3.3.0"),
    ],
)
def test_sticky_distribution_of_partitioner_missing_in_release_is_unsupported(
    partitioner: str, version: str, why: str
) -> None:
    assert said(question(partitioner), version) == Unsupported(why)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"partitioner": "sticky"}, "Invalid enum value 'sticky'"),
        ({"batch_records": 0}, ">= 1"),
        ({"batch_records": 2**30}, "<= 1073741823"),
        ({"records": -1}, ">= 0"),
        ({"drain_after": [1]}, "drain_after has 1 entries for 4 partitions"),
        ({"drain_after": [1, 0, 1, 1]}, ">= 1"),
        ({"queue_sizes": [1, 2, 3, 4, 5]}, "queue_sizes has 5 entries for 4 partitions"),
        ({"seed": "9223372036854775808"}, "seed 9223372036854775808 is out of range: expected an int64"),
        ({"drain_afer": None}, "unknown field"),
    ],
)
def test_sticky_distribution_question_with_invalid_field_raises_validation_error(
    changes: dict[str, object], words: str
) -> None:
    document = msgspec.to_builtins(question("default")) | changes
    with pytest.raises(msgspec.ValidationError, match=words):
        msgspec.convert(document, type=RULE.question)


def test_sticky_distribution_accepts_int64_seed_as_string() -> None:
    document = msgspec.to_builtins(question("default")) | {"seed": "-9223372036854775808"}
    assert isinstance(said(msgspec.convert(document, type=RULE.question), "2.8.2"), Answered)


def test_sticky_distribution_question_space_and_strategy_cover_required_labels() -> None:
    for questions in (space_questions(RULE.slug), generated(RULE.slug, 300)):
        assert {label for asked in questions for label in RULE.labels(asked)} >= RULE.required_labels


def test_sticky_distribution_differences_are_grouped_by_partitioner_and_missing_partitions() -> None:
    assert RULE.path(question("builtin")) == "builtin"
    assert RULE.path(question("builtin", EMPTY, "null")) == "a topic without partitions"


def test_generated_sticky_distribution_questions_are_answered_in_3_9_1() -> None:
    for asked in generated(RULE.slug, 300):
        assert isinstance(outcome_of(RULE.ask, asked, parse_release("3.9.1")), Answered)
