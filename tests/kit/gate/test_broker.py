"""Outcomes of cases as the events of a gate."""

from __future__ import annotations

from datetime import date
from io import StringIO
from typing import Any

import pytest
from fake_brokers import CLOSE, SILENCE, fake_broker
from msgspec.structs import replace
from rich.console import Console

from kafka_conformance.core.events import Differed, Event, RuleEnded, Stale
from kafka_conformance.core.progress import Steps
from kafka_conformance.gate.broker import BrokerPlan, gate_broker
from kafka_conformance.gate.known_failures import Entry, KnownFailures
from kafka_conformance.gate.reports import badge, junit, markdown, page, terminal
from kafka_conformance.gate.runner import GateResult
from kafka_conformance.wire.broker_gate.case import BrokerCase, Recorded, Step
from kafka_conformance.wire.broker_gate.runner import BrokerTarget, CaseVerdict
from kafka_conformance.wire.broker_gate.transcript import transcript
from kafka_conformance.wire.client import parse_address

TODAY = date(2026, 11, 29)


def case(name: str, *codes: int) -> BrokerCase:
    """A case of one request for each code that Kafka answers."""
    steps = [Step("DeleteGroups", 2, {"groupsNames": [f"{name}-{at}"]}) for at in range(len(codes))]
    answers = [{"results": [{"groupId": f"{name}-{at}", "errorCode": code}]} for at, code in enumerate(codes)]
    return BrokerCase(name, f"the case {name}", steps, [], [Recorded(("4.4.0",), answers)])


CASES = (case("a/one", 0, 0), case("a/two", 0), case("b/three", 5), case("b/four", 0))


def gated(
    codes: dict[str, Any], known: KnownFailures | None = None, cases: tuple[BrokerCase, ...] = CASES
) -> tuple[GateResult, str]:
    """Gate a broker that answers with these codes, else with 0."""

    def answer(api: str, version: int, request: dict[str, Any]) -> Any:
        if api != "DeleteGroups" or version != 2:
            return None
        (name,) = request["groupsNames"]
        code = codes.get(name, 0)
        return code if isinstance(code, str) else {"results": [{"groupId": name, "errorCode": code}]}

    with fake_broker(answer) as broker:
        target = BrokerTarget(*parse_address(broker.address), 0.5, "kafka-conformance-gate-t")
        plan = BrokerPlan(cases, "4.4.0", 1, broker.address)
        events: list[Event] = []
        result, outcomes = gate_broker(target, plan, known or KnownFailures(today=TODAY), events.append, Steps("", 1))
        target.close()
    assert events == result.events
    return result, transcript([each for each in outcomes if each.is_failure], "4.4.0", "the broker")


def ended(result: GateResult) -> dict[str, RuleEnded]:
    return {each.rule: each for each in result.events if isinstance(each, RuleEnded)}


def differed(result: GateResult) -> list[Differed]:
    return [each for each in result.events if isinstance(each, Differed)]


def test_broker_gate_transcript_without_failed_cases_states_that_no_case_differs() -> None:
    text = transcript([], "4.4.0", "the broker")
    assert text == "# Kafka 4.4.0 and the broker\n\nNo case that was run differs.\n\n"


def test_gate_of_broker_that_answers_like_kafka_exits_0() -> None:
    result, _ = gated({"b/three-0": 5})
    assert (result.ended.exit_code, result.ended.why) == (0, "4 of 4 cases agree with Kafka")
    assert {name: each.verdict for name, each in ended(result).items()} == {"broker/a": "agrees", "broker/b": "agrees"}


def test_gate_of_broker_with_differing_error_code_exits_1_and_names_the_difference() -> None:
    result, text = gated({})
    (found,) = differed(result)
    assert (result.ended.exit_code, result.ended.why) == (1, "1 of 4 cases differ from Kafka")
    assert (found.rule, found.id, found.kind) == ("broker/b", "b/three", "DeleteGroups: results.errorCode is 0, not 5")
    assert (found.question["case"], found.cases) == ("b/three", ("b/three",))
    assert found.versions == "DeleteGroups in version 2"
    assert "| **1** | DeleteGroups 2" in text


def test_broker_cases_with_equal_difference_are_reported_once_with_the_smallest_case() -> None:
    result, text = gated({"a/one-1": 9, "a/two-0": 9, "b/three-0": 5})
    (found,) = differed(result)
    assert (found.id, found.times, ended(result)["broker/a"].differed) == ("a/two", 2, 2)
    assert text.index("`a/two`") < text.index("`a/one`")
    assert "the same" in text


def test_difference_in_every_case_does_not_hide_a_rarer_difference() -> None:
    cases = tuple(case(f"a/{number:02}", 0, 0) for number in range(30))
    codes = {f"a/{number:02}-0": 9 for number in range(30)} | {"a/07-1": 5, "a/08-1": 5}
    result, _ = gated(codes, cases=cases)
    assert [(each.kind, each.times, each.id) for each in differed(result)] == [
        ("DeleteGroups: results.errorCode is 9, not 0", 28, "a/00"),
        ("DeleteGroups: results.errorCode is 5, not 0", 2, "a/07"),
    ]


@pytest.mark.parametrize(
    ("answer", "kind"), [(SILENCE, "DeleteGroups: no answer"), (CLOSE, "DeleteGroups: connection closed")]
)
def test_missing_answer_or_closed_connection_fails_the_broker_gate(answer: str, kind: str) -> None:
    result, text = gated({"a/two-0": answer, "b/three-0": 5})
    (found,) = differed(result)
    assert (found.kind, result.ended.exit_code) == (kind, 1)
    assert kind.partition(": ")[2] in text


def entry(**fields: Any) -> Entry:
    return Entry(**{"rule": "broker/b", "reason": "why", "expires": date(2027, 1, 1), **fields})


@pytest.mark.parametrize("fields", [{"case": "b/three"}, {"pattern": "DeleteGroups: *is 0, not 5"}])
def test_known_failure_does_not_fail_the_broker_gate(fields: dict[str, str]) -> None:
    result, _ = gated({}, KnownFailures([entry(**fields)], TODAY))
    assert (result.ended.exit_code, result.ended.known, ended(result)["broker/b"].verdict) == (0, 1, "known")
    assert [each.versions for each in differed(result)] == [""]  # nothing is asked again


def test_broker_gate_exits_1_with_a_stale_entry_if_a_known_failure_agrees() -> None:
    result, _ = gated({"b/three-0": 5}, KnownFailures([entry(case="b/three")], TODAY))
    assert result.ended.exit_code == 1
    assert [each.why for each in result.events if isinstance(each, Stale)] == ["stale"]


def test_inapplicable_case_is_listed_and_does_not_fail_the_broker_gate() -> None:
    other = BrokerCase("c/five", "", [Step("Fetch", 12, {})], [], [Recorded(("3.9.2",), [{}])])
    result, _ = gated({"b/three-0": 5}, cases=(*CASES, other))
    assert (result.ended.exit_code, result.ended.why) == (0, "4 of 4 cases agree with Kafka; 1 more do not apply")
    assert (ended(result)["broker/c"].verdict, sum(ended(result)["broker/c"].reasons.values())) == ("unsupported", 1)


def test_broker_gate_with_only_inapplicable_cases_exits_2() -> None:
    result, _ = gated({}, cases=(BrokerCase("c/five", "", [Step("Fetch", 12, {})]),))
    assert (result.ended.exit_code, result.ended.why) == (2, "nothing was judged: no case applies to this broker")


def answered(found: Any) -> Any:
    """The answer to a fetch of the case ``c/fetch``."""
    return lambda api, version, _: found if (api, version) == ("Fetch", 12) else None


def fetched(aborted: Any) -> dict[str, Any]:
    partition = {"partitionIndex": 0, "errorCode": 0, "abortedTransactions": aborted}
    return {"responses": [{"topic": "t", "partitions": [partition]}]}


def test_broker_gate_accepts_a_harmless_answer_difference_and_reports_the_reason() -> None:
    plain = BrokerCase("c/fetch", "", [Step("Fetch", 12, {})])
    with fake_broker(answered(fetched(None))) as broker:
        target = BrokerTarget(*parse_address(broker.address), 0.5, "kafka-conformance-gate-t")
        expected = target.run(plain).answers
        target.close()
    harmless = replace(plain, expected=[Recorded(("4.4.0",), expected)])
    with fake_broker(answered(fetched([]))) as broker:
        target = BrokerTarget(*parse_address(broker.address), 0.5, "kafka-conformance-gate-t")
        plan = BrokerPlan((harmless,), "4.4.0", 1, broker.address)
        result, (outcome,) = gate_broker(target, plan, KnownFailures(today=TODAY), lambda _: None, Steps("", 1))
        target.close()
    assert (result.ended.exit_code, result.ended.why) == (0, "1 of 1 cases agree with Kafka")
    assert (outcome.verdict, outcome.is_failure) == (CaseVerdict.HARMLESS, False)
    assert "harmless, 1 case: clients take null and an empty list" in shown(result)


def shown(result: GateResult) -> str:
    out = Console(width=200, file=StringIO())
    terminal.show(out, result.events)
    assert isinstance(out.file, StringIO)
    return out.file.getvalue()


def test_broker_gate_report_counts_cases_by_name_prefix_and_lists_a_difference_once() -> None:
    text = shown(gated({"a/one-1": 9, "a/two-0": 9, "b/three-0": 5, "b/four-0": 9})[0])
    lines = [line.split() for line in text.splitlines()]
    assert ["cases", "of", "verdict", "cases", "agree", "differ"] in lines
    assert ["a", "differs", "2", "0", "2"] in lines
    assert ["all", "4", "1", "3"] in lines
    assert text.count("results.errorCode is 9, not 0, 3 cases of a, b") == 1
    assert "example   a/two: the case a/two" in text
    assert "results[0].errorCode: Kafka 0, broker 9" in text


def test_broker_gate_report_shows_difference_of_highest_severity_first() -> None:
    text = shown(gated({"a/two-0": 9, "b/three-0": 6})[0])
    assert text.index("high: DeleteGroups: results.errorCode is 9, not 0") < text.index("medium: DeleteGroups")


def test_cases_after_lost_broker_are_not_run_and_gate_exits_2() -> None:
    with fake_broker(lambda api, version, _: CLOSE if (api, version) == ("DeleteGroups", 2) else None) as broker:
        target = BrokerTarget(*parse_address(broker.address), 0.5, "kafka-conformance-gate-t")
        target._lost = "the broker is gone"
        plan = BrokerPlan(CASES, "4.4.0", 1, broker.address)
        result, _ = gate_broker(target, plan, KnownFailures(today=TODAY), lambda _: None, Steps("", 1))
        target.close()
    assert (result.ended.exit_code, result.ended.not_run, result.ended.unsupported) == (2, 4, 0)
    assert result.ended.why == "the broker was lost: 4 cases were not run"
    assert {each.verdict for each in ended(result).values()} == {"not judged"}
    assert ["cases", "of", "verdict", "cases", "agree", "differ", "not", "run"] in map(
        str.split, shown(result).splitlines()
    )


def test_junit_markdown_html_and_badge_reports_accept_broker_gate_events() -> None:
    result, _ = gated({"a/two-0": CLOSE})
    for report in (junit.write, markdown.write, page.write, badge.write):
        text = report(result.events)
        assert "differ" in text
        assert report is badge.write or "b/three" in text
