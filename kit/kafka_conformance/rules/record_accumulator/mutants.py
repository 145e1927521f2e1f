"""Mistakes in the accumulator: what comes back where, what is ready when, what is drained first, and when batches expire."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant, replaced, replaced_in
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.partitioner_mutants import as_if
from kafka_conformance.rules.record_accumulator.adapter import ask_of
from kafka_conformance.rules.record_accumulator.question import BlockedStep, MoveStep, RecordAccumulatorQuestion
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
    """A batch that came back is as good as new (to 2.0.x it nearly was)."""

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
    """Whatever the key, the same entry."""

    def get(self, _: int, default: Any = None) -> Any:
        return super().get(0, default)

    def __setitem__(self, _: int, value: int) -> None:
        super().__setitem__(0, value)


class _OneDrainIndex(RecordAccumulator):
    def __init__(self, version: str | Release, config: AccumulatorConfig, *others: Any) -> None:
        super().__init__(version, config, *others)
        self.state.drain_indices = _Shared()


class _NoFirst(RecordAccumulator):
    """A batch that is too large by itself is never drained."""

    def drain(self, metadata: Metadata, nodes: Iterable[int], max_size: int) -> Sequence[Batch]:
        drained = super().drain(metadata, nodes, max_size)
        for batch in reversed(drained):
            if batch.estimated > max_size:
                self.state.queue(batch.topic_partition).appendleft(batch)
        return [batch for batch in drained if batch.estimated <= max_size]


class _NeverLooksAgain(RecordAccumulator):
    """With a node ready, nobody asks how long the others have to wait."""

    def ready(self, metadata: Metadata) -> Ready:
        found = super().ready(metadata)
        return Ready(found.nodes, None if found.nodes else found.delay_ms, found.unknown_leader_topics)


class _SlowFromTheStart(RecordAccumulator):
    """A node seen for the first time, and not able to take anything, never was."""

    def update_node_latency(self, node: int, can_drain: bool) -> None:
        self.state.latencies.setdefault(node, NodeLatency(0, 0))
        super().update_node_latency(node, can_drain)


class _ForgetsToFlush(RecordAccumulator):
    def end_flush(self) -> None:
        self.state.flushes = 0


class _PoolOfBatches(RecordAccumulator):
    """A buffer of a batch that was larger than others is kept, as if it were one of them."""

    def complete(self, batch: Batch) -> None:
        batch.buffer = self.state.config.batch_size
        super().complete(batch)


def _changed(change: Callable[[RecordAccumulatorQuestion], Any]) -> Ask:
    return lambda question, at: RULE.ask(change(question), at)


def _without_epochs(question: RecordAccumulatorQuestion) -> Any:
    steps = tuple(replaced(step, epochs=()) if isinstance(step, MoveStep) else step for step in question.steps)
    return replaced(question, epochs=(), steps=steps)


def _without_waiters(question: RecordAccumulatorQuestion) -> Any:
    return replaced(
        question, steps=tuple(BlockedStep(0) if isinstance(step, BlockedStep) else step for step in question.steps)
    )


def _made(made: Callable[..., RecordAccumulator]) -> Ask:
    return partial(ask_of, made)


def _with(**fields: Any) -> Ask:
    """The rule, with other values in the accumulator's behaviour record."""

    def ask(question: RecordAccumulatorQuestion, at: Release) -> Answer:
        with overridden(RecordAccumulatorBehaviour, **fields):
            return RULE.ask(question, at)

    return ask


_MISTAKES: tuple[tuple[str, str, Ask, Release], ...] = (
    ("retry-at-the-back", "a batch that comes back goes behind those that wait", _made(_BackOfTheQueue), NEWEST),
    ("pieces-reversed", "the pieces of a split batch are queued last one first", _made(_PiecesReversed), NEWEST),
    ("ages-anew", "delivery.timeout.ms counts from the last attempt", _made(_AgesAnew), NEWEST),
    ("last-stays-open", "a batch without room for a record takes the next, smaller one", _made(_LastStaysOpen), NEWEST),
    ("one-drain-index", "one drain index for all nodes (KAFKA-13834)", _made(_OneDrainIndex), parse_release("3.3.2")),
    ("no-first-batch", "a batch above max.request.size is never drained", _made(_NoFirst), NEWEST),
    ("never-looks-again", "with a node ready, the others' waits are forgotten", _made(_NeverLooksAgain), NEWEST),
    ("steady-backoff", "the back-off does not grow, nor is it spread", _with(exponential_backoff=False), NEWEST),
    ("slow-from-the-start", "a node is slow from the start of time on", _made(_SlowFromTheStart), NEWEST),
    ("flushes-uncounted", "one flush that ends ends them all", _made(_ForgetsToFlush), NEWEST),
    ("every-buffer-pooled", "the memory of a large batch does not all come back", _made(_PoolOfBatches), NEWEST),
    ("same-leader-for-ever", "a batch backs off though its leader moved (KAFKA-15415)", _changed(_without_epochs), NEWEST),
    ("waiters-unseen", "threads that wait for memory make nothing ready", _changed(_without_waiters), NEWEST),
    (
        "slow-nodes-count", "partitions of slow nodes stay in the statistics",
        _changed(lambda question: replaced_in(question, "config", availability_timeout_ms=0)), NEWEST,
    ),
    (
        "never-adaptive", "the statistics are not loaded",
        _changed(lambda question: replaced_in(question, "config", adaptive=False)), NEWEST,
    ),
    ("accumulator-4.1-in-4.2", "pieces are split by batch.size (KAFKA-8350)", as_if(RULE.slug, "4.1.2"), parse_release("4.2.2")),
    ("accumulator-3.9.1-in-3.9.2", "memory in flight is lent (KAFKA-19012)", as_if(RULE.slug, "3.9.1"), parse_release("3.9.2")),
    ("accumulator-3.5-in-3.6", "partitions of a node come as they were given", as_if(RULE.slug, "3.5.2"), parse_release("3.6.2")),
    ("accumulator-2.5-in-2.6", "pieces stay open, throttles go on", as_if(RULE.slug, "2.5.1"), parse_release("2.6.3")),
    ("accumulator-2.0-in-2.3", "batches expire by request (KIP-91)", as_if(RULE.slug, "2.0.1"), parse_release("2.3.1")),
    ("accumulator-1.1-in-2.0", "closed is an IllegalStateException", as_if(RULE.slug, "1.1.1"), parse_release("2.0.1")),
)  # fmt: skip

MUTANTS = tuple(Mutant(slug, RULE.slug, story, ask, at) for slug, story, ask, at in _MISTAKES)
