"""The answer of ``record-sizes``."""

from __future__ import annotations

import msgspec

from kafka_conformance.core.answer_type import AnswerType
from kafka_conformance.core.protocol import Answer

__all__ = ["ANSWER", "ENTRIES"]


class EmptyBatch(AnswerType, frozen=True):
    """The batch before its first record."""

    estimate: int
    """The estimated size of the batch in bytes."""
    full: bool
    """Whether the batch counts as full."""


class AppendedRecord(AnswerType, frozen=True):
    """The attempt to append a record. A record that does not fit is left out, and the batch stays open."""

    bound: int
    """The upper bound of the record's size: what a new buffer would need for it, in bytes."""
    room: bool
    """Whether the batch has room for the record."""
    estimate: int
    """The estimated size of the batch after it, in bytes."""
    full: bool
    """Whether the batch counts as full after it."""


class MeasuredAnswer(AnswerType, frozen=True):
    """Sizes by lengths alone, in bytes."""

    size: int
    """The size of the record."""
    varint: int | msgspec.UnsetType = msgspec.UNSET
    """The size of its offset delta; absent up to magic 1."""
    varlong: int | msgspec.UnsetType = msgspec.UNSET
    """The size of its timestamp delta; absent up to magic 1."""


class RecordSizesAnswer(AnswerType, frozen=True):
    """Sizes of the batch."""

    buffer: int
    """The size of the buffer that is allocated for the first record, in bytes."""
    empty: EmptyBatch
    """The batch before its first record."""
    steps: tuple[Answer, ...]
    """For each record an object *appended record*, or the exception."""
    max_record_size: int
    """``maxRecordSize`` of the batch: the largest bound of a record, in bytes."""
    built: int | None
    """The size of the finished batch in bytes; null if it is compressed."""
    closed: bool
    """Whether the batch counts as full once it is closed."""
    measured: tuple[MeasuredAnswer, ...]
    """One answer for each entry of ``measured``."""
    ratios: tuple[float, ...]
    """The compression ratio that is expected after each entry of ``observed``, a 32-bit float."""


ANSWER = RecordSizesAnswer
ENTRIES = {"steps": AppendedRecord}
