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
    """``producer.id.expiration.ms`` (``transactional.id.expiration.ms`` up to 3.3.x)."""


class AppendStep(Question, frozen=True, tag_field="op", tag="append", omit_defaults=True):
    """Append a batch of records."""

    producer_id: Long
    """The producer id; -1: the producer is not idempotent."""
    epoch: Int16
    """The producer epoch."""
    first_sequence: Int32
    """The sequence of the first record."""
    records: Positive
    """The number of records."""
    timestamp: Long = 0
    """The timestamp of the batch in ms."""
    origin: AskedOrigin = "client"
    """The writer of the batch."""
    transactional: bool = False
    """Whether the batch belongs to a transaction."""
    offset: Offset | None = None
    """The offset of the first record; null: the map end offset."""


class MarkerStep(Question, frozen=True, tag_field="op", tag="marker", omit_defaults=True):
    """Append a control batch: the end of a transaction."""

    producer_id: Long
    """The producer id."""
    epoch: Int16
    """The producer epoch."""
    commit: bool
    """Whether it commits; otherwise it aborts."""
    coordinator_epoch: Int32 = 0
    """The epoch of the transaction coordinator."""
    timestamp: Long = 0
    """The timestamp of the batch in ms."""
    origin: AskedOrigin = "coordinator"
    """The writer of the batch."""
    transaction_version: Version = 0
    """The version of the transaction protocol, since 4.2.0; -1: the coordinator names none."""
    offset: Offset | None = None
    """The offset of the marker; null: the map end offset."""


class RequestStep(Question, frozen=True, tag_field="op", tag="request", omit_defaults=True):
    """Append several batches at once, all of them or none."""

    batches: Annotated[tuple[AppendStep | MarkerStep, ...], msgspec.Meta(min_length=1)]
    """The batches. Their own origins have no effect."""
    origin: AskedOrigin = "client"
    """The writer of the request."""


class VerifyStep(Question, frozen=True, tag_field="op", tag="verify", omit_defaults=True):
    """Start to verify a transaction before its first batch is appended, since 3.6.0 (KIP-890)."""

    producer_id: Offset
    """The producer id."""
    epoch: Int16
    """The producer epoch."""
    sequence: Int32
    """The sequence of the first batch."""
    now: Long = 0
    """The time in ms."""
    supports_epoch_bump: bool = False
    """Whether the client supports transactions with an epoch bump."""


class ExpireStep(Question, frozen=True, tag_field="op", tag="expire"):
    """Remove expired producers."""

    now: Long
    """The time in ms."""


class SnapshotStep(Question, frozen=True, tag_field="op", tag="snapshot"):
    """Take a snapshot. The answer is the file at the map end offset, if there is one."""


class LoadStep(Question, frozen=True, tag_field="op", tag="load", omit_defaults=True):
    """Read a snapshot file."""

    bytes: Hex
    """The content of the file."""
    offset: Offset | None = None
    """The offset at which the file stays in the folder; null: it does not stay."""


class ReloadStep(Question, frozen=True, tag_field="op", tag="reload", omit_defaults=True):
    """Reopen the partition, from its snapshots."""

    start: Offset = 0
    """The log start offset."""
    end: Offset | None = None
    """The log end offset; null: the map end offset."""
    now: Long = 0
    """The time in ms."""


class TruncateStep(Question, frozen=True, tag_field="op", tag="truncate"):
    """Truncate the log."""

    start: Offset
    """The log start offset."""
    end: Offset
    """The log end offset."""
    now: Long = 0
    """The time in ms."""


class StartOverStep(Question, frozen=True, tag_field="op", tag="start_over"):
    """Empty the log (``truncateFullyAndStartAt``)."""

    offset: Offset
    """The offset at which it restarts."""


class LogStartStep(Question, frozen=True, tag_field="op", tag="log_start"):
    """Raise the log start offset: the records below it are deleted."""

    offset: Offset
    """The new log start offset."""


class HighWatermarkStep(Question, frozen=True, tag_field="op", tag="high_watermark"):
    """Raise the high watermark: the records below it are replicated."""

    offset: Offset
    """The new high watermark."""


class DeleteSnapshotsStep(Question, frozen=True, tag_field="op", tag="delete_snapshots"):
    """Delete old snapshots."""

    before: Offset
    """The offset below which they are deleted."""


class LookStep(Question, frozen=True, tag_field="op", tag="look"):
    """Return the whole state."""


BrokerStep: TypeAlias = (
    AppendStep | MarkerStep | RequestStep | VerifyStep | ExpireStep | SnapshotStep | LoadStep | ReloadStep | TruncateStep
    | StartOverStep | LogStartStep | HighWatermarkStep | DeleteSnapshotsStep | LookStep
)  # fmt: skip


class BrokerProducerStateQuestion(Question, frozen=True):
    """A history of one partition, which starts without producers."""

    config: BrokerConfig
    """The broker's configuration."""
    steps: tuple[BrokerStep, ...]
    """The steps, one after another."""
