"""A gate over eras: each distinct behaviour of a rule is asked once, the older ones cheaply, and reports name them."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kafka_conformance.answerers.in_process import CallableAnswerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cli.commands.gate import asked_eras, asked_rules
from kafka_conformance.core.events import RuleBegan, RuleEnded
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.protocol import Answered
from kafka_conformance.gate.known_failures import KnownFailures, read, updated
from kafka_conformance.gate.questions import gate_sources
from kafka_conformance.gate.runner import GatePlan, GateResult, gate
from kafka_conformance.rules import RULES
from kafka_conformance.rules.eras import eras
from kafka_reference.releases import parse_release

SLUG = "round-robin-partitioner"
RULE = RULES[SLUG]
EVERY = eras(RULE)


def _as(releases: dict[str, str]) -> Any:
    """The reference, which takes some releases for others."""

    def answerer(rule: str, release: str, question: dict[str, Any]) -> dict[str, Any] | None:
        asked = parse_release(releases.get(release, release))
        typed = msgspec.convert(question, RULES[rule].question)
        (outcome,) = ReferenceAnswerer().answer(RULES[rule], asked, [typed])
        return outcome.answer if isinstance(outcome, Answered) else None

    return answerer


def _gate(folder: Path, kafka: str, releases: dict[str, str], known: KnownFailures | None = None) -> GateResult:
    with CallableAnswerer(_as(releases), "python:mine", timeout_s=60) as target:
        plan = GatePlan(asked_rules(kafka, [SLUG]), 20, 1, folder, named=True, eras=asked_eras(kafka, [SLUG]))
        return gate(target, plan, known or KnownFailures(today=date(2026, 1, 1)), lambda _: None, Steps("", 1))


def test_eras_option_asks_every_rule_in_newest_release_of_every_era() -> None:
    asked = asked_rules("eras", ["murmur2", SLUG])
    assert asked == [(rule, era.newest) for rule in (RULES["murmur2"], RULE) for era in eras(rule)]
    assert len(asked) > 2
    assert set(asked_eras("eras", ["murmur2", SLUG])) == {"murmur2", SLUG}
    assert asked_eras("all", [SLUG]) == asked_eras("", [SLUG]) == {}


def test_older_eras_get_only_distinguishing_cases_and_fewer_random_examples() -> None:
    def asked(release: Any, **given: Any) -> dict[str, list[Any]]:
        made = gate_sources(RULE, release, "exact", 60, 1, Path("none"), "target", **given)
        return {source.name: list(source.questions) for source, _ in made}

    newest, older = EVERY[-1].newest, EVERY[-2].newest
    assert asked(newest, eras=EVERY) == asked(newest)
    fewer, all_of_it = asked(older, eras=EVERY), asked(older)
    assert 0 < len(fewer["frozen"]) < len(all_of_it["frozen"])
    assert set(fewer["frozen"]) < set(all_of_it["frozen"])
    assert 0 < len(fewer["fresh"]) <= 15
    near = (EVERY[-1].newest, EVERY[-3].newest)
    answers = [ReferenceAnswerer().answer(RULE, release, fewer["frozen"]) for release in (older, *near)]
    assert all(here not in there for here, *there in zip(*answers, strict=True))


def test_client_that_answers_an_older_era_like_the_newest_fails_only_with_eras_option(tmp_path: Path) -> None:
    older, newest = EVERY[-2].newest, EVERY[-1].newest
    takes = {str(older): str(newest)}
    assert _gate(tmp_path, "", takes).ended.exit_code == 0
    gated = _gate(tmp_path, "eras", takes)
    assert gated.ended.exit_code == 1
    verdicts = {event.release: event.verdict for event in gated.events if isinstance(event, RuleEnded)}
    assert verdicts == {str(era.newest): "differs" if era is EVERY[-2] else "agrees" for era in EVERY}


def test_rule_began_events_list_era_releases_only_with_eras_option(tmp_path: Path) -> None:
    began = [event for event in _gate(tmp_path, "eras", {}).events if isinstance(event, RuleBegan)]
    assert [event.era for event in began] == [tuple(map(str, era.releases)) for era in EVERY]
    assert [event.release for event in began] == [event.era[-1] for event in began]
    (alone,) = (event for event in _gate(tmp_path, "", {}).events if isinstance(event, RuleBegan))
    assert alone.era == ()


def test_known_failures_of_one_era_make_the_same_client_pass_and_a_correct_client_exit_1(tmp_path: Path) -> None:
    takes, path = {str(EVERY[-2].newest): str(EVERY[-1].newest)}, tmp_path / "known.toml"
    known = KnownFailures(today=date(2026, 1, 1))
    assert updated(path, known, _gate(tmp_path / "f", "eras", takes, known).unknown)
    assert _gate(tmp_path / "f", "eras", takes, read(path, known.today)).ended.exit_code == 0
    assert _gate(tmp_path / "f", "eras", {}, read(path, known.today)).ended.exit_code == 1


@pytest.mark.parametrize("slug", ["builtin-partitioner", "idempotence-config"])
def test_newest_era_gets_equal_questions_with_and_without_eras_option(slug: str) -> None:
    rule = RULES[slug]
    newest = eras(rule)[-1].newest
    with_eras, without = (gate_sources(rule, newest, "exact", 5, 1, Path("none"), "t", eras=every)
                          for every in (eras(rule), ()))  # fmt: skip
    assert [source.questions for source, _ in with_eras] == [source.questions for source, _ in without]
