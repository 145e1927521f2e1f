"""Scenarios with faults of followers: who is in sync, what is committed, who leads, what is lost."""

from __future__ import annotations

import doctest

import pytest

from kafka_reference.delivery import Fault, Kind, Outcome, PartitionState, Scenario, replicas, simulate

ALL = {"acks": "all", "max.in.flight.requests.per.connection": "1", "enable.idempotence": "false", "retries": "9"}
ONE = {**ALL, "acks": "1"}
BOTH_LEAVE = (
    Fault(Kind.STOP_FOLLOWER, 2, replica=1), Fault(Kind.STOP_FOLLOWER, 2, replica=2), Fault(Kind.SHRINK_ISR_AFTER_APPEND, 2),
)  # fmt: skip
RELEASES = ["0.10.0.1", "1.1.1", "3.2.3", "3.6.2", "4.4.0"]


def outcome(version: str, config: dict[str, str], *faults: Fault, records: int = 3, **partition: int) -> Outcome:
    found = simulate(Scenario(config, records, faults, **partition), version)  # type: ignore[arg-type]
    assert isinstance(found, Outcome)
    return found


def after(found: Outcome, request: int) -> PartitionState:
    state = found.requests[request - 1].partition
    assert state is not None
    return state


def logs(found: Outcome) -> list[tuple[int, ...]]:
    assert found.partition is not None
    return [replica.records for replica in found.partition.replicas]


def stop(request: int, replica: int = 1) -> Fault:
    return Fault(Kind.STOP_FOLLOWER, request, replica=replica)


@pytest.mark.parametrize("version", RELEASES)
def test_high_watermark_waits_for_stopped_follower_until_isr_shrinks(version: str) -> None:
    found = outcome(version, ONE, stop(2), Fault(Kind.SHRINK_ISR, 3))
    assert [(after(found, number).high_watermark, after(found, number).in_sync) for number in (1, 2, 3)] == [
        (1, (0, 1, 2)), (1, (0, 1, 2)), (3, (0, 2)),
    ]  # fmt: skip
    assert logs(found) == [(0, 1, 2), (0,), (0, 1, 2)]


def test_stopped_follower_that_is_caught_up_stays_in_isr() -> None:
    found = outcome("4.4.0", ONE, stop(2), Fault(Kind.SHRINK_ISR, 2))
    assert after(found, 3).in_sync == (0, 1, 2)


@pytest.mark.parametrize("version", RELEASES)
def test_acks_1_loses_records_that_the_new_leader_lacks(version: str) -> None:
    found = outcome(version, ONE, stop(2), Fault(Kind.CRASH_REPLICATED, 3), records=4)
    assert (found.lost, found.log) == ((1, 2), (0, 3))
    assert logs(found)[1:] == [(0, 3), (0, 3)]


@pytest.mark.parametrize("version", RELEASES)
def test_acks_all_acknowledges_no_record_that_the_new_leader_lacks(version: str) -> None:
    found = outcome(version, ALL, stop(2), Fault(Kind.CRASH_REPLICATED, 3))
    assert found.requests[1].result == "REQUEST_TIMED_OUT"
    assert (found.requests[1].offset, found.lost, found.log) == (1, (), (0, 1, 2))


@pytest.mark.parametrize("version", RELEASES)
def test_unclean_election_with_one_in_sync_replica_loses_a_committed_record(version: str) -> None:
    faults = (*BOTH_LEAVE, Fault(Kind.CRASH_BEFORE, 3))
    found = outcome(version, ALL, *faults, records=4, unclean_leader_election=True)
    assert after(found, 2).high_watermark == 2
    assert (after(found, 3).leader, after(found, 3).in_sync, after(found, 3).high_watermark) == (1, (1,), 1)
    assert (found.lost, found.log, logs(found)[0]) == ((1,), (0, 2, 3), (0, 2, 3))


@pytest.mark.parametrize("version", RELEASES)
def test_partition_without_unclean_election_waits_for_last_in_sync_replica(version: str) -> None:
    found = outcome(version, ALL, *BOTH_LEAVE, Fault(Kind.CRASH_BEFORE, 3))
    assert [after(found, number).leader for number in (2, 3, 4, 5)] == [0, None, None, 0]
    assert after(found, 4).high_watermark is None
    assert after(found, 4).in_sync == (0,)
    assert (found.requests[3].result, found.lost, found.log) == ("lost", (), (0, 1, 2))


@pytest.mark.parametrize(
    ("version", "error", "high_watermark"),
    [("3.6.2", "NOT_ENOUGH_REPLICAS_AFTER_APPEND", 2), ("3.7.0", "REQUEST_TIMED_OUT", 1)],
)
def test_acks_all_request_times_out_since_3_7_if_isr_shrinks_below_minimum_after_append(
    version: str, error: str, high_watermark: int
) -> None:
    """KAFKA-15583: since 3.7.0 the high watermark stays, so the request waits until it times out."""
    back = Fault(Kind.RESUME_FOLLOWER, 4, replica=1)
    found = outcome(version, ALL, *BOTH_LEAVE, back, min_insync_replicas=2)
    assert [one.result for one in found.requests] == ["written", error, "NOT_ENOUGH_REPLICAS", "written", "written"]
    assert (found.requests[1].offset, after(found, 2).high_watermark) == (1, high_watermark)
    assert (found.log, found.doubled) == ((0, 1, 1, 2), (1,))


def test_idempotent_retry_times_out_until_stopped_follower_resumes_and_then_is_a_duplicate() -> None:
    config = {"max.in.flight.requests.per.connection": "1"}
    found = outcome("4.4.0", config, stop(2), Fault(Kind.RESUME_FOLLOWER, 4, replica=1))
    assert [one.result for one in found.requests][1:4] == ["REQUEST_TIMED_OUT", "REQUEST_TIMED_OUT", "duplicate"]
    assert (found.log, found.requests[2].offset) == ((0, 1, 2), 1)


def test_acks_all_record_with_stopped_in_sync_follower_fails_with_timeout_but_is_in_the_log() -> None:
    found = outcome("4.4.0", {**ALL, "enable.idempotence": "true"}, stop(1), records=1)
    assert found.failed == ((0, "TimeoutException"),)
    assert found.log == (0,)


def test_unclean_election_loses_record_and_makes_idempotent_producer_bump_epoch() -> None:
    config = {"max.in.flight.requests.per.connection": "1"}
    faults = (*BOTH_LEAVE, Fault(Kind.CRASH_BEFORE, 3))
    found = outcome("4.4.0", config, *faults, records=4, unclean_leader_election=True)
    assert [one.result for one in found.requests][3:] == ["OUT_OF_ORDER_SEQUENCE_NUMBER", "written", "written"]
    assert (found.lost, [one.batch.epoch for one in found.requests][4:]) == ((1,), [1, 1])


def test_stop_follower_fault_on_the_leader_has_no_effect() -> None:
    found = outcome("4.4.0", ONE, stop(1, 0), Fault(Kind.CRASH_BEFORE, 2), records=4)
    assert after(found, 4).in_sync == (0, 1, 2)


def test_stopped_follower_that_became_leader_rejoins_isr_after_crash() -> None:
    faults = (stop(1, 1), Fault(Kind.CRASH_BEFORE, 2), Fault(Kind.CRASH_BEFORE, 4))
    found = outcome("4.4.0", ONE, *faults, records=6)
    assert [after(found, number).leader for number in (1, 2, 4)] == [0, 1, 0]
    assert after(found, len(found.requests)).in_sync == (0, 1, 2)


def test_crash_fault_on_leaderless_partition_changes_nothing() -> None:
    faults = (*BOTH_LEAVE, Fault(Kind.CRASH_BEFORE, 3), Fault(Kind.CRASH_REPLICATED, 4), Fault(Kind.SHRINK_ISR, 4))
    found = outcome("4.4.0", ALL, *faults)
    assert found.requests[3].result == "lost"
    assert after(found, 5).leader == 0
    without = outcome("4.4.0", ALL, *BOTH_LEAVE, Fault(Kind.CRASH_BEFORE, 3))
    assert [(one.result, one.partition) for one in found.requests] == [
        (one.result, one.partition) for one in without.requests
    ]
    assert (found.log, found.failed, found.lost) == (without.log, without.failed, without.lost)


def test_scenario_without_follower_faults_has_no_partition_state() -> None:
    found = outcome("4.4.0", ONE, Fault(Kind.CRASH_REPLICATED, 2))
    assert found.partition is None
    assert all(one.partition is None for one in found.requests)


def test_docstring_examples_of_delivery_replicas_module_pass() -> None:
    assert doctest.testmod(replicas) == (0, 4)
