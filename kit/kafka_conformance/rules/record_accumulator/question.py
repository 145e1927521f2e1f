"""The question of ``record-accumulator``: a configuration, a cluster, draws, and a history."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from kafka_conformance.core.protocol import Int32, Question
from kafka_conformance.rules.common.clusters import AskedCluster
from kafka_conformance.rules.record_sizes.question import AskedField

__all__ = [
    "AbortStep", "AbortUndrainedStep", "AdvanceStep", "AppendStep", "AskedConfig", "AskedProducer", "BlockedStep",
    "CloseStep", "CompleteStep", "DrainStep", "ExpireStep", "FailStep", "FlushStep", "FlushedStep", "LatencyStep",
    "LoadStep", "LookStep", "MoveStep", "MuteStep", "ProducerStep", "ReadyStep", "RecordAccumulatorQuestion",
    "ReenqueueStep", "SplitStep", "Step", "UnmuteStep",
]  # fmt: skip

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
Long: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Epoch: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**15 - 1)]
Partition: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^.+-[0-9]{1,9}$(?![\s\S])")]
Positive: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]


class AskedProducer(Question, frozen=True, omit_defaults=True):
    """An idempotent producer before the first step."""

    id: Long | None
    """The producer id; null: none yet."""
    epoch: Epoch
    """The producer epoch."""
    next_sequences: dict[Partition, Count] = msgspec.field(default_factory=dict)
    """The next sequence of each partition, by topic and partition, as ``t-0``: the number of acknowledged records."""

    def __hash__(self) -> int:
        return hash((self.id, self.epoch, frozenset(self.next_sequences.items())))


class AskedConfig(Question, frozen=True, omit_defaults=True):
    """The producer's effective configuration."""

    batch_size: Positive
    """``batch.size``, in bytes."""
    linger_ms: Count
    """``linger.ms``."""
    retry_backoff_ms: Long
    """``retry.backoff.ms``."""
    retry_backoff_max_ms: Long
    """``retry.backoff.max.ms``; it has no effect up to 3.6.x."""
    delivery_timeout_ms: Count
    """``delivery.timeout.ms``; up to 2.0.x ``request.timeout.ms``, by which batches expired."""
    buffer_memory: Long
    """``buffer.memory``, in bytes."""
    adaptive: bool
    """``partitioner.adaptive.partitioning.enable``, since 3.3.0."""
    availability_timeout_ms: Long
    """``partitioner.availability.timeout.ms``, since 3.3.0."""
    rack_aware: bool = False
    """``partitioner.rack.aware``, since 4.4.0."""
    rack: str = ""
    """``client.rack``, since 4.4.0."""
    compression: Literal["none", "gzip"] = "none"
    """``compression.type``."""
    ratio: Annotated[float, msgspec.Meta(ge=-100, le=100)] = 1.0
    """The compression ratio that is expected of each topic at first."""
    achieved_per_mille: tuple[Annotated[int, msgspec.Meta(ge=1, le=20000)], ...] = ()
    """What the codec makes of batches 0, 1, 2, …, taken in turn: thousandths of the bytes that go in."""
    allocation: Literal["full", "incremental"] = "full"
    """How memory is taken: ``incremental`` is memory in chunks, since 4.4.0."""
    producer: AskedProducer | None = None
    """The idempotent producer; null: none. It has no effect before 0.11.0.0."""


class AppendStep(Question, frozen=True, tag_field="op", tag="append", omit_defaults=True):
    """Append a record. Its answer shows the partition and the batch."""

    partition: Count | None
    """The partition; null: the accumulator chooses, since 3.3.0."""
    key: AskedField
    """The serialized key."""
    value: AskedField
    """The serialized value."""
    timestamp: Long
    """The timestamp in ms."""
    topic: str = "t"
    """The topic."""
    chosen: Count | None = None
    """The partition up to 3.2.x, where the producer chooses in place of the accumulator."""
    headers: tuple[tuple[str, AskedField], ...] = ()
    """The headers: name and value of each. They have no effect up to 0.10.2.x."""


class AdvanceStep(Question, frozen=True, tag_field="op", tag="advance"):
    """Advance the clock."""

    ms: Long
    """Milliseconds."""


class ReadyStep(Question, frozen=True, tag_field="op", tag="ready"):
    """Return the nodes with sendable batches (``ready``)."""


class DrainStep(Question, frozen=True, tag_field="op", tag="drain"):
    """Take batches out of the queues for these nodes (``drain``)."""

    nodes: tuple[Int32, ...]
    """The ids of the nodes, in this order."""
    max_size: Count
    """The largest size of a request, in bytes, for each node."""


class ReenqueueStep(Question, frozen=True, tag_field="op", tag="reenqueue"):
    """Put a drained batch back into its queue, to be sent again (``reenqueue``)."""

    batch: Int32
    """The number of the batch; below 0: counted back from the last drained one."""


class SplitStep(Question, frozen=True, tag_field="op", tag="split"):
    """Split a drained batch and put its pieces back (``splitAndReenqueue``, since 0.11.0.0)."""

    batch: Int32
    """The number of the batch; below 0: counted back from the last drained one."""


class CompleteStep(Question, frozen=True, tag_field="op", tag="complete"):
    """Complete a batch that is drained, expired, or was aborted in flight; its memory is freed."""

    batch: Int32
    """The number of the batch; below 0: counted back from the last of those."""


class FailStep(Question, frozen=True, tag_field="op", tag="fail", omit_defaults=True):
    """Fail a drained batch for good."""

    batch: Int32
    """The number of the batch; below 0: counted back from the last drained one."""
    why: Literal["exhausted", "expired", "refused"] = "exhausted"
    """No retries are left, its time is over (since 2.1.0), or the broker refused it."""


class ProducerStep(Question, frozen=True, tag_field="op", tag="producer", omit_defaults=True):
    """Give the idempotent producer another id and epoch."""

    id: Long | None
    """The producer id; null: none."""
    epoch: Epoch = 0
    """The producer epoch."""


class LatencyStep(Question, frozen=True, tag_field="op", tag="latency"):
    """Report whether a node can take its ready batches now (``updateNodeLatencyStats``, since 3.3.0)."""

    node: Int32
    """The id of the node."""
    can_drain: bool
    """Whether it can."""


class LoadStep(Question, frozen=True, tag_field="op", tag="load", omit_defaults=True):
    """Return the load statistics of the topic's partitioner, or null if there are none."""

    topic: str = "t"
    """The topic."""


class MuteStep(Question, frozen=True, tag_field="op", tag="mute", omit_defaults=True):
    """Mute a partition: nothing of it is drained."""

    partition: Count
    """The number of the partition."""
    topic: str = "t"
    """The topic."""


class UnmuteStep(Question, frozen=True, tag_field="op", tag="unmute", omit_defaults=True):
    """Unmute a partition."""

    partition: Count
    """The number of the partition."""
    topic: str = "t"
    """The topic."""
    throttle_ms: Long = 0
    """In 2.0.0 to 2.5.x: how long the partition stays muted, in ms."""


class FlushStep(Question, frozen=True, tag_field="op", tag="flush"):
    """Begin a flush (``beginFlush``): every batch is sendable."""


class FlushedStep(Question, frozen=True, tag_field="op", tag="flushed"):
    """End a flush, if all batches are done."""


class CloseStep(Question, frozen=True, tag_field="op", tag="close"):
    """Close the accumulator: it takes no more records."""


class AbortStep(Question, frozen=True, tag_field="op", tag="abort"):
    """Abort all batches (``abortIncompleteBatches``)."""


class AbortUndrainedStep(Question, frozen=True, tag_field="op", tag="abort_undrained"):
    """Abort the batches that were never drained, since 0.11.0.0 (``abortUndrainedBatches``)."""


class ExpireStep(Question, frozen=True, tag_field="op", tag="expire"):
    """Remove and return the expired batches (``expiredBatches``)."""


class BlockedStep(Question, frozen=True, tag_field="op", tag="blocked"):
    """Let threads wait for memory."""

    threads: Count
    """The number of threads."""


class LookStep(Question, frozen=True, tag_field="op", tag="look"):
    """Return the queues, the memory and the sequences."""


class MoveStep(Question, frozen=True, tag_field="op", tag="cluster", omit_defaults=True):
    """Replace the cluster from here on."""

    cluster: AskedCluster
    """The new cluster."""
    epochs: tuple[Count | None, ...] = ()
    """The leader epochs of its partitions, in their order; null: unknown."""


Step: TypeAlias = (
    AppendStep | AdvanceStep | ReadyStep | DrainStep | ReenqueueStep | SplitStep | CompleteStep | LatencyStep | LoadStep
    | MuteStep | UnmuteStep | FlushStep | FlushedStep | CloseStep | AbortStep | AbortUndrainedStep | ExpireStep
    | BlockedStep | LookStep | MoveStep | FailStep | ProducerStep
)  # fmt: skip


class RecordAccumulatorQuestion(Question, frozen=True, omit_defaults=True):
    """A configuration, a cluster, draws, and a history of one accumulator."""

    config: AskedConfig
    """The producer's effective configuration."""
    cluster: AskedCluster
    """The cluster at the first step. Each topic has all of its partitions."""
    draws: tuple[Int32, ...]
    """The random draws, int32: the first one of each step. The step derives further ones from it."""
    steps: tuple[Step, ...]
    """The steps, one after another."""
    topics: tuple[str, ...] = ("t",)
    """The topics, in this order."""
    epochs: tuple[Count | None, ...] = ()
    """The leader epochs of the partitions, in their order; null: unknown."""
