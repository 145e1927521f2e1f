"""The cases of the page of findings, put to Java again: in the first and the last release of those that answer alike.

The newest of these releases is asked at each change, the others if a case or the code of its rule has changed since: the
step ``finding-answers`` of ``ci/regeneration_steps.py``.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.core.protocol import Answered, to_json
from kafka_conformance.oracle.oracle import Oracle
from kafka_conformance.rules import RULES
from kafka_reference.releases import parse_release

CASES = sorted((Path(__file__).parents[2] / "kit" / "docs" / "findings").glob("*.json"))


def _by_release() -> dict[str, list[tuple[str, dict[str, Any], Any]]]:
    asked = defaultdict(list)
    for path in CASES:
        case = msgspec.json.decode(path.read_bytes())
        for group in case["answers"]:
            for version in {group["kafka"][0], group["kafka"][-1]}:
                asked[version].append((path.stem, case, group["answer"]))
    return asked


ASKED = _by_release()
*EARLIER, LAST = sorted(ASKED, key=parse_release)


def _earlier(version: str) -> Any:
    rules = {case["rule"] for _, case, _ in ASKED[version]}
    return pytest.param(version, marks=[pytest.mark.exhaustive, pytest.mark.about(*sorted(rules))])


@pytest.mark.parametrize("version", [*map(_earlier, EARLIER), LAST])
def test_java_answers_finding_cases_as_recorded_in_first_and_last_release_per_answer(
    oracle: Oracle, version: str
) -> None:
    for name, case, answer in ASKED[version]:
        rule = RULES[case["rule"]]
        question = msgspec.convert(case["question"], type=rule.question)
        (outcome,) = JavaAnswerer(oracle).answer(rule, parse_release(version), [question])
        assert isinstance(outcome, Answered), (name, outcome)
        assert msgspec.json.decode(to_json(outcome.answer)) == answer, name
