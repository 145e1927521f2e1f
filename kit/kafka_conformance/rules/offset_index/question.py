"""The question of ``offset-index``: an index, what is appended and looked up, or a history of it."""

from __future__ import annotations

from typing import TypeAlias

from kafka_conformance.core.protocol import Int32, Question
from kafka_conformance.rules.common.index_steps import IndexFile, IndexSize, Number, SharedStep

__all__ = ["AppendStep", "OffsetIndexQuestion", "UpperBoundStep"]


class AppendStep(Question, frozen=True, tag_field="op", tag="append"):
    """Append an entry."""

    offset: Number
    """The last offset of a batch."""
    position: Int32
    """The position of the batch in the segment's file, in bytes."""


class UpperBoundStep(Question, frozen=True, tag_field="op", tag="upper_bound"):
    """Find an entry behind what a fetch returns (``fetchUpperBoundOffset``)."""

    position: Int32
    """The position at which the fetch starts, in bytes."""
    size: Int32
    """The size of the fetch in bytes."""


OffsetIndexStep: TypeAlias = AppendStep | UpperBoundStep | SharedStep


class OffsetIndexQuestion(Question, frozen=True, omit_defaults=True):
    """An offset index. With ``steps`` these are answered, one after another, otherwise the lookups."""

    base_offset: Number
    """The base offset of the segment."""
    entries: tuple[tuple[Number, Int32], ...] = ()
    """Entries that are appended first: offset and position."""
    lookups: tuple[Number, ...] = ()
    """Offsets that are looked up, if there are no steps."""
    steps: tuple[OffsetIndexStep, ...] = ()
    """The history of the index. If it cannot be opened, each step is answered by that error."""
    max_index_size: IndexSize = 1024
    """``segment.index.bytes``: the size in bytes that a new file is preallocated with."""
    file: IndexFile | None = None
    """The content of the file that is opened, as hex or as steps; null: there is none yet."""
    writable: bool = True
    """Whether the file is opened for writing."""
