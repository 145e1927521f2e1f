from __future__ import annotations

import msgspec
import pytest

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.protocol import Answered
from kafka_conformance.rules.murmur2.rule import RULE
from kafka_reference.releases import parse_release


@pytest.mark.parametrize("version", ["0.10.0.1", "2.8.2", "4.4.0"])
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ('{"key":"666f6f"}', {"hash": 597841616}),
        ('{"key":"666f6f626172"}', {"hash": -790332482}),
        ('{"key":""}', {"hash": 275646681}),
        ('{"key":null}', {"raises": "NullPointerException"}),
    ],
)
def test_murmur2_reference_gives_java_hash_or_null_pointer_exception_for_null_key(
    version: str, question: str, answer: dict[str, object]
) -> None:
    asked = msgspec.json.decode(question, type=RULE.question)
    assert ReferenceAnswerer().answer(RULE, parse_release(version), [asked]) == [Answered(answer)]


def test_murmur2_question_space_has_no_duplicates_and_covers_required_labels_and_the_null_key() -> None:
    (space,) = RULE.spaces
    questions = list(space.questions())
    assert {label for question in questions for label in RULE.labels(question)} >= RULE.required_labels
    assert len(set(questions)) == len(questions)
    assert RULE.question(None) in questions


def test_vectorised_murmur2_over_a_column_of_keys_equals_the_scalar_hash() -> None:
    np = pytest.importorskip("numpy")
    assert RULE.columns is not None
    assert RULE.columns.arguments == (0,)
    offsets, data = np.array([0, 3, 3, 9], np.int32), np.frombuffer(b"foofoobar", np.uint8)
    expected = [597841616, 275646681, -790332482]
    assert RULE.columns.reference(offsets, data, 0).tolist() == expected
    assert [RULE.columns.scalar(key, 0) for key in (b"foo", b"", b"foobar")] == expected
    assert RULE.columns.question(b"foo", 0) == RULE.question("666f6f")
