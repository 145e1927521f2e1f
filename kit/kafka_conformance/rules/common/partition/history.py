"""Answer a script of steps on one partition with the reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from kafka_conformance.core.protocol import Answer, answered
from kafka_conformance.rules.common.partition.steps import (
    AppendStep,
    BrokerStep,
    EpochEndStep,
    FetchStep,
    FollowHighWatermarkStep,
    FollowStep,
    LeadStep,
    MinInSyncStep,
    PartitionQuestion,
    RegisteredBroker,
    ReplicateStep,
    RespondStep,
    ShrinkStep,
    TruncateStep,
    UnregisterStep,
    WaitStep,
)
from kafka_reference.releases import Release
from kafka_reference.replication.in_sync_replicas import BrokerMetadata
from kafka_reference.replication.partition_log import LogBatch
from kafka_reference.replication.partition_state import AlterRequest, FollowerFetch, Partition

__all__ = ["CreatePartition", "PartitionHistory", "show_followers", "show_in_sync", "show_offsets"]

CreatePartition: TypeAlias = Callable[..., Partition]
"""Makes a partition, with the arguments of Partition."""


class PartitionHistory:
    """A partition, step by step."""

    def __init__(self, question: PartitionQuestion, release: Release, create: CreatePartition) -> None:
        self.partition = create(release, max_lag_ms=question.max_lag_ms, min_in_sync=question.min_in_sync)
        self.partition.now_ms = question.now
        self.partition.brokers = {broker.id: _metadata(broker) for broker in question.brokers}

    def answer(self, step: Any, show: Callable[[PartitionHistory], Answer]) -> Answer:
        """Take one step; return what it returned and what ``show`` shows then, or the name of what it raises."""
        answer = answered(lambda: {**self.take(step), **show(self)})
        return {"raises": answer["raises"]} if "raises" in answer else answer

    def take(self, step: Any) -> Answer:
        """Take one step; return what Kafka's method returns."""
        partition = self.partition
        match step:
            case LeadStep(epoch, partition_epoch, in_sync, replicas):
                return {
                    "new": partition.lead(
                        epoch=epoch, partition_epoch=partition_epoch, in_sync=in_sync, replicas=replicas
                    )
                }
            case FollowStep(epoch, partition_epoch, leader):
                return {"new": partition.follow(leader=leader, epoch=epoch, partition_epoch=partition_epoch)}
            case AppendStep(records, acks):
                return {"offset": partition.append(records, acks)}
            case FetchStep():
                return self._fetch(step)
            case EpochEndStep(epoch):
                found = partition.log.find_epoch_end(epoch)
                return {"found": [found.epoch, found.end_offset]}
        self._change_log(step)
        self._change_cluster(step)
        return {}

    def _fetch(self, step: FetchStep) -> Answer:
        fetch = FollowerFetch(
            step.replica, step.offset, step.log_start_offset, step.broker_epoch, step.leader_epoch, step.last_epoch
        )
        diverging = self.partition.fetch(fetch)
        return {} if diverging is None else {"diverging": [diverging.epoch, diverging.end_offset]}

    def _change_log(self, step: Any) -> None:
        partition = self.partition
        match step:
            case ReplicateStep(batches):
                partition.replicate(
                    [LogBatch(each.offset, each.offset + each.records - 1, each.epoch) for each in batches]
                )
            case FollowHighWatermarkStep(offset):
                partition.log.follow_high_watermark(offset)
            case TruncateStep(offset):
                partition.log.truncate_to(offset)
            case ShrinkStep():
                partition.shrink()

    def _change_cluster(self, step: Any) -> None:
        partition = self.partition
        match step:
            case WaitStep(ms):
                partition.now_ms += ms
            case RespondStep(partition_epoch, error):
                partition.handle_answer(error, partition_epoch)
            case BrokerStep():
                partition.brokers[step.id] = _metadata(step)
            case UnregisterStep(broker):
                partition.brokers.pop(broker, None)
            case MinInSyncStep(replicas):
                partition.min_in_sync = replicas

    def take_sent(self) -> list[AlterRequest]:
        """Return the AlterPartition requests that were sent since the last call."""
        sent, self.partition.sent = self.partition.sent, []
        return sent


def _metadata(broker: RegisteredBroker) -> BrokerMetadata:
    return BrokerMetadata(broker.epoch, broker.fenced, broker.shutting_down)


def show_offsets(history: PartitionHistory) -> Answer:
    """Return the log end offset and the high watermark."""
    log = history.partition.log
    return {"end": log.end_offset, "high_watermark": log.high_watermark}


def show_followers(history: PartitionHistory) -> Answer:
    """Return each follower's id, log end offset, log start offset, and when it was last caught up."""
    followers = sorted(history.partition.followers.items())
    return {
        "followers": [
            [broker, state.log_end_offset, state.log_start_offset, state.last_caught_up_ms]
            for broker, state in followers
        ]
    }


def show_in_sync(history: PartitionHistory) -> Answer:
    """Return the committed and the maximal in-sync replicas, whether a change is in flight, and what was sent for it."""
    in_sync = history.partition.in_sync
    return {
        "in_sync": sorted(in_sync.committed),
        "maximal": sorted(in_sync.maximal),
        "in_flight": in_sync.is_in_flight,
        "sent": [
            {
                "in_sync": [list(each) for each in request.in_sync],
                "partition_epoch": request.partition_epoch,
                "leader_epoch": request.leader_epoch,
            }
            for request in history.take_sent()
        ],
    }
