"""Mistakes in the accumulator: the order of retries, readiness, the order of draining, and expiry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant, replaced, replaced_in
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.record_accumulator.adapter import ask_of
from kafka_conformance.rules.record_accumulator.question import BlockedStep, RecordAccumulatorQuestion
from kafka_conformance.rules.record_accumulator.rule import RULE
from kafka_reference.accumulator.accumulator import Appended, RecordAccumulator
from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.behaviour import RecordAccumulatorBehaviour
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.accumulator.readiness import Ready
from kafka_reference.accumulator.sizes import SizedRecord
from kafka_reference.accumulator.state import AccumulatorConfig, NodeLatency, Queue
from kafka_reference.behaviour import overridden
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["MUTANTS"]

_KAFKA = "https://github.com/apache/kafka/pull/"


class _BackOfTheQueue(RecordAccumulator):
    def reenqueue(self, batch: Batch) -> None:
        super().reenqueue(batch)
        self.state.queue(batch.topic_partition).rotate(-1)


class _PiecesReversed(RecordAccumulator):
    def split(self, batch: Batch) -> Sequence[Batch]:
        pieces = super().split(batch)
        queue = self.state.queue(batch.topic_partition)
        for piece in pieces:
            queue.remove(piece)
        queue.extendleft(pieces)
        return pieces


class _AgesAnew(RecordAccumulator):
    """A batch that is queued again counts as new."""

    def reenqueue(self, batch: Batch) -> None:
        super().reenqueue(batch)
        batch.created_ms = self.state.now_ms


class _LastStaysOpen(RecordAccumulator):
    def _try_append(self, of: tuple[str, int], queue: Queue, record: SizedRecord) -> Appended | None:
        was = queue[-1].size.closed if queue else False
        appended = super()._try_append(of, queue, record)
        if queue and appended is None:
            queue[-1].size.closed = was
        return appended


class _Shared(dict[int, int]):
    """A dict with one entry for all keys."""

    def get(self, _: int, default: Any = None) -> Any:
        return super().get(0, default)

    def __setitem__(self, _: int, value: int) -> None:
        super().__setitem__(0, value)


class _OneDrainIndex(RecordAccumulator):
    def __init__(self, version: str | Release, config: AccumulatorConfig, *others: Any) -> None:
        super().__init__(version, config, *others)
        self.state.drain_indices = _Shared()


class _NoFirst(RecordAccumulator):
    """A batch that is larger than the limit is never drained."""

    def drain(self, metadata: Metadata, nodes: Iterable[int], max_size: int) -> Sequence[Batch]:
        drained = super().drain(metadata, nodes, max_size)
        for batch in reversed(drained):
            if batch.estimated > max_size:
                self.state.queue(batch.topic_partition).appendleft(batch)
        return [batch for batch in drained if batch.estimated <= max_size]


class _NeverLooksAgain(RecordAccumulator):
    """With a node ready, the waits of the others are dropped."""

    def ready(self, metadata: Metadata) -> Ready:
        found = super().ready(metadata)
        return Ready(found.nodes, None if found.nodes else found.delay_ms, found.unknown_leader_topics)


class _SlowFromTheStart(RecordAccumulator):
    """A node that cannot take anything when it is first ready never could."""

    def update_node_latency(self, node: int, can_drain: bool) -> None:
        self.state.latencies.setdefault(node, NodeLatency(0, 0))
        super().update_node_latency(node, can_drain)


class _ForgetsToFlush(RecordAccumulator):
    def end_flush(self) -> None:
        self.state.flushes = 0


class _ExpiredIsOpen(RecordAccumulator):
    """A batch that expired can still be given another sequence."""

    def expire(self) -> tuple[Sequence[Batch], int | None]:
        expired, next_expiry_ms = super().expire()
        for batch in expired:
            batch.aborted = False
        return expired, next_expiry_ms


class _PoolOfBatches(RecordAccumulator):
    """A buffer larger than batch.size is given back as batch.size bytes."""

    def complete(self, batch: Batch) -> None:
        batch.buffer = self.state.config.batch_size
        super().complete(batch)


def _changed(change: Callable[[RecordAccumulatorQuestion], Any]) -> Ask:
    return lambda question, at: RULE.ask(change(question), at)


def _without_waiters(question: RecordAccumulatorQuestion) -> Any:
    return replaced(
        question, steps=tuple(BlockedStep(0) if isinstance(step, BlockedStep) else step for step in question.steps)
    )


def _made(made: Callable[..., RecordAccumulator]) -> Ask:
    return partial(ask_of, made)


def _with(**fields: Any) -> Ask:
    """The rule, with other values in the accumulator's behaviour record."""

    def ask(question: RecordAccumulatorQuestion, release: Release) -> Answer:
        with overridden(RecordAccumulatorBehaviour, **fields):
            return RULE.ask(question, release)

    return ask


def _mutant(slug: str, description: str, ask: Ask, release: str | Release = NEWEST, *references: str) -> Mutant:
    return Mutant(slug, RULE.slug, description, ask, parse_release(release), references)


MUTANTS = (
    _mutant(
        "retry-at-the-back", "a batch that is queued again goes behind those that wait", _made(_BackOfTheQueue), NEWEST,
        "https://github.com/confluentinc/librdkafka/issues/1092",
    ),
    _mutant("pieces-reversed", "the pieces of a split batch are queued last one first", _made(_PiecesReversed)),
    _mutant("ages-anew", "delivery.timeout.ms counts from the last attempt", _made(_AgesAnew)),
    _mutant("last-stays-open", "a batch without room for a record takes the next, smaller one", _made(_LastStaysOpen)),
    _mutant(
        "one-drain-index", "one drain index for all nodes (KAFKA-13834)", _made(_OneDrainIndex), "3.3.2", f"{_KAFKA}12066"
    ),
    _mutant("no-first-batch", "a batch above max.request.size is never drained", _made(_NoFirst)),
    _mutant("never-looks-again", "with a node ready, the waits of the others are dropped", _made(_NeverLooksAgain)),
    _mutant(
        "steady-backoff", "the back-off neither grows nor has a jitter", _with(exponential_backoff=False), NEWEST,
        f"{_KAFKA}14111",
    ),
    _mutant("slow-from-the-start", "a node counts as slow from time 0 on", _made(_SlowFromTheStart)),
    _mutant("flushes-uncounted", "the end of one flush ends all flushes", _made(_ForgetsToFlush)),
    _mutant(
        "renumbers-expired", "an expired batch that is in flight is given another sequence", _made(_ExpiredIsOpen), "2.4.1"
    ),
    _mutant(
        "unknown-node-divides", "draining for a node that is not in the cluster divides by 0 partitions",
        _with(npe_on_unknown_node=False), "0.10.2.2",
    ),
    _mutant("every-buffer-pooled", "the memory of a large batch is not given back whole", _made(_PoolOfBatches)),
    _mutant(
        "same-leader-for-ever", "a batch backs off although its leader is new (KAFKA-15415)",
        _with(new_leader_ends_backoff=False), NEWEST, f"{_KAFKA}14384",
    ),
    _mutant("waiters-unseen", "threads that wait for memory make nothing ready", _changed(_without_waiters)),
    _mutant(
        "slow-nodes-count", "partitions of slow nodes stay in the statistics",
        _changed(lambda question: replaced_in(question, "config", availability_timeout_ms=0)),
    ),
    _mutant(
        "rack-means-awareness", "client.rack alone makes the partitioner rack-aware",
        _changed(lambda question: replaced_in(question, "config", rack_aware=bool(question.config.rack))),
    ),
    _mutant(
        "never-adaptive", "the load statistics are not loaded",
        _changed(lambda question: replaced_in(question, "config", adaptive=False)),
    ),
)  # fmt: skip
