"""Selections of questions: by rule, by kind, by id."""

from __future__ import annotations

import pytest

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.protocol import question_id
from kafka_conformance.gate.selection import EVERYTHING, Selection, check_patterns
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.question import Murmur2Question
from kafka_reference.releases import NEWEST

MURMUR2 = RULES["murmur2"]
EMPTY, FOO = Murmur2Question(""), Murmur2Question("666f6f")
ID = question_id("murmur2", str(NEWEST), FOO)


def selected(selection: Selection) -> list[str | None]:
    return [each.key for each in (EMPTY, FOO) if selection.selects(MURMUR2, NEWEST, each)]


@pytest.mark.parametrize(
    ("run", "skip", "keys"),
    [
        ((), (), ["", "666f6f"]),
        (("murmur2",), (), ["", "666f6f"]),
        (("mur*",), ("murmur2/0 bytes",), ["666f6f"]),
        (("*/0 bytes",), (), [""]),
        ((ID,), (), ["666f6f"]),
        ((ID[:8],), (), ["666f6f"]),
        ((), (ID,), [""]),
        ((ID, "*/0 bytes"), (), ["", "666f6f"]),
        (("delivery",), (), []),
        (("murmur2",), ("murmur2",), []),
    ],
)
def test_patterns_select_questions_by_rule_kind_or_id(
    run: tuple[str, ...], skip: tuple[str, ...], keys: list[str]
) -> None:
    assert selected(Selection(run, skip)) == keys


def test_rule_is_skipped_only_if_patterns_exclude_the_whole_rule_not_single_kinds() -> None:
    assert EVERYTHING.may_select(MURMUR2)
    assert Selection((ID,)).may_select(MURMUR2)
    assert Selection(("murmur2/x",)).may_select(MURMUR2)
    assert not Selection(("delivery", "partition*")).may_select(MURMUR2)
    assert not Selection(skip=("murmur*",)).may_select(MURMUR2)
    assert Selection(skip=("murmur2/0 bytes",)).may_select(MURMUR2)


def test_pattern_without_a_matching_rule_raises_bad_input_with_suggestion() -> None:
    assert check_patterns([ID, "murmur2", "*/wraps"]) == (ID, "murmur2", "*/wraps")
    with pytest.raises(
        BadInput, match="no rule matches 'murmur3/x', which is not RULE, RULE/KIND or an id: did you mean murmur2"
    ):
        check_patterns(["murmur3/x"])


def test_selection_text_lists_run_and_skip_patterns() -> None:
    assert str(EVERYTHING) == ""
    assert str(Selection(("murmur2",), ("*/wraps",))) == "run murmur2, skip */wraps"
