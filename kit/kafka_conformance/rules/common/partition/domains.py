"""Which steps of a partition's script a cluster can bring about."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from kafka_conformance.rules.common.partition.steps import (
    AppendStep,
    FetchStep,
    FollowHighWatermarkStep,
    FollowStep,
    LeadStep,
    ReplicateStep,
    TruncateStep,
)

__all__ = ["refuse_roles", "refuse_step"]


def refuse_step(step: Any) -> str:
    """Return why no cluster takes a step, or ""."""
    match step:
        case LeadStep(in_sync=in_sync, replicas=replicas):
            return _refuse_assignment(in_sync, replicas)
        case FollowStep(replicas=replicas, leader=leader):
            return "" if {1, leader} <= set(replicas) else "leader and follower are assigned"
        case FetchStep(offset=offset):
            return "a follower fetches from no negative offset" if offset < 0 else ""
        case ReplicateStep(batches):
            ends = [(batch.offset, batch.offset + batch.records) for batch in batches]
            descends = any(later < end for (_, end), (later, _) in pairwise(ends))
            return "the offsets of a leader's log ascend" if descends else ""
    return ""


def _refuse_assignment(in_sync: Sequence[int], replicas: Sequence[int]) -> str:
    if len(set(replicas)) < len(replicas) or len(set(in_sync)) < len(in_sync):
        return "the metadata name no broker twice"
    return (
        ""
        if 1 in in_sync and set(in_sync) <= set(replicas)
        else "the leader is in sync, and in-sync replicas are assigned"
    )


def refuse_roles(steps: Sequence[Any]) -> str:
    """Return why no cluster takes the steps in this order, or ""."""
    leads, epoch, partition_epoch = None, -1, 0
    for step in steps:
        match step:
            case LeadStep() | FollowStep():
                if step.epoch < epoch and step.partition_epoch > partition_epoch:
                    return "newer metadata have no older leader epoch"
                if step.partition_epoch >= partition_epoch:
                    leads = isinstance(step, LeadStep)
                    epoch, partition_epoch = step.epoch, step.partition_epoch
            case AppendStep() | FetchStep() if leads is None:
                return "requests reach a partition that the metadata know"
            case ReplicateStep() | FollowHighWatermarkStep() | TruncateStep() if leads is not False:
                return "only a follower copies its leader's log"
    return ""
