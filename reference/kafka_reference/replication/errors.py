"""What a partition throws. The names are Java's; the messages, which were reworded often, are not part of an answer."""

from __future__ import annotations

from kafka_reference.errors import JavaException

__all__ = [
    "FencedLeaderEpochException", "NotEnoughReplicasException", "NotLeaderOrFollowerException", "OffsetOutOfRangeException",
    "OffsetsOutOfOrderException", "UnexpectedAppendOffsetException", "UnknownLeaderEpochException",
]  # fmt: skip


class NotLeaderOrFollowerException(JavaException, RuntimeError):
    """The broker does not lead the partition, or does not know the follower, or the fetch has an older broker epoch."""


class FencedLeaderEpochException(JavaException, RuntimeError):
    """The request has an older leader epoch than the partition."""


class UnknownLeaderEpochException(JavaException, RuntimeError):
    """The request has a newer leader epoch than the partition, or comes from a follower that is not assigned."""


class OffsetOutOfRangeException(JavaException, ValueError):
    """The log does not have the offset, or does not know the epoch of the record before it."""


class NotEnoughReplicasException(JavaException, RuntimeError):
    """A request with ``acks=all`` was refused before the append: too few replicas are in sync."""


class OffsetsOutOfOrderException(JavaException, ValueError):
    """The offsets of a follower's append do not ascend."""


class UnexpectedAppendOffsetException(JavaException, ValueError):
    """A follower's append begins below the end of its log."""
