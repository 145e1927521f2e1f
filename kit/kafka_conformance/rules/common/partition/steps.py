"""The steps of a script on one partition, whose replicas are brokers 1 to 4; broker 1 is the one under test."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from kafka_conformance.core.protocol import Question

__all__ = [
    "AppendStep",
    "BrokerStep",
    "Epoch",
    "EpochEndStep",
    "Error",
    "FetchStep",
    "FollowHighWatermarkStep",
    "FollowStep",
    "LeadStep",
    "MinInSyncStep",
    "Ms",
    "Offset",
    "PartitionQuestion",
    "RegisteredBroker",
    "ReplicaBatch",
    "ReplicateStep",
    "RespondStep",
    "ShrinkStep",
    "TruncateStep",
    "UnregisterStep",
    "WaitStep",
]  # fmt: skip

Offset: TypeAlias = Annotated[int, msgspec.Meta(ge=-1, le=2**31)]
Epoch: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**20)]
Ms: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**40)]
Replica: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=4)]
Follower: TypeAlias = Annotated[int, msgspec.Meta(ge=2, le=4)]
BrokerEpoch: TypeAlias = Annotated[int, msgspec.Meta(ge=-1, le=2**20)]
Records: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=60)]
Error: TypeAlias = Literal[
    "", "OPERATION_NOT_ATTEMPTED", "INELIGIBLE_REPLICA", "UNKNOWN_TOPIC_OR_PARTITION", "UNKNOWN_TOPIC_ID",
    "FENCED_LEADER_EPOCH", "INVALID_UPDATE_VERSION", "INVALID_REQUEST", "NEW_LEADER_ELECTED", "UNKNOWN_SERVER_ERROR",
    "NOT_CONTROLLER", "REQUEST_TIMED_OUT",
]  # fmt: skip


class RegisteredBroker(Question, frozen=True):
    """A broker in the cluster's metadata."""

    id: Replica
    """Its id."""
    epoch: Annotated[int, msgspec.Meta(ge=0, le=2**20)]
    """Its broker epoch."""
    fenced: bool = False
    """Whether it is fenced."""
    shutting_down: bool = False
    """Whether it is in a controlled shutdown."""


class LeadStep(Question, frozen=True, tag_field="op", tag="lead"):
    """The metadata name broker 1 as the leader (``makeLeader``)."""

    epoch: Epoch
    """The leader epoch."""
    partition_epoch: Epoch
    """The partition epoch."""
    in_sync: Annotated[tuple[Replica, ...], msgspec.Meta(min_length=1, max_length=4)] = (1, 2, 3)
    """The in-sync replicas."""
    replicas: Annotated[tuple[Replica, ...], msgspec.Meta(min_length=1, max_length=4)] = (1, 2, 3)
    """The assigned replicas."""


class FollowStep(Question, frozen=True, tag_field="op", tag="follow"):
    """The metadata name another leader (``makeFollower``)."""

    epoch: Epoch
    """The leader epoch."""
    partition_epoch: Epoch
    """The partition epoch."""
    leader: Follower = 2
    """The leader."""
    in_sync: Annotated[tuple[Replica, ...], msgspec.Meta(min_length=1, max_length=4)] = (1, 2, 3)
    """The in-sync replicas."""
    replicas: Annotated[tuple[Replica, ...], msgspec.Meta(min_length=1, max_length=4)] = (1, 2, 3)
    """The assigned replicas."""


class AppendStep(Question, frozen=True, tag_field="op", tag="append"):
    """Append a batch as the leader (``appendRecordsToLeader``)."""

    records: Records = 1
    """The number of its records."""
    acks: Literal[-1, 0, 1] = 1
    """``acks`` of the request; -1 is all."""


class FetchStep(Question, frozen=True, tag_field="op", tag="fetch"):
    """A follower fetches (``fetchRecords``)."""

    replica: Follower
    """The follower's broker id."""
    offset: Offset
    """The fetch offset, which is the follower's log end offset."""
    log_start_offset: Offset = 0
    """The follower's log start offset."""
    broker_epoch: BrokerEpoch = -1
    """The broker epoch in the request, since 3.5.0; -1: none."""
    leader_epoch: Epoch | None = None
    """The leader epoch in the request; null: none."""
    last_epoch: Epoch | None = None
    """The epoch of the follower's last record; null: none."""


class WaitStep(Question, frozen=True, tag_field="op", tag="wait"):
    """Time passes."""

    ms: Ms
    """How long, in ms."""


class ShrinkStep(Question, frozen=True, tag_field="op", tag="shrink"):
    """Check for followers that are out of sync (``maybeShrinkIsr``)."""


class RespondStep(Question, frozen=True, tag_field="op", tag="respond"):
    """The controller answers the oldest AlterPartition request, if there is one."""

    partition_epoch: Epoch = 0
    """The new partition epoch of a success."""
    error: Error = ""
    """The error; "": success."""


class BrokerStep(RegisteredBroker, frozen=True, tag_field="op", tag="broker"):
    """The metadata register a broker, or register it again."""


class UnregisterStep(Question, frozen=True, tag_field="op", tag="unregister"):
    """The metadata lose a registered broker."""

    id: Replica
    """Its id."""


class MinInSyncStep(Question, frozen=True, tag_field="op", tag="min_in_sync"):
    """``min.insync.replicas`` of the topic changes."""

    replicas: Annotated[int, msgspec.Meta(ge=1, le=10)]
    """The new value."""


class ReplicaBatch(Question, frozen=True):
    """A batch from the leader's log."""

    offset: Annotated[int, msgspec.Meta(ge=0, le=2**31)]
    """The offset of its first record."""
    records: Records
    """The number of its records."""
    epoch: Epoch
    """The leader epoch in which it was appended."""


class ReplicateStep(Question, frozen=True, tag_field="op", tag="replicate"):
    """Append batches as a follower (``appendRecordsToFollowerOrFutureReplica``)."""

    batches: Annotated[tuple[ReplicaBatch, ...], msgspec.Meta(min_length=1, max_length=10)]
    """The batches."""


class FollowHighWatermarkStep(Question, frozen=True, tag_field="op", tag="follow_high_watermark"):
    """Take over the leader's high watermark as a follower.

    That is ``maybeUpdateHighWatermark``, up to 3.3.1 ``updateHighWatermark``.
    """

    offset: Offset
    """The leader's high watermark; -1: it has none."""


class TruncateStep(Question, frozen=True, tag_field="op", tag="truncate"):
    """Truncate the log (``truncateTo``)."""

    offset: Annotated[int, msgspec.Meta(ge=0, le=2**31)]
    """The offset at which the log ends then, if it is longer."""


class EpochEndStep(Question, frozen=True, tag_field="op", tag="epoch_end"):
    """Find where a leader epoch ends (``lastOffsetForLeaderEpoch``)."""

    epoch: Annotated[int, msgspec.Meta(ge=-1, le=2**20)]
    """The epoch; -1: unknown."""


class PartitionQuestion(Question, frozen=True, kw_only=True):
    """A partition with an empty log, which neither leads nor follows yet."""

    now: Ms = 1000
    """The clock in ms at first."""
    max_lag_ms: Ms = 100
    """``replica.lag.time.max.ms``."""
    min_in_sync: Annotated[int, msgspec.Meta(ge=1, le=10)] = 1
    """``min.insync.replicas`` at first."""
    brokers: tuple[RegisteredBroker, ...] = (RegisteredBroker(2, 102), RegisteredBroker(3, 103))
    """The brokers in the metadata at first."""
