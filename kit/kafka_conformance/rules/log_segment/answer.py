"""The answer of ``log-segment``."""

from __future__ import annotations

import msgspec

from kafka_conformance.core.answer_type import AnswerType, StepTypes
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.log_segment.question import (
    CrashStep,
    FindStep,
    LookStep,
    NextOffsetStep,
    ReadStep,
    RecoverStep,
    ShouldRollStep,
    TranslateStep,
    TruncateStep,
)

__all__ = ["ANSWER", "STEPS"]


class ReadAnswer(AnswerType, frozen=True):
    """What a read returns."""

    found: tuple[int, int, int] | None
    """The offset, the position of the first batch and the size in bytes; null: the offset is behind the last batch."""
    incomplete: bool | msgspec.UnsetType = msgspec.UNSET
    """Whether the first batch is cut; absent if ``found`` is null."""


class TranslateAnswer(AnswerType, frozen=True):
    """The batch with an offset."""

    found: tuple[int, int, int] | None
    """An offset of the batch, its position and its size in bytes; null: there is none."""


class FindAnswer(AnswerType, frozen=True):
    """The first record that is not older than a timestamp."""

    found: tuple[int, int] | None
    """Its timestamp in ms and its offset; null: there is none."""


class ShouldRollAnswer(AnswerType, frozen=True):
    """Whether an append goes to a new segment. ``{}`` up to 1.0.x."""

    roll: bool
    """Whether it does."""


class TruncatedAnswer(AnswerType, frozen=True):
    """What was cut off."""

    truncated: int
    """The bytes."""


class NextOffsetAnswer(AnswerType, frozen=True):
    """The offset behind the last batch."""

    offset: int
    """The offset."""


class LookAnswer(AnswerType, frozen=True):
    """The files of the segment."""

    size: int
    """The size of the segment's file in bytes."""
    index: str
    """The content of the offset index as hex."""
    time_index: str
    """The content of the time index as hex."""


class LogSegmentAnswer(AnswerType, frozen=True):
    """The history of the segment."""

    steps: tuple[Answer, ...]
    """One answer for each step, in order."""


ANSWER = LogSegmentAnswer
STEPS: StepTypes = {
    ReadStep: ReadAnswer,
    TranslateStep: TranslateAnswer,
    FindStep: FindAnswer,
    ShouldRollStep: ShouldRollAnswer,
    TruncateStep: TruncatedAnswer,
    RecoverStep: TruncatedAnswer,
    CrashStep: TruncatedAnswer,
    NextOffsetStep: NextOffsetAnswer,
    LookStep: LookAnswer,
}
