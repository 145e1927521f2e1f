"""The question of ``broker-producer-state``: the expiration of producers, and the history of a partition."""

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
    """Append a batch of records at ``offset`` (null: the map end offset). Producer id -1: not idempotent."""

    producer_id: Long
    epoch: Int16
    first_sequence: Int32
    records: Positive
    timestamp: Long = 0
    origin: AskedOrigin = "client"
    transactional: bool = False
    offset: Offset | None = None


class MarkerStep(Question, frozen=True, tag_field="op", tag="marker", omit_defaults=True):
    """Append the end of a transaction. ``transaction_version`` matters since 4.2.0; -1: the coordinator names none."""

    producer_id: Long
    epoch: Int16
    commit: bool
    coordinator_epoch: Int32 = 0
    timestamp: Long = 0
    origin: AskedOrigin = "coordinator"
    transaction_version: Version = 0
    offset: Offset | None = None


class RequestStep(Question, frozen=True, tag_field="op", tag="request", omit_defaults=True):
    """Append several batches at once, all or none. The origins of the batches are ignored."""

    batches: Annotated[tuple[AppendStep | MarkerStep, ...], msgspec.Meta(min_length=1)]
    origin: AskedOrigin = "client"


class VerifyStep(Question, frozen=True, tag_field="op", tag="verify", omit_defaults=True):
    """Start to verify a transaction before its first batch is appended; nothing happens up to 3.5.x."""

    producer_id: Offset
    epoch: Int16
    sequence: Int32
    now: Long = 0
    supports_epoch_bump: bool = False


class ExpireStep(Question, frozen=True, tag_field="op", tag="expire"):
    """Remove expired producers at time ``now``, in ms."""

    now: Long


class SnapshotStep(Question, frozen=True, tag_field="op", tag="snapshot"):
    """Take a snapshot. The answer is the file at the map end offset, if there is one."""


class LoadStep(Question, frozen=True, tag_field="op", tag="load", omit_defaults=True):
    """Read these bytes as a snapshot. With an offset they stay in the folder, as an earlier snapshot."""

    bytes: Hex
    offset: Offset | None = None


class ReloadStep(Question, frozen=True, tag_field="op", tag="reload", omit_defaults=True):
    """Open the partition anew and truncate it to ``start`` and ``end`` (null: the map end offset)."""

    start: Offset = 0
    end: Offset | None = None
    now: Long = 0


class TruncateStep(Question, frozen=True, tag_field="op", tag="truncate"):
    """Truncate the log to ``start`` and ``end``."""

    start: Offset
    end: Offset
    now: Long = 0


class StartOverStep(Question, frozen=True, tag_field="op", tag="start_over"):
    """Empty the log; it starts anew at ``offset``."""

    offset: Offset


class LogStartStep(Question, frozen=True, tag_field="op", tag="log_start"):
    """Raise the log start offset: records below it were deleted."""

    offset: Offset


class HighWatermarkStep(Question, frozen=True, tag_field="op", tag="high_watermark"):
    """Raise the high watermark: records below it are replicated."""

    offset: Offset


class DeleteSnapshotsStep(Question, frozen=True, tag_field="op", tag="delete_snapshots"):
    """Delete the snapshots below this offset."""

    before: Offset


class LookStep(Question, frozen=True, tag_field="op", tag="look"):
    """Return the whole state."""


BrokerStep: TypeAlias = (
    AppendStep | MarkerStep | RequestStep | VerifyStep | ExpireStep | SnapshotStep | LoadStep | ReloadStep | TruncateStep
    | StartOverStep | LogStartStep | HighWatermarkStep | DeleteSnapshotsStep | LookStep
)  # fmt: skip


class BrokerProducerStateQuestion(Question, frozen=True):
    """A history of one partition, which starts without producers."""

    config: BrokerConfig
    steps: tuple[BrokerStep, ...]
