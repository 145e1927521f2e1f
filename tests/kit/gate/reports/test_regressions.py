"""Two gates compared: what got worse since the earlier one."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console
from tests.shared.streams import began, differed, ended_rule

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.events import Ended, Event, Known
from kafka_conformance.gate.reports.outline import outline
from kafka_conformance.gate.reports.regressions import GateChange, changes, show

END = Ended(1, "as it ended", 1000, 588, 412, 0, 0, 0, 1.0)


def stream(verdict: str, *kinds: str, rule: str = "murmur2", **more: Any) -> list[Event]:
    found = [differed(rule, kind=kind, **more) for kind in kinds]
    return [began(), *found, ended_rule(rule, "4.4.0", verdict, agreed=1), END]


def compared(before: list[Event], after: list[Event]) -> list[GateChange]:
    return changes(outline(before), outline(after))


def test_comparison_of_equal_gate_runs_finds_no_change() -> None:
    assert compared(stream("differs", "a"), stream("differs", "a")) == []


def test_new_kind_of_difference_is_worse_and_vanished_kind_is_better() -> None:
    assert compared(stream("differs", "a"), stream("differs", "b")) == [
        GateChange("murmur2", "new: b, 412 questions", worse=True),
        GateChange("murmur2", "gone: a, 412 questions", worse=False),
    ]


@pytest.mark.parametrize(
    ("before", "after", "worse"),
    [
        ("agrees", "not judged", True),
        ("agrees", "known", True),
        ("differs", "agrees", False),
        ("crashed", "differs", False),
    ],
)
def test_verdict_worsens_from_agrees_and_improves_from_differs_to_agrees_or_crashed_to_differs(
    before: str, after: str, worse: bool
) -> None:
    assert compared(stream(before), stream(after)) == [GateChange("murmur2", f"4.4.0: {before} → {after}", worse)]


def test_rule_missing_in_the_later_gate_is_worse_and_newly_tested_rule_is_not() -> None:
    found = compared(stream("agrees"), stream("agrees", rule="delivery"))
    assert found == [
        GateChange("murmur2", "4.4.0: agrees → not asked", worse=True),
        GateChange("delivery", "4.4.0: not asked → agrees", worse=False),
    ]


def test_new_known_failure_is_not_reported_as_change() -> None:
    assert compared(stream("known"), stream("known", "a", known=Known("as documented"))) == []


def test_comparison_with_unfinished_earlier_gate_raises_bad_input() -> None:
    with pytest.raises(BadInput, match="the earlier gate did not end"):
        compared(stream("agrees")[:-1], stream("agrees"))


@pytest.mark.parametrize(
    ("after", "code", "line"), [("agrees", 0, "nothing got worse"), ("differs", 1, "1 thing got worse")]
)
def test_comparison_exit_code_is_1_if_a_verdict_got_worse(after: str, code: int, line: str) -> None:
    console = Console(width=80)
    with console.capture() as captured:
        assert show(console, stream("agrees"), stream(after)) == code
    assert line in captured.get()
