from __future__ import annotations

import pytest

from kafka_reference.replication.behaviour import PartitionBehaviour
from kafka_reference.replication.partition_state import FollowerFetch, Partition
from kafka_reference.replication.produce_acks import (
    Completion,
    check_completion,
    effective_min_in_sync,
    error_before_append,
    is_valid_acks,
    waits,
)
from kafka_reference.replication.produce_requests import ProduceRequests, ProduceResponse


def test_valid_acks_are_minus_1_0_and_1_and_only_minus_1_waits_for_followers() -> None:
    assert [acks for acks in range(-3, 4) if is_valid_acks(acks)] == [-1, 0, 1]
    assert [acks for acks in (-1, 0, 1) if waits(acks)] == [-1]


@pytest.mark.parametrize(("version", "least"), [("3.6.2", 5), ("3.7.0", 3)])
def test_min_insync_replicas_is_capped_at_replica_count_since_3_7(version: str, least: int) -> None:
    assert effective_min_in_sync(5, 3, PartitionBehaviour.of(version)) == least


def test_only_acks_all_gets_not_enough_replicas_error_below_min_insync_replicas() -> None:
    assert [error_before_append(acks, 1, 2) for acks in (-1, 0, 1)] == ["NOT_ENOUGH_REPLICAS", "", ""]
    assert not error_before_append(-1, 2, 2)


@pytest.mark.parametrize(
    ("high_watermark", "count", "completion"),
    [
        (4, 1, Completion(False, "NONE")),
        (5, 2, Completion(True, "NONE")),
        (5, 1, Completion(True, "NOT_ENOUGH_REPLICAS_AFTER_APPEND")),
    ],
)
def test_acks_all_produce_completes_at_high_watermark_with_error_below_min_isr(
    high_watermark: int, count: int, completion: Completion
) -> None:
    assert check_completion(5, high_watermark, maximal_in_sync_count=count, min_in_sync=2) == completion


def test_acks_all_request_completes_after_both_followers_fetched() -> None:
    partition = Partition("3.4.1", min_in_sync=2)
    requests = ProduceRequests(partition)
    partition.lead(epoch=1, partition_epoch=1, in_sync=(1, 2, 3), replicas=(1, 2, 3))
    requests.produce(-1, 2)
    requests.produce(1, 1)
    for replica in (2, 3):
        partition.fetch(FollowerFetch(replica, 2))
    requests.check_waiting()
    assert requests.responses == [ProduceResponse(1, "NONE", 2), ProduceResponse(0, "NONE", 0)]
