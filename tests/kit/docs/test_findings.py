"""The pages of findings and its cases: each is linked, and the reference answers each as Java did."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cli.commands import explain
from kafka_conformance.core.protocol import Answered, Unsupported, to_json
from kafka_conformance.rules import RULES
from kafka_jars.pins import load
from kafka_reference.releases import parse_release

DOCS = Path(__file__).parents[3] / "kit" / "docs"
CASES = sorted((DOCS / "findings").glob("*.json"))


def test_finding_pages_link_exactly_the_case_files() -> None:
    pages = [path.read_text(encoding="utf-8") for path in (DOCS / "findings").glob("*.md")]
    linked = [name for page in pages for name in re.findall(r"\(([^)/]+)\.json\)", page)]
    assert sorted(linked) == [path.stem for path in CASES]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case_of_finding_has_reference_answers_equal_to_java(path: Path) -> None:
    case = msgspec.json.decode(path.read_bytes())
    rule = RULES[case["rule"]]
    question = msgspec.convert(case["question"], type=rule.question)
    for group in case["answers"]:
        for version in group["kafka"]:
            (outcome,) = ReferenceAnswerer().answer(rule, parse_release(version), [question])
            assert isinstance(outcome, Answered), (version, outcome)
            assert msgspec.json.decode(to_json(outcome.answer)) == group["answer"], version


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case_of_finding_has_answers_of_exactly_the_releases_that_support_the_question(path: Path) -> None:
    case = msgspec.json.decode(path.read_bytes())
    rule, question = RULES[case["rule"]], msgspec.convert(case["question"], type=RULES[case["rule"]].question)
    listed = [version for group in case["answers"] for version in group["kafka"]]
    asked = [version for version in load().releases if parse_release(version) in rule.releases]
    assert set(listed) <= set(asked)
    assert len(listed) == len(set(listed))
    for version in set(asked) - set(listed):
        (outcome,) = ReferenceAnswerer().answer(rule, parse_release(version), [question])
        assert isinstance(outcome, Unsupported), version


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_explain_shows_each_answer_of_a_finding_with_releases(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = msgspec.json.decode(path.read_bytes())
    assert explain.run(file=str(path), kafka="", answerer_name="reference", svg=None, as_json=True) == 0
    timelines = [msgspec.json.decode(line) for line in capsys.readouterr().out.splitlines()]
    assert [timeline["release"] for timeline in timelines] == [group["kafka"][-1] for group in case["answers"]]
    assert all(
        group["kafka"][0] in timeline["title"] for timeline, group in zip(timelines, case["answers"], strict=True)
    )
