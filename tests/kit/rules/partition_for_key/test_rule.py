from __future__ import annotations

import msgspec
import pytest
from questions import generated, missing_labels, space_questions

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.protocol import Answered
from kafka_conformance.rules.partition_for_key.rule import RULE
from kafka_reference.releases import parse_release


@pytest.mark.parametrize("version", ["0.10.0.1", "3.2.3", "3.3.1", "4.4.0"])
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ('{"key":"666f6f","partitions":12}', {"partition": 8}),
        ('{"key":"666f6f626172","partitions":12}', {"partition": 6}),
        ('{"key":"666f6f626172","partitions":-12}', {"partition": 6}),
        ('{"key":"666f6f626172","partitions":-2147483648}', {"partition": 1357151166}),
        ('{"key":"","partitions":2147483647}', {"partition": 275646681}),
        ('{"key":"666f6f","partitions":0}', {"raises": "ArithmeticException"}),
        ('{"key":null,"partitions":0}', {"raises": "NullPointerException"}),
    ],
)
def test_partition_for_key_has_java_partition_or_exception(
    version: str, question: str, answer: dict[str, object]
) -> None:
    asked = msgspec.json.decode(question, type=RULE.question)
    assert ReferenceAnswerer().answer(RULE, parse_release(version), [asked]) == [Answered(answer)]


@pytest.mark.parametrize(
    ("count", "labels"),
    [
        (0, {"no partitions"}),
        (-1, {"negative count"}),
        (1, {"one partition"}),
        (2, {"several"}),
        (2**31 - 1, {"several", "count at the end of the ints"}),
        (-(2**31), {"negative count", "count at the end of the ints"}),
    ],
)
def test_partition_count_labels_name_zero_negative_and_extreme_counts(count: int, labels: set[str]) -> None:
    assert set(RULE.labels(RULE.question("7f", count))) == labels | {"1 bytes"}


def test_partition_for_key_question_space_covers_required_labels() -> None:
    assert missing_labels(RULE.slug, space_questions(RULE.slug)) == set()


@pytest.mark.exhaustive
def test_generated_partition_counts_cover_zero_negative_small_and_huge() -> None:
    counts = [question.partitions for question in generated(RULE.slug, 1000)]
    assert {0, 1, 2**31 - 1, -(2**31)} <= set(counts)
    assert sum(1 < count <= 64 for count in counts) > 100
    assert sum(64 < count < 2**31 - 1 for count in counts) > 50
    assert sum(count < 0 for count in counts) > 50


@pytest.mark.parametrize(
    ("version", "java"),
    [
        ("0.10.0.1", "kafkaoracle.partition_for_key.PartitionForKeyByDefaultPartitioner"),
        ("3.2.3", "kafkaoracle.partition_for_key.PartitionForKeyByDefaultPartitioner"),
        ("3.3.0", "kafkaoracle.partition_for_key.PartitionForKeyRule"),
        ("4.4.0", "kafkaoracle.partition_for_key.PartitionForKeyRule"),
        ("0.9.0.1", None),
    ],
)
def test_partition_for_key_oracle_class_changes_in_3_3_but_0_9_has_none(version: str, java: str | None) -> None:
    assert RULE.java_class(parse_release(version)) == java


def test_vectorised_partition_for_key_over_a_column_of_keys_gives_java_partitions() -> None:
    np = pytest.importorskip("numpy")
    assert RULE.columns is not None
    offsets, data = np.array([0, 3, 3, 9], np.int32), np.frombuffer(b"foofoobar", np.uint8)
    assert RULE.columns.reference(offsets, data, 12).tolist() == [8, 9, 6]
    assert RULE.columns.reference(offsets, data, 1000).tolist() == [616, 681, 166]
    assert RULE.columns.question(b"foo", 12) == RULE.question("666f6f", 12)
