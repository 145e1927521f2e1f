"""``answer``: one line out for every line in, whatever the line."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from kafka_conformance.cli.commands.answer import run
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.version import kit_version
from kafka_conformance.rules import RULES

Answered = Callable[..., tuple[int, list[dict[str, Any]]]]
ASK: dict[str, Any] = {"id": "1", "rule": "murmur2", "release": "4.4.0", "question": {"key": "666f6f"}}


def answered(*lines: object, answerer: str = "reference") -> tuple[int, list[dict[str, Any]]]:
    """The exit code and the lines that come out; what is not bytes goes in as JSON."""
    given = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    out = io.BytesIO()
    code = run(answerer_name=answerer, lines=io.BytesIO(b"\n".join(given)), out=out)
    return code, [json.loads(line) for line in out.getvalue().splitlines()]


def one(line: object, answerer: str = "reference") -> tuple[int, dict[str, Any]]:
    code, (said,) = answered(line, answerer=answerer)
    return code, said


@pytest.mark.parametrize(
    ("rule", "release", "question", "answer"),
    [
        ("murmur2", "4.4.0", {"key": "666f6f"}, {"hash": 597841616}),
        ("murmur2", "0.10.0.1", {"key": None}, {"raises": "NullPointerException"}),
        ("partition-for-key", "4.4.0", {"key": "666f6f626172", "partitions": 12}, {"partition": 6}),
        (
            "producer-partition", "3.2.3",
            {"record": {"partition": -1}, "config": {}, "cluster": {"nodes": [], "partitions": []}},
            {"raises": "IllegalArgumentException",
             "message": "Invalid partition: -1. Partition number should always be non-negative or null."},
        ),
    ],
)  # fmt: skip
def test_answer_command_returns_hash_partition_or_java_exception_by_rule(
    rule: str, release: str, question: object, answer: object
) -> None:
    line = {"id": "any id", "rule": rule, "release": release, "question": question}
    assert one(line) == (0, {"id": "any id", "answer": answer})


def test_answer_command_replies_to_hello_with_all_rules() -> None:
    code, said = one({"hello": {"protocol": 1}})
    assert code == 0
    assert said == {
        "hello": {
            "protocol": 1, "name": "kafka-conformance reference", "version": kit_version(),
            "language": "python", "rules": list(RULES),
        }
    }  # fmt: skip


@pytest.mark.parametrize("hello", [{"protocol": 2}, {}, {"protocol": "1"}, 1, None, []])
def test_answer_command_exits_2_for_hello_with_unsupported_or_missing_protocol_version(hello: object) -> None:
    code, said = one({"hello": hello})
    assert code == 2
    assert said["failed"].startswith("line 1: I speak protocol 1, not ")


def test_answer_command_answers_lines_in_order_and_skips_empty_lines() -> None:
    code, said = answered({"hello": {"protocol": 1}}, b"", ASK, b"  \r", {**ASK, "id": "2", "question": {"key": ""}})
    assert code == 0
    assert said[1:] == [{"id": "1", "answer": {"hash": 597841616}}, {"id": "2", "answer": {"hash": 275646681}}]
    assert answered() == (0, [])


@pytest.mark.parametrize(
    ("line", "name", "why"),
    [
        (b"nope", None, "line 1 is not JSON: "),
        (b'{"id": "1"', None, "line 1 is not JSON: "),
        (b"\xff", None, "line 1 is not JSON: "),
        (b'"text"', None, "line 1 is not a question: Expected `object`, got `str`"),
        (b"5", None, "line 1 is not a question: "),
        (b"null", None, "line 1 is not a question: "),
        (b"[1]", None, "line 1 is not a question: "),
        ({}, None, "line 1 is not a question: Object missing required field `id`"),
        ({**ASK, "id": 5}, 5, "line 1 is not a question: Expected `str`, got `int` - at `$.id`"),
        ({**ASK, "more": 1}, "1", "line 1 is not a question: Object contains unknown field `more`"),
        ({k: v for k, v in ASK.items() if k != "release"}, "1", "line 1 is not a question: Object missing"),
        ({**ASK, "release": "4.x"}, "1", "line 1: '4.x' is not a Kafka release"),
        ({**ASK, "release": "newest"}, "1", "line 1: 'newest' is not a Kafka release"),
        ({**ASK, "question": {"kay": "61"}}, "1", "line 1 is not a question: Object contains unknown field `kay`"),
        ({**ASK, "question": {"key": "6"}}, "1", "line 1 is not a question: Expected `str` matching regex"),
        ({**ASK, "question": None}, "1", "line 1 is not a question: Expected `object`, got `null`"),
    ],
)
def test_malformed_question_line_gets_error_reply_with_line_number_and_exit_code_2(
    line: object, name: object, why: str
) -> None:
    code, said = one(line)
    assert code == 2
    assert (said["id"], set(said)) == (name, {"id", "failed"})
    assert said["failed"].startswith(why)


def test_lines_after_a_malformed_line_are_answered_and_exit_code_is_2() -> None:
    code, said = answered(ASK, b"nope", {**ASK, "id": "2"})
    assert code == 2
    assert [line.get("answer") for line in said] == [{"hash": 597841616}, None, {"hash": 597841616}]
    assert said[1]["failed"].startswith("line 2 is not JSON")


@pytest.mark.parametrize("line", [b'{"id": "\xff"}', b"[" * 100_000], ids=["latin-1", "deep"])
def test_invalid_utf8_or_deeply_nested_line_exits_2_and_the_next_line_is_answered(line: bytes) -> None:
    code, said = answered(line, ASK)
    assert code == 2
    assert said[1] == {"id": "1", "answer": {"hash": 597841616}}


def test_answer_command_replies_unsupported_if_rule_is_unknown_or_absent_in_release_and_exits_0() -> None:
    assert one({**ASK, "rule": "murmur3"}) == (0, {"id": "1", "unsupported": "unknown rule 'murmur3'"})
    assert one({**ASK, "release": "0.9.0.1"}) == (
        0,
        {"id": "1", "unsupported": "murmur2 is not a rule of release 0.9.0.1"},
    )


def test_question_with_too_few_random_draws_fails_with_exit_code_2() -> None:
    question = {"record": {}, "config": {}, "cluster": {"nodes": [], "partitions": [{"id": 0, "leader": None}]}}
    code, said = one({"id": "1", "rule": "producer-partition", "release": "2.3.1", "question": question})
    assert code == 2
    assert said == {"id": "1", "failed": "the question holds 0 draws and the rule asks for one more: add draws to it"}


def test_mutant_answerer_returns_wrong_hash_and_mutant_name_in_hello() -> None:
    assert one({**ASK, "question": {"key": "68656c6c6f"}}, "mutant:string-hash-code")[1]["answer"] == {"hash": 99162322}
    assert one({"hello": {"protocol": 1}}, "mutant:crc32")[1]["hello"]["name"] == "kafka-conformance mutant:crc32"


def test_answer_command_with_unknown_answerer_name_raises_bad_input() -> None:
    with pytest.raises(BadInput, match="unknown answerer 'nobody'"):
        answered(ASK, answerer="nobody")


def test_line_over_16_mib_is_read_in_pieces_and_gets_error_reply_before_the_next_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ask = json.dumps(ASK).encode() + b"\n"
    given = b'{"a":"' + b"x" * (40 * 2**20) + b'"}\n' + ask
    read = 0

    class Counted(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            nonlocal read
            line = super().readline(size)
            read = max(read, len(line))
            return line

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(Counted(given)))
    out = io.BytesIO()
    assert run(answerer_name="reference", out=out) == 2
    first, second = map(json.loads, out.getvalue().splitlines())
    assert first == {"id": None, "failed": "line 1 has more than 16,777,216 bytes"}
    assert second == {"id": "1", "answer": {"hash": 597841616}}
    assert read <= 16 * 2**20 + 1
