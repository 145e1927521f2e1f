"""Mistakes in the distribution of many records: in the producer's loop, in the age of batches, in the sticky choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant, replaced
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.clusters import to_reference
from kafka_conformance.rules.sticky_distribution.adapter import answer_of
from kafka_conformance.rules.sticky_distribution.rule import RULE
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
from kafka_reference.releases import Release, parse_release

__all__ = ["MUTANTS"]

_STICKY, _ROUND_ROBIN = ("default", "uniform-sticky"), ("round-robin",)


class _Ageing(Batches):
    """Counts a batch's age in the records of its partition, so that a batch left behind is never drained."""

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
    """A deferred switch is made only when the next bytes are reported."""

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
    """Answer by ``wrong`` for these partitioners, as the reference for others."""

    def ask(question: Any, release: Release) -> Answer:
        if question.partitioner not in partitioners:
            return RULE.ask(question, release)
        cluster = to_reference(question.cluster)
        check_arguments(question.partitioner, release, cluster, 1, None, None)
        return answer_of(wrong(question, cluster, release))

    return ask


def _batches(question: Any, cluster: Cluster) -> Batches:
    return Batches(cluster, question.batch_records, question.drain_after)


def _draws(question: Any) -> SeededDraws:
    return SeededDraws(int(question.seed))


def _by(made: type[BuiltInPartitioner]) -> Ask:
    def wrong(question: Any, cluster: Cluster, release: Release) -> Distribution:
        partitioner, batches = made(release, question.batch_records, _draws(question)), _batches(question, cluster)
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


def _asked_once(question: Any, cluster: Cluster, release: Release) -> Distribution:
    """The batch is announced, and the record goes to the partition chosen before."""
    place, on_new_batch = partitioner_calls(question.partitioner, release, cluster, _draws(question))
    batches, switches = _batches(question, cluster), 0
    for now in range(question.records):
        partition = place()
        if not batches.is_open(partition, now):
            on_new_batch(partition)
            switches += 1
        batches.append(partition, now)
    return Distribution(batches.counts, switches)


def _ageing(question: Any, cluster: Cluster, release: Release) -> Distribution:
    place, on_new_batch = partitioner_calls(question.partitioner, release, cluster, _draws(question))
    batches = _Ageing(cluster, question.batch_records, question.drain_after)
    return Distribution(batches.counts, send_by_two_calls(place, on_new_batch, batches, question.records))


def _but(**changes: Any) -> Ask:
    return lambda question, release: RULE.ask(replaced(question, **changes), release)


_SWITCH_DEFERRED = ("https://github.com/apache/kafka/pull/12570",)
_SLOW_BROKERS = ("https://github.com/apache/kafka/pull/12049",)
_MISTAKES: tuple[tuple[str, str, Ask, str, tuple[str, ...]], ...] = (
    ("sticky-repeats", "a switch may choose the same partition again", _of(_STICKY, _repeating), "3.2.3", ()),
    ("first-visit-kept", "the first record stays at the partition chosen first", _of(_STICKY, _asked_once), "2.8.2", ()),
    ("second-call-left-out", "round robin is called once for each record", _of(_ROUND_ROBIN, _asked_once), "3.9.1", ()),
    ("switch-not-completed", "a deferred switch is dropped when the batch is drained", _by(_NotCompleted), "4.4.0", ()),
    ("switch-not-put-off", "switches while a batch is open (KAFKA-14156)", _by(_NotPutOff), "4.4.0", _SWITCH_DEFERRED),
    ("own-clock", "a batch ages by the records of its own partition", _of(_ROUND_ROBIN, _ageing), "3.9.1", ()),
    ("never-drained", "a batch ends only when it is full, which hides KAFKA-10888", _but(drain_after=None), "2.8.2",
     _SLOW_BROKERS),
    ("queues-unseen", "ignores the queue sizes", _but(queue_sizes=None), "4.4.0", ()),
)  # fmt: skip

MUTANTS = tuple(
    Mutant(f"spread-{slug}", RULE.slug, description, ask, parse_release(version), references)
    for slug, description, ask, version, references in _MISTAKES
)
