from __future__ import annotations

import pytest

from kafka_reference.replication.behaviour import PartitionBehaviour
from kafka_reference.replication.in_sync_replicas import (
    BrokerMetadata,
    InSyncState,
    Rejection,
    find_out_of_sync,
    handle_rejection,
    has_reached_leader,
    is_eligible,
    is_out_of_sync,
)
from kafka_reference.replication.replica_state import ReplicaState


@pytest.mark.parametrize(("end", "now", "out"), [(10, 999, False), (9, 150, False), (9, 151, True)])
def test_only_a_replica_behind_the_leader_end_offset_is_out_of_sync_past_the_lag_limit(
    end: int, now: int, out: bool
) -> None:
    replica = ReplicaState(log_end_offset=end, last_caught_up_ms=50)
    assert is_out_of_sync(replica, 10, now_ms=now, max_lag_ms=100) is out


def test_an_unknown_follower_is_out_of_sync() -> None:
    assert is_out_of_sync(None, 10, now_ms=0, max_lag_ms=100)


def test_no_replica_leaves_the_isr_while_an_isr_change_is_in_flight() -> None:
    followers = {2: ReplicaState(), 3: ReplicaState(log_end_offset=10)}
    committed = frozenset({1, 2, 3})
    assert find_out_of_sync(InSyncState(committed), 1, followers, 10, now_ms=101, max_lag_ms=100) == {2}
    state = InSyncState(committed, joining=4)
    assert not find_out_of_sync(state, 1, followers, 10, now_ms=101, max_lag_ms=100)


def test_maximal_isr_includes_joining_and_leaving_replicas_and_requested_isr_only_joining() -> None:
    joining = InSyncState(frozenset({1, 2}), joining=3)
    leaving = InSyncState(frozenset({1, 2}), leaving=frozenset({2}))
    assert (joining.maximal, joining.requested) == ({1, 2, 3}, {1, 2, 3})
    assert (leaving.maximal, leaving.requested) == ({1, 2}, {1})


@pytest.mark.parametrize(
    ("version", "epoch", "broker", "eligible"),
    [
        ("3.4.1", 1, None, True),
        ("3.4.1", 1, BrokerMetadata(2), True),
        ("3.4.1", 1, BrokerMetadata(1, fenced=True), False),
        ("3.5.0", 1, None, False),
        ("3.5.0", 1, BrokerMetadata(2), False),
        ("3.5.0", 2, BrokerMetadata(2), True),
        ("3.5.0", -1, BrokerMetadata(2), True),
        ("3.5.0", 2, BrokerMetadata(2, shutting_down=True), False),
    ],
)
def test_running_unfenced_replica_joins_isr_only_with_matching_or_unset_broker_epoch_since_3_5(
    version: str, epoch: int, broker: BrokerMetadata | None, eligible: bool
) -> None:
    assert is_eligible(ReplicaState(broker_epoch=epoch), broker, PartitionBehaviour.of(version)) is eligible


@pytest.mark.parametrize(
    ("end", "start", "reached"), [(5, 3, True), (4, 3, False), (6, 6, True), (5, 6, False), (9, None, False)]
)
def test_follower_has_reached_leader_at_or_past_high_watermark_and_epoch_start_offset(
    end: int, start: int | None, reached: bool
) -> None:
    assert has_reached_leader(ReplicaState(log_end_offset=end), 5, start) is reached


def test_alter_partition_error_makes_the_leader_reset_wait_or_retry() -> None:
    assert handle_rejection("INELIGIBLE_REPLICA") is Rejection.RESET
    assert handle_rejection("INVALID_UPDATE_VERSION") is Rejection.WAIT
    assert handle_rejection("NOT_CONTROLLER") is Rejection.RETRY
