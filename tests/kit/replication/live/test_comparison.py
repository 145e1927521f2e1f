"""Comparison and timeline: every difference is found, at its event, and shown."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from kafka_conformance.replication.live.comparison import Difference, compare
from kafka_conformance.replication.live.player import PlayedHistory, faults_of
from kafka_conformance.replication.live.shrink import Shrink
from kafka_conformance.replication.live.timeline import print_timeline
from kafka_conformance.replication.live.timing import TIMING
from kafka_reference.cluster.history import simulate
from kafka_reference.cluster.observation import Answer, Elected, Produced, Settled, Unanswered
from kafka_reference.cluster.script import ClusterScript, Elect, Pause, Produce, Settle

SCRIPT = ClusterScript((Produce(-1), Settle(), Pause(3), Produce(1, records=2), Settle(), Elect("preferred")))


def played(answers: Any) -> PlayedHistory:
    return PlayedHistory(SCRIPT, list(answers))


@pytest.fixture
def expected() -> tuple[Answer, ...]:
    return simulate(SCRIPT, "4.4.0")


def test_answers_equal_to_expected_have_no_differences(expected: tuple[Answer, ...]) -> None:
    assert compare(played(expected), expected, TIMING) == ()


@pytest.mark.parametrize(
    ("event", "change", "what"),
    [
        (
            0,
            Produced("REQUEST_TIMED_OUT", None),
            ["error REQUEST_TIMED_OUT, expected NONE", "base_offset None, expected 0"],
        ),
        (0, Unanswered(), ["Unanswered, expected Produced"]),
        (5, Elected("NONE"), ["error NONE, expected ELECTION_NOT_NEEDED"]),
    ],
)
def test_cluster_answer_that_differs_is_reported_with_event_and_field(
    expected: tuple[Answer, ...], event: int, change: Answer, what: list[str]
) -> None:
    answers = [*expected[:event], change, *expected[event + 1 :]]
    assert compare(played(answers), expected, TIMING) == tuple(Difference(event, each) for each in what)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"leader": 2}, "leader 2, expected 1"),
        ({"leader_epoch": 7}, "leader_epoch 7, expected 0"),
        ({"isr": frozenset({1})}, r"isr [1], expected [1, 2]"),
        ({"elr": frozenset({3})}, r"elr [3], expected []"),
        ({"readable": 1}, "readable 1, expected 3"),
    ],
)
def test_settled_leader_isr_elr_or_readable_count_that_differs_is_reported(
    expected: tuple[Answer, ...], changes: Any, what: str
) -> None:
    settled = expected[4]
    assert isinstance(settled, Settled)
    answers = [*expected[:4], replace(settled, **changes), *expected[5:]]
    assert compare(played(answers), expected, TIMING) == (Difference(4, what),)


@pytest.mark.parametrize("field", ["batches", "end_offset", "high_watermark"])
def test_replica_log_or_high_watermark_that_differs_is_reported(expected: tuple[Answer, ...], field: str) -> None:
    settled = expected[4]
    assert isinstance(settled, Settled)
    lost = replace(settled.replicas[2], **{field: () if field == "batches" else 0})
    answers = [*expected[:4], replace(settled, replicas=settled.replicas | {2: lost}), *expected[5:]]
    (difference,) = compare(played(answers), expected, TIMING)
    assert difference.what.startswith(f"replica 2: {field} ")


def test_broker_disagreement_and_isr_shrink_time_out_of_bounds_are_differences(expected: tuple[Answer, ...]) -> None:
    one = played(expected)
    one.disagreements.append((4, "broker 2 has another leader"))
    one.shrinks += [Shrink(4, 3, TIMING.lag_ms), Shrink(1, 3, TIMING.session_ms), Shrink(1, 3, TIMING.lag_ms // 2)]
    found = compare(one, expected, TIMING)
    assert [each.event for each in found] == [1, 1, 4]
    assert found[0].what == "broker 3 left the in-sync replicas 5500 ms after its pause: expected 1800 to 4000"


def test_cluster_timeline_shows_all_events_and_marks_differences(expected: tuple[Answer, ...]) -> None:
    out = io.StringIO()
    one = played([*expected[:5], Elected("NONE")])
    one.shrinks.append(Shrink(4, 3, 2500))
    print_timeline(Console(file=out, width=160), one, expected, compare(one, expected, TIMING), "4.4.0")
    text = out.getvalue()
    assert "replicas 1, 2, 3; min.insync.replicas=1; unclean leader election off" in text
    for words in (
        "produce 1 record, acks=all",
        "pause broker 3",
        "NONE at 0",
        "leader 1 epoch 0 ISR 1,2; 3 records readable",
        "1: 0@0 1-2@0 HW 3",
        "3: 0@0",
        "broker 3 left the in-sync replicas 2500 ms after its pause",
        "NONE ◀",
        "◀ event 5: error NONE, expected ELECTION_NOT_NEEDED",
    ):
        assert words in text


def test_faults_of_a_cluster_script_leave_out_produce_and_election_events() -> None:
    assert faults_of(SCRIPT) == (Settle(), Pause(3), Settle())
