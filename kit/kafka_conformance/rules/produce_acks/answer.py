"""The answer of ``produce-acks``."""

from __future__ import annotations

import msgspec

from kafka_conformance.core.answer_type import AnswerType, StepTypes
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.partition.steps import (
    BrokerStep,
    FetchStep,
    FollowStep,
    LeadStep,
    MinInSyncStep,
    RespondStep,
    ShrinkStep,
    WaitStep,
)
from kafka_conformance.rules.produce_acks.question import CheckStep, ExpireStep, ProduceStep

__all__ = ["ANSWER", "STEPS"]


class ResponsesAnswer(AnswerType, frozen=True, kw_only=True):
    """The offsets of the partition after the step, and the responses."""

    end: int
    """The log end offset."""
    high_watermark: int
    """The high watermark."""
    responses: tuple[tuple[int, str, int], ...]
    """The responses since the last step that did not throw, oldest first: the number of the request, the error ("NONE": no
    error) and the offset of its first record (-1: nothing was appended). A request with acks=0 gets none on the wire."""


class RoleAnswer(ResponsesAnswer, frozen=True, kw_only=True):
    """The responses, and whether the role is new."""

    new: bool
    """Whether a leader did not lead before; whether a follower has a new leader epoch. False if the metadata are older."""


class FetchAnswer(ResponsesAnswer, frozen=True, kw_only=True):
    """The responses, and where the follower's log differs."""

    diverging: tuple[int, int] | msgspec.UnsetType = msgspec.UNSET
    """The largest epoch of the leader up to the follower's, and the offset at which it ends; absent if the follower's log
    does not differ."""


class CheckAnswer(ResponsesAnswer, frozen=True, kw_only=True):
    """The responses, and whether such a request is answered."""

    checked: tuple[bool, str]
    """Whether it is, and the error; an error other than NONE is an answer, too."""


class ProduceAcksAnswer(AnswerType, frozen=True):
    """The history of the partition."""

    steps: tuple[Answer, ...]
    """One answer for each step, in order."""


ANSWER = ProduceAcksAnswer
STEPS: StepTypes = {
    LeadStep: RoleAnswer,
    FollowStep: RoleAnswer,
    ProduceStep: ResponsesAnswer,
    ExpireStep: ResponsesAnswer,
    CheckStep: CheckAnswer,
    FetchStep: FetchAnswer,
    WaitStep: ResponsesAnswer,
    ShrinkStep: ResponsesAnswer,
    RespondStep: ResponsesAnswer,
    BrokerStep: ResponsesAnswer,
    MinInSyncStep: ResponsesAnswer,
}
