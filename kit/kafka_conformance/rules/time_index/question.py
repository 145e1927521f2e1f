"""The question of ``time-index``: an index, what is appended and looked up, or a history of it."""

from __future__ import annotations

from typing import TypeAlias

from kafka_conformance.core.protocol import Question
from kafka_conformance.rules.common.index_steps import IndexFile, IndexSize, Number, SharedStep

__all__ = ["MaybeAppendStep", "TimeIndexQuestion"]


class MaybeAppendStep(Question, frozen=True, tag_field="op", tag="maybe_append", omit_defaults=True):
    """Append an entry if its timestamp is larger than the last one."""

    timestamp: Number
    """The largest timestamp so far, in ms."""
    offset: Number
    """The offset of the record that has it."""
    skip_full_check: bool = False
    """Whether the last slot may be used, as when the segment is rolled or closed."""


TimeIndexStep: TypeAlias = MaybeAppendStep | SharedStep


class TimeIndexQuestion(Question, frozen=True, omit_defaults=True):
    """A time index. With ``steps`` these are answered, one after another, otherwise the lookups."""

    base_offset: Number
    """The base offset of the segment."""
    entries: tuple[tuple[Number, Number], ...] = ()
    """Entries that are appended first: timestamp in ms and offset."""
    lookups: tuple[Number, ...] = ()
    """Timestamps in ms that are looked up, if there are no steps."""
    steps: tuple[TimeIndexStep, ...] = ()
    """The history of the index. If it cannot be opened, each step is answered by that error."""
    max_index_size: IndexSize = 1024
    """``segment.index.bytes``: the size in bytes that a new file is preallocated with."""
    file: IndexFile | None = None
    """The content of the file that is opened, as hex or as steps; null: there is none yet."""
    writable: bool = True
    """Whether the file is opened for writing."""
