"""The answer of ``delivery``."""

from __future__ import annotations

import msgspec

from kafka_conformance.core.answer_type import AnswerType

__all__ = ["ANSWER"]


class FailedRecord(AnswerType, frozen=True, array_like=True):
    """A record that failed."""

    record: int
    """The number of the record."""
    exception: str
    """The simple class name of the exception that its callback receives."""


class ReplicaAnswer(AnswerType, frozen=True):
    """The log of a replica."""

    log: tuple[int, ...]
    """Its records, in order."""
    log_end_offset: int
    """The offset behind its last record."""
    high_watermark: int
    """The high watermark that it has."""


class PartitionAnswer(AnswerType, frozen=True):
    """The partition, replica by replica. Brokers are numbered from 0."""

    leader: int | None
    """The broker that leads; null: none."""
    in_sync: tuple[int, ...]
    """The brokers of the in-sync replicas."""
    high_watermark: int | None
    """The high watermark of the leader; null: no replica leads."""
    replicas: tuple[ReplicaAnswer, ...]
    """The replicas, by broker."""


class RequestAnswer(AnswerType, frozen=True):
    """A request, and its outcome."""

    request: int
    """The number of the request, counted from 1."""
    records: tuple[int, ...]
    """The numbers of its records."""
    producer_id: int
    """The producer id; -1: none."""
    epoch: int
    """The producer epoch; -1: none."""
    sequence: int
    """The sequence of the first record; -1: none."""
    came: str
    """What became of it at the leader: written, a duplicate, refused with the named error, or lost. It is in the log all the
    same if it has an error and an offset."""
    offset: int | None
    """The offset of its first record in the log; null: it has none."""
    answered: bool
    """Whether its response reached the producer."""
    partition: PartitionAnswer | msgspec.UnsetType = msgspec.UNSET
    """The partition after the request; absent without a fault of a follower and without unclean election."""


class DeliveryAnswer(AnswerType, frozen=True):
    """The log, and what the application learned. Records are numbered from 0 in the order in which they are sent."""

    log: tuple[int, ...]
    """The records in the log of the leader, in order."""
    acknowledged: tuple[int, ...]
    """The records whose callbacks report success."""
    failed: tuple[FailedRecord, ...]
    """The records whose callbacks report an exception."""
    unanswered: tuple[int, ...]
    """The records without a callback."""
    lost: tuple[int, ...]
    """The records that are acknowledged and not in the log."""
    doubled: tuple[int, ...]
    """The records that are in the log more than once."""
    reordered: tuple[int, ...]
    """The records that stand before an earlier one."""
    requests: tuple[RequestAnswer, ...]
    """The requests, in order."""
    partition: PartitionAnswer | msgspec.UnsetType = msgspec.UNSET
    """The partition at the end; absent without a fault of a follower and without unclean election."""


ANSWER = DeliveryAnswer
