"""The question of ``broker-producer-state``: when producers expire, and a history of their partition."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from kafka_conformance.core.protocol import Hex, Int32, Question

__all__ = [
    "AppendStep", "AskedOrigin", "BrokerConfig", "BrokerProducerStateQuestion", "BrokerStep", "DeleteSnapshotsStep",
    "ExpireStep", "HighWatermarkStep", "LoadStep", "LogStartStep", "LookStep", "MarkerStep", "ReloadStep", "RequestStep",
    "SnapshotStep", "StartOverStep", "TruncateStep", "VerifyStep",
]  # fmt: skip

Int16: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**15), le=2**15 - 1)]
Offset: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**52)]
Long: TypeAlias = Annotated[int, msgspec.Meta(ge=-1, le=2**52)]
Positive: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
Version: TypeAlias = Annotated[int, msgspec.Meta(ge=-1, le=3)]
AskedOrigin: TypeAlias = Literal["client", "coordinator", "replication"]


class BrokerConfig(Question, frozen=True):
    """The broker's configuration."""

    producer_id_expiration_ms: Positive


class AppendStep(Question, frozen=True, tag_field="op", tag="append", omit_defaults=True):
    """A batch of records; it is written at ``offset``, which is the map's end if null. Producer id -1 is none."""

    producer_id: Long
    epoch: Int16
    first_sequence: Int32
    records: Positive
    timestamp: Long = 0
    origin: AskedOrigin = "client"
    transactional: bool = False
    offset: Offset | None = None


class MarkerStep(Question, frozen=True, tag_field="op", tag="marker", omit_defaults=True):
    """The end of a transaction. Its version is looked at from 4.2.0 on; -1: the coordinator did not say."""

    producer_id: Long
    epoch: Int16
    commit: bool
    coordinator_epoch: Int32 = 0
    timestamp: Long = 0
    origin: AskedOrigin = "coordinator"
    transaction_version: Version = 0
    offset: Offset | None = None


class RequestStep(Question, frozen=True, tag_field="op", tag="request", omit_defaults=True):
    """Several batches at once: all are written, or none. What they say of their origin is not looked at."""

    batches: Annotated[tuple[AppendStep | MarkerStep, ...], msgspec.Meta(min_length=1)]
    origin: AskedOrigin = "client"


class VerifyStep(Question, frozen=True, tag_field="op", tag="verify", omit_defaults=True):
    """A transaction is to be verified before its first batch is written; nothing to 3.5.x."""

    producer_id: Offset
    epoch: Int16
    sequence: Int32
    now: Long = 0
    supports_epoch_bump: bool = False


class ExpireStep(Question, frozen=True, tag_field="op", tag="expire"):
    """Forget who was not heard of for too long."""

    now: Long


class SnapshotStep(Question, frozen=True, tag_field="op", tag="snapshot"):
    """Take a snapshot. The answer is the file at the map's end, if there is one."""


class LoadStep(Question, frozen=True, tag_field="op", tag="load", omit_defaults=True):
    """Read these bytes as a snapshot. With an offset they stay in the folder, as if they had been written before."""

    bytes: Hex
    offset: Offset | None = None


class ReloadStep(Question, frozen=True, tag_field="op", tag="reload", omit_defaults=True):
    """The partition is opened anew and truncated to ``start`` and ``end``, which is the map's end if null."""

    start: Offset = 0
    end: Offset | None = None
    now: Long = 0


class TruncateStep(Question, frozen=True, tag_field="op", tag="truncate"):
    """The log goes from ``start`` to ``end`` now."""

    start: Offset
    end: Offset
    now: Long = 0


class StartOverStep(Question, frozen=True, tag_field="op", tag="start_over"):
    """The log is emptied and goes on from ``offset``."""

    offset: Offset


class LogStartStep(Question, frozen=True, tag_field="op", tag="log_start"):
    """Records before ``offset`` were deleted."""

    offset: Offset


class HighWatermarkStep(Question, frozen=True, tag_field="op", tag="high_watermark"):
    """Records before ``offset`` are replicated."""

    offset: Offset


class DeleteSnapshotsStep(Question, frozen=True, tag_field="op", tag="delete_snapshots"):
    """Snapshots before this offset are deleted."""

    before: Offset


class LookStep(Question, frozen=True, tag_field="op", tag="look"):
    """What is known now?"""


BrokerStep: TypeAlias = (
    AppendStep | MarkerStep | RequestStep | VerifyStep | ExpireStep | SnapshotStep | LoadStep | ReloadStep | TruncateStep
    | StartOverStep | LogStartStep | HighWatermarkStep | DeleteSnapshotsStep | LookStep
)  # fmt: skip


class BrokerProducerStateQuestion(Question, frozen=True):
    """A history of one partition, all of whose producers are unknown at first."""

    config: BrokerConfig
    steps: tuple[BrokerStep, ...]
