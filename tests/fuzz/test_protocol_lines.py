"""Lines of the protocol: those that a driver writes, and those that ``answer`` reads."""

from __future__ import annotations

import io
from itertools import islice

import msgspec
import pytest
from byte_mutations import arbitrary_or_mutated
from fuzzing import BrokenPromise, Door, FuzzPlan, explore, plant
from hypothesis import strategies as st
from json_mutations import hostile_json, mutated_json, mutated_lines

from kafka_conformance.answerers.driver import lines
from kafka_conformance.answerers.driver.lines import ProtocolViolation, read_answer, read_hello
from kafka_conformance.cases.store import folder_of_cases
from kafka_conformance.cli.commands import answer
from kafka_conformance.core.protocol import Ask
from kafka_conformance.rules import RULES

HELLO = b'{"hello":{"protocol":1,"name":"a","version":"1","language":"go","rules":["murmur2"],"grades":{"murmur2":"exact"}}}'
ANSWERS = [
    b'{"id":"q1","answer":{"hash":-12,"steps":[{"a":null,"b":[1.5,true]},{"raises":"ArithmeticException","message":"x"}]}}',
    b'{"id":"q2","unsupported":"no such rule"}',
    b'{"id":"q3","failed":"it broke"}',
]
SPEAKS = [HELLO, *ANSWERS]


def asked() -> list[bytes]:
    """A short question of each rule."""
    found = []
    for slug in RULES:
        with (folder_of_cases() / f"{slug}.ndjson").open("rb") as file:
            first = [msgspec.json.decode(line) for line in islice(file, 1, 12)]
        one = min(first, key=lambda case: len(str(case["question"])))
        found.append(
            msgspec.json.encode(Ask("q1", slug, one["release"], msgspec.Raw(msgspec.json.encode(one["question"]))))
        )
    return found


ASKED = [b'{"hello":{"protocol":1}}', *asked()]


def answers(data: bytes) -> None:
    """Every line has an answer, which is JSON."""
    out = io.BytesIO()
    answer.run(answerer_name="reference", lines=io.BytesIO(data), out=out)
    replies = out.getvalue().splitlines()
    assert len(replies) == sum(bool(line.strip()) for line in io.BytesIO(data))
    assert all(isinstance(msgspec.json.decode(reply), dict) for reply in replies)


DRIVER_LINE = Door(read_answer, (ProtocolViolation,))
ANSWER = Door(answers, ())


def test_fuzzed_driver_answer_lines_raise_protocol_violation_only(plan: FuzzPlan) -> None:
    explore(plan, DRIVER_LINE, st.one_of(mutated_json(SPEAKS), arbitrary_or_mutated(SPEAKS)), 200, hostile_json(SPEAKS))


def test_fuzzed_driver_hello_lines_raise_protocol_violation_only(plan: FuzzPlan) -> None:
    explore(
        plan,
        Door(read_hello, (ProtocolViolation,)),
        st.one_of(mutated_json([HELLO]), mutated_json(SPEAKS)),
        60,
        hostile_json([HELLO]),
    )


def test_answer_command_replies_to_every_fuzzed_question_line_with_json(plan: FuzzPlan) -> None:
    explore(
        plan,
        ANSWER,
        st.one_of(mutated_json(ASKED), mutated_lines(ASKED[:4]), arbitrary_or_mutated(ASKED)),
        60,
        hostile_json(ASKED[:3]),
    )


def test_fuzzer_finds_a_bug_planted_in_the_driver_line_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, lines, "_too_large", lambda *_: True)
    with pytest.raises(BrokenPromise, match="KeyError"):
        explore(FuzzPlan(shrink=False), DRIVER_LINE, mutated_json(SPEAKS), 300)


def test_fuzzer_finds_a_bug_planted_in_the_answer_command(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, answer, "_hello", lambda hello, *_: hello != {"protocol": 1})
    with pytest.raises(BrokenPromise, match="KeyError"):
        explore(FuzzPlan(shrink=False), ANSWER, mutated_json(ASKED[:1]), 300)
