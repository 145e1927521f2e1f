"""KafkaProducer: a record's way from ``send`` into a batch, and the rounds of the sender behind it.

**Send** (``doSend``), in this order:

1. A partition named in the record that the topic does not have is waited for (``max.block.ms``, here 0): TimeoutException,
   and the sender is woken. Up to 0.10.0.x the producer does not wait, and step 2 refuses it: IllegalArgumentException.
2. The partition is chosen: see ``partition_choice``.
3. A record that might take more than ``max.request.size`` or ``buffer.memory``, by its upper bound, is refused:
   RecordTooLargeException. The partitioner has counted it by then.
4. The record goes into a batch of the partition.
5. From 2.4.0 to 3.9.x, if the partition's last batch has no room and the producer has a partitioner, no batch is begun
   yet: ``onNewBatch`` is called (whatever chose the record's partition), the partitioner chooses again, and the record
   goes to that partition. So the first batch is closed for appends, also if the second partition is another one.
6. Since 3.1.1 an idempotent producer that has failed for good throws now, with the record in its batch.
7. The sender is woken if the batch is full, or not the only one of its queue, or new.

An exception that is an ApiException is returned with the future, and the record's callback is called with it; any other one
is thrown, and no callback is called.

**Flush** lets nothing linger until every batch that was incomplete when it was called is done. A batch that is split is
done; from 3.9.2, 4.0.2, 4.1.1 and 4.2.0 on its pieces are waited for too.

Java source mirrored: ``KafkaProducer.doSend``, ``waitOnMetadata``, ``ensureValidRecordSize``, ``flush``, every release;
``TransactionManager.maybeAddPartition``, since 3.1.1; ``RecordAccumulator.awaitFlushCompletion``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_reference.accumulator.accumulator import Appended, RecordAccumulator
from kafka_reference.accumulator.behaviour import MemoryRecordsBuilderBehaviour
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.accumulator.sizes import upper_bound
from kafka_reference.arguments import INT32, SETTINGS, checked, proven_by
from kafka_reference.errors import (
    BufferExhaustedException,
    InvalidProducerEpochException,
    JavaException,
    KafkaException,
    ProducerFencedException,
    RecordTooLargeException,
    TimeoutException,
)
from kafka_reference.idempotence.outcomes import Numbered
from kafka_reference.java.thread_local_random import Draws, draw_source
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.producer.behaviour import KafkaProducerBehaviour
from kafka_reference.producer.flushes import FlushableSender
from kafka_reference.producer.partition_choice import PartitionChoice
from kafka_reference.producer.settings import ProducerSettings, effective_settings
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["KafkaProducer", "Placement", "Record"]

_API_EXCEPTIONS = (
    BufferExhaustedException, InvalidProducerEpochException, ProducerFencedException, RecordTooLargeException,
    TimeoutException,
)  # fmt: skip


@checked(partition=INT32)
@dataclass(frozen=True, slots=True)
class Record:
    """A record to send: its serialized key, the bytes of its value, and the partition and timestamp (ms) it names.

    >>> Record(key=b"k", value_bytes=100)
    Record(key=b'k', value_bytes=100, partition=None, timestamp=None)
    """

    key: bytes | None = None
    value_bytes: int = 0
    partition: int | None = None
    timestamp: int | None = None


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the record of this number went, None for nowhere; the exception, if any, and whether the future has it.

    >>> KafkaProducer().send("unknown", Record(value_bytes=1))
    Placement(number=0, partition=None, exception='TimeoutException', returned=True)
    """

    number: int
    partition: int | None
    exception: str | None = None
    returned: bool = False


@checked(config=SETTINGS, version=proven_by("producer-send"))
class KafkaProducer:
    """A producer of release ``version``, and its sender.

    Nothing happens in the background: :meth:`run` is a round of the sender.
    ``config`` has its settings by Kafka's names, None for Kafka's defaults; ``draws`` gives the random int32 it uses, None
    random ones.

        >>> producer = KafkaProducer(config={"linger.ms": 0, "acks": "1"})
        >>> producer.send("t", Record(key=b"k", value_bytes=100)).partition
        0
        >>> producer.run()
        >>> producer.sender.sent
        [(0, [Sent(topic_partition=('t', 0), records=(0,), producer=(-1, -1), sequence=-1)])]

    ``sender`` shows what the last round did; ``wakeups`` counts how often ``send`` woke it. Records are numbered from 0, in
    the order of ``send``. Raises ConfigException, and NotInThisRelease for a partitioner that the release does not have.
    """

    def __init__(
        self,
        version: str | Release = NEWEST,
        config: ProducerSettings | Mapping[str, object] | None = None,
        metadata: Metadata | None = None,
        draws: Draws = None,
    ) -> None:
        self._release = parse_release(version)
        settings = config if isinstance(config, ProducerSettings) else ProducerSettings.of(config or {}, version)
        self._settings, self._metadata = settings, Metadata(self._release) if metadata is None else metadata
        self._behaviour = KafkaProducerBehaviour.of(self._release)
        self._sizes = MemoryRecordsBuilderBehaviour.of(self._release)
        source = draw_source(draws)
        self._choice = PartitionChoice(self._release, settings.partitioner, settings.ignore_keys, source)
        effective = effective_settings(settings, self._release)
        self.accumulator = RecordAccumulator(self._release, effective.accumulator, source)
        self.sender = FlushableSender(
            self._release,
            effective.sender,
            self.accumulator,
            self._metadata,
            effective.idempotent,
        )
        self._records, self.wakeups = 0, 0

    def send(self, topic: str, record: Record) -> Placement:
        """Send a record. Mirrors ``send``: what Java throws or returns with the future is in the Placement."""
        number, self._records = self._records, self._records + 1
        placed: list[int] = []
        try:
            self._do_send(topic, record, number, placed)
        except _API_EXCEPTIONS as error:
            return Placement(number, placed[0] if placed else None, error.java_name, returned=True)
        except JavaException as error:
            return Placement(number, placed[0] if placed else None, error.java_name)
        return Placement(number, placed[0])

    def flush(self) -> None:
        """Call ``flush``, and go on while it waits."""
        self.sender.begin_flush()

    def run(self) -> None:
        """A round of the sender. Raises as :meth:`Sender.run`."""
        try:
            self.sender.run()
        finally:
            self.sender.end_flushes()

    def _do_send(self, topic: str, record: Record, number: int, placed: list[int]) -> None:
        cluster = self._metadata.topic_cluster(topic)
        self._wait_for_partition(record, len(cluster.partitions))
        partition = self._choose(topic, record, cluster)
        self._check_size(record)
        timestamp = self.sender.now_ms if record.timestamp is None else record.timestamp
        key_bytes = None if record.key is None else len(record.key)
        numbered = Numbered(timestamp, key_bytes, record.value_bytes, (), number)
        appended = self._append(topic, record, partition, numbered, cluster)
        placed.append(appended.partition)
        self._fail_in_an_error_state()
        if appended.batch_full or appended.new_batch:
            self.wakeups += 1

    def _wait_for_partition(self, record: Record, partitions: int) -> None:
        """Mirrors ``waitOnMetadata`` with no time to wait."""
        if self._behaviour.waits_for_named_partition and (record.partition or 0) >= partitions:
            self.wakeups += 1
            raise TimeoutException

    def _choose(self, topic: str, record: Record, cluster: Cluster) -> int | None:
        return self._choice.choose(topic, record.partition, record.key, cluster)

    def _check_size(self, record: Record) -> None:
        """Mirrors ``ensureValidRecordSize``."""
        key_bytes = None if record.key is None else len(record.key)
        size = upper_bound(self._sizes, self._sizes.newest_magic, False, key_bytes, record.value_bytes)
        if size > min(self._settings.max_request_size, self._settings.buffer_memory):
            raise RecordTooLargeException

    def _append(
        self, topic: str, record: Record, partition: int | None, numbered: Numbered, cluster: Cluster
    ) -> Appended:
        partitioner = self._choice.partitioner
        if partitioner is None or not self._behaviour.announces_new_batch or partition is None:
            return self.accumulator.append(topic, partition, numbered, self._metadata)
        appended = self.accumulator.append_to_open_batch(topic, partition, numbered)
        if appended is not None:
            return appended
        partitioner.on_new_batch(topic, cluster, partition)
        partition = self._choose(topic, record, cluster)
        return self.accumulator.append(topic, partition, numbered, self._metadata)

    def _fail_in_an_error_state(self) -> None:
        """Mirrors ``TransactionManager.maybeAddPartition``, since 3.1.1."""
        manager = self.sender.manager
        if self._behaviour.throws_after_fatal_error and manager.state.is_error:
            raise _ERROR_STATE.get(manager.last_error or "", KafkaException)


_ERROR_STATE: dict[str, type[JavaException]] = {
    error.java_name: error for error in (ProducerFencedException, InvalidProducerEpochException)
}
