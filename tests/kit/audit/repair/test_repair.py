from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kafka_conformance.audit.repair.checksums import NOTHING, Sum
from kafka_conformance.audit.repair.continuous_copy import Ending, Following
from kafka_conformance.audit.repair.plan import Compared, Totals
from kafka_conformance.audit.repair.repair import _followed

PLAN: Any = SimpleNamespace(source="orders")


class Copies:
    """A repair whose source gains these numbers of records, one after the other, and then nothing."""

    def __init__(self, *gained: int, right: bool = True, behind: int = 0) -> None:
        self.gained, self.right, self.records, self.passes, self._behind = list(gained), right, 600, 1, behind

    @property
    def reached(self) -> Any:
        return SimpleNamespace(totals=self._totals())

    def _totals(self) -> Totals:
        found = NOTHING if self.right else Sum(1, "0" * 16)
        return Totals(self.passes, Compared(NOTHING, found, 0), (), 0)

    def copy_rest(self) -> Totals:
        copied = self.gained.pop(0) if self.gained else 0
        self.records, self.passes = self.records + copied, self.passes + bool(copied)
        return self._totals()

    def behind(self) -> tuple[int, int]:
        self._behind, now = 0, self._behind
        return 0, now


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ending, "wait", lambda *_: None)


def notes(copies: Any, capsys: pytest.CaptureFixture[str]) -> list[str]:
    _followed(copies, PLAN, Following(0.0))
    return [line.removeprefix("kafka-conformance: ") for line in capsys.readouterr().err.splitlines()]


def test_repair_with_follow_option_reports_each_pass_and_the_total_at_the_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert notes(Copies(40, 1), capsys) == [
        "600 records copied; following orders until Ctrl-C, or until it gains no record for 0 s",
        "pass 2: 40 records of orders copied, 640 in all",
        "pass 3: 1 record of orders copied, 641 in all",
        "orders has no more records; 641 copied in all",
    ]


def test_repair_with_follow_option_reports_offsets_of_open_transactions_as_pending(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = notes(Copies(behind=5), capsys)
    assert lines[1:] == ["orders has no more records, 5 offsets of open transactions to wait for; 600 copied in all"]


def test_repair_with_follow_option_stops_if_copied_records_differ_from_the_plan(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert len(notes(Copies(40, right=False), capsys)) == 1
