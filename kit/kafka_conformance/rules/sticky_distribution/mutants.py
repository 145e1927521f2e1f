"""Mistakes in how many records are spread: in the producer's loop, in the age of batches, in what makes them stick."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant, replaced
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.clusters import to_reference
from kafka_conformance.rules.sticky_distribution.rule import RULE, answer_of
from kafka_reference.java.thread_local_random import SeededDraws
from kafka_reference.partitioning.builtin import BuiltInPartitioner, StickyPartitionInfo
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.partitioning.keyless_distribution import (
    Batches,
    Distribution,
    check_arguments,
    load_queue_sizes,
    partitioner_calls,
    send_by_bytes,
    send_by_two_calls,
)
from kafka_reference.partitioning.murmur2 import to_positive
from kafka_reference.partitioning.round_robin import pick
from kafka_reference.partitioning.sticky_cache import StickyPartitionCache
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["MUTANTS"]

_STICKY, _ROUND_ROBIN = ("default", "uniform-sticky"), ("round-robin",)


class _Ageing(Batches):
    """A batch's age is counted in the records of its own partition, so a batch that is left is never drained."""

    def is_open(self, partition: int, now: int) -> bool:
        del now
        return super().is_open(partition, self.counts.get(partition, 0))

    def append(self, partition: int, now: int) -> bool:
        del now
        return super().append(partition, self.counts.get(partition, 0))


class _Repeating(StickyPartitionCache):
    def _choose(self, cluster: Cluster, _: int | None) -> int:
        return pick(to_positive(self._draws.next()), cluster.available, len(cluster.partitions))


class _NotCompleted(BuiltInPartitioner):
    """A switch that was put off is only made when the next bytes are reported."""

    def update(
        self, info: StickyPartitionInfo | None, appended_bytes: int, cluster: Cluster, enable_switch: bool = True
    ) -> None:
        if appended_bytes:
            super().update(info, appended_bytes, cluster, enable_switch)


class _NotPutOff(BuiltInPartitioner):
    def update(
        self, info: StickyPartitionInfo | None, appended_bytes: int, cluster: Cluster, enable_switch: bool = True
    ) -> None:
        super().update(info, appended_bytes, cluster, enable_switch=enable_switch or appended_bytes > 0)


def _of(partitioners: tuple[str, ...], wrong: Callable[[Any, Cluster, Release], Distribution]) -> Ask:
    """The rule, answered by ``wrong`` where one of these partitioners is there."""

    def ask(question: Any, at: Release) -> Answer:
        if question.partitioner not in partitioners:
            return RULE.ask(question, at)
        cluster = to_reference(question.cluster)
        check_arguments(question.partitioner, at, cluster, 1, None, None)
        return answer_of(wrong(question, cluster, at))

    return ask


def _batches(question: Any, cluster: Cluster) -> Batches:
    return Batches(cluster, question.batch_records, question.drain_after)


def _draws(question: Any) -> SeededDraws:
    return SeededDraws(int(question.seed))


def _by(made: type[BuiltInPartitioner]) -> Ask:
    def wrong(question: Any, cluster: Cluster, at: Release) -> Distribution:
        partitioner, batches = made(at, question.batch_records, _draws(question)), _batches(question, cluster)
        load_queue_sizes(partitioner, cluster, question.queue_sizes)
        return Distribution(batches.counts, send_by_bytes(partitioner, cluster, batches, question.records))

    return _of(("builtin",), wrong)


def _repeating(question: Any, cluster: Cluster, _: Release) -> Distribution:
    sticky, batches = _Repeating(_draws(question)), _batches(question, cluster)

    def place() -> int:
        return sticky.partition("t", cluster)

    def on_new_batch(previous: int) -> None:
        sticky.next_partition("t", cluster, previous)

    return Distribution(batches.counts, send_by_two_calls(place, on_new_batch, batches, question.records))


def _asked_once(question: Any, cluster: Cluster, at: Release) -> Distribution:
    """The batch is announced, and the record goes where it was going."""
    place, on_new_batch = partitioner_calls(question.partitioner, at, cluster, _draws(question))
    batches, switches = _batches(question, cluster), 0
    for now in range(question.records):
        partition = place()
        if not batches.is_open(partition, now):
            on_new_batch(partition)
            switches += 1
        batches.append(partition, now)
    return Distribution(batches.counts, switches)


def _ageing(question: Any, cluster: Cluster, at: Release) -> Distribution:
    place, on_new_batch = partitioner_calls(question.partitioner, at, cluster, _draws(question))
    batches = _Ageing(cluster, question.batch_records, question.drain_after)
    return Distribution(batches.counts, send_by_two_calls(place, on_new_batch, batches, question.records))


def _but(**changes: Any) -> Ask:
    return lambda question, at: RULE.ask(replaced(question, **changes), at)


def _as_if(version: str) -> Ask:
    return lambda question, _: RULE.ask(question, parse_release(version))


_MISTAKES: tuple[tuple[str, str, Ask, Release], ...] = (
    ("sticky-repeats", "the sticky partition may follow itself", _of(_STICKY, _repeating), parse_release("3.2.3")),
    ("first-visit-kept", "the first record stays where it was first placed", _of(_STICKY, _asked_once), parse_release("2.8.2")),
    ("second-call-left-out", "round robin is asked once for each record", _of(_ROUND_ROBIN, _asked_once), parse_release("3.9.1")),
    ("as-3.9.1", "3.9.2 taken for 3.9.1: round robin counts twice", _as_if("3.9.1"), parse_release("3.9.2")),
    ("as-3.9.2", "3.9.1 taken for 3.9.2: round robin counts once", _as_if("3.9.2"), parse_release("3.9.1")),
    ("switch-not-completed", "a switch that was put off is forgotten when the batch is drained", _by(_NotCompleted), NEWEST),
    ("switch-not-put-off", "an open batch is left (KAFKA-14156)", _by(_NotPutOff), NEWEST),
    ("own-clock", "a batch ages by its own partition's records", _of(_ROUND_ROBIN, _ageing), parse_release("3.9.1")),
    ("never-drained", "batches end only when they are full (KAFKA-10888 unseen)", _but(drain_after=None), parse_release("2.8.2")),
    ("queues-unseen", "the queue sizes are not looked at", _but(queue_sizes=None), NEWEST),
)  # fmt: skip

MUTANTS = tuple(Mutant(f"spread-{slug}", RULE.slug, story, ask, at) for slug, story, ask, at in _MISTAKES)
