"""An unfinished run resumes: rows that match are kept, all others are verified again."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_conformance.core.pipeline import Difference, Tally
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.question import Murmur2Question
from kafka_conformance.verify import partial_rows
from kafka_conformance.verify.partial_rows import record_rows, resumed_seed
from kafka_conformance.verify.verification import RuleResult, VerificationPlan
from kafka_reference.releases import parse_release

RULE = RULES["murmur2"]
OLD, NEW = map(parse_release, ("3.9.2", "4.4.0"))
PLAN = VerificationPlan([RULE], [OLD, NEW], 100, 7, 2)


class KilledError(Exception):
    """In place of a kill."""


@pytest.fixture(autouse=True)
def fixed_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partial_rows, "fingerprint", lambda rule: f"of {rule.slug}")


def result(release: str = "3.9.2") -> RuleResult:
    counts = Tally(RULE, Counter({"hypothesis": 5}), 5, 1, Counter(RULE.required_labels))
    return RuleResult(parse_release(release), counts, (), "ab" * 32, True)


def killed_after(path: Path, *results: RuleResult) -> None:
    with suppress(KilledError), record_rows(path, PLAN, "21") as (_, write):
        for each in results:
            write(each)
        raise KilledError


def finished(path: Path, plan: VerificationPlan = PLAN, jvm: str = "21") -> dict[tuple[str, str], RuleResult]:
    found: dict[tuple[str, str], RuleResult] = {}
    with suppress(KilledError), record_rows(path, plan, jvm) as (known, _):
        found |= known
        raise KilledError
    return found


def test_resumed_verification_reuses_the_finished_row_of_an_interrupted_run_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "made" / "certificate.json.partial"
    killed_after(path, result())
    assert finished(path) == {("murmur2", "3.9.2"): result()}


def test_resumed_run_appends_rows_to_the_partial_file(tmp_path: Path) -> None:
    path = tmp_path / "partial"
    killed_after(path, result())
    killed_after(path, result("4.4.0"))
    assert list(finished(path)) == [("murmur2", "3.9.2"), ("murmur2", "4.4.0")]


def test_row_with_a_difference_is_not_written_to_the_partial_file(tmp_path: Path) -> None:
    wrong = result()
    wrong.tally.differences.append(Difference(Murmur2Question("61"), {"hash": 1}, {"hash": 2}))
    killed_after(tmp_path / "partial", wrong)
    assert finished(tmp_path / "partial") == {}
    assert list(tmp_path.iterdir()) == []


def test_completed_run_leaves_no_partial_file(tmp_path: Path) -> None:
    with record_rows(tmp_path / "partial", PLAN, "21") as (_, write):
        write(result())
        assert (tmp_path / "partial").exists()
    assert list(tmp_path.iterdir()) == []


def test_run_with_another_plan_jvm_or_rule_code_reuses_no_partial_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "partial"
    killed_after(path, result())
    for other in (replace(PLAN, seed=8), replace(PLAN, examples=99), replace(PLAN, releases=[OLD])):
        assert finished(path, other) == {}
    assert finished(path, jvm="22") == {}
    assert len(finished(path)) == 1
    monkeypatch.setattr(partial_rows, "fingerprint", lambda _: "another")
    assert finished(path) == {}


def test_resumed_run_reuses_seed_of_partial_run_with_equal_plan(tmp_path: Path) -> None:
    path = tmp_path / "partial"
    assert resumed_seed(path, PLAN) is None
    killed_after(path, result())
    assert resumed_seed(path, replace(PLAN, seed=0)) == 7
    assert resumed_seed(path, replace(PLAN, examples=99)) is None
    path.write_bytes(path.read_bytes()[:-20])
    assert resumed_seed(path, PLAN) is None, "a file that was cut is not a run"


@pytest.mark.parametrize(
    "change", [(b'"murmur2"', b'"unknown"'), (b'"release":"3.9.2"', b'"release":"1.1.1"'), (b'"3.9.2"', b"")]
)
def test_row_of_partial_file_that_is_malformed_or_of_a_rule_or_release_outside_the_plan_is_dropped(
    tmp_path: Path, change: tuple[bytes, bytes]
) -> None:
    path = tmp_path / "partial"
    killed_after(path, result())
    head, row = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([head, row.replace(*change)]) + b"\n")
    assert finished(path) == {}


@pytest.mark.parametrize("content", [b"", b"\n", b"[" * 100_000, b"\xff"])
def test_unreadable_partial_file_is_ignored(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "partial").write_bytes(content)
    assert resumed_seed(tmp_path / "partial", PLAN) is None
    assert finished(tmp_path / "partial") == {}
