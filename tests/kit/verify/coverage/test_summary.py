"""What a row of the record means, and when a reason or a share is no longer true."""

from __future__ import annotations

import pytest

from kafka_conformance.verify.coverage import summary as summaries
from kafka_conformance.verify.coverage.mirrored_code import Elsewhere, MirroredClass, MirroredCode
from kafka_conformance.verify.coverage.record import CoverageRow, Method, Ratio, Record
from kafka_conformance.verify.coverage.summary import decreases, false_reasons, newest_summaries, summary_of

ALL = Method("A.all(int)", Ratio(3, 3), Ratio(2, 2))
PART = Method("A.part()", Ratio(1, 2), Ratio(1, 4), (8,), ((9, 1, 4),))
NEVER = Method("A.never()", Ratio(0, 5), Ratio(0, 6), (1, 2, 3, 4, 5))
TXN = Method("A$Txn.begin(byte[])", Ratio(0, 7), Ratio(0, 8))


def row(*methods: Method, rule: str = "murmur2", release: str = "4.4.0") -> CoverageRow:
    return CoverageRow(rule, release, "ab" * 32, "cd", 1, 500, 7, {"edges": 10}, 500, {"x/A": methods})


def code(monkeypatch: pytest.MonkeyPatch, *elsewhere: Elsewhere) -> None:
    made = MirroredCode((MirroredClass("x.A"),), elsewhere, "the network")
    monkeypatch.setattr(summaries, "mirrored_code", lambda rule: made if rule == "murmur2" else None)


@pytest.mark.parametrize("pattern", ["A$Txn.*", "A$Txn.begin", "A$Txn.begin(byte[])"])
def test_coverage_summary_counts_methods_excluded_by_a_pattern_separately(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = Elsewhere("transactions", (pattern,))
    code(monkeypatch, reason)
    made = summary_of(row(ALL, PART, NEVER, TXN))
    assert (made.branches, made.lines, made.all_branches) == (
        Ratio(3, 12),
        Ratio(4, 10),
        Ratio(3, 20),
    )
    assert (made.own, made.elsewhere) == ({"x/A": [ALL, PART, NEVER]}, [(reason, [TXN])])
    assert (made.never_run, made.partly_run, made.harness) == ([NEVER], [PART], "the network")


def test_coverage_exclusion_is_wrong_if_method_is_missing_or_runs_contrary_to_the_declaration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code(monkeypatch, Elsewhere("so", ("A.never", "A.part", "A.gone")))
    made = row(ALL, PART, NEVER)
    assert false_reasons(made, Record((made,))) == [
        "murmur2: A.gone names no method", "murmur2: A.part() has run: it is the rule's own",
    ]  # fmt: skip
    code(monkeypatch, Elsewhere("so", ("A.never", "A.part"), run=True))
    assert false_reasons(made, Record((made,))) == ["murmur2: A.never() has not run: it is not the harness's"]


def test_coverage_exclusion_is_reported_as_wrong_if_the_named_other_rule_does_not_run_the_method(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code(monkeypatch, Elsewhere("so", ("A.all", "A.never"), rule="producer-send"))
    made, other = row(ALL, NEVER), row(ALL, NEVER, rule="producer-send")
    assert false_reasons(made, Record((made, other))) == ["murmur2: A.never() is not run by producer-send"]
    assert len(false_reasons(made, Record((made,)))) == 2


def test_coverage_decrease_names_method_with_fewer_lines_or_branches(monkeypatch: pytest.MonkeyPatch) -> None:
    less = Method(PART.name, Ratio(1, 2), Ratio(0, 4))
    assert decreases(row(ALL, PART), row(ALL, less)) == [
        "murmur2 in 4.4.0: A.part() runs fewer lines or branches than recorded: lines 1 to 1, branches 1 to 0"
    ]
    assert decreases(row(ALL, less), row(ALL, PART)) == []
    assert decreases(None, row(ALL)) == []


def test_newest_summaries_select_the_newest_release_per_rule() -> None:
    record = Record((row(NEVER, release="2.8.2"), row(ALL), row(PART, rule="delivery", release="2.8.2")))
    newest = newest_summaries(record)
    assert {rule: one.row.release for rule, one in newest.items()} == {"murmur2": "4.4.0", "delivery": "2.8.2"}
