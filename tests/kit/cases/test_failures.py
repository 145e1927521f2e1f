"""A disagreement on disk, and every way in which a file is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_conformance.cases.failures import read_failure, save_failure
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.pipeline import Difference
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.question import Murmur2Question
from kafka_reference.releases import parse_release

RULE = RULES["murmur2"]
DIFFERENCE = Difference(Murmur2Question("666f6f"), {"hash": 597841616}, {"hash": -1})
SAID = ("java", parse_release("4.4.0")), ("mutant:one-bit", parse_release("4.4.0"))
NAME = "90043993ceb72c63"  # of rule, release and question: see test_protocol
DOCUMENT: dict[str, Any] = {
    "id": NAME,
    "rule": "murmur2",
    "question": {"key": "666f6f"},
    "expected": {"by": "java", "release": "4.4.0", "answer": {"hash": 597841616}},
    "actual": {"by": "mutant:one-bit", "release": "4.4.0", "answer": {"hash": -1}},
    "found": {"seed": 7},
}


def test_saved_failure_file_has_the_documented_json(tmp_path: Path) -> None:
    path = save_failure(RULE, DIFFERENCE, SAID, {"seed": 7}, tmp_path / "failures")
    assert path == tmp_path / "failures" / f"{NAME}.json"
    assert json.loads(path.read_text(encoding="utf-8")) == DOCUMENT
    assert [other.name for other in path.parent.iterdir()] == [path.name], "nothing half-written stays"


def test_saving_a_failure_again_writes_the_identical_file(tmp_path: Path) -> None:
    first = save_failure(RULE, DIFFERENCE, SAID, {"seed": 7}, tmp_path)
    content = first.read_bytes()
    assert save_failure(RULE, DIFFERENCE, SAID, {"seed": 7}, tmp_path) == first
    assert first.read_bytes() == content


def test_saved_failure_is_found_by_file_and_by_id(tmp_path: Path) -> None:
    path = save_failure(RULE, DIFFERENCE, SAID, {"seed": 7}, tmp_path)
    by_id = read_failure(NAME, tmp_path)
    assert by_id == read_failure(str(path), tmp_path / "elsewhere")
    assert by_id.typed_question() == DIFFERENCE.question
    assert (by_id.expected.by, by_id.actual.answer, by_id.found) == ("java", {"hash": -1}, {"seed": 7})


def test_failure_that_cannot_be_saved_raises_one_line_kit_error_with_the_whole_json(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(KitError, match=r"a difference was found and .* cannot be written") as raised:
        save_failure(RULE, DIFFERENCE, SAID, {"seed": 7}, tmp_path / "file")
    line = str(raised.value)
    assert "\n" not in line
    assert json.loads(line[line.index("{") :]) == DOCUMENT


def test_reading_a_failure_by_unknown_file_or_id_raises_bad_input_that_names_the_folder(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=f"no failure 'nowhere': expected a file, or the id of one in {tmp_path}"):
        read_failure("nowhere", tmp_path)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "truncated"),
        ("{", "truncated"),
        ("not JSON", "malformed"),
        ("[]", "Expected `object`"),
        ("{}", "missing required field `id`"),
        (json.dumps({**DOCUMENT, "more": 1}), "unknown field `more`"),
        (json.dumps({**DOCUMENT, "rule": 5}), r"Expected `str`, got `int` - at `\$.rule`"),
        (json.dumps({**DOCUMENT, "actual": {"by": "java"}}), "missing required field `release`"),
        (json.dumps({**DOCUMENT, "actual": {**DOCUMENT["actual"], "answer": 5}}), "Expected `object`, got `int`"),
    ],
)
def test_reading_a_malformed_saved_failure_raises_bad_input_with_path_and_reason(
    tmp_path: Path, content: str, why: str
) -> None:
    path = tmp_path / "it.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadInput, match=why) as raised:
        read_failure(str(path))
    assert str(raised.value).startswith(f"{path} is not a failure file: ")


def test_reading_a_failure_file_that_is_not_utf8_raises_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "it.json"
    path.write_bytes(json.dumps(DOCUMENT).encode().replace(b"one-bit", b"one-b\xef"))
    with pytest.raises(BadInput, match="is not a failure file"):
        read_failure(str(path))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"rule": "murmur3"}, "unknown rule 'murmur3': expected one of "),
        ({"question": {"key": "66 6f"}}, "the question is not one of rule murmur2: Expected `str` matching regex"),
        ({"question": {"kay": "66"}}, "the question is not one of rule murmur2: Object contains unknown field `kay`"),
        ({"question": None}, "the question is not one of rule murmur2: Expected `object`, got `null`"),
    ],
)
def test_saved_failure_with_unknown_rule_or_invalid_question_raises_bad_input_with_the_reason(
    tmp_path: Path, changes: dict[str, Any], why: str
) -> None:
    path = tmp_path / "it.json"
    path.write_text(json.dumps({**DOCUMENT, **changes}), encoding="utf-8")
    with pytest.raises(BadInput, match=why):
        read_failure(str(path)).typed_question()
