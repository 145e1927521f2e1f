"""The answers to steps that both indexes of a segment share."""

from __future__ import annotations

import msgspec

from kafka_conformance.core.answer_type import AnswerType, StepTypes
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.index_steps import (
    BytesStep,
    CanAppendStep,
    DeleteStep,
    EntriesStep,
    EntryStep,
    LookStep,
    LookupStep,
    NameStep,
    RelativeStep,
    ResizeStep,
)

__all__ = ["SHARED_STEPS", "IndexAnswer"]


class FoundAnswer(AnswerType, frozen=True):
    """What a lookup found."""

    found: tuple[int, int]
    """The entry: offset and position, or timestamp and offset."""


class EntryAnswer(AnswerType, frozen=True):
    """An entry by its number."""

    entry: tuple[int, int]
    """Offset and position, or timestamp and offset."""


class EntriesAnswer(AnswerType, frozen=True):
    """All entries."""

    entries: tuple[tuple[int, int], ...]
    """Offset and position, or timestamp and offset, each."""


class NameAnswer(AnswerType, frozen=True):
    """The name of a segment's files."""

    name: str
    """The name without its suffixes."""
    offset: int
    """The offset that is read from the name of a deleted file."""


class ResizeAnswer(AnswerType, frozen=True):
    """The size of the file. ``{}`` up to 1.0.x."""

    resized: bool
    """Whether the file has another size."""


class CanAppendAnswer(AnswerType, frozen=True):
    """Whether an offset can be stored. ``{}`` up to 1.1.x."""

    fits: bool
    """Whether the offset is 0 to 2^31 - 1 above the base offset."""


class RelativeAnswer(AnswerType, frozen=True):
    """The stored form of an offset. ``{}`` up to 1.1.x."""

    relative: int
    """The offset above the base offset."""


class DeleteAnswer(AnswerType, frozen=True):
    """The deletion of the file."""

    deleted: bool
    """Whether the file existed."""


class BytesAnswer(AnswerType, frozen=True):
    """The content of the file."""

    bytes: str | None
    """The content as hex; null: there is no file."""


class LookAnswer(AnswerType, frozen=True):
    """The state of the index."""

    entries: int
    """The number of entries."""
    max_entries: int
    """The number of entries for which the file has room."""
    size: int
    """The size of the entries in bytes."""
    full: bool
    """Whether the index is full."""
    last: int | tuple[int, int]
    """The last offset; of a time index the last timestamp and offset."""
    length: int | msgspec.UnsetType = msgspec.UNSET
    """The size of the file in bytes; absent up to 1.0.x."""


class IndexAnswer(AnswerType, frozen=True):
    """Either ``steps``, of a question that has some, or ``found``."""

    found: tuple[tuple[int, int], ...] | msgspec.UnsetType = msgspec.UNSET
    """What each of ``lookups`` found: offset and position, or timestamp and offset."""
    steps: tuple[Answer, ...] | msgspec.UnsetType = msgspec.UNSET
    """One answer for each step, in order."""


SHARED_STEPS: StepTypes = {
    LookupStep: FoundAnswer,
    EntryStep: EntryAnswer,
    EntriesStep: EntriesAnswer,
    NameStep: NameAnswer,
    ResizeStep: ResizeAnswer,
    CanAppendStep: CanAppendAnswer,
    RelativeStep: RelativeAnswer,
    DeleteStep: DeleteAnswer,
    BytesStep: BytesAnswer,
    LookStep: LookAnswer,
}
