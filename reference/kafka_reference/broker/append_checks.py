"""Check whether a batch or a marker may be appended.

The origin decides what is checked. A *client's* batch needs a current epoch and the next sequence; a *coordinator's*
batch (offsets in a transaction) needs a current epoch; a batch that arrives by *replication* was checked by the leader and
is not checked again (0.11.0.0 and 0.11.0.1 check it like a client's, and no batch without an epoch). A client's batch is
decided by the table of :mod:`.append_table`, whose rows are fields of :class:`~.behaviour.ProducerStateBehaviour`.

In 1.0.0 and 1.0.1 a batch that ends below the oldest remembered one is a duplicate, even if it is the next one after the
sequences wrapped; so is one that equals any remembered batch.

While a transaction is verified (since 3.6.0), a client's batch may not start above the lowest sequence that waits for the
verification. Since 4.1.0, if the client bumps its epoch with each transaction and no batch of it is remembered, its batch
has to start at 0. Both checks come before the table, after the epoch.

A marker may not have an older epoch. Under transaction version 2 (since 4.2.0, KAFKA-19446) it needs a newer one, except a
retry: the same epoch and no open transaction (KAFKA-19999); and, since 4.3.0, the highest epoch, 32767 (KAFKA-20090). The
coordinator epoch may not be older either. Up to 2.4.0 markers that arrive by replication are checked too (KAFKA-9144).

Java source mirrored: ``ProducerAppendInfo.checkProducerEpoch``, ``checkSequence``, ``checkCoordinatorEpoch`` and
``appendEndTxnMarker``, since 0.11.0.0.
"""

from __future__ import annotations

from enum import Enum, unique

from kafka_reference.broker.append_table import EpochRelation, SequenceRelation, Verdict, Verdicts
from kafka_reference.broker.batches import NO_EPOCH, NO_SEQUENCE, DataBatch, Marker
from kafka_reference.broker.behaviour import ProducerStateBehaviour
from kafka_reference.broker.entries import ProducerStateEntry
from kafka_reference.broker.verification import VerificationStateEntry
from kafka_reference.errors import (
    DuplicateSequenceException,
    IllegalArgumentException,
    OutOfOrderSequenceException,
    QuestionError,
    TransactionCoordinatorFencedException,
)
from kafka_reference.idempotence.sequences import LAST_SEQUENCE

__all__ = [
    "Origin", "UnreachableCombination", "append_verdict", "check_data", "check_marker", "epoch_relation",
    "sequence_relation",
]  # fmt: skip

HIGHEST_EPOCH = 2**15 - 1
_VERSION_WITH_BUMPED_EPOCH = 2


@unique
class Origin(Enum):
    """The writer of a batch.

    >>> Origin("client")
    <Origin.CLIENT: 'client'>
    """

    CLIENT = "client"
    COORDINATOR = "coordinator"
    REPLICATION = "replication"


class UnreachableCombination(QuestionError):
    """The table was asked about two relations that no batch has at once."""


def append_verdict(behaviour: ProducerStateBehaviour, epoch: EpochRelation, sequence: SequenceRelation) -> Verdict:
    """Return the cell of the table for these relations. Raises UnreachableCombination where no batch can have both."""
    row: Verdicts = getattr(behaviour, epoch.value)
    verdict = row[sequence]
    if verdict is Verdict.UNREACHABLE:
        raise UnreachableCombination(f"no batch is both {epoch.value} and {sequence.value}: ask about another cell")
    return verdict


def epoch_relation(epoch: int, updated: ProducerStateEntry, current: ProducerStateEntry) -> EpochRelation:
    """Return how ``epoch`` relates to the entry.

    ``updated`` is the entry as the request has changed it so far, ``current`` the entry before the request.
    """
    if epoch < updated.epoch:
        return EpochRelation.OLDER
    if epoch == updated.epoch:
        return EpochRelation.STARTED_IN_REQUEST if current.epoch == NO_EPOCH else EpochRelation.CURRENT
    return EpochRelation.UNKNOWN_PRODUCER if updated.epoch == NO_EPOCH else EpochRelation.NEWER


def sequence_relation(
    batch: DataBatch, updated: ProducerStateEntry, current: ProducerStateEntry
) -> SequenceRelation:  # fmt: skip
    """Return how the first sequence of ``batch`` relates to the last one appended under its epoch."""
    entry = next((one for one in (updated, current) if one.batches and one.epoch == batch.epoch), None)
    if entry is None or batch.epoch != updated.epoch:
        return SequenceRelation.NONZERO_START if batch.first_sequence else SequenceRelation.NEXT
    last = entry.batches[-1]
    known = last.first_sequence if entry.behaviour.marker_replaces_batch else last.last_sequence
    if known == NO_SEQUENCE and batch.first_sequence != 0:
        return SequenceRelation.NONZERO_START
    if (batch.first_sequence, batch.last_sequence) == (last.first_sequence, last.last_sequence):
        return SequenceRelation.REPEATED
    return SequenceRelation.NEXT if _is_next(last.last_sequence, batch.first_sequence) else SequenceRelation.GAP


def _is_next(last: int, first: int) -> bool:
    return first == last + 1 or (first == 0 and last == LAST_SEQUENCE)


def check_data(
    behaviour: ProducerStateBehaviour, batch: DataBatch, origin: Origin, updated: ProducerStateEntry,
    current: ProducerStateEntry, verification: VerificationStateEntry | None,
) -> None:  # fmt: skip
    """Raise the JavaException that refuses ``batch``, if any; see :func:`epoch_relation` for the two entries."""
    if origin is Origin.REPLICATION and not behaviour.replicated_batches_checked:
        return
    if batch.epoch == NO_EPOCH and behaviour.replicated_batches_checked:
        return
    epoch = epoch_relation(batch.epoch, updated, current)
    if epoch is not EpochRelation.OLDER:
        if origin is Origin.COORDINATOR:
            return
        if verification is not None:
            _check_verification(behaviour, batch, current, verification)
    sequence = sequence_relation(batch, updated, current)
    if behaviour.stale_sequence_is_duplicate and sequence is not SequenceRelation.NONZERO_START:
        _check_stale_sequence(batch, updated)
    append_verdict(behaviour, epoch, sequence).check()


def _check_stale_sequence(batch: DataBatch, updated: ProducerStateEntry) -> None:
    if batch.epoch != updated.epoch:
        return
    lowest = updated.batches[0].first_sequence if updated.batches else NO_SEQUENCE
    is_below = batch.last_sequence != 0 and lowest != LAST_SEQUENCE and batch.last_sequence < lowest
    if is_below or updated.find_duplicate(batch) is not None:
        raise DuplicateSequenceException


def _check_verification(
    behaviour: ProducerStateBehaviour, batch: DataBatch, current: ProducerStateEntry, verification: VerificationStateEntry
) -> None:  # fmt: skip
    bumps = behaviour.epoch_bump_starts_at_zero and verification.supports_epoch_bump
    if bumps and batch.first_sequence and not current.batches:
        raise OutOfOrderSequenceException
    if batch.first_sequence > verification.lowest_sequence:
        raise OutOfOrderSequenceException


def check_marker(
    behaviour: ProducerStateBehaviour, marker: Marker, origin: Origin, updated: ProducerStateEntry
) -> None:  # fmt: skip
    """Raise the JavaException that refuses ``marker``, if any."""
    trusted = origin is Origin.REPLICATION and not behaviour.replicated_markers_checked
    version = marker.transaction_version if behaviour.markers_need_bumped_epoch else 0
    if version == -1 and origin is not Origin.REPLICATION:
        raise IllegalArgumentException
    if trusted:
        return
    if _is_stale(behaviour, marker, version, updated):
        append_verdict(behaviour, EpochRelation.OLDER, SequenceRelation.NEXT).check()
    if marker.coordinator_epoch < updated.coordinator_epoch:
        raise TransactionCoordinatorFencedException


def _is_stale(behaviour: ProducerStateBehaviour, marker: Marker, version: int, updated: ProducerStateEntry) -> bool:
    if version < _VERSION_WITH_BUMPED_EPOCH or marker.epoch != updated.epoch:
        return marker.epoch < updated.epoch
    may_repeat = behaviour.marker_may_repeat_highest_epoch and marker.epoch == HIGHEST_EPOCH
    return updated.transaction is not None and not may_repeat
