"""Kinds of differences between a broker and Kafka, and what each means for users."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("kafka")

from kafka_conformance.gate.broker_kinds import EFFECTS, DifferenceKind, by_kind, harmless_reason, kinds_of
from kafka_conformance.wire.broker_gate.case import BrokerCase, Step, frozen
from kafka_conformance.wire.broker_gate.runner import ABSENT, CLOSED, CaseOutcome, CaseVerdict, Difference, differences


def outcome(api: str, *found: tuple[str, Any, Any], name: str = "a/one") -> CaseOutcome:
    """A case of one request whose answer has these differences."""
    case = BrokerCase(name, "", [Step(api, 1, {})])
    return CaseOutcome(case, CaseVerdict.DIFFERS, "", [{}], [{}], tuple(Difference(0, *each) for each in found))


CODE = "responses[0].partitionResponses[0].errorCode"


@pytest.mark.parametrize(
    ("api", "found", "severity", "name"),
    [
        ("Produce", (CODE, 45, 0), "critical", "Produce: responses.partitionResponses.errorCode is 0, not 45"),
        ("Produce", (CODE, 87, 0), "high", "Produce: responses.partitionResponses.errorCode is 0, not 87"),
        ("Produce", (CODE, 0, 45), "high", "Produce: responses.partitionResponses.errorCode is 45, not 0"),
        ("Produce", (CODE, 87, 2), "medium", "Produce: responses.partitionResponses.errorCode is 2, not 87"),
        ("Produce", ("responses[0].partitionResponses[0].logAppendTimeMs", -1, 9), "low",
         "Produce: responses.partitionResponses.logAppendTimeMs differs"),
        ("Fetch", ("responses[0].partitions[0].records", [], [1]), "high", "Fetch: responses.partitions.records differs"),
        ("Fetch", ("responses[0].partitions[0].records[0].codec", "GZIP", "NONE"), "low",
         "Fetch: responses.partitions.records.codec differs"),
        ("Fetch", ("responses[0].partitions[0].abortedTransactions", None, [{}]), "high",
         "Fetch: responses.partitions.abortedTransactions is a list, not null"),
        ("InitProducerId", ("producerEpoch", 1, 0), "critical", "InitProducerId: producerEpoch differs"),
        ("InitProducerId", ("producerEpoch", 0, 1), "medium", "InitProducerId: producerEpoch differs"),
        ("Heartbeat", ("errorCode", 25, 69), "medium", "Heartbeat: errorCode is 69, not 25"),
        ("Metadata", ("topics[0].isInternal", False, True), "medium", "Metadata: topics.isInternal is true, not false"),
        ("JoinGroup", ("connection", "closed", ABSENT), "low", "JoinGroup: the connection is not closed"),
    ],
)  # fmt: skip
def test_broker_difference_is_classified_with_name_and_severity(
    api: str, found: tuple[str, Any, Any], severity: str, name: str
) -> None:
    (kind,) = kinds_of(outcome(api, found))
    assert (kind.name, kind.severity, harmless_reason(outcome(api, found))) == (name, severity, "")


@pytest.mark.parametrize(
    ("api", "found", "reason"),
    [
        ("Fetch", ("responses[0].partitions[0].abortedTransactions", [], None), "null and an empty list"),
        ("Fetch", ("responses[0].partitions[0].abortedTransactions", None, []), "null and an empty list"),
        ("Produce", ("responses[0].partitionResponses[0].logStartOffset", 0, -1), "start of the log"),
        ("ConsumerGroupHeartbeat", ("assignment.topicPartitions[0].partitions", [2, 3], [3, 2]), "order"),
    ],
)  # fmt: skip
def test_difference_that_clients_ignore_is_harmless_only_without_other_differences(
    api: str, found: tuple[str, Any, Any], reason: str
) -> None:
    assert reason in harmless_reason(outcome(api, found))
    assert harmless_reason(outcome(api, found, (CODE, 0, 1))) == ""


@pytest.mark.parametrize("found", [(None, ABSENT), ([], ABSENT), ([{}], []), (None, [{}])])
def test_absent_or_changed_list_of_aborted_transactions_is_not_harmless(found: tuple[Any, Any]) -> None:
    assert harmless_reason(outcome("Fetch", ("responses[0].partitions[0].abortedTransactions", *found))) == ""


def test_different_partitions_in_group_assignment_are_not_harmless() -> None:
    assert (
        harmless_reason(outcome("ConsumerGroupHeartbeat", ("assignment.topicPartitions[0].partitions", [2, 3], [2, 4])))
        == ""
    )


def test_extra_field_of_answer_with_a_wrong_error_code_is_not_a_separate_difference() -> None:
    base = "responses[0].partitionResponses[0]"
    found = outcome("Produce", (f"{base}.errorCode", 45, 0), (f"{base}.baseOffset", ABSENT, 3), ("other", 1, 2))
    assert [kind.name for kind in kinds_of(found)] == [
        "Produce: responses.partitionResponses.errorCode is 0, not 45",
        "Produce: other differs",
    ]


def test_effect_text_names_the_error_that_kafka_returns() -> None:
    (kind,) = kinds_of(outcome("Produce", (CODE, 45, 0)))
    assert kind.effect.endswith("Kafka's error is OUT_OF_ORDER_SEQUENCE_NUMBER.")


@pytest.mark.parametrize("verdict", [CaseVerdict.NO_ANSWER, CaseVerdict.CLOSED, CaseVerdict.DIFFERS])
def test_request_without_readable_answer_has_high_severity(verdict: CaseVerdict) -> None:
    case = BrokerCase("a/one", "", [Step("Fetch", 1, {}), Step("Produce", 1, {})])
    (kind,) = kinds_of(CaseOutcome(case, verdict, "why", [{}, CLOSED], [{}]))
    assert (kind.name.partition(":")[0], kind.severity) == ("Produce", "high")


def test_case_with_low_and_critical_difference_is_reported_only_as_critical() -> None:
    found = outcome("Produce", ("logAppendTimeMs", -1, 9), (CODE, 45, 0))
    assert [kind.severity for kind in by_kind([found])] == ["critical"]


def test_difference_in_most_cases_does_not_hide_a_rarer_difference() -> None:
    fill = ("throttle", 1, 2)
    cases = [outcome("Produce", fill, name=f"a/{number}") for number in range(8)]
    other = outcome("Produce", fill, (CODE, 87, 2), name="a/8")
    found = by_kind([*cases, other])
    assert {kind.name: len(alike) for kind, alike in found.items()} == {
        "Produce: throttle differs": 8,
        "Produce: responses.partitionResponses.errorCode is 2, not 87": 1,
    }


def test_differing_list_of_plain_values_is_a_single_difference() -> None:
    assert list(differences({"a": [1, 2]}, {"a": [2, 1]})) == [("a", [1, 2], [2, 1])]
    assert list(differences([{"a": 1}], [{"a": 2}])) == [("[0].a", 1, 2)]


def test_every_api_in_severity_table_occurs_in_shipped_cases() -> None:
    used = {step.api for case in frozen().cases for step in case.steps} | {"*"}
    assert {row.api for row in EFFECTS} <= used


def test_severity_ranks_ascend_from_critical_to_harmless() -> None:
    ranks = [DifferenceKind("", severity, "").rank for severity in ("critical", "high", "medium", "low", "harmless")]
    assert ranks == sorted(set(ranks))


def error_codes(value: Any, name: str = "") -> set[int]:
    """All error codes in an answer."""
    if isinstance(value, dict):
        return {code for key, each in value.items() for code in error_codes(each, key)}
    if isinstance(value, list):
        return {code for each in value for code in error_codes(each, name)}
    return {value} if name.lower().endswith("errorcode") else set()


def test_every_error_code_in_shipped_answers_has_a_name() -> None:
    codes = {code for case in frozen().cases for each in case.expected for code in error_codes(each.answers)} - {0}
    effects = {code: kinds_of(outcome("Fetch", ("errorCode", code, 0)))[0].effect for code in codes}
    unnamed = [
        code for code, effect in effects.items() if "Kafka's error is" not in effect or effect.endswith("is UNKNOWN.")
    ]
    assert unnamed == []


def test_difference_with_several_severities_is_reported_once_with_the_worst() -> None:
    cases = [outcome("InitProducerId", ("producerEpoch", 1, actual), name=f"a/{actual}") for actual in (2, 0)]
    assert [(kind.severity, len(alike)) for kind, alike in by_kind(cases).items()] == [("critical", 2)]
