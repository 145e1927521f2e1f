"""The requests of the gate of brokers are those that ship, and the page counts them."""

from __future__ import annotations

import msgspec
import pytest
import record_broker_cases
from broker_cases import SEED, all_cases
from record_broker_cases import PAGE, RELEASES, TABLE, broker_sha256, merged, table, with_answers

from kafka_conformance.reports.page_block import block_of
from kafka_conformance.wire.broker_gate.case import Frozen, Recorded, frozen

AGAIN = "run: python ci/record_broker_cases.py"


def test_shipped_broker_gate_cases_have_exactly_the_requests_generated_from_source() -> None:
    shipped = [msgspec.structs.replace(case, expected=[]) for case in frozen().cases]
    assert shipped == all_cases(), AGAIN
    assert frozen().provenance.seed == SEED


def test_shipped_broker_answers_were_recorded_from_jars_with_the_pinned_sha256() -> None:
    assert {release: broker_sha256(release) for release in RELEASES} == JARS, AGAIN


def test_table_on_broker_gate_page_equals_the_table_made_from_shipped_cases() -> None:
    assert block_of(PAGE.read_text(encoding="utf-8"), TABLE) == table(frozen()).strip(), f"run: {TABLE}"


def test_changed_broker_jar_voids_answers_of_that_release_and_changed_requests_void_all_releases(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert record_broker_cases.void_releases() == []
    monkeypatch.setattr(
        record_broker_cases, "broker_sha256", lambda release: "other" if release == "3.9.2" else JARS[release]
    )
    assert record_broker_cases.void_releases() == ["3.9.2"]
    monkeypatch.setattr(record_broker_cases, "all_cases", lambda: all_cases()[1:])
    assert record_broker_cases.void_releases() == list(RELEASES)


JARS = frozen().provenance.jars


def test_equal_broker_answers_of_two_releases_are_stored_once() -> None:
    case = all_cases()[0]
    found = with_answers(case, {"3.9.2": [1], "4.0.2": [2], "4.4.0": [1]}).expected
    assert found == [Recorded(("3.9.2", "4.4.0"), [1]), Recorded(("4.0.2",), [2])]


def test_recording_broker_answers_of_a_release_replaces_only_answers_of_that_release() -> None:
    one, two, *_ = all_cases()
    first = merged(None, "4.4.0", "aa", {one.id: [1], two.id: [2]})
    second = merged(first, "3.9.2", "bb", {one.id: [1]})
    assert second.provenance.jars == {"3.9.2": "bb", "4.4.0": "aa"}
    assert [each.expected for each in second.cases[:2]] == [
        [Recorded(("3.9.2", "4.4.0"), [1])],
        [Recorded(("4.4.0",), [2])],
    ]
    again = merged(second, "4.4.0", "cc", {one.id: [3]})
    assert [each.expected for each in again.cases[:2]] == [
        [Recorded(("3.9.2",), [1]), Recorded(("4.4.0",), [3])],
        [],
    ]


def test_recorded_broker_answers_are_dropped_if_the_requests_of_the_case_have_changed() -> None:
    one, *rest = all_cases()
    changed = msgspec.structs.replace(one, steps=[*one.steps, *one.steps])
    first = merged(None, "4.4.0", "aa", {one.id: [1]})
    shipped = Frozen(first.provenance, (msgspec.structs.replace(first.cases[0], steps=changed.steps), *rest))
    assert merged(shipped, "3.9.2", "bb", {}).cases[0].expected == []


def test_broker_case_ids_are_unique_and_valid_in_topic_names() -> None:
    ids = [case.id for case in all_cases()]
    assert len(set(ids)) == len(ids) >= 400
    for case in all_cases():
        names = [f"kafka-conformance-gate-01234567-{case.id.replace('/', '-')}-{topic.name}" for topic in case.topics]
        assert all(len(name) < 240 and set(name) <= set(CHARACTERS) for name in names), case.id


CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-."
"""No underscore: Kafka warns of names with both, whose metrics collide."""
