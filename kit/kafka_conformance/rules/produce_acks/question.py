"""The question of ``produce-acks``: what happens to a partition that gets produce requests."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

from kafka_conformance.core.protocol import Question
from kafka_conformance.rules.common.partition.steps import (
    BrokerStep,
    FetchStep,
    FollowStep,
    LeadStep,
    MinInSyncStep,
    PartitionQuestion,
    Records,
    RespondStep,
    ShrinkStep,
    WaitStep,
)

__all__ = ["CheckStep", "ExpireStep", "ProduceQuestion", "ProduceStep", "ProduceStepType"]


class ProduceStep(Question, frozen=True, tag_field="op", tag="produce"):
    """A producer sends a batch (``ReplicaManager.appendRecords``). Requests are numbered from 0."""

    acks: Annotated[int, msgspec.Meta(ge=-(2**15), le=2**15 - 1)]
    """``acks`` of the request; -1 is all."""
    records: Records = 1
    """The number of records in the batch."""


class ExpireStep(Question, frozen=True, tag_field="op", tag="expire"):
    """The time of all waiting requests is over (``request.timeout.ms``)."""


class CheckStep(Question, frozen=True, tag_field="op", tag="check"):
    """Ask whether a request with acks=all is answered (``checkEnoughReplicasReachOffset``)."""

    offset: Annotated[int, msgspec.Meta(ge=0, le=2**31)]
    """The offset behind its last record."""


ProduceStepType: TypeAlias = (
    LeadStep | FollowStep | ProduceStep | ExpireStep | CheckStep | FetchStep | WaitStep | ShrinkStep | RespondStep
    | BrokerStep | MinInSyncStep
)  # fmt: skip


class ProduceQuestion(PartitionQuestion, frozen=True, kw_only=True):
    """The history of a partition that gets produce requests, from an empty log on."""

    steps: Annotated[tuple[ProduceStepType, ...], msgspec.Meta(max_length=100)]
    """What happens to the partition."""
