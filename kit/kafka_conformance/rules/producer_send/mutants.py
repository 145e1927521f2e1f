"""Mistakes of composition: what the producer, its partitioner, its batches and its sender tell each other, and when."""

from __future__ import annotations

from functools import partial
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.producer_send.adapter import ask_producer
from kafka_conformance.rules.producer_send.question import ProducerSendQuestion
from kafka_conformance.rules.producer_send.rule import RULE
from kafka_reference.accumulator.accumulator import Appended
from kafka_reference.accumulator.backoff import StepDraws
from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.accumulator.state import Queue
from kafka_reference.behaviour import Behaviour, overridden
from kafka_reference.idempotence.outcomes import Numbered
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.producer.behaviour import KafkaProducerBehaviour
from kafka_reference.producer.kafka_producer import KafkaProducer, Record
from kafka_reference.producer.settings import ProducerSettings
from kafka_reference.producer_config import ProducerDefaultsBehaviour
from kafka_reference.releases import Release, parse_release

__all__ = ["MUTANTS"]


class _NeverAnnounces(KafkaProducer):
    """The partitioner is asked again for a new batch, without onNewBatch."""

    def _append(
        self, topic: str, record: Record, partition: int | None, numbered: Numbered, cluster: Cluster
    ) -> Appended:
        if partition is not None and self._choice.partitioner is not None:
            appended = self.accumulator.append_to_open_batch(topic, partition, numbered)
            if appended is not None:
                return appended
            partition = self._choose(topic, record, cluster)
        return self.accumulator.append(topic, partition, numbered, self._metadata)


class _NeverAsksAgain(KafkaProducer):
    """onNewBatch is called, and the record stays with the first partition."""

    def _append(
        self,
        topic: str,
        record: Record,  # noqa: ARG002
        partition: int | None,
        numbered: Numbered,
        cluster: Cluster,
    ) -> Appended:
        partitioner = self._choice.partitioner
        if partition is None or partitioner is None:
            return self.accumulator.append(topic, partition, numbered, self._metadata)
        appended = self.accumulator.append_to_open_batch(topic, partition, numbered)
        if appended is None:
            partitioner.on_new_batch(topic, cluster, partition)
            appended = self.accumulator.append(topic, partition, numbered, self._metadata)
        return appended


class _AnnouncesItsOwnOnly(KafkaProducer):
    """A record that names its partition, or has a key, begins a batch without a word to the partitioner."""

    def _append(
        self, topic: str, record: Record, partition: int | None, numbered: Numbered, cluster: Cluster
    ) -> Appended:
        if record.partition is not None or record.key is not None:
            return self.accumulator.append(topic, partition, numbered, self._metadata)
        return super()._append(topic, record, partition, numbered, cluster)


class _KeyBeforePartition(KafkaProducer):
    def _choose(self, topic: str, record: Record, cluster: Cluster) -> int | None:
        if record.key is not None and record.partition is not None:
            record = Record(record.key, record.value_bytes)
        return super()._choose(topic, record, cluster)


class _CountsNamedPartitions(KafkaProducer):
    """The partitioner is asked also for a record that names its partition."""

    def _choose(self, topic: str, record: Record, cluster: Cluster) -> int | None:
        if record.partition is not None and self._choice.partitioner is not None:
            self._choice.partitioner.partition(topic, record.key, cluster)
        return super()._choose(topic, record, cluster)


class _ChecksSizeFirst(KafkaProducer):
    def _do_send(self, topic: str, record: Record, number: int, placed: list[int]) -> None:
        self._check_size(record)
        super()._do_send(topic, record, number, placed)


class _ChecksValueOnly(KafkaProducer):
    def _check_size(self, record: Record) -> None:
        super()._check_size(Record(None, record.value_bytes))


class _ForgetsMemory(KafkaProducer):
    """A record larger than the memory is not refused, and the pool finds out."""

    def _check_size(self, record: Record) -> None:
        if record.value_bytes > self._settings.max_request_size - 100:
            super()._check_size(record)


class _WakesForEveryRecord(KafkaProducer):
    def _do_send(self, topic: str, record: Record, number: int, placed: list[int]) -> None:
        before = self.wakeups
        super()._do_send(topic, record, number, placed)
        self.wakeups = max(self.wakeups, before + 1)


class _WakesForFullBatches(KafkaProducer):
    """A new batch with room left does not wake the sender."""

    def _append(
        self, topic: str, record: Record, partition: int | None, numbered: Numbered, cluster: Cluster
    ) -> Appended:
        appended = super()._append(topic, record, partition, numbered, cluster)
        return Appended(appended.partition, appended.batch_full, False, appended.bytes)


class _TimestampsNothing(KafkaProducer):
    """A record without a timestamp is of the beginning of time."""

    def _do_send(self, topic: str, record: Record, number: int, placed: list[int]) -> None:
        super()._do_send(
            topic, Record(record.key, record.value_bytes, record.partition, record.timestamp or 0), number, placed
        )


class _FlushDoesNothing(KafkaProducer):
    def flush(self) -> None:
        pass


class _FlushesForEver(KafkaProducer):
    def flush(self) -> None:
        super().flush()
        self.accumulator.begin_flush()


class _FlushEndsAtOnce(KafkaProducer):
    def flush(self) -> None:
        super().flush()
        if self.sender.flushes:
            self.accumulator.end_flush()
            self.sender.flushes.pop()


class _NumbersWhenAppended(KafkaProducer):
    """Sequences are given in ``send``, not when a batch is drained."""

    def _append(
        self, topic: str, record: Record, partition: int | None, numbered: Numbered, cluster: Cluster
    ) -> Appended:
        appended = super()._append(topic, record, partition, numbered, cluster)
        manager = self.sender.manager
        if appended.new_batch and manager.has_id:
            manager.number(self.accumulator.state.queue((topic, appended.partition))[-1], False)
        return appended


class _RetriesAtTheBack(KafkaProducer):
    """A batch that comes back goes behind those that wait."""

    def run(self) -> None:
        before = {batch: batch.attempts for _, queue in self.accumulator.state.queues() for batch in queue}
        super().run()
        for _, queue in self.accumulator.state.queues():
            _move_back(queue, [batch for batch in queue if batch.attempts and before.get(batch) != batch.attempts])


def _move_back(queue: Queue, returned: list[Batch]) -> None:
    for batch in returned:
        queue.remove(batch)
        queue.append(batch)


class _AlwaysMutes(KafkaProducer):
    """A partition waits for the answer to its batch, however many requests may be in flight."""

    def __init__(
        self, version: str | Release, settings: ProducerSettings, metadata: Metadata, draws: StepDraws | None = None
    ) -> None:
        super().__init__(version, settings, metadata, draws)
        self.sender._mutes_partitions = True  # noqa: SLF001


class _KeepsMemoryOfTheFailed(KafkaProducer):
    """The memory of what failed is not given back."""

    def run(self) -> None:
        before = self.accumulator.state.pool.available
        super().run()
        failed = any(isinstance(how, str) for _, how in self.sender.ended)
        lost = self.accumulator.state.pool.available - before
        if failed and lost > 0:
            self.accumulator.state.pool.allocate(lost)


class _IgnoresKeys(KafkaProducer):
    def _choose(self, topic: str, record: Record, cluster: Cluster) -> int | None:
        return super()._choose(topic, Record(None, record.value_bytes, record.partition), cluster)


class _AvailableOnly(KafkaProducer):
    """A key's partition is one of those that have a leader."""

    def _choose(self, topic: str, record: Record, cluster: Cluster) -> int | None:
        if record.key is not None and record.partition is None:
            cluster = Cluster(cluster.nodes, cluster.available)
        return super()._choose(topic, record, cluster)


class _EmptyKeyIsNone(KafkaProducer):
    def _choose(self, topic: str, record: Record, cluster: Cluster) -> int | None:
        return super()._choose(topic, Record(record.key or None, record.value_bytes, record.partition), cluster)


def _made(kind: type[KafkaProducer]) -> Ask:
    return partial(ask_producer, kind)


def _otherwise(record: type[Behaviour] = KafkaProducerBehaviour, **values: Any) -> Ask:
    """A producer that differs in this from its release."""

    def ask(question: ProducerSendQuestion, release: Release) -> Answer:
        with overridden(record, **values):
            return RULE.ask(question, release)

    return ask


_MISTAKES: tuple[tuple[str, str, Ask, str], ...] = (
    ("new-batch-unannounced", "the partitioner is asked again without onNewBatch", _made(_NeverAnnounces), "2.8.2"),
    ("new-batch-not-asked-again", "after onNewBatch the record keeps its partition", _made(_NeverAsksAgain), "2.8.2"),
    ("keyed-batch-unannounced", "a batch of a keyed record is not announced", _made(_AnnouncesItsOwnOnly), "2.8.2"),
    ("round-batch-unannounced", "a named partition is nothing to remember", _made(_AnnouncesItsOwnOnly), "3.9.2"),
    ("key-before-partition", "a key counts more than a partition that is named", _made(_KeyBeforePartition), "4.4.0"),
    ("named-partitions-count", "the partitioner is asked for named partitions", _made(_CountsNamedPartitions), "4.4.0"),
    ("size-before-partition", "a record that is too large is not counted", _made(_ChecksSizeFirst), "2.3.1"),
    ("size-of-the-value", "the key does not count to the size of a record", _made(_ChecksValueOnly), "4.4.0"),
    ("size-beyond-memory", "buffer.memory does not limit a record", _made(_ForgetsMemory), "4.4.0"),
    ("wakes-always", "every record wakes the sender", _made(_WakesForEveryRecord), "4.4.0"),
    ("wakes-when-full", "a new batch does not wake the sender", _made(_WakesForFullBatches), "4.4.0"),
    ("timestamp-zero", "a record without a timestamp has 0", _made(_TimestampsNothing), "4.4.0"),
    ("flush-does-nothing", "a flush waits for linger.ms", _made(_FlushDoesNothing), "4.4.0"),
    ("flush-for-ever", "after a flush nothing lingers any more", _made(_FlushesForEver), "4.4.0"),
    ("flush-does-not-wait", "a flush counts for what is called in it only", _made(_FlushEndsAtOnce), "4.4.0"),
    ("numbered-in-send", "sequences are given when a batch begins", _made(_NumbersWhenAppended), "4.4.0"),
    ("retried-at-the-back", "a batch that comes back is sent last", _made(_RetriesAtTheBack), "2.8.2"),
    ("send-mutes-always", "a partition waits for every answer", _made(_AlwaysMutes), "4.4.0"),
    ("memory-of-the-failed", "memory of failed batches is lost", _made(_KeepsMemoryOfTheFailed), "4.4.0"),
    ("send-ignores-keys", "keys are not looked at", _made(_IgnoresKeys), "4.4.0"),
    ("keys-of-the-available", "a key's partition has a leader", _made(_AvailableOnly), "4.4.0"),
    ("send-empty-key-is-none", "the empty key is no key", _made(_EmptyKeyIsNone), "4.4.0"),
    ("send-after-a-fatal-error", "a failed producer takes records", _otherwise(throws_after_fatal_error=False), "4.4.0"),
    ("flush-leaves-pieces", "a flush does not wait for pieces", _otherwise(flush_awaits_pieces=False), "4.4.0"),
    ("no-linger-by-default", "linger.ms is 0 by default",
     _otherwise(ProducerDefaultsBehaviour, default_linger_ms=0), "4.4.0"),
    ("any-delivery-timeout", "a delivery timeout may be short",
     _otherwise(ProducerDefaultsBehaviour, has_delivery_timeout=False), "2.3.1"),
    ("partition-at-once", "no named partition is waited for", _otherwise(waits_for_named_partition=False), "0.11.0.3"),
)  # fmt: skip

MUTANTS = tuple(
    Mutant(slug, RULE.slug, description, ask, parse_release(release)) for slug, description, ask, release in _MISTAKES
)
