"""The lines: what is written, byte by byte, and what is refused, by which word. The shapes: ``test_protocol_schema``."""

from __future__ import annotations

import json

import pytest

from kafka_conformance.answerers.driver.lines import ProtocolViolation, ask_line, hello_line, read_answer, read_hello
from kafka_conformance.core.protocol import Answered
from kafka_conformance.rules.murmur2.question import Murmur2Question

HELLO = '{"hello": {"protocol": %s, "name": "x", "version": "1", "language": "go", "rules": ["%s"]}}'


def test_hello_and_question_lines_sent_to_a_driver_are_compact_json_with_a_newline() -> None:
    assert hello_line() == b'{"hello":{"protocol":1}}\n'
    assert ask_line("q1", "murmur2", "4.4.0", Murmur2Question(None)) == (
        b'{"id":"q1","rule":"murmur2","release":"4.4.0","question":{"key":null}}\n'
    )


@pytest.mark.parametrize(
    ("line", "error", "what"),
    [
        (b"", "noise", "that is not JSON: "),
        (b"\xef\xbb\xbf{}", "encoding", "a line that begins with a byte order mark: "),
        (HELLO.encode("utf-16"), "encoding", "a line in UTF-16: "),
        (HELLO.encode("utf-16-le"), "encoding", "a line in UTF-16: "),
        (b"[" * 100_000, "shape", "nested deeper than 100 levels"),
        (b'{"hello": {"protocol": 1, "protocol": 1}}', "duplicate", "the field protocol twice"),
        (b'{"hello": 1}', "hello", "does not match protocol 1: Expected `object`, got `int` - at `"),
        (b'{"hello": null}', "hello", "first line is not a hello: "),
        (b"[]", "hello", "first line is not a hello: "),
        ((HELLO % (2, "murmur2")).encode(), "version", "speaks protocol 2, not 1"),
        ((HELLO % ('"1"', "murmur2")).encode(), "hello", "does not match protocol 1: "),
        ((HELLO % ("true", "murmur2")).encode(), "hello", "does not match protocol 1: "),
        ((HELLO % (1, "\\u001b[2J")).encode(), "hello", r"names an unknown rule: \\x1b\[2J"),
    ],
)
def test_malformed_driver_hello_raises_protocol_violation_with_the_error_name(
    line: bytes, error: str, what: str
) -> None:
    with pytest.raises(ProtocolViolation, match=what) as raised:
        read_hello(line)
    assert raised.value.error == error
    assert str(raised.value).isprintable()


@pytest.mark.parametrize(
    ("line", "error", "name"),
    [
        ("nope", "noise", None),
        ("\x1b[2J", "noise", None),
        ('{"id": "q1", "answer": {"a": NaN}}', "nan", "q1"),
        ('{"id": "q7", "answer": {"a": [1, -Infinity]}}', "nan", "q7"),
        ("NaN is what it is", "noise", None),
        ("{", "indented", None),
        ('{"id": "q4",', "indented", "q4"),
        ('{ "answer": {', "indented", None),
        ('{"id": "q4", "answer": {"a": 1}', "noise", None),
        ("{looking at", "noise", None),
        ('{"id": "q1", "answer": {"a": 1e999}}', "shape", "q1"),
        ('{"id": "q1", "answer": {"a": %s}}' % ("9" * 5000), "shape", "q1"),
        ('{"id": "q1", "answer": {"a": %s}}' % ("[" * 5000 + "]" * 5000), "shape", "q1"),
        ('{"id": "q1", "answer": {"a": %s}}' % ("[" * 101 + "]" * 101), "shape", "q1"),
        ('{"id": "q1", "answer": {"a": [{"b": 1, "c": 2, "b": 1}]}}', "duplicate", "q1"),
        ('{"id": "q1", "answer": {}, "answer": {}}', "duplicate", "q1"),
        ('{"id": "q1", "id": "q2", "answer": {}}', "duplicate", None),
        ('{"id": "q1", "answer": 1}', "shape", "q1"),
        ('{"id": "q1"}', "shape", "q1"),
        ('{"id": ["q1"]}', "shape", None),
        ('{"id": "q1", "answer": {"a": 9007199254740993}}', "shape", "q1"),
    ],
)
def test_malformed_driver_answer_raises_protocol_violation_with_error_name_and_any_readable_question_id(
    line: str, error: str, name: str | None
) -> None:
    with pytest.raises(ProtocolViolation) as raised:
        read_answer(line.encode())
    assert (raised.value.error, raised.value.name) == (error, name)
    assert str(raised.value).isprintable()


def test_driver_answer_with_control_characters_and_nested_lists_is_parsed_unchanged() -> None:
    answer = {"topic": "\x1b[2J", "deep": [[[{"n": 1.0}]]]}
    assert read_answer(json.dumps({"id": "\x07", "answer": answer}).encode()) == ("\x07", Answered(answer))
