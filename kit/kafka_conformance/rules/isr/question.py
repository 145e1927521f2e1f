"""The question of ``isr``: what happens to the in-sync replicas of a partition."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

from kafka_conformance.rules.common.partition.steps import (
    AppendStep,
    BrokerStep,
    FetchStep,
    FollowStep,
    LeadStep,
    PartitionQuestion,
    RespondStep,
    ShrinkStep,
    UnregisterStep,
    WaitStep,
)

__all__ = ["InSyncQuestion", "InSyncStep"]

InSyncStep: TypeAlias = (
    LeadStep | FollowStep | AppendStep | FetchStep | WaitStep | ShrinkStep | RespondStep | BrokerStep | UnregisterStep
)


class InSyncQuestion(PartitionQuestion, frozen=True, kw_only=True):
    """The history of a partition's in-sync replicas, from an empty log on."""

    steps: Annotated[tuple[InSyncStep, ...], msgspec.Meta(max_length=100)]
    """What happens to the partition."""
