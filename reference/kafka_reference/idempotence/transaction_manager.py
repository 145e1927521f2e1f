"""The transaction manager of an idempotent producer: its id and epoch, its state, and what the end of a batch changes.

**State.** INITIALIZING while it requests a producer id, READY once it has one, UNINITIALIZED when it has none and does not
ask. A producer that must not ask is in FATAL_ERROR for good; since 3.6.0, if it is not authorized, in ABORTABLE_ERROR: the
sender aborts all batches, and asks again (KAFKA-13668). Up to 2.4.x the state is UNINITIALIZED or FATAL_ERROR.

**A request for an id** that fails with a retriable error is repeated; from 2.5.0 to 3.3.1 only after
COORDINATOR_LOAD_IN_PROGRESS, and other errors are fatal (KAFKA-14417).

**A failed batch** (:meth:`TransactionManager.failed`) leaves the batches in flight. If the broker refused it with retries
left, or the error is an OutOfOrderSequenceException, another epoch begins, and its partition restarts. Exceptions:

- since 2.6.0, not after a fatal error;
- 2.5.0 to 2.7.0, not for a batch of another id or epoch;
- up to 2.4.x there is no other epoch: an OutOfOrderSequenceException of a batch of this producer resets it, which is
  decided by the id alone up to 2.2.x, and a refused batch decreases the sequences behind it.

**Another epoch** (:meth:`TransactionManager.bump`, since 2.5.0) begins with the next round of the sender. Partitions that
asked for it are numbered again from 0, with all that is in flight; others keep their old epoch until nothing of theirs is in
flight. After epoch 32767 the producer loses its id instead, and batches in flight are numbered with id -1 and epoch -1; they
keep these when it has an id again, cannot be sent, and block their partition and its node.

**Unresolved partitions** (:meth:`TransactionManager.resolve`) are resolved when nothing of them is in flight and their next
sequence follows the last acknowledged one. Otherwise another epoch begins; up to 2.4.x the producer is reset.

Java source mirrored: ``clients/src/main/java/org/apache/kafka/clients/producer/internals/TransactionManager.java`` without a
transactional id, since 0.11.0.0; ``Sender.java#failBatch`` up to 2.2.x.
"""

from __future__ import annotations

import enum

from kafka_reference.errors import (
    ConcurrentModificationException,
    IllegalStateException,
    KafkaException,
    NullPointerException,
)
from kafka_reference.idempotence.behaviour import PartitionRestart, UnknownPartition
from kafka_reference.idempotence.errors import FATAL, OUT_OF_ORDER, ErrorKind, ProduceError
from kafka_reference.idempotence.sequence_order import Sequenced
from kafka_reference.idempotence.sequence_tracker import NO_PRODUCER, Producer, SequenceTracker
from kafka_reference.idempotence.sequences import added
from kafka_reference.java.hash_maps import partition_hash, table_order
from kafka_reference.releases import Release

__all__ = ["LAST_EPOCH", "ManagerState", "NoTransactionManager", "TransactionManager"]

LAST_EPOCH = 2**15 - 1
_UNSUPPORTED = "UnsupportedVersionException"
_UNAUTHORIZED = frozenset({"ClusterAuthorizationException", "TransactionalIdAuthorizationException"})


class ManagerState(enum.Enum):
    """The state of a transaction manager. Mirrors ``TransactionManager.State``, as far as no transaction begins."""

    UNINITIALIZED = "UNINITIALIZED"
    INITIALIZING = "INITIALIZING"
    READY = "READY"
    ABORTABLE_ERROR = "ABORTABLE_ERROR"
    FATAL_ERROR = "FATAL_ERROR"

    @property
    def is_error(self) -> bool:
        """Whether the producer has failed. Mirrors ``hasError``."""
        return self in {ManagerState.ABORTABLE_ERROR, ManagerState.FATAL_ERROR}


class TransactionManager(SequenceTracker):
    """The manager of a producer that has no id yet. ``last_error`` is an exception's name."""

    def __init__(self, release: Release) -> None:
        super().__init__(release, Producer(None))
        self.state = ManagerState.UNINITIALIZED
        self.last_error: str | None = None
        self.bump_required = False
        self._to_restart: dict[tuple[str, int], None] = {}

    @property
    def has_id(self) -> bool:
        """Whether it has a producer id. Mirrors ``hasProducerId``."""
        return self.current[0] >= 0

    @property
    def is_fatal(self) -> bool:
        """Whether it has failed for good. Mirrors ``hasFatalError``."""
        return self.state is ManagerState.FATAL_ERROR

    def is_own(self, batch: Sequenced) -> bool:
        """Return whether a sequence error of the batch is about this producer. Since 2.5.0 it always is."""
        if self.behaviour.bumps_epoch:
            return True
        return self._has_own_id(batch) if self.behaviour.compares_ids_only else not self.is_stale(batch)

    def _has_own_id(self, batch: Sequenced) -> bool:
        return (batch.producer or NO_PRODUCER)[0] == self.current[0]

    def begin_initializing(self) -> bool:
        """Begin to request an id; return whether it had not begun before."""
        begins = self.state is not ManagerState.INITIALIZING
        if self.behaviour.bumps_epoch:
            self.state = ManagerState.INITIALIZING
        return begins

    def handle_id_response(self, error: ProduceError, producer_id: int, epoch: int) -> bool:
        """Take the id, or fail; return whether to repeat the request. Mirrors ``InitProducerIdHandler``.

        Raises KafkaException or IllegalStateException if it failed while the id was requested, since 2.5.0.
        """
        if error.kind is ErrorKind.NONE:
            self.take_id(producer_id, epoch)
            return False
        only_loading = self.behaviour.retries_id_only_while_loading
        if error.name == "COORDINATOR_LOAD_IN_PROGRESS" if only_loading else error.kind is ErrorKind.RETRIABLE:
            return True
        self.refuse_id(error.exception)
        return False

    def take_id(self, producer_id: int, epoch: int) -> None:
        """Take an id and an epoch. Raises as ``handle_id_response``. Mirrors ``setProducerIdAndEpoch``."""
        self.current = (producer_id, epoch)
        if self.behaviour.bumps_epoch:
            self._must_be_initializing()
            self.state, self.last_error = ManagerState.READY, None

    def refuse_id(self, exception: str) -> None:
        """Get no id, for this exception. Raises as ``handle_id_response``."""
        if not self.behaviour.bumps_epoch:
            self.fail_for_good(exception)
        elif exception in _UNAUTHORIZED and self.behaviour.unauthorized_is_abortable:
            self.last_error = exception
            self._must_be_initializing()
            self.state = ManagerState.ABORTABLE_ERROR
        else:
            self.fail_for_good(exception if exception in _UNAUTHORIZED else "KafkaException")

    def _must_be_initializing(self) -> None:
        if self.state is not ManagerState.INITIALIZING:
            raise IllegalStateException if self.behaviour.late_id_throws_illegal_state else KafkaException

    def uninitialize(self) -> None:
        """Begin again after an abortable error. Mirrors ``transitionToUninitialized``."""
        self.state, self.last_error = ManagerState.UNINITIALIZED, None

    def fail_for_good(self, exception: str) -> None:
        """Fail for good. Mirrors ``transitionToFatalError``."""
        self.state, self.last_error = ManagerState.FATAL_ERROR, exception

    def completed(self, batch: Sequenced, base_offset: int) -> None:
        """Note that a batch is in the log from this offset on, -1 for unknown. Raises IllegalStateException.

        Mirrors ``handleCompletedBatch``, up to 2.2.x ``Sender.completeBatch``.
        """
        ignored = self.behaviour.ignores_stale_batches and self.is_stale(batch)
        self.acknowledge(batch)
        if self.behaviour.tracks_in_flight_batches and not ignored and base_offset != -1:
            partition = self._known(batch.topic_partition)
            partition.last_offset = max(partition.last_offset, base_offset + batch.record_count - 1)

    def failed(self, batch: Sequenced, exception: str, refused: bool) -> None:
        """Note that a batch failed; ``refused``: by the broker, with retries left. Raises IllegalStateException.

        Mirrors ``handleFailedBatch``, up to 2.2.x ``Sender.failBatch``.
        """
        behaviour = self.behaviour
        if exception in FATAL and (exception != _UNSUPPORTED or behaviour.unsupported_version_is_fatal):
            self.fail_for_good(exception)
        if not behaviour.bumps_epoch:
            if exception in OUT_OF_ORDER and self.is_own(batch):
                self._reset()
            else:
                self.fail(batch, refused)
            return
        self.release(batch)
        ends_here = (behaviour.fatal_error_does_not_bump and self.is_fatal) or (
            behaviour.stale_failure_does_not_bump and self.is_stale(batch)
        )
        if not ends_here and (refused or exception in OUT_OF_ORDER):
            self.request_bump(batch.topic_partition)

    def request_bump(self, topic_partition: tuple[str, int]) -> None:
        """Begin another epoch with the next round, and restart this partition in it.

        Mirrors ``requestIdempotentEpochBumpForPartition``.
        """
        self.bump_required = True
        self._to_restart[topic_partition] = None

    def bump_if_required(self) -> None:
        """Begin another epoch if one was requested. Raises as ``restart``.

        Mirrors ``bumpIdempotentEpochAndResetIdIfNeeded``.
        """
        if self.bump_required:
            self.bump()

    def bump(self) -> None:
        """Begin another epoch; after the last one, lose the id. Raises as ``restart``.

        Mirrors ``bumpIdempotentProducerEpoch``.
        """
        producer_id, epoch = self.current
        if epoch == LAST_EPOCH:
            self.current = NO_PRODUCER
            self.uninitialize()
        else:
            self.current = (producer_id, epoch + 1)
        for topic_partition in table_order(self._to_restart, partition_hash, 16):
            self.restart(topic_partition)
            self.unresolved.pop(topic_partition, None)
        self._to_restart.clear()
        self.bump_required = False

    def restart(self, topic_partition: tuple[str, int]) -> None:
        """Number the batches in flight from 0 on, since 2.5.0 with the current id and epoch.

        Raises IllegalStateException, and up to 2.2.x NullPointerException, for a forgotten partition. Mirrors
        ``startSequencesAtBeginning``.
        """
        behaviour = self.behaviour
        partition, sequence = self._existing(topic_partition), 0
        cannot_restart = behaviour.unknown_partition is UnknownPartition.CANNOT_RESTART
        if cannot_restart and not partition.was_in_flight:
            raise NullPointerException
        for batch in partition.in_flight:
            batch.renumber(self.current if behaviour.bumps_epoch else batch.producer or NO_PRODUCER, sequence)
            sequence = added(sequence, batch.record_count)
        partition.in_flight.reorder()
        if cannot_restart and partition.next is None and sequence:
            raise IllegalStateException
        partition.next, partition.last_acknowledged = sequence, -1
        if behaviour.partition_restart is PartitionRestart.DRAINED:
            partition.producer = self.current

    def resolve(self) -> None:
        """Resolve partitions.

        Raises ConcurrentModificationException in 1.0.x if a partition is resolved and another unresolved one follows.
        Mirrors ``maybeResolveSequences``, up to 2.4.x ``shouldResetProducerStateAfterResolvingSequences``.
        """
        order = list(table_order(self.unresolved, partition_hash, 16))
        for topic_partition in order:
            if self.has_in_flight(topic_partition):
                continue
            partition = self._known(topic_partition)
            partition.next = partition.next or 0
            if not self.is_next(topic_partition, partition.next):
                if not self.behaviour.bumps_epoch:
                    self._reset()
                    return
                self.request_bump(topic_partition)
            del self.unresolved[topic_partition]
            if self.behaviour.resolved_partition_breaks_iteration and topic_partition != order[-1]:
                raise ConcurrentModificationException

    def is_next(self, topic_partition: tuple[str, int], sequence: int) -> bool:
        """Return whether this sequence follows the last acknowledged one. Mirrors ``isNextSequence``."""
        known = self.partitions.get(topic_partition)
        return added(sequence, 1 if known is None else -known.last_acknowledged) == 1

    def last_offset(self, topic_partition: tuple[str, int]) -> int:
        """Return the last acknowledged offset, -1 for none. Mirrors ``lastAckedOffset``."""
        known = self.partitions.get(topic_partition)
        return -1 if known is None else known.last_offset


class NoTransactionManager(TransactionManager):
    """The manager of a producer that is not idempotent: every batch may go, and no end of a batch changes anything."""

    is_idempotent = False
    has_id = True
    is_fatal = False

    def is_stale(self, batch: Sequenced) -> bool:  # noqa: ARG002 (no batch has a producer)
        """Return False."""
        return False

    def is_own(self, batch: Sequenced) -> bool:  # noqa: ARG002 (no batch has a producer)
        """Return False: sequence errors are errors like any other."""
        return False

    def retry(self, batch: Sequenced) -> None:
        """Change nothing."""

    def release(self, batch: Sequenced) -> None:
        """Change nothing."""

    def completed(self, batch: Sequenced, base_offset: int) -> None:
        """Change nothing."""

    def failed(self, batch: Sequenced, exception: str, refused: bool) -> None:
        """Change nothing."""

    def mark_unresolved(self, batch: Sequenced) -> None:
        """Change nothing."""
