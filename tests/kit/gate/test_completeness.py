"""Coverage: a rule of which too little was answered is not judged, and no report of it is green."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

from kafka_conformance.answerers.in_process import CallableAnswerer
from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.events import RuleEnded
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.protocol import Answered, Question
from kafka_conformance.gate.completeness import missing_coverage
from kafka_conformance.gate.known_failures import KnownFailures
from kafka_conformance.gate.reports import badge, github, junit, markdown, page, terminal
from kafka_conformance.gate.reports.outline import outline, verdict
from kafka_conformance.gate.reports.remarks import _share, remarks
from kafka_conformance.gate.runner import GatePlan, GateResult, gate
from kafka_conformance.rules import RULES
from kafka_reference import murmur2
from kafka_reference.releases import parse_release

NEWEST = parse_release("4.4.0")
Supports = Callable[[str, dict[str, Any]], bool]


def _client(supports: Supports, *rules: str, grades: Any = None) -> Any:
    def answerer(rule: str, _: str, question: dict[str, Any]) -> dict[str, Any] | None:
        if not supports(rule, question):
            return None
        asked: Question = msgspec.json.decode(json.dumps(question), type=RULES[rule].question)
        outcome = outcome_of(RULES[rule].ask, asked, NEWEST)
        return outcome.answer if isinstance(outcome, Answered) else None

    if rules:
        answerer.rules = rules  # type: ignore[attr-defined]
    answerer.grades = grades or {}  # type: ignore[attr-defined]
    return answerer


def _run(client: Any, folder: Path, *slugs: str, named: bool = False) -> GateResult:
    with CallableAnswerer(client, "python:mine") as target:
        plan = GatePlan([(RULES[slug], NEWEST) for slug in slugs], 5, 1, folder, named=named)
        return gate(target, plan, KnownFailures(), lambda _: None, Steps("", 1))


def _rows(result: GateResult) -> dict[str, RuleEnded]:
    return {event.rule: event for event in result.events if isinstance(event, RuleEnded)}


def _two(rule: str, question: dict[str, Any]) -> bool:
    return rule != "murmur2" or question["key"] in {"", "80"}


def test_rule_with_only_two_keys_answered_is_not_judged_and_gate_exits_2(tmp_path: Path) -> None:
    result = _run(_client(_two, "murmur2", "sequence-increment"), tmp_path, "murmur2", "sequence-increment")
    ended = _rows(result)["murmur2"]
    assert (ended.verdict, ended.agreed) == ("not judged", 2)
    assert all(kind.answered < 0.9 * kind.asked for kind in ended.missing)
    assert ended.reasons == {"it returned None": ended.unsupported}
    assert result.ended.exit_code == 2
    assert (result.ended.conform, result.ended.rules) == (1, len(RULES))
    assert "murmur2 is not judged" in result.ended.why
    assert f"1 of 2 rules asked conforms (the kit has {len(RULES)})" in result.ended.why


def test_gate_exits_2_for_partly_answered_rule_but_for_unanswered_rule_only_if_named(tmp_path: Path) -> None:
    result = _run(_client(_two), tmp_path, "murmur2", "sequence-increment")
    assert result.ended.exit_code == 2
    nothing_of_one = _client(lambda rule, _: rule != "murmur2")
    assert _run(nothing_of_one, tmp_path, "murmur2", "sequence-increment").ended.exit_code == 0
    assert _run(nothing_of_one, tmp_path, "murmur2", "sequence-increment", named=True).ended.exit_code == 2


def test_declared_rule_without_answers_is_unsupported_and_exits_2(tmp_path: Path) -> None:
    client = _client(lambda rule, _: rule != "murmur2", "murmur2", "sequence-increment")
    result = _run(client, tmp_path, "murmur2", "sequence-increment")
    assert (_rows(result)["murmur2"].verdict, result.ended.exit_code) == ("unsupported", 2)
    assert "does not answer murmur2" in result.ended.why


def test_wrong_hash_outweighs_missing_answers_so_gate_exits_1(tmp_path: Path) -> None:
    def client(_: str, __: str, question: dict[str, Any]) -> dict[str, Any] | None:
        return {"hash": 1} if question["key"] == "80" else None

    result = _run(client, tmp_path, "murmur2", named=True)
    assert (_rows(result)["murmur2"].verdict, result.ended.exit_code) == ("differs", 1)


def test_producer_answering_only_keyed_records_conforms_but_only_keyless_records_exits_2(tmp_path: Path) -> None:
    def keyed_alone(_: str, question: dict[str, Any]) -> bool:
        record, config = question["record"], question["config"]
        led = any(one["leader"] is not None for one in question["cluster"]["partitions"])
        plain = record["partition"] is config["partitioner"] is None and not config["ignore_keys"]
        return led and plain and record["key"] is not None

    result = _run(_client(keyed_alone, "producer-partition"), tmp_path, "producer-partition")
    ended = _rows(result)["producer-partition"]
    assert (ended.verdict, result.ended.exit_code) == ("agrees", 0), ended.missing
    assert ended.unsupported > 200
    without_keys = _client(lambda _, question: question["record"]["key"] is None, "producer-partition")
    result = _run(without_keys, tmp_path, "producer-partition")
    assert _rows(result)["producer-partition"].missing[0].kind in {"keyed", "empty key"}
    assert result.ended.exit_code == 2


@pytest.mark.parametrize(("answered", "enough"), [(100, True), (90, True), (89, False), (1, False)])
def test_rule_coverage_requires_90_percent_of_questions_answered(answered: int, enough: bool) -> None:
    rule = RULES["sequence-increment"]
    questions = [rule.question(number, 1) for number in range(100)]
    assert (missing_coverage(rule, questions[:answered], questions[answered:]) == ()) == enough


@pytest.mark.parametrize("supported", [0, 100])
def test_statistical_rule_with_too_few_answers_is_not_judged_or_with_none_unsupported_and_exits_2(
    tmp_path: Path, supported: int
) -> None:
    left = [supported]

    def some(_: str, __: dict[str, Any]) -> bool:
        left[0] -= 1
        return left[0] >= 0

    client = _client(some, "builtin-partitioner", grades={"builtin-partitioner": "statistical"})
    result = _run(client, tmp_path, "builtin-partitioner")
    ended = _rows(result)["builtin-partitioner"]
    assert (ended.verdict, result.ended.exit_code) == ("not judged" if supported else "unsupported", 2)
    assert ended.reasons == {"it returned None": 12_000 - supported}
    assert (ended.distribution is None) == (not supported)


def test_unsupported_reasons_are_counted_and_rare_reasons_merged(tmp_path: Path) -> None:
    from kafka_conformance.core.pipeline import Judgement, Tally
    from kafka_conformance.core.protocol import Unsupported
    from kafka_conformance.gate.completeness import Answers

    answers = Answers(Tally(RULES["murmur2"]))
    for number in range(20):
        why = Unsupported("often" if number < 8 else f"reason {number}")
        question, expected = RULES["murmur2"].question(f"{number:02x}"), Answered({"hash": 1})
        answers.add(Judgement("fresh", question, expected, why, why))
    assert next(iter(answers.reasons.items())) == ("often", 8)
    assert answers.reasons["(other reasons)"] == 5
    assert sum(answers.reasons.values()) == 20


def test_reports_of_rule_with_too_few_answers_show_not_judged(tmp_path: Path) -> None:
    events = _run(_client(_two, "murmur2"), tmp_path, "murmur2").events
    seen = outline(events)
    assert verdict(seen).startswith("could not be judged")
    first, second, third = remarks(seen.rows)
    assert first.text.startswith("not judged: too few answers, ")
    assert (second.text.split(",")[0], second.reason) == ("unsupported", "it returned None")
    assert third.text.startswith("not judged, because the target does not support it: 299 everyday questions")
    assert json.loads(badge.write(events))["message"] == "not judged"
    for text in (markdown.write(events), page.write(events), junit.write(events), github.write(events)):
        assert "not judged" in text
    for text in (markdown.write(events), page.write(events), junit.write(events)):
        assert "it returned None" in text
    assert "<skipped" in junit.write(events)
    assert "<error" in junit.write(events)


def test_badge_of_two_conforming_rules_is_green_2_of_2_and_names_the_kit_total(tmp_path: Path) -> None:
    client = _client(lambda *_: True, "murmur2", "sequence-increment")
    said = json.loads(badge.write(_run(client, tmp_path, "murmur2", "sequence-increment").events))
    assert (said["message"], said["color"]) == (f"2 of 2 rules asked conform (the kit has {len(RULES)})", "brightgreen")


def test_unsupported_rule_is_in_the_count_of_tested_rules_only_if_named(tmp_path: Path) -> None:
    lacks_one = _client(lambda rule, _: rule != "murmur2")
    unnamed = _run(lacks_one, tmp_path, "murmur2", "sequence-increment").ended
    named = _run(lacks_one, tmp_path, "murmur2", "sequence-increment", named=True).ended
    assert (unnamed.conform, unnamed.rules_asked, unnamed.rules) == (1, 1, len(RULES))
    assert (named.conform, named.rules_asked) == (1, 2)


def test_reports_split_wrong_key_placement_into_everyday_keys_and_edge_cases(tmp_path: Path) -> None:
    def client(_: str, __: str, question: dict[str, Any]) -> dict[str, Any] | None:
        if len(question["key"]) == 2:
            return None
        key = bytes.fromhex(question["key"])
        return {"partition": (murmur2(key) & 0xFFFFFFFF) % question["partitions"]}

    client.rules, client.grades = ["partition-for-key"], {}  # type: ignore[attr-defined]
    events = _run(client, tmp_path, "partition-for-key").events
    ended = next(event for event in events if isinstance(event, RuleEnded))
    everyday = ended.everyday
    plain = [one for one in RULES["partition-for-key"].plain() if not RULES["partition-for-key"].domain(one)]
    assert everyday is not None
    assert everyday.asked + everyday.unsupported == len(set(plain))
    assert 0 < everyday.agreed < everyday.asked < ended.asked
    line = f"of everyday keys as Java does ({everyday.agreed:,} of {everyday.asked:,}); edge cases: "
    assert everyday.unsupported > 0
    missing = f"not judged, because the target does not support it: {everyday.unsupported} everyday question"
    for text in (markdown.write(events), page.write(events), junit.write(events), _terminal(events)):
        assert line in " ".join(text.replace("\\", "").split())
        assert missing in " ".join(text.replace("\\", "").split())


def _terminal(events: Iterable[Any]) -> str:
    out = Console(file=io.StringIO(), width=400)
    terminal.show(out, events)
    return out.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("agreed", "asked", "share"),
    [(0, 3, "0 %"), (1, 1000, "1 %"), (999, 1000, "99 %"), (3, 3, "100 %"), (0, 0, "none"), (12, 100, "12 %")],
)
def test_agreement_is_0_or_100_percent_only_if_exact_and_none_without_answers(
    agreed: int, asked: int, share: str
) -> None:
    assert _share(agreed, asked)[0] == share


def test_reports_mention_unsigned_hashes_and_out_of_domain_findings_without_failing(tmp_path: Path) -> None:
    def client(rule: str, _: str, question: dict[str, Any]) -> dict[str, Any]:
        if rule == "murmur2":
            return {"hash": murmur2(bytes.fromhex(question["key"] or "")) & 0xFFFFFFFF}
        return {"sequence": (question["sequence"] + question["by"]) & 0x7FFFFFFF}

    with CallableAnswerer(client, "python:mine") as target:
        asked = [(RULES[slug], NEWEST) for slug in ("murmur2", "sequence-increment")]
        plan = GatePlan(asked, 5, 1, tmp_path, named=True, out_of_domain=True)
        events = gate(target, plan, KnownFailures(), lambda _: None, Steps("", 1)).events
    assert outline(events).exit_code == 0
    for text in (markdown.write(events), page.write(events), junit.write(events)):
        assert "without a sign" in text
        assert "out of domain" in text.lower()
    assert "<failure" not in junit.write(events)
    assert "::error" not in github.write(events)
    assert json.loads(badge.write(events))["color"] == "brightgreen"
