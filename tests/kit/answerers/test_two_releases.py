"""Which oracle, and which Java class, is asked of a known and of an unknown release; the oracles are made up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self

import msgspec
import pytest

from kafka_conformance.answerers.two_releases import TwoReleases
from kafka_conformance.core.errors import OracleFault
from kafka_conformance.core.protocol import Answered, Outcome
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules import RULES
from kafka_reference.releases import parse_release

KNOWN, UNKNOWN = parse_release("3.9.2"), parse_release("9.0.0")


class Oracle:
    """Answers with its classes; ``missing`` classes cannot be opened."""

    def __init__(self, name: str, classes: Callable[[str], Mapping[str, str]], missing: frozenset[str]) -> None:
        self.name, self.classes, self.missing, self.closed = name, classes, missing, 0
        self.beside_it: list[Oracle] = []

    def beside(self, classes: Callable[[str], Mapping[str, str]]) -> Oracle:
        self.beside_it.append(Oracle("alone", classes, self.missing))
        return self.beside_it[-1]

    def open(self, version: str) -> Self:
        if lacking := self.missing & set(self.classes(version).values()) and version == str(UNKNOWN):
            raise OracleFault(f"java.lang.ClassNotFoundException: {lacking}")
        self.version = version
        return self

    def open_broker(self, version: str) -> Self:
        return self.open(version)

    def add_codecs(self, version: str) -> None:
        assert version == self.version

    def close_release(self, version: str) -> None:
        assert version == str(UNKNOWN)
        self.closed += 1

    def answer(self, lines: bytes) -> list[dict[str, Any]]:
        asked = [msgspec.json.decode(line) for line in lines.splitlines()]
        classes = self.classes(self.version)
        return [
            {"id": each["id"], "answer": {"by": [self.name, self.version, classes[each["rule"]]]}} for each in asked
        ]


def two(missing: frozenset[str] = frozenset()) -> tuple[TwoReleases, Oracle]:
    oracle = Oracle("whole", lambda _: dict.fromkeys(RULES, "known"), missing)
    return TwoReleases(oracle, KNOWN, UNKNOWN), oracle  # type: ignore[arg-type]


def question(rule: Rule) -> Any:
    return next(iter(rule.spaces[0].questions()))


@pytest.mark.parametrize("slug", ["default-partitioner", "murmur2", "broker-producer-state", "record-batch"])
def test_question_for_an_unknown_release_uses_the_java_class_of_the_known_release(slug: str) -> None:
    java, _ = two()
    rule = RULES[slug]
    assert java.answer(rule, KNOWN, [question(rule)]) == [Answered({"by": ["whole", "3.9.2", "known"]})]
    assert java.answer(rule, UNKNOWN, [question(rule)]) == [
        Answered({"by": ["alone", "9.0.0", rule.java_class(KNOWN)]})
    ]


def test_missing_java_class_raises_oracle_fault_for_the_rule_but_not_for_other_rules() -> None:
    default, murmur2 = RULES["default-partitioner"], RULES["murmur2"]
    java, oracle = two(frozenset({str(default.java_class(KNOWN))}))
    with pytest.raises(OracleFault):
        java.answer(default, UNKNOWN, [question(default)])
    assert java.answer(murmur2, UNKNOWN, [question(murmur2)])
    assert [list(each.classes("9.0.0")) for each in oracle.beside_it] == [["default-partitioner"], ["murmur2"]]


def test_oracle_for_the_unknown_release_is_opened_once_per_rule_and_closed() -> None:
    java, oracle = two()
    rule = RULES["murmur2"]
    for _ in range(2):
        java.answer(rule, UNKNOWN, [question(rule)])
    assert len(oracle.beside_it) == 1
    java.close()
    assert oracle.beside_it[0].closed == 1
    java.answer(rule, UNKNOWN, [question(rule)])
    assert len(oracle.beside_it) == 2


def test_composite_rule_for_an_unknown_release_uses_the_java_class_of_the_component_rule() -> None:
    def ask_one_part(ask: Any, release: Any, questions: Any) -> list[Outcome]:
        assert release == UNKNOWN
        return list(ask("murmur2", [{"key": "00"}] * len(questions)))

    java, oracle = two()
    delivery = replace(RULES["delivery"], by_parts=ask_one_part)
    by = RULES["murmur2"].java_class(KNOWN)
    assert java.answer(delivery, UNKNOWN, [question(delivery)]) == [Answered({"by": ["alone", "9.0.0", by]})]
    assert [list(each.classes("9.0.0")) for each in oracle.beside_it] == [["murmur2"]]
