"""A step that may be left out of an answer only reads: Kafka's own classes answer the others alike without it.

The gate judges a client that answers ``look`` by "unsupported" by Java's answers to histories with ``look``. That is right
only if ``look`` changes nothing in Java.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.cases.store import frozen
from kafka_conformance.core.protocol import Answered
from kafka_conformance.core.rule import Rule
from kafka_conformance.oracle.oracle import Oracle
from kafka_conformance.rules import RULES
from kafka_reference.releases import NEWEST

RELEASE = NEWEST
MOST = 400
WITH_STEPS = {
    slug: {
        path.removeprefix("steps.")
        for path in rule.optional_parts
        if path.count(".") == 1 and path.startswith("steps.")
    }
    for slug, rule in RULES.items()
}


def _ask(oracle: Oracle, rule: Rule, questions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    typed = [msgspec.convert(question, type=rule.question) for question in questions]
    outcomes = JavaAnswerer(oracle).answer(rule, RELEASE, typed)
    assert all(isinstance(outcome, Answered) for outcome in outcomes), outcomes[0]
    return [outcome.answer for outcome in outcomes if isinstance(outcome, Answered)]


@pytest.mark.parametrize("slug", [slug for slug, ops in WITH_STEPS.items() if ops])
def test_java_answers_to_other_steps_are_equal_with_and_without_read_only_steps(oracle: Oracle, slug: str) -> None:
    rule, ops = RULES[slug], WITH_STEPS[slug]
    cases = frozen(rule)
    assert cases is not None
    asked = [msgspec.json.decode(case.question) for case in cases.at(str(RELEASE))]
    asked = [one for one in asked if {True, False} == {step["op"] in ops for step in one.get("steps", ())}][-MOST:]
    without = [{**one, "steps": [step for step in one.get("steps", ()) if step["op"] not in ops]} for one in asked]
    assert len(asked) > 20
    pairs = list(zip(asked, _ask(oracle, rule, asked), _ask(oracle, rule, without), strict=True))
    for question, whole, bare in pairs:
        if "steps" not in whole:
            assert whole == bare
            continue
        rest = [each for step, each in zip(question["steps"], whole["steps"], strict=True) if step["op"] not in ops]
        assert rest == bare["steps"], question
    assert sum(len(whole.get("steps", ())) > len(bare.get("steps", ())) > 0 for _, whole, bare in pairs) > 20
