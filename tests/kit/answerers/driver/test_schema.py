"""The schema that ships is the one that the types give; it takes real lines of every rule, and refuses broken ones."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

import jsonschema
import msgspec
import pytest

from kafka_conformance.answerers.driver import schema as protocol_schema
from kafka_conformance.answerers.driver.lines import ProtocolViolation, ask_line, hello_line, read_answer, read_hello
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.protocol import Answered
from kafka_conformance.rules import RULES
from kafka_reference.releases import parse_release

SCHEMA = json.loads(protocol_schema.shipped())
NEWEST = parse_release("4.4.0")
HELLO = {"protocol": 1, "name": "x", "version": "1", "language": "go", "rules": ["murmur2"]}


def of(side: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator({**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{side}"}]})


FROM_KIT, FROM_DRIVER = of("FromKit"), of("FromDriver")


def ask(**fields: Any) -> dict[str, Any]:
    return {"id": "q1", "rule": "murmur2", "release": "4.4.0", "question": {"key": "00"}, **fields}


def test_shipped_protocol_schema_equals_the_generated_schema() -> None:
    assert protocol_schema.shipped() == protocol_schema.text(), "kafka-conformance schema --write makes it again"


def test_protocol_schema_is_valid_json_schema_and_lists_every_rule() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert {one["properties"]["rule"]["const"] for one in SCHEMA["$defs"]["Ask"]["anyOf"]} == set(RULES)


@pytest.mark.parametrize("slug", RULES)
def test_lines_of_every_rule_match_the_protocol_schema_but_questions_with_unknown_fields_fail(slug: str) -> None:
    rule = RULES[slug]
    questions = [question for space in rule.spaces for question in islice(space.questions(), 0, 600, 75)]
    outcomes = ReferenceAnswerer().answer(rule, NEWEST, questions)
    assert questions
    # Only this rule's branch: it has to be the one that takes its lines.
    (branch,) = [one for one in SCHEMA["$defs"]["Ask"]["anyOf"] if one["properties"]["rule"]["const"] == slug]
    asked = jsonschema.Draft202012Validator({**SCHEMA, "anyOf": [branch]})
    answered = 0
    for question, outcome in zip(questions, outcomes, strict=True):
        line = json.loads(ask_line("q1", slug, "4.4.0", question))
        asked.validate(line)
        assert not asked.is_valid({**line, "question": {**line["question"], "kay": 1}})
        assert not FROM_DRIVER.is_valid(line)
        if isinstance(outcome, Answered):
            answered += 1
            said = {"id": "q1", "answer": outcome.answer}
            FROM_DRIVER.validate(said)
            assert read_answer(msgspec.json.encode(said)) == ("q1", outcome)
    assert answered or NEWEST not in rule.releases


@pytest.mark.parametrize(
    "line",
    [
        ask(id=1), ask(rule="murmur3"), ask(release="4.x"), ask(release="newest"), ask(question={}), ask(question=None),
        ask(question={"key": "0"}), ask(question={"key": "0A"}), ask(question={"key": "00\n"}), ask(more=1),
        {"hello": {"protocol": 2}}, {"hello": {}}, [], "text",
    ],
)  # fmt: skip
def test_protocol_schema_rejects_malformed_questions_and_hellos(line: object) -> None:
    assert not FROM_KIT.is_valid(line)


def test_hello_line_sent_to_drivers_matches_the_protocol_schema() -> None:
    FROM_KIT.validate(json.loads(hello_line()))


HELLOS: list[tuple[dict[str, Any], bool]] = [
    (HELLO, True),
    ({**HELLO, "grades": {"murmur2": "exact"}}, True),
    ({**HELLO, "grades": {"murmur2": "good"}}, False),
    ({**HELLO, "grade": {}}, False),
    ({**HELLO, "protocol": 2}, False),
    ({**HELLO, "protocol": "1"}, False),
    ({**HELLO, "rules": "murmur2"}, False),
    ({key: value for key, value in HELLO.items() if key != "rules"}, False),
]
BEYOND = 2**53 + 1
ANSWERS: list[tuple[object, bool]] = [
    ({"id": "q1", "answer": {}}, True),
    ({"id": "q1", "answer": {"raises": "A", "message": "m"}}, True),
    ({"id": "q1", "answer": {"a": [{"b": 2**53}, None, True, "x", 1.5, -(2**53)]}}, True),
    ({"id": "q1", "answer": {"a": str(BEYOND)}}, True),
    ({"id": "q1", "unsupported": "why"}, True),
    ({"id": "q1", "failed": "what"}, True),
    ({"id": "q1", "answer": {"a": BEYOND}}, False),
    ({"id": "q1", "answer": {"a": [{"b": -BEYOND}]}}, False),
    ({"id": "q1", "answer": {"a": 1e300}}, False),
    ({"id": "q1", "answer": []}, False),
    ({"id": "q1", "answer": None}, False),
    ({"id": "q1"}, False),
    ({"id": 1, "answer": {}}, False),
    ({"id": None, "failed": "what"}, False),
    ({"answer": {}}, False),
    ({"id": "q1", "answer": {}, "failed": "x"}, False),
    ({"id": "q1", "answer": {}, "more": "x"}, False),
    ({"id": "q1", "failed": 1}, False),
    ({"id": "q1", "unsupported": None}, False),
    ([], False),
    (7, False),
]


@pytest.mark.parametrize(("hello", "good"), HELLOS)
def test_protocol_schema_and_parser_accept_and_reject_the_same_driver_hellos(hello: dict[str, Any], good: bool) -> None:
    line = {"hello": hello}
    assert FROM_DRIVER.is_valid(line) == good
    try:
        read_hello(json.dumps(line).encode())
    except ProtocolViolation:
        assert not good
    else:
        assert good


@pytest.mark.parametrize(("line", "good"), ANSWERS)
def test_protocol_schema_and_parser_accept_and_reject_the_same_driver_answers(line: object, good: bool) -> None:
    assert FROM_DRIVER.is_valid(line) == good
    try:
        read_answer(json.dumps(line).encode())
    except ProtocolViolation:
        assert not good
    else:
        assert good
