"""The answer of ``high-watermark``."""

from __future__ import annotations

import msgspec

from kafka_conformance.core.answer_type import AnswerType, StepTypes
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.partition.steps import (
    AppendStep,
    BrokerStep,
    EpochEndStep,
    FetchStep,
    FollowHighWatermarkStep,
    FollowStep,
    LeadStep,
    MinInSyncStep,
    ReplicateStep,
    RespondStep,
    ShrinkStep,
    TruncateStep,
    WaitStep,
)

__all__ = ["ANSWER", "STEPS"]


class OffsetsAnswer(AnswerType, frozen=True, kw_only=True):
    """The offsets of the partition after the step."""

    end: int
    """The log end offset."""
    high_watermark: int
    """The high watermark."""
    followers: tuple[tuple[int, int, int, int], ...]
    """Each follower of a leader: its id, its log end offset and log start offset as of its last fetch (-1 before the first),
    and the time in ms when it was last caught up."""


class RoleAnswer(OffsetsAnswer, frozen=True, kw_only=True):
    """The offsets, and whether the role is new."""

    new: bool
    """Whether a leader did not lead before; whether a follower has a new leader epoch. False if the metadata are older."""


class AppendAnswer(OffsetsAnswer, frozen=True, kw_only=True):
    """The offsets, and where the batch is."""

    offset: int
    """The offset of the first record of the batch."""


class FetchAnswer(OffsetsAnswer, frozen=True, kw_only=True):
    """The offsets, and where the follower's log differs."""

    diverging: tuple[int, int] | msgspec.UnsetType = msgspec.UNSET
    """The largest epoch of the leader up to the follower's, and the offset at which it ends; absent if the follower's log
    does not differ."""


class EpochEndAnswer(OffsetsAnswer, frozen=True, kw_only=True):
    """The offsets, and where the epoch ends."""

    found: tuple[int, int]
    """The largest epoch up to the one asked for, and the offset at which it ends; both -1 if the log does not know."""


class HighWatermarkAnswer(AnswerType, frozen=True):
    """The history of the partition."""

    steps: tuple[Answer, ...]
    """One answer for each step, in order."""


ANSWER = HighWatermarkAnswer
STEPS: StepTypes = {
    LeadStep: RoleAnswer,
    FollowStep: RoleAnswer,
    AppendStep: AppendAnswer,
    FetchStep: FetchAnswer,
    EpochEndStep: EpochEndAnswer,
    WaitStep: OffsetsAnswer,
    ShrinkStep: OffsetsAnswer,
    RespondStep: OffsetsAnswer,
    BrokerStep: OffsetsAnswer,
    MinInSyncStep: OffsetsAnswer,
    ReplicateStep: OffsetsAnswer,
    FollowHighWatermarkStep: OffsetsAnswer,
    TruncateStep: OffsetsAnswer,
}
