"""The gate asks what users can bring about: enough of it, and nothing else unless told; the rest never changes a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kafka_conformance.answerers.in_process import CallableAnswerer
from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.events import Differed, RuleEnded
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.protocol import Agrees, Answered, Differs
from kafka_conformance.core.rule import Rule
from kafka_conformance.gate.grades import DomainComparison
from kafka_conformance.gate.known_failures import KnownFailures
from kafka_conformance.gate.questions import EXPECTED, gate_sources
from kafka_conformance.gate.runner import GatePlan, GateResult, gate
from kafka_conformance.rules import RULES
from kafka_reference import murmur2, partition_for_key
from kafka_reference.releases import Release, parse_release

NEWEST, LAST_OF_3 = parse_release("4.4.0"), parse_release("3.9.2")
ENOUGH = {
    "murmur2": 1000, "partition-for-key": 1000, "producer-partition": 1000, "sequence-increment": 1000,
    "sequence-decrement": 1000, "round-robin-partitioner": 1000, "builtin-partitioner": 1000,
    "default-partitioner": 1000, "uniform-sticky-partitioner": 1000,
}  # fmt: skip


def _release(rule: Rule) -> Release:
    return NEWEST if NEWEST in rule.releases else LAST_OF_3


def _run(answerer: Any, folder: Path, *slugs: str, examples: int = 20, **plan: Any) -> GateResult:
    with CallableAnswerer(answerer, "python:mine") as target:
        asked = [(RULES[slug], _release(RULES[slug])) for slug in slugs]
        made = GatePlan(asked, examples, 1, folder, named=True, **plan)
        return gate(target, made, KnownFailures(), lambda _: None, Steps("", 1))


def _each_rule() -> Iterator[Any]:
    """Every rule; the exhaustive run alone asks scripts, of which a gate generates many to have some in domain."""
    for rule in RULES.values():
        yield pytest.param(rule, marks=() if rule.slug in ENOUGH else pytest.mark.exhaustive, id=rule.slug)


@pytest.mark.parametrize("rule", list(_each_rule()))
def test_gate_asks_at_least_50_answerable_questions_per_rule_and_none_out_of_domain(rule: Rule, tmp_path: Path) -> None:
    release = _release(rule)
    asked = {
        question
        for source, _ in gate_sources(rule, release, "exact", 200 if rule.slug in ENOUGH else 20, 1, tmp_path, "")
        for question in source.questions
    }
    assert {rule.domain(question) for question in asked} == {""}
    answers = [question for question in asked if isinstance(outcome_of(rule.ask, question, release), Answered)]
    assert len(answers) >= ENOUGH.get(rule.slug, 50)


def test_gate_asks_default_partition_of_at_least_1000_varied_keys_at_varied_partition_counts(tmp_path: Path) -> None:
    sources = gate_sources(RULES["producer-partition"], NEWEST, "exact", 200, 1, tmp_path, "")
    plain = [
        one
        for source, _ in sources
        for one in map(msgspec.to_builtins, source.questions)
        if one["record"]["key"] and one["record"]["partition"] is one["config"]["partitioner"] is None
        and not one["config"]["ignore_keys"]
    ]  # fmt: skip
    assert len(plain) >= 1000
    assert {len(one["cluster"]["partitions"]) for one in plain} >= {1, 2, 3, 12, 100, 1000}
    keys = [bytes.fromhex(one["record"]["key"]) for one in plain]
    assert any(len(key) > 1000 for key in keys)
    assert any(max(key) >= 0x80 for key in keys)


def _correct(rule: str, _: str, question: dict[str, Any]) -> dict[str, Any] | None:
    """A correct client, as short as one is: it knows nothing of what no user can bring about."""
    if rule == "sequence-increment":
        return {"sequence": (question["sequence"] + question["by"]) & 0x7FFFFFFF}
    key = bytes.fromhex(question["key"])
    if rule == "murmur2":
        return {"hash": murmur2(key) & 0xFFFFFFFF}
    return {"partition": partition_for_key(key, question["partitions"])}


KEYED = ("murmur2", "partition-for-key", "sequence-increment")


def test_correct_client_of_keyed_rules_passes_gate_with_exit_code_0(tmp_path: Path) -> None:
    assert _run(_correct, tmp_path, *KEYED).ended.exit_code == 0


def test_out_of_domain_differences_are_counted_apart_and_change_no_verdict(tmp_path: Path) -> None:
    result = _run(_correct, tmp_path, *KEYED, out_of_domain=True)
    assert result.ended.exit_code == 0
    assert (result.ended.differed, result.ended.failed) == (0, 0)
    ended = {event.rule: event for event in result.events if isinstance(event, RuleEnded)}
    outside = {slug: event.out_of_domain for slug, event in ended.items()}
    assert outside["sequence-increment"].differed > 50  # type: ignore[union-attr]
    assert outside["partition-for-key"].failed > 50  # type: ignore[union-attr]
    assert {event.verdict for event in ended.values()} == {"agrees"}
    (found,) = [event for event in result.events if isinstance(event, Differed)]
    assert found.rule == "sequence-increment"
    assert "at least one record" in found.out_of_domain or "0 to 2^31-1" in found.out_of_domain
    assert result.unknown == []


@pytest.mark.parametrize(("by", "inside"), [(1, True), (0, False)])
def test_comparison_reports_only_in_domain_differences_or_only_others_with_out_of_domain_option(
    by: int, inside: bool
) -> None:
    rule = RULES["sequence-increment"]
    for out_of_domain in (False, True):
        compared = DomainComparison(EXPECTED, EXPECTED, NEWEST, out_of_domain=out_of_domain)
        verdict = compared.verdict(
            rule, rule.question(5, by), Answered({"sequence": 5 + by}), Answered({"sequence": 4})
        )
        assert isinstance(verdict, Differs) == (inside != out_of_domain)


def test_shrinking_a_finding_stays_within_the_rule_domain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here only long keys are in domain: the search must not come to a shorter one."""
    rule = RULES["partition-for-key"]
    monkeypatch.setattr("kafka_conformance.gate.questions.frozen", lambda _: None)
    monkeypatch.setattr("kafka_conformance.gate.findings.diagnose", lambda *_, **__: ())  # slow for long keys
    narrow = replace(
        rule, domain=lambda one: "short" if len(one.key or "") < 40 else "", nearest=lambda one: one, plain=tuple
    )  # fmt: skip

    def wrong(_: str, __: str, question: dict[str, Any]) -> dict[str, Any]:
        return {
            "partition": partition_for_key(bytes.fromhex(question["key"] or ""), max(question["partitions"], 1)) + 1
        }

    with CallableAnswerer(wrong, "python:mine") as target:
        plan = GatePlan([(narrow, NEWEST)], 100, 1, tmp_path, named=True)
        result = gate(target, plan, KnownFailures(), lambda _: None, Steps("", 1))
    found = [event for event in result.events if isinstance(event, Differed)]
    assert found
    assert all(len(event.question["key"]) >= 40 for event in found)


@pytest.mark.parametrize(
    ("answer", "same"),
    [
        (-973932308, True),
        (-973932308 + 2**32, True),
        (-973932308 + 2**33, False),
        (-973932308 - 2**32, False),
        (973932308, False),
        (-973932308.0, False),
        ("-973932308", False),
        (None, False),
    ],
)
def test_murmur2_answer_matches_as_signed_or_unsigned_int32_only(answer: Any, same: bool) -> None:
    assert murmur2(b"21") == -973932308
    verdict = DomainComparison(EXPECTED, EXPECTED, NEWEST).verdict(
        RULES["murmur2"], RULES["murmur2"].question("3231"), Answered({"hash": -973932308}), Answered({"hash": answer})
    )  # fmt: skip
    assert isinstance(verdict, Agrees) == same


def test_unsigned_murmur2_hashes_are_counted_separately_and_not_as_differences(tmp_path: Path) -> None:
    (ended,) = [event for event in _run(_correct, tmp_path, "murmur2").events if isinstance(event, RuleEnded)]
    assert ended.verdict == "agrees"
    assert 1000 < ended.unsigned < ended.agreed
