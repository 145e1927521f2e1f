"""The question of ``high-watermark``: what happens to a partition that leads or follows."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

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
    ReplicateStep,
    RespondStep,
    ShrinkStep,
    TruncateStep,
    WaitStep,
)

__all__ = ["HighWatermarkQuestion", "HighWatermarkStep"]

HighWatermarkStep: TypeAlias = (
    LeadStep | FollowStep | AppendStep | FetchStep | WaitStep | ShrinkStep | RespondStep | BrokerStep | MinInSyncStep
    | ReplicateStep | FollowHighWatermarkStep | TruncateStep | EpochEndStep
)  # fmt: skip


class HighWatermarkQuestion(PartitionQuestion, frozen=True, kw_only=True):
    """The history of a partition, from an empty log on."""

    steps: Annotated[tuple[HighWatermarkStep, ...], msgspec.Meta(max_length=100)]
    """What happens to the partition."""
