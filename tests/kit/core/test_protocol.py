"""The protocol's types: what is a question, what is not, what two outcomes amount to, what a question is called."""

from __future__ import annotations

import msgspec
import pytest

from kafka_conformance.core.protocol import (
    Agrees,
    Answered,
    Ask,
    Differs,
    Errored,
    Failed,
    Outcome,
    Unsupported,
    Verdict,
    judge,
    question_id,
    to_json,
)
from kafka_conformance.rules import RULES

ONE, TWO = {"partition": 1}, {"partition": 2}
CLUSTER = '{"nodes":[{"id":0},{"id":1,"rack":"a"}],"partitions":[{"id":0,"leader":0},{"id":1,"leader":null}]}'
PRODUCER = (
    f'{{"record":{{"key":"666f6f"}},"config":{{"partitioner":{{"returns":-1}}}},"cluster":{CLUSTER},"draws":[4]}}'
)


def question(slug: str, text: str) -> msgspec.Struct:
    return msgspec.json.decode(text, type=RULES[slug].question)


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        (Answered(ONE), Answered({"partition": 1}), Agrees()),
        (Answered(ONE), Answered(TWO), Differs(ONE, TWO)),
        (Answered(ONE), Answered({"partition": 1, "drawn": 0}), Differs(ONE, {"partition": 1, "drawn": 0})),
        (Answered({"raises": "A"}), Answered({"raises": "A", "message": "m"}),
         Differs({"raises": "A"}, {"raises": "A", "message": "m"})),
        (Answered(ONE), Failed("broke"), Errored("mine", "broke")),
        (Failed("broke"), Answered(ONE), Errored("java", "broke")),
        (Failed("broke"), Failed("broke"), Errored("java", "broke")),
        (Unsupported("no"), Failed("broke"), Errored("mine", "broke")),
        (Failed("broke"), Unsupported("no"), Errored("java", "broke")),
        (Answered(ONE), Unsupported("no"), Errored("mine", "no")),
        (Unsupported("no"), Answered(ONE), Errored("java", "no")),
        (Unsupported("no"), Unsupported("no"), Unsupported("no")),
    ],
)  # fmt: skip
def test_judge_returns_agrees_differs_errored_or_unsupported_for_two_outcomes(
    left: Outcome, right: Outcome, verdict: Verdict
) -> None:
    assert judge(left, right, ("java", "mine")) == verdict


@pytest.mark.parametrize(("expected", "actual"), [(True, 1), (False, 0), (1, 1.0)])
def test_judge_distinguishes_true_from_1_and_int_from_float(expected: object, actual: object) -> None:
    assert judge(Answered({"x": expected}), Answered({"x": actual}), ("java", "mine")) != Agrees()


# The ids are the first 16 hex digits of a sha256 that was made with hashlib and json alone. They name files: they stay.
@pytest.mark.parametrize(
    ("slug", "release", "text", "expected"),
    [
        ("murmur2", "4.4.0", '{"key":"666f6f"}', "90043993ceb72c63"),
        ("murmur2", "4.4.0", '{ "key" : null }', "5711578824f6a520"),
        ("partition-for-key", "4.4.0", '{"partitions":12,"key":"666f6f"}', "ba259ee396b16be2"),
        ("producer-partition", "3.2.3", PRODUCER, "9833b3db4523a1c3"),
        (
            "producer-partition", "4.4.0",
            '{"record":{},"config":{},"cluster":{"nodes":[],"partitions":[]}}', "133f0df06e11b4e1",
        ),
    ],
)  # fmt: skip
def test_question_id_equals_the_published_sha256_prefix(slug: str, release: str, text: str, expected: str) -> None:
    assert question_id(slug, release, question(slug, text)) == expected


def test_question_id_differs_by_rule_and_release() -> None:
    asked = question("murmur2", '{"key":"666f6f"}')
    names = {question_id(slug, at, asked) for slug in ("murmur2", "murmur3") for at in ("4.4.0", "4.3.1")}
    assert len(names) == 4


def test_question_with_omitted_fields_equals_question_with_defaults() -> None:
    written = PRODUCER.replace('{"key":', '{"partition":null,"key":').replace(
        '"config":{', '"config":{"ignore_keys":false,'
    )
    written = written.replace('{"id":0}', '{"id":0,"rack":null}')
    assert question("producer-partition", written) == question("producer-partition", PRODUCER)


def test_json_encoding_is_independent_of_key_order() -> None:
    assert (
        to_json({"b": 1, "a": [None, "ü"]}) == to_json({"a": [None, "ü"], "b": 1}) == '{"a":[null,"ü"],"b":1}'.encode()
    )


# A misspelt field that counted as absent would make a comparison that cannot fail.
@pytest.mark.parametrize(
    ("slug", "text"),
    [
        ("murmur2", '{"key":"61","kay":"61"}'),
        ("murmur2", '{"kay":"61"}'),
        ("partition-for-key", '{"key":"61","partitions":1,"seed":1}'),
        ("producer-partition", PRODUCER.replace('{"key"', '{"kay"')),
        ("producer-partition", PRODUCER.replace('"config":{', '"config":{"ignore.keys":true,')),
        ("producer-partition", PRODUCER.replace('{"returns":-1}', '{"returns":-1,"twice":true}')),
        ("producer-partition", PRODUCER.replace('"leader":null', '"leeder":null')),
        ("producer-partition", PRODUCER.replace('"rack"', '"wrack"')),
        ("producer-partition", PRODUCER.replace('"draws"', '"draw"')),
    ],
)
def test_question_with_an_unknown_field_raises_validation_error(slug: str, text: str) -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        question(slug, text)


@pytest.mark.parametrize(
    ("slug", "text"),
    [
        ("murmur2", "{}"),
        ("murmur2", '{"key":"6"}'),
        ("murmur2", '{"key":"6F"}'),
        ("murmur2", '{"key":"0x61"}'),
        ("murmur2", '{"key":" 61"}'),
        ("murmur2", '{"key":61}'),
        ("murmur2", "[null]"),
        ("partition-for-key", '{"key":"61"}'),
        ("partition-for-key", '{"key":"61","partitions":"12"}'),
        ("partition-for-key", '{"key":"61","partitions":1.5}'),
        ("partition-for-key", '{"key":"61","partitions":true}'),
        ("partition-for-key", '{"key":"61","partitions":2147483648}'),
        ("partition-for-key", '{"key":"61","partitions":-2147483649}'),
        ("producer-partition", PRODUCER.replace("[4]", "[2147483648]")),
        ("producer-partition", PRODUCER.replace("[4]", "null")),
        ("producer-partition", PRODUCER.replace('{"id":0}', '{"rack":"a"}')),
    ],
)
def test_question_with_missing_or_invalid_value_raises_validation_error(slug: str, text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        question(slug, text)


def test_hex_key_with_trailing_line_feed_raises_validation_error() -> None:
    with pytest.raises(msgspec.ValidationError):
        question("murmur2", '{"key":"61\\n"}')


def test_partition_count_accepts_int_min_and_int_max() -> None:
    for count in (-(2**31), 2**31 - 1):
        assert question("partition-for-key", f'{{"key":null,"partitions":{count}}}').partitions == count


def test_question_is_immutable_after_decoding() -> None:
    with pytest.raises(AttributeError):
        question("murmur2", '{"key":"61"}').key = "62"


@pytest.mark.parametrize("name", ["id", "rule", "release", "question"])
def test_protocol_request_line_without_required_or_with_unknown_field_raises_validation_error(name: str) -> None:
    line = {"id": "1", "rule": "murmur2", "release": "4.4.0", "question": {}}
    msgspec.json.decode(msgspec.json.encode(line), type=Ask)
    with pytest.raises(msgspec.ValidationError, match=f"missing required field `{name}`"):
        msgspec.json.decode(msgspec.json.encode({k: v for k, v in line.items() if k != name}), type=Ask)
    with pytest.raises(msgspec.ValidationError, match="unknown field `versoin`"):
        msgspec.json.decode(msgspec.json.encode({**line, "versoin": 1}), type=Ask)
