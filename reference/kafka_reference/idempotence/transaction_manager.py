"""TransactionManager of an idempotent producer: what it does to the sequences when batches end, and when it gives up.

**State.** To 2.4.x it is UNINITIALIZED for good, or in FATAL_ERROR, which nobody leaves. Since 2.5.0 it is INITIALIZING
while it asks for a producer id, and READY once it has one. Who may not ask is in FATAL_ERROR to 3.5.x, and since 3.6.0 in
ABORTABLE_ERROR: the sender fails what there is, and asks anew. A retriable error makes it ask again; but from 2.5.0 to
3.3.1 only COORDINATOR_LOAD_IN_PROGRESS does, and any other is fatal (KAFKA-14417).

**A batch that failed** (``failed``), besides being in flight no longer:

============= ========================================================================================================
0.11 – 2.4    An OutOfOrderSequenceException, of a batch of this producer, resets the producer: it loses its id, and
              forgets all partitions. To 2.2.x "of this producer" goes by the id alone, and a batch of another one may
              still number down its partition. In 2.3 and 2.4 a batch of another id or epoch changes nothing at all.
1.0 – 2.4     If it was refused with retries left, those behind it are numbered down (see ``client``).
2.5 on        Either of these asks for another epoch, and for the partition to begin anew. To 2.7.0 not for a batch of
              another id or epoch.
2.6 on        Nothing is asked for any more once the error was fatal.
============= ========================================================================================================

**Another epoch** (``bump``, since 2.5.0) comes with the next round of the sender. Partitions that asked for it are
numbered anew from 0, all that is in flight included; others go on with their old epoch until nothing of theirs is in
flight. After epoch 32767 the producer loses its id instead, partitions are numbered anew *as of nobody*, and those in
flight stay so when it has an id again: they cannot be sent, and hold up their partition and its node.

**Unresolved** partitions (``resolve``) are looked at in every round, once nothing of them is in flight. If their next
sequence follows the last one acknowledged they are resolved. If not, to 2.4.x the producer is reset, and since 2.5.0
they ask for another epoch.

Java source mirrored: ``TransactionManager``, 0.11.0.0 to 4.4.0, and to 2.2.x ``Sender.failBatch``.
"""

from __future__ import annotations

from kafka_reference.errors import IllegalStateException, KafkaException, NullPointerException
from kafka_reference.idempotence.errors import FATAL, OUT_OF_ORDER
from kafka_reference.idempotence.in_flight import Sequenced, in_flight
from kafka_reference.idempotence.sequence_tracker import (
    BEGINS_ANEW_WHEN_DRAINED,
    FORGETS,
    IGNORES_STRANGERS,
    TRACKS,
    Partition,
    Producer,
    ProducerState,
)
from kafka_reference.idempotence.sequences import added
from kafka_reference.java.hash_maps import partition_hash, table_order
from kafka_reference.releases import Release, since

__all__ = ["BUMPS", "TransactionManager"]

BUMPS = since("2.5.0")
TELLS_OF_ITS_FAILURES = since("0.11.0.0", until="2.2.99")
TRIPS_OVER_THE_FORGOTTEN = since("1.0.0", until="2.2.99")
KNOWS_STRANGERS = since("2.5.0", until="2.7.0")
ENDS_WITH_FATAL = since("2.6.0")
ASKS_ANEW = since("3.6.0")
ASKS_ONCE = since("2.5.0", until="3.3.1")
SAYS_ILLEGAL_STATE = since("3.1.1")
UNAUTHORIZED = frozenset({"ClusterAuthorizationException", "TransactionalIdAuthorizationException"})
_LAST_EPOCH = 2**15 - 1
_NOBODY = (-1, -1)


class TransactionManager(ProducerState):
    """The manager of a producer that has no id yet. ``last_error`` is an exception's name."""

    def __init__(self, at: Release) -> None:
        super().__init__(at, Producer(None))
        self.state = "UNINITIALIZED"
        self.last_error: str | None = None
        self.bump_required = False
        self._to_restart: dict[tuple[str, int], None] = {}

    @property
    def has_id(self) -> bool:
        """Whether it has a producer id. Mirrors ``hasProducerId``."""
        return self.current[0] >= 0

    @property
    def is_fatal(self) -> bool:
        """Whether it must not go on. Mirrors ``hasFatalError``."""
        return self.state == "FATAL_ERROR"

    def take_id(self, producer_id: int, epoch: int) -> None:
        """It was told who it is. Raises KafkaException, IllegalStateException: since 2.5.0 if it has failed meanwhile.

        Mirrors ``setProducerIdAndEpoch``, and since 2.5.0 ``InitProducerIdHandler``.
        """
        self.current = (producer_id, epoch)
        if self._at in BUMPS:
            self._must_be_initializing()
            self.state, self.last_error = "READY", None

    def _must_be_initializing(self) -> None:
        if self.state != "INITIALIZING":
            raise IllegalStateException if self._at in SAYS_ILLEGAL_STATE else KafkaException

    def asks_again(self, retriable: bool, is_loading: bool) -> bool:
        """Whether it asks for an id again, after this error. Mirrors a part of ``InitProducerIdHandler``."""
        return is_loading if self._at in ASKS_ONCE else retriable

    def begin(self, of: tuple[str, int], next_sequence: int) -> None:
        """So many records were sent to this partition, and acknowledged."""
        last = next_sequence - 1 if self._at in TRACKS else -1
        self.partitions[of] = Partition(in_flight(self._at), next_sequence, last, self.current)

    def be_refused_an_id(self, exception: str) -> None:
        """A broker gives it no id, and it does not ask again. Raises IllegalStateException, as ``take_id``.

        Mirrors ``InitProducerIdHandler``.
        """
        if self._at not in BUMPS:
            self.fail_for_good(exception)
        elif exception in UNAUTHORIZED and self._at in ASKS_ANEW:
            self.last_error = exception
            self._must_be_initializing()
            self.state, self.last_error = "ABORTABLE_ERROR", exception
        else:
            self.fail_for_good(exception if exception in UNAUTHORIZED else "KafkaException")

    def start_again(self) -> None:
        """It was refused an id, and everything it held has failed. Mirrors ``transitionToUninitialized``."""
        self.state, self.last_error = "UNINITIALIZED", None

    def fail_for_good(self, exception: str) -> None:
        """It must not go on. Mirrors ``transitionToFatalError``."""
        self.state, self.last_error = "FATAL_ERROR", exception

    def completed(self, batch: Sequenced, base_offset: int) -> None:
        """A batch is in the log, from this offset on, -1 for unknown. Raises IllegalStateException.

        Mirrors ``handleCompletedBatch``; to 2.2.x ``Sender.completeBatch``.
        """
        ignored = self._at not in TRACKS or (self._at in IGNORES_STRANGERS and batch.producer != self.current)
        self.acknowledge(batch)
        if not ignored and base_offset != -1:
            partition = self._known(batch.topic_partition)
            partition.last_offset = max(partition.last_offset, base_offset + batch.record_count - 1)

    def failed(self, batch: Sequenced, exception: str, adjust: bool) -> None:
        """A batch failed; ``adjust``: the broker refused it for good. Raises IllegalStateException.

        Mirrors ``handleFailedBatch``; to 2.2.x ``Sender.failBatch``.
        """
        if self._at in TELLS_OF_ITS_FAILURES:
            self._failed_before_23(batch, exception, adjust)
            return
        if exception in FATAL:
            self.fail_for_good(exception)
        if self._at in FORGETS:
            if batch.producer == self.current and exception in OUT_OF_ORDER:
                self._reset()
            else:
                self.fail(batch, adjust)
            return
        self.release(batch)
        if (self.is_fatal and self._at in ENDS_WITH_FATAL) or (
            self._at in KNOWS_STRANGERS and batch.producer != self.current
        ):
            return
        if adjust or exception in OUT_OF_ORDER:
            self.request_bump(batch.topic_partition)

    def _failed_before_23(self, batch: Sequenced, exception: str, adjust: bool) -> None:
        if exception in OUT_OF_ORDER and (batch.producer or _NOBODY)[0] == self.current[0]:
            self._reset()
        elif exception in FATAL:
            self.fail_for_good(exception)
        if self._at in TRACKS:
            self.fail(batch, adjust)

    def request_bump(self, of: tuple[str, int]) -> None:
        """Before anything more is sent, another epoch, and begin this partition anew. Mirrors ``requestEpochBump…``."""
        self.bump_required = True
        self._to_restart[of] = None

    def bump(self) -> None:
        """Be of the next epoch, or, after the last one, nobody. Raises IllegalStateException.

        Mirrors ``bumpIdempotentProducerEpoch``.
        """
        producer_id, epoch = self.current
        if epoch == _LAST_EPOCH:
            self.current, self.state, self.last_error = _NOBODY, "UNINITIALIZED", None
        else:
            self.current = (producer_id, epoch + 1)
        for of in table_order(self._to_restart, partition_hash, 16):
            self.restart(of)
            self.unresolved.pop(of, None)
        self._to_restart.clear()
        self.bump_required = False

    def restart(self, of: tuple[str, int]) -> None:
        """Number what is in flight from 0 on; since 2.5.0 as of who the producer is now.

        Raises IllegalStateException, and to 2.2.x NullPointerException, for a partition that was forgotten. Mirrors
        ``startSequencesAtBeginning``.
        """
        partition, sequence = self._partition(of), 0
        if self._at in TRIPS_OVER_THE_FORGOTTEN and not partition.was_in_flight:
            raise NullPointerException
        for batch in partition.in_flight:
            batch.renumber(self.current if self._at in BUMPS else batch.producer or _NOBODY, sequence)
            sequence = added(sequence, batch.record_count)
        partition.in_flight.renumbered()
        if self._at in TRIPS_OVER_THE_FORGOTTEN and partition.next is None and sequence:
            raise IllegalStateException
        partition.next, partition.last_acknowledged = sequence, -1
        if self._at in BEGINS_ANEW_WHEN_DRAINED:
            partition.producer = self.current

    def resolve(self) -> None:
        """Look at unresolved partitions. Mirrors ``maybeResolveSequences``, to 2.4.x ``resetProducerIdIfNeeded``."""
        for of in list(self.unresolved):
            if self.has_in_flight(of):
                continue
            partition = self._known(of)
            partition.next = partition.next or 0
            if not self.is_next(of, partition.next):
                if self._at in FORGETS:
                    self._reset()
                    return
                self.request_bump(of)
            del self.unresolved[of]

    def is_next(self, of: tuple[str, int], sequence: int) -> bool:
        """Whether this sequence follows the last one acknowledged. Mirrors ``isNextSequence``."""
        known = self.partitions.get(of)
        return added(sequence, 1 if known is None else -known.last_acknowledged) == 1

    def last_offset(self, of: tuple[str, int]) -> int:
        """The last offset acknowledged, -1 for none. Mirrors ``lastAckedOffset``."""
        known = self.partitions.get(of)
        return -1 if known is None else known.last_offset

    def _known(self, of: tuple[str, int]) -> Partition:
        return self.partitions.setdefault(of, Partition(in_flight(self._at)))
