"""Records, batches to encode, and the enumerations of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, unique
from typing import NamedTuple

from kafka_reference.arguments import checked

__all__ = [
    "NO_EPOCH",
    "NO_OFFSET",
    "NO_PARTITION_LEADER_EPOCH",
    "NO_PRODUCER_ID",
    "NO_SEQUENCE",
    "NO_TIMESTAMP",
    "Codec",
    "EndTransactionMarker",
    "Header",
    "NewBatch",
    "NewRecord",
    "Record",
    "SkippedRecord",
    "TimestampType",
]

NO_TIMESTAMP = -1
NO_PRODUCER_ID = -1
NO_EPOCH = -1
NO_SEQUENCE = -1
NO_PARTITION_LEADER_EPOCH = -1
NO_OFFSET = -1


@unique
class Codec(IntEnum):
    """How the records of a batch are compressed: the low three bits of its attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


@unique
class TimestampType(IntEnum):
    """Where the timestamps of a batch come from: none (magic 0), the producer, or the broker."""

    NO_TIMESTAMP_TYPE = -1
    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


@checked
class Header(NamedTuple):
    """A header of a record: its key as UTF-8 (as the bytes are in the batch), and its value or None."""

    key: bytes
    value: bytes | None


class Record(NamedTuple):
    """A decoded record of magic 2. Those of magic 0 and 1 are a :class:`Message`, which has the same fields.

    ``timestamp`` is in ms, -1 for none. ``sequence`` is -1 where the batch has no producer. ``attributes`` are those of the
    record, none of which is used. ``size`` is in bytes, with the shortest varint of the size itself.
    """

    offset: int
    timestamp: int
    sequence: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]
    attributes: int
    size: int

    @property
    def key_size(self) -> int:
        """The size of the key in bytes, -1 for null."""
        return -1 if self.key is None else len(self.key)

    @property
    def value_size(self) -> int:
        """The size of the value in bytes, -1 for null."""
        return -1 if self.value is None else len(self.value)

    @property
    def timestamp_type(self) -> None:
        """None: the batch has it."""
        return None


class SkippedRecord(NamedTuple):
    """A record of a compressed batch whose key, value and headers were skipped.

    The sizes of key and value are in bytes and as they are written: below 0 for null.
    """

    offset: int
    timestamp: int
    sequence: int
    key_size: int
    value_size: int
    attributes: int
    size: int


@checked
class NewRecord(NamedTuple):
    """A record to encode. ``offset`` is absolute; None gives the offset after that of the last record."""

    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
    offset: int | None = None


@checked
class EndTransactionMarker(NamedTuple):
    """The content of a control record that ends a transaction."""

    commit: bool
    """Whether the transaction commits; otherwise it aborts."""
    coordinator_epoch: int
    """The epoch of the transaction coordinator."""


@checked
@dataclass(frozen=True, slots=True, kw_only=True)
class NewBatch:
    """A batch to encode: the arguments of Java's ``MemoryRecordsBuilder``.

    Timestamps are in ms. ``level`` is the level of the codec, None for Kafka's default; since 3.8.0 it may be set.
    ``log_append_time`` is used with TimestampType.LOG_APPEND_TIME only. ``delete_horizon_ms`` replaces the base
    timestamp (magic 2, since 3.1.0). Magic 0 and 1 have no producer, no control records and no headers.
    """

    records: Sequence[NewRecord]
    magic: int = 2
    base_offset: int = 0
    codec: Codec = Codec.NONE
    level: int | None = None
    timestamp_type: TimestampType = TimestampType.CREATE_TIME
    log_append_time: int = NO_TIMESTAMP
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_EPOCH
    base_sequence: int = NO_SEQUENCE
    transactional: bool = False
    control: bool = False
    partition_leader_epoch: int = NO_PARTITION_LEADER_EPOCH
    delete_horizon_ms: int | None = None
