"""The question of ``log-segment``: the history of a segment, from an empty one on."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

from kafka_conformance.core.protocol import Question

__all__ = [
    "AppendStep", "CrashStep", "DamageStep", "FindStep", "InactiveStep", "LogSegmentQuestion", "LookStep", "NewBatch",
    "NextOffsetStep", "ReadStep", "RecoverStep", "ReopenStep", "ResizeStep", "SegmentStep", "ShouldRollStep",
    "TranslateStep", "TruncateStep",
]  # fmt: skip

Number: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**52), le=2**52)]
Offset: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**52)]
Timestamp: TypeAlias = Annotated[int, msgspec.Meta(ge=-1, le=2**52)]
Bytes: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**20)]
Size: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**20), le=2**31 - 1)]
IndexSize: TypeAlias = Annotated[int, msgspec.Meta(ge=12, le=2**16)]


class NewBatch(Question, frozen=True, omit_defaults=True):
    """A batch that is appended: uncompressed, magic 2, without producer, keys and headers."""

    offset: Offset
    """The base offset; the offsets of the records ascend by one."""
    timestamps: Annotated[tuple[Timestamp, ...], msgspec.Meta(min_length=1, max_length=100)]
    """The timestamp of each record in ms."""
    value_bytes: Annotated[int, msgspec.Meta(ge=0, le=2**16)] = 0
    """The size of each record's value in bytes."""


class AppendStep(Question, frozen=True, tag_field="op", tag="append", omit_defaults=True):
    """Append batches with one call."""

    batches: tuple[NewBatch, ...]
    """The batches."""
    leader: bool = False
    """Whether the leader of the partition appends a producer's batch, which is not compressed and keeps its timestamps.
    Otherwise the append is a follower's, or that of a leader which decompresses the batch. Up to 3.6.x the time index of a
    leader has the offset of the record with the largest timestamp, that of a follower the last offset of the batch."""

    def __post_init__(self) -> None:
        """Refuse a leader's append unless it has one batch. Raises ValueError."""
        if self.leader and len(self.batches) != 1:
            raise ValueError(f"a leader appends one batch with one call, and not {len(self.batches)}")


class ReadStep(Question, frozen=True, tag_field="op", tag="read", omit_defaults=True):
    """Read from an offset on."""

    offset: Number
    """The offset."""
    max_size: Size
    """The most bytes that are read."""
    max_position: Bytes | None = None
    """The position up to which the file is read, in bytes; null: its size."""
    min_one_message: bool = False
    """Whether the first batch is read whole, even if it is larger."""


class TranslateStep(Question, frozen=True, tag_field="op", tag="translate"):
    """Find the batch with an offset (``translateOffset``)."""

    offset: Number
    """The offset."""


class ShouldRollStep(Question, frozen=True, tag_field="op", tag="should_roll"):
    """Return whether an append goes to a new segment (``shouldRoll``, since 1.1.0)."""

    bytes: Bytes
    """The size of the append."""
    timestamp: Timestamp
    """Its largest timestamp in ms."""
    offset: Number
    """Its largest offset."""
    now: Offset
    """The clock in ms."""


class TruncateStep(Question, frozen=True, tag_field="op", tag="truncate"):
    """Remove the batches from the one that holds an offset (``truncateTo``)."""

    offset: Number
    """The offset."""
    now: Offset
    """The clock in ms."""


class RecoverStep(Question, frozen=True, tag_field="op", tag="recover"):
    """Rebuild the indexes, and remove what is behind the first damaged batch."""


class CrashStep(Question, frozen=True, tag_field="op", tag="crash"):
    """Lose bytes at the end of the segment's file, reopen the segment without closing it, and recover it."""

    cut: Bytes
    """The bytes that are lost."""


class DamageStep(Question, frozen=True, tag_field="op", tag="damage"):
    """Damage the checksum of a batch in the file, if there is one with this number; a second time repairs it."""

    batch: Annotated[int, msgspec.Meta(ge=0, le=1000)]
    """The number of the batch, from 0."""


class InactiveStep(Question, frozen=True, tag_field="op", tag="inactive"):
    """Finish the segment (``onBecomeInactiveSegment``)."""


class ResizeStep(Question, frozen=True, tag_field="op", tag="resize"):
    """Resize the indexes (``resizeIndexes``, since 1.1.0)."""

    size: Annotated[int, msgspec.Meta(ge=0, le=2**16)]
    """The size in bytes."""


class ReopenStep(Question, frozen=True, tag_field="op", tag="reopen"):
    """Close and reopen the segment."""


class NextOffsetStep(Question, frozen=True, tag_field="op", tag="next_offset"):
    """Return the offset behind the last batch (``readNextOffset``, ``nextOffset`` up to 1.0.x)."""


class FindStep(Question, frozen=True, tag_field="op", tag="find"):
    """Find the first record that is not older than a timestamp (``findOffsetByTimestamp``)."""

    timestamp: Timestamp
    """The timestamp in ms."""
    offset: Number
    """The offset from which records are looked at."""


class LookStep(Question, frozen=True, tag_field="op", tag="look"):
    """Return the size of the segment's file, and the content of both index files."""


SegmentStep: TypeAlias = (
    AppendStep | ReadStep | TranslateStep | ShouldRollStep | TruncateStep | RecoverStep | CrashStep | DamageStep
    | InactiveStep | ResizeStep | ReopenStep | NextOffsetStep | FindStep | LookStep
)  # fmt: skip


class LogSegmentQuestion(Question, frozen=True, omit_defaults=True):
    """The history of a segment."""

    steps: tuple[SegmentStep, ...]
    """What happens to the segment."""
    base_offset: Offset = 0
    """The base offset of the segment."""
    index_interval_bytes: Bytes = 4096
    """``index.interval.bytes``."""
    max_index_size: IndexSize = 1024
    """``segment.index.bytes``."""
    segment_bytes: Bytes = 1000
    """``segment.bytes``."""
    segment_ms: Offset = 1000
    """``segment.ms``."""
    jitter_ms: Offset = 0
    """What was drawn by ``segment.jitter.ms``."""
    created_ms: Offset = 0
    """The clock in ms when the segment is opened."""
