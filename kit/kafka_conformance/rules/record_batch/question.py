"""The question of ``record-batch``: a batch to encode, a batch to compress and read back, or bytes to decode."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from kafka_conformance.core.protocol import Hex, Int32, Question

__all__ = [
    "AskedBatch", "AskedCodec", "AskedControl", "AskedHeader", "AskedMagic", "AskedProducer", "AskedRecord",
    "AskedTimestampType", "RecordBatchQuestion", "number",
]  # fmt: skip

_EXACT = 2**53
Int16: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**15), le=2**15 - 1)]
Int64: TypeAlias = (
    Annotated[int, msgspec.Meta(ge=-_EXACT, le=_EXACT)]
    | Annotated[str, msgspec.Meta(pattern=r"^-?[0-9]{1,19}$(?![\s\S])")]
)
AskedMagic: TypeAlias = Literal[0, 1, 2]
AskedCodec: TypeAlias = Literal["none", "gzip", "snappy", "lz4", "zstd"]
AskedTimestampType: TypeAlias = Literal["create", "append", "none"]
AskedHeader: TypeAlias = tuple[str, Hex | None]
_WITH_LEVELS = ("gzip", "lz4", "zstd")


class AskedRecord(Question, frozen=True, omit_defaults=True):
    """A record to append."""

    key: Hex | None = None
    """The serialized key."""
    value: Hex | None = None
    """The serialized value."""
    timestamp: Int64 = 0
    """The timestamp in ms."""
    headers: tuple[AskedHeader, ...] = ()
    """The headers: key and value of each."""
    offset: Int64 | None = None
    """The offset; null: the one after that of the last record, or the base offset."""


class AskedProducer(Question, frozen=True):
    """The producer of a batch."""

    id: Int64
    """The producer id."""
    epoch: Int16
    """The producer epoch."""
    first_sequence: Int32
    """The sequence of the first record."""


class AskedControl(Question, frozen=True, omit_defaults=True):
    """The end of a transaction, as a control record after the records."""

    commit: bool
    """Whether the transaction commits; otherwise it aborts."""
    coordinator_epoch: Int32 = 0
    """The epoch of the transaction coordinator."""
    timestamp: Int64 = 0
    """The timestamp of the control record in ms."""


class AskedBatch(Question, frozen=True, omit_defaults=True):
    """A batch to write."""

    records: tuple[AskedRecord, ...]
    """The records, in order."""
    magic: AskedMagic = 2
    """The format: record batches (2), message sets (0, 1)."""
    compression: AskedCodec = "none"
    """The codec."""
    level: Int32 | None = None
    """The compression level, since 3.8.0; null: the default."""
    timestamp_type: AskedTimestampType = "create"
    """Where the timestamps come from: the producer ("create"), the broker ("append"), none ("none", magic 0)."""
    log_append_time: Int64 = -1
    """The timestamp of all records in ms, if the broker sets it."""
    base_offset: Int64 = 0
    """The offset of the first record."""
    leader_epoch: Int32 = -1
    """The partition leader epoch; -1: none."""
    producer: AskedProducer | None = None
    """The idempotent producer; null: none."""
    transactional: bool = False
    """Whether the batch belongs to a transaction."""
    control: AskedControl | None = None
    """Makes a control batch, which ends a transaction."""
    delete_horizon: Int64 | None = None
    """The time in ms at which tombstones and markers may be deleted, since 3.1.0; null: none."""


class RecordBatchQuestion(Question, frozen=True, omit_defaults=True):
    """One of ``encode``, ``compress`` and ``decode``."""

    encode: AskedBatch | None = None
    """An uncompressed batch to write."""
    compress: AskedBatch | None = None
    """A compressed batch to write and to read back."""
    decode: Hex | None = None
    """Bytes to read, as a broker returns them: batches one after another, the last possibly cut."""

    def __post_init__(self) -> None:
        """Refuse a question that is none of the three, or more than one. Raises ValueError."""
        if sum(each is not None for each in (self.encode, self.compress, self.decode)) != 1:
            raise ValueError("expected one of encode, compress and decode")
        if self.encode is not None and self.encode.compression != "none":
            raise ValueError("a compressed batch is asked with compress: codecs do not promise their bytes")
        batch = self.encode or self.compress
        if batch is not None and batch.level is not None and batch.compression not in _WITH_LEVELS:
            raise ValueError(f"{batch.compression} has no levels: expected {', '.join(_WITH_LEVELS)}")


def number(value: int) -> int | str:
    """Return an int64 as JSON takes it: beyond 2^53 as text."""
    return value if -_EXACT <= value <= _EXACT else str(value)
