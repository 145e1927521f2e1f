"""The answer of ``record-batch``."""

from __future__ import annotations

from typing import Any

import msgspec

from kafka_conformance.core.answer_type import AnswerType
from kafka_conformance.core.protocol import Answer

__all__ = ["ANSWER", "ENTRIES"]


class RecordBatchAnswer(AnswerType, frozen=True):
    """``bytes`` answers *encode*; ``batches`` answers *compress* and *decode*."""

    bytes: str | msgspec.UnsetType = msgspec.UNSET
    """The batch as hex; empty if it has no records."""
    batches: tuple[Answer, ...] | msgspec.UnsetType = msgspec.UNSET
    """The batches, each an object *decoded batch*."""
    raises: str | msgspec.UnsetType = msgspec.UNSET
    """The exception that ends the batches; absent where the bytes end, or hold no more than a part of a batch."""
    valid_bytes: int | Answer | msgspec.UnsetType = msgspec.UNSET
    """The size of all whole batches (``MemoryRecords.validBytes``) or the exception; only of *decode*."""


class DecodedBatch(AnswerType, frozen=True):
    """A batch. The CRC and the records are read independently: a batch with a wrong CRC is still shown."""

    magic: int
    """The format: 2, or 1 and 0 for one message of a message set."""
    valid: bool | Answer
    """true, or what ``ensureValid`` throws."""
    header: Answer
    """The fields of the header, or the exception of the first that cannot be read."""
    base_offset: int | str | Answer
    """The offset of the first record, or the exception: in magic 0 and 1 a wrapper is decompressed for it."""
    records: tuple[Answer | None, ...]
    """The records by ``streamingIterator``, null for one that is cut off (up to 3.0.0); last the exception, if one ends
    them."""
    iterated: Answer
    """The number of records by ``iterator``, which reads all of a compressed batch first, and the exception."""
    skipped: tuple[Any, ...] | msgspec.UnsetType = msgspec.UNSET
    """By ``skipKeyValueIterator``, since 2.4.0: offset, timestamp, sequence, size, key size and value size of each record;
    last the exception."""
    size: int | msgspec.UnsetType = msgspec.UNSET
    """The size in bytes; only of *decode*."""


ANSWER = RecordBatchAnswer
ENTRIES = {"batches": DecodedBatch}
