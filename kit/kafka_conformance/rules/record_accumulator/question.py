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
    """An idempotent producer: id null is none yet; ``next_sequences`` by partition, as "t-0": so many were sent."""

    id: Long | None
    epoch: Epoch
    next_sequences: dict[Partition, Count] = msgspec.field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.id, self.epoch, frozenset(self.next_sequences.items())))


class AskedConfig(Question, frozen=True, omit_defaults=True):
    """The producer's configuration; ``delivery_timeout_ms`` is ``request.timeout.ms`` to 2.0.x, which expired batches."""

    batch_size: Positive
    linger_ms: Count
    retry_backoff_ms: Long
    retry_backoff_max_ms: Long
    delivery_timeout_ms: Count
    buffer_memory: Long
    adaptive: bool
    availability_timeout_ms: Long
    rack_aware: bool = False
    rack: str = ""
    compression: Literal["none", "gzip"] = "none"
    ratio: Annotated[float, msgspec.Meta(ge=-100, le=100)] = 1.0
    achieved_per_mille: tuple[Annotated[int, msgspec.Meta(ge=1, le=20000)], ...] = ()
    allocation: Literal["full", "incremental"] = "full"
    producer: AskedProducer | None = None


class AppendStep(Question, frozen=True, tag_field="op", tag="append", omit_defaults=True):
    """A record. Partition null: the accumulator chooses; to 3.2.x the producer had, and its choice was ``chosen``."""

    partition: Count | None
    key: AskedField
    value: AskedField
    timestamp: Long
    topic: str = "t"
    chosen: Count | None = None
    headers: tuple[tuple[str, AskedField], ...] = ()


class AdvanceStep(Question, frozen=True, tag_field="op", tag="advance"):
    """Time goes by."""

    ms: Long


class ReadyStep(Question, frozen=True, tag_field="op", tag="ready"):
    """Which nodes are ready?"""


class DrainStep(Question, frozen=True, tag_field="op", tag="drain"):
    """Take batches for these nodes, each up to ``max_size`` bytes."""

    nodes: tuple[Int32, ...]
    max_size: Count


class ReenqueueStep(Question, frozen=True, tag_field="op", tag="reenqueue"):
    """A drained batch comes back. Below 0: counted back from the last of those that are out."""

    batch: Int32


class SplitStep(Question, frozen=True, tag_field="op", tag="split"):
    """A drained batch comes back in pieces."""

    batch: Int32


class CompleteStep(Question, frozen=True, tag_field="op", tag="complete"):
    """A drained or expired batch is done with, as is one aborted in flight."""

    batch: Int32


class FailStep(Question, frozen=True, tag_field="op", tag="fail", omit_defaults=True):
    """A drained batch failed for good: no retries left, its time over (since 2.1.0), or refused with retries left."""

    batch: Int32
    why: Literal["exhausted", "expired", "refused"] = "exhausted"


class ProducerStep(Question, frozen=True, tag_field="op", tag="producer", omit_defaults=True):
    """From here on an idempotent producer has this id and epoch, or, with id null, none."""

    id: Long | None
    epoch: Epoch = 0


class LatencyStep(Question, frozen=True, tag_field="op", tag="latency"):
    """A node that has batches ready can take them now, or not."""

    node: Int32
    can_drain: bool


class LoadStep(Question, frozen=True, tag_field="op", tag="load", omit_defaults=True):
    """Which statistics does the topic's partitioner go by?"""

    topic: str = "t"


class MuteStep(Question, frozen=True, tag_field="op", tag="mute", omit_defaults=True):
    """Send nothing of this partition."""

    partition: Count
    topic: str = "t"


class UnmuteStep(Question, frozen=True, tag_field="op", tag="unmute", omit_defaults=True):
    """Send again, in 2.0 to 2.5 after a throttle."""

    partition: Count
    topic: str = "t"
    throttle_ms: Long = 0


class FlushStep(Question, frozen=True, tag_field="op", tag="flush"):
    """Somebody begins to flush."""


class FlushedStep(Question, frozen=True, tag_field="op", tag="flushed"):
    """Somebody ends flushing, if all batches are done."""


class CloseStep(Question, frozen=True, tag_field="op", tag="close"):
    """No more records."""


class AbortStep(Question, frozen=True, tag_field="op", tag="abort"):
    """All batches end."""


class AbortUndrainedStep(Question, frozen=True, tag_field="op", tag="abort_undrained"):
    """All batches end that were never drained; since 0.11.0.0."""


class ExpireStep(Question, frozen=True, tag_field="op", tag="expire"):
    """What has expired?"""


class BlockedStep(Question, frozen=True, tag_field="op", tag="blocked"):
    """So many threads wait for memory."""

    threads: Count


class LookStep(Question, frozen=True, tag_field="op", tag="look"):
    """What is in the queues?"""


class MoveStep(Question, frozen=True, tag_field="op", tag="cluster", omit_defaults=True):
    """From here on the cluster is this one; the epochs of its leaders go with its partitions."""

    cluster: AskedCluster
    epochs: tuple[Count | None, ...] = ()


Step: TypeAlias = (
    AppendStep | AdvanceStep | ReadyStep | DrainStep | ReenqueueStep | SplitStep | CompleteStep | LatencyStep | LoadStep
    | MuteStep | UnmuteStep | FlushStep | FlushedStep | CloseStep | AbortStep | AbortUndrainedStep | ExpireStep
    | BlockedStep | LookStep | MoveStep | FailStep | ProducerStep
)  # fmt: skip


class RecordAccumulatorQuestion(Question, frozen=True, omit_defaults=True):
    """A history; every topic named in ``topics`` has the cluster's partitions, in the order of the topics."""

    config: AskedConfig
    cluster: AskedCluster
    draws: tuple[Int32, ...]
    steps: tuple[Step, ...]
    topics: tuple[str, ...] = ("t",)
    epochs: tuple[Count | None, ...] = ()
