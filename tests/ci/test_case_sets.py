"""Sets of frozen cases: a new set and a withdrawal played through, and what a gate, its badge and its files make of them."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import case_sets
import click
import msgspec
import pytest
from click.testing import CliRunner

from kafka_conformance.cases import sets as shipped
from kafka_conformance.cases.sets import CaseSets, Withdrawn, fingerprint_of, parse_sets
from kafka_conformance.cases.store import Case, frozen
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.events import Began, Target
from kafka_conformance.gate import known_failures, questions, runner
from kafka_conformance.gate.reports import badge
from kafka_conformance.gate.runner import newest_with
from kafka_conformance.reports.page_block import block_of
from kafka_conformance.rules import RULES
from kafka_reference.proven import proven_releases

RULE = "sequence-increment"
FIRST, SECOND = "Kafka 4.4, set 1", "Kafka 4.5, set 2"
DAY = "2026-11-29"


def cases() -> tuple[Case, ...]:
    found = frozen(RULES[RULE])
    assert found is not None
    return found.cases


def opened() -> CaseSets:
    return case_sets.first_set(FIRST, {RULE: cases()[:10]}, DAY)


def test_shipped_case_sets_and_the_table_on_the_page_match_the_shipped_frozen_cases() -> None:
    sets = shipped.case_sets()
    assert case_sets.faults(sets, case_sets.cases_in(case_sets.ROOT / case_sets.DATA)) == []
    assert case_sets.sets_text(sets) == shipped.sets_file().read_text(encoding="utf-8")
    page = block_of(case_sets.PAGE.read_text(encoding="utf-8"), case_sets.COMMAND)
    assert page == case_sets.sets_table(sets).strip("\n"), f"run {case_sets.COMMAND}"


def test_new_case_set_contains_added_cases_and_leaves_the_earlier_set_unchanged() -> None:
    sets = case_sets.add_set(opened(), SECOND, {RULE: cases()[:10]}, {RULE: cases()[:12]}, "2027-03-01")
    assert sets.sets[0] == opened().newest
    assert sets.newest.name == SECOND
    assert sets.newest.cases == 12
    assert set(sets.newest.added) == {case.id for case in cases()[10:12]}
    assert case_sets.faults(sets, {RULE: cases()[:12]}) == []
    assert sets.members(FIRST, cases()[:12]) == list(cases()[:10])
    assert sets.members(SECOND, cases()[:12]) == list(cases()[:12])
    assert sets.label == SECOND


@pytest.mark.parametrize(
    ("now", "before", "name", "error"),
    [
        (cases()[:12], cases()[:10], FIRST, "there is a set"),
        (cases()[:12], cases()[:9], SECOND, "name their commit with --since"),
        (cases()[1:12], cases()[:10], SECOND, "1 cases are gone"),
        (cases()[:10], cases()[:10], SECOND, "no case is new"),
        (
            (msgspec.structs.replace(cases()[0], answer={"sequence": 7}), *cases()[1:12]),
            cases()[:10],
            SECOND,
            "answers of Kafka 4.4, set 1 have changed",
        ),
    ],
)
def test_new_case_set_with_used_name_no_new_case_or_changed_earlier_cases_raises_an_error(
    now: tuple[Case, ...], before: tuple[Case, ...], name: str, error: str
) -> None:
    with pytest.raises(click.ClickException, match=error):
        case_sets.add_set(opened(), name, {RULE: before}, {RULE: now}, DAY)


def test_case_set_checksum_does_not_match_changed_added_or_removed_cases() -> None:
    changed = msgspec.structs.replace(cases()[0], answer={"sequence": 7})
    for some in ((changed, *cases()[1:10]), cases()[:11], cases()[:9]):
        (fault,) = case_sets.faults(opened(), {RULE: some})
        assert fault.startswith(f"{FIRST} has sha256 ")


def test_case_set_fingerprint_does_not_change_when_a_release_is_added_to_the_cases() -> None:
    more = [msgspec.structs.replace(case, releases=(*case.releases, "9.9.9")) for case in cases()[:10]]
    assert fingerprint_of({RULE: more}) == fingerprint_of({RULE: cases()[:10]})


def test_withdrawn_case_stays_in_the_set_is_listed_in_the_table_and_cannot_be_withdrawn_again() -> None:
    sets = case_sets.withdraw(opened(), cases()[3].id, "wrong | by locale", {RULE: cases()[:10]}, DAY)
    assert sets.sets == opened().sets
    assert case_sets.faults(sets, {RULE: cases()[:10]}) == []
    assert sets.label == "Kafka 4.4, set 1, 1 withdrawn"
    assert f"| `{cases()[3].id}` | {RULE} | {DAY} | wrong &#124; by locale |" in case_sets.sets_table(sets)
    with pytest.raises(click.ClickException, match="is withdrawn already"):
        case_sets.withdraw(sets, cases()[3].id, "again", {RULE: cases()[:10]}, DAY)
    with pytest.raises(click.ClickException, match="no frozen case is named 'x'"):
        case_sets.withdraw(sets, "x", "why", {RULE: cases()[:10]}, DAY)


def withdrawn(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    sets = msgspec.structs.replace(shipped.case_sets(), withdrawn=(Withdrawn(case.id, RULE, DAY, "wrong"),))
    for module in (questions, known_failures):
        monkeypatch.setattr(module, "case_sets", lambda: sets)
    monkeypatch.setattr(runner, "current_label", lambda: sets.label)


def test_gate_does_not_ask_the_question_of_a_withdrawn_case_from_any_source(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rule, release = RULES[RULE], newest_with(RULES[RULE], list(proven_releases()))
    case = next(case for case in cases() if case.typed_question(rule) in rule.plain())

    def asked() -> list[object]:
        sources = questions.gate_sources(rule, release, "exact", 20, 1, tmp_path, "target:x")
        return [question for source, _ in sources for question in source.questions]

    assert case.typed_question(rule) in asked()
    before = len(asked())
    withdrawn(case, monkeypatch)
    assert case.typed_question(rule) not in asked()
    assert before - 2 <= len(asked()) < before


def test_known_failures_entry_of_a_withdrawn_case_is_not_reported_as_unknown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "known.toml"
    case = cases()[0]
    file.write_text(f'[[known]]\nrule = "{RULE}"\ncase = "{case.id}"\nreason = "r"\nexpires = 2099-01-01\n')

    def wrong() -> list[str]:
        known = known_failures.read(file, date(2026, 11, 29))
        known.asked(RULE, "4.4.0", [])
        return [stale.why for stale in known.wrong()]

    assert wrong() == ["unknown"]
    withdrawn(case, monkeypatch)
    assert wrong() == []


def test_badge_names_the_number_of_the_case_set_and_withdrawn_cases() -> None:
    began = Began("1", Target("t", "1", "go", "t"), ("4.4.0",), (RULE,), 0, 1, case_set="Kafka 4.4, set 1, 2 withdrawn")
    assert msgspec.json.decode(badge.write([began]))["label"] == "Kafka 4.4.0, set 1, 2 withdrawn"


@pytest.mark.parametrize("content", [b"", b"{}", b'{"sets": []}', b'{"sets": [{"name": "set 1"}]}'])
def test_malformed_case_sets_file_raises_bad_input_with_the_file_name(content: bytes) -> None:
    with pytest.raises(BadInput, match=r"sets\.json is not a file of case sets: "):
        parse_sets(content, "sets.json")


def test_members_of_unknown_case_set_raises_bad_input_that_lists_the_known_sets() -> None:
    with pytest.raises(BadInput, match=r"unknown case set 'x': expected one of Kafka 4\.4, set 1"):
        opened().members("x", cases())


@pytest.mark.parametrize("words", [["open", "set 2"], ["withdraw", "ID", ""]])
def test_case_sets_command_with_invalid_name_or_empty_reason_exits_1_and_leaves_the_file_unchanged(
    words: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Planted in a copy: the file stays as it was, byte for byte."""
    for path in (case_sets.FILE, case_sets.PAGE.relative_to(case_sets.ROOT)):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_bytes((case_sets.ROOT / path).read_bytes())
    added = {RULE: cases()[:12]}
    monkeypatch.setattr(case_sets, "ROOT", tmp_path)
    monkeypatch.setattr(case_sets, "PAGE", tmp_path / case_sets.PAGE.relative_to(case_sets.PAGE.parents[2]))
    monkeypatch.setattr(case_sets, "_read", opened)
    monkeypatch.setattr(case_sets, "_cases_at", lambda _: {RULE: cases()[:10]})
    monkeypatch.setattr(case_sets, "cases_in", lambda _: added)
    before = (tmp_path / case_sets.FILE).read_bytes()
    ran = CliRunner().invoke(case_sets.main, [word.replace("ID", cases()[0].id) for word in words])
    assert (ran.exit_code, "is not a file of case sets" in ran.output) == (1, True)
    assert (tmp_path / case_sets.FILE).read_bytes() == before
