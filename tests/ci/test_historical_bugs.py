"""A gate with its default settings finds each mistake that ports of Kafka's client have made; frozen cases alone find it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import historical_bugs
import pytest
from click.testing import CliRunner
from historical_bugs import BUGS, COMMAND, PAGE, Bug, first_case, main, release_of, table

from kafka_conformance.cases.store import frozen
from kafka_conformance.cli.main import app
from kafka_conformance.core.events import Began, Differed, Ended, Event, RuleBegan, RuleEnded, from_lines
from kafka_conformance.core.pipeline import Tally
from kafka_conformance.gate import runner
from kafka_conformance.gate.completeness import Answers
from kafka_conformance.reports.page_block import block_of, read_page
from kafka_conformance.rules import RULES
from kafka_conformance.rules.mutants import MUTANTS

SEED = "1"
EVERY = pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.slug)
"""Each mistake of the list."""
EVERY_RULE = pytest.mark.parametrize(
    ("bug", "slug"), [pytest.param(bug, slug, id=f"{bug.slug}-{slug}") for bug in BUGS for slug in bug.asks]
)


def _gated(bug: Bug, *options: str) -> tuple[int, list[Event]]:
    """Gate the target from the command line; return the exit code and all events."""
    done = CliRunner().invoke(
        app, ["gate", bug.target, "--seed", SEED, "--events", "events", *options], standalone_mode=False
    )
    assert done.exception is None, done.exception
    return done.return_value, list(from_lines(Path("events").read_bytes().splitlines()))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@EVERY_RULE
def test_gate_with_a_single_frozen_case_finds_the_historical_client_bug(bug: Bug, slug: str) -> None:
    case = first_case(RULES[slug], bug.asks[slug])
    assert case is not None
    # One generated question in place of 200: --run leaves out all of them.
    code, events = _gated(bug, "--run", case.id, "--examples", "1")
    (ended,) = [each for each in events if isinstance(each, RuleEnded) and each.asked]
    assert (code, ended.rule, ended.verdict) == (1, slug, "differs")
    assert (ended.frozen, ended.fresh, ended.differed) == (1, 0, 1)
    assert len([each for each in events if isinstance(each, Differed)]) == 1


@pytest.mark.exhaustive
@EVERY
def test_gate_with_default_options_finds_the_historical_client_bug(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    tallies: list[Answers] = []

    class Kept(Answers):
        def __init__(self, tally: Tally, **options: Any) -> None:
            super().__init__(tally, **options)
            tallies.append(self)

    monkeypatch.setattr(runner, "Answers", Kept)
    code, events = _gated(bug)
    began, last = events[0], events[-1]
    assert isinstance(began, Began)
    assert isinstance(last, Ended)
    assert (began.examples, began.selection, set(began.rules)) == (200, "", set(bug.asks))
    assert code == last.exit_code == 1
    assert [(each.rule, each.verdict) for each in events if isinstance(each, RuleEnded)] == [
        (each, "differs") for each in began.rules
    ]
    found = {kept.tally.rule.slug: kept.tally.differences for kept in tallies}
    for slug, ask in bug.asks.items():
        case = first_case(RULES[slug], ask)
        assert case is not None
        wrong = {each.question for each in found[slug] if each.source == "frozen"}
        assert case.typed_question(RULES[slug]) in wrong
    asked = {each.rule: each for each in events if isinstance(each, RuleBegan)}
    for slug, rule in asked.items():
        assert rule.release == str(release_of(slug))
        assert rule.frozen > 0


def test_gate_of_target_without_a_mistake_exits_0_with_verdict_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Bug("right", "nothing", {"sequence-increment": RULES["sequence-increment"].ask})
    monkeypatch.setattr(historical_bugs.TARGETS, "right", historical_bugs._Target(right), raising=False)
    assert first_case(RULES["sequence-increment"], right.asks["sequence-increment"]) is None
    code, events = _gated(right)
    (ended,) = [each for each in events if isinstance(each, RuleEnded)]
    assert (code, ended.verdict) == (0, "agrees")


def test_committed_table_of_historical_bugs_equals_generated_table(monkeypatch: pytest.MonkeyPatch) -> None:
    made = table()
    assert block_of(read_page(PAGE), COMMAND) == made.strip("\n"), f"run {COMMAND}"
    monkeypatch.setattr(historical_bugs, "table", lambda: made)
    assert main(["--check"]) == 0


def test_check_of_historical_bugs_exits_1_if_the_table_is_outdated(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = RULES["sequence-increment"]
    found = frozen(rule)
    assert found is not None
    monkeypatch.setattr(historical_bugs, "first_case", lambda *_: found.cases[0])
    assert main(["--check"]) == 1
    assert "is not as it would be written" in capsys.readouterr().out


def test_historical_bug_names_are_unique_and_all_but_epoch_restarts_one_are_mutants() -> None:
    assert len({bug.slug for bug in BUGS}) == len(BUGS)
    assert {bug.slug for bug in BUGS if all(ask not in [one.ask for one in MUTANTS] for ask in bug.asks.values())} == {
        "epoch-restarts-one"
    }
