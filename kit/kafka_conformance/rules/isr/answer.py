"""The answer of ``isr``."""

from __future__ import annotations

import msgspec

from kafka_conformance.core.answer_type import AnswerType, StepTypes
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.partition.answers import SentRequest
from kafka_conformance.rules.common.partition.steps import (
    AppendStep,
    BrokerStep,
    FetchStep,
    FollowStep,
    LeadStep,
    RespondStep,
    ShrinkStep,
    UnregisterStep,
    WaitStep,
)

__all__ = ["ANSWER", "STEPS"]


class InSyncReplicas(AnswerType, frozen=True, kw_only=True):
    """The in-sync replicas after the step; empty for a follower."""

    in_sync: tuple[int, ...]
    """The in-sync replicas that the controller has committed, ascending."""
    maximal: tuple[int, ...]
    """The same, and the follower that the controller is asked to add: the high watermark waits for all of these."""
    in_flight: bool
    """Whether the controller is asked for a change, and its answer has not come or could not be used."""
    sent: tuple[SentRequest, ...]
    """The AlterPartition requests since the last step that did not throw, oldest first."""
    high_watermark: int
    """The high watermark."""


class RoleAnswer(InSyncReplicas, frozen=True, kw_only=True):
    """The in-sync replicas, and whether the role is new."""

    new: bool
    """Whether a leader did not lead before; whether a follower has a new leader epoch. False if the metadata are older."""


class AppendAnswer(InSyncReplicas, frozen=True, kw_only=True):
    """The in-sync replicas, and where the batch is."""

    offset: int
    """The offset of the first record of the batch."""


class FetchAnswer(InSyncReplicas, frozen=True, kw_only=True):
    """The in-sync replicas, and where the follower's log differs."""

    diverging: tuple[int, int] | msgspec.UnsetType = msgspec.UNSET
    """The largest epoch of the leader up to the follower's, and the offset at which it ends; absent if the follower's log
    does not differ."""


class InSyncAnswer(AnswerType, frozen=True):
    """The history of the in-sync replicas."""

    steps: tuple[Answer, ...]
    """One answer for each step, in order."""


ANSWER = InSyncAnswer
STEPS: StepTypes = {
    LeadStep: RoleAnswer,
    FollowStep: RoleAnswer,
    AppendStep: AppendAnswer,
    FetchStep: FetchAnswer,
    WaitStep: InSyncReplicas,
    ShrinkStep: InSyncReplicas,
    RespondStep: InSyncReplicas,
    BrokerStep: InSyncReplicas,
    UnregisterStep: InSyncReplicas,
}
