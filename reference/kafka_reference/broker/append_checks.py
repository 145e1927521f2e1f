"""Whether a batch may be written: a decision table of two facts about it, by release.

Who writes decides what is looked at. A *client's* batch has to have a current epoch and the next sequence; one that a
*coordinator* writes (offsets in a transaction, and markers) has to have a current epoch; what comes by *replication* was
looked at by the leader, and is taken.

The epoch of a batch is, next to that of the producer's entry,

- ``OLDER``: somebody else has taken over;
- ``SAME``;
- ``NEWER``: a producer has taken over, or bumped its epoch;
- ``FIRST``: nothing is known of the producer, or nothing any more;
- ``BEGUN``: the same, yet nothing was known when the request came: its second batch, or a batch without an epoch.

Its first sequence is, next to the last one written under that epoch,

- ``NEXT``: one more; 0 after 2**31 - 1, and 0 if nothing was written under it;
- ``AGAIN``: the batch is the last one once more. That is only asked within a request: before, such a batch would have
  been found to be a duplicate;
- ``GAP``: any other, too high or too low: older duplicates too, if they are not remembered;
- ``LOST``: nothing was written under it, and the batch does not begin with 0. (In 0.11: the last batch began with none.)

In the table: ``.`` it may be written, ``o`` OutOfOrderSequence, ``u`` UnknownProducerId, ``d`` DuplicateSequenceNumber,
``f`` ProducerFenced, ``e`` InvalidProducerEpoch; ``-`` cannot be. What is not in the table raises NotInTheTable.

A transaction that is being verified (from 3.6.0 on) adds to this, for clients, before sequences are looked at: a batch may
not begin above the lowest sequence the verification has seen. From 4.1.0 on, where the client bumps its epoch with every
transaction, a batch after which nothing is remembered has to begin with 0.

Markers: their epoch may not be older; under transaction version 2, from 4.2.0 on, it has to be newer, but for a marker that
comes again (the same epoch, and no transaction is open) and, from 4.3.0 on, the highest epoch of all, 32767. The
coordinator's own epoch may not be older either. To 2.4.0 that held for markers that came by replication, too.

Java source mirrored: ``ProducerAppendInfo.checkProducerEpoch``, ``checkSequence``, ``checkCoordinatorEpoch``,
``appendEndTxnMarker``, 0.11.0.3 to 4.4.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, unique
from functools import lru_cache
from types import MappingProxyType

from kafka_reference.broker.batches import NO_EPOCH, NO_SEQUENCE, DataBatch, Marker
from kafka_reference.broker.entries import Entry
from kafka_reference.broker.eras import Era
from kafka_reference.broker.verification import Verification
from kafka_reference.errors import (
    DuplicateSequenceNumberException,
    IllegalArgumentException,
    InvalidProducerEpochException,
    JavaException,
    OutOfOrderSequenceException,
    ProducerFencedException,
    QuestionError,
    TransactionCoordinatorFencedException,
    UnknownProducerIdException,
)
from kafka_reference.releases import Release, Spans, since

__all__ = [
    "Epoch", "NotInTheTable", "Origin", "Sequence", "check_data", "check_marker", "decided", "epoch_of", "sequence_of",
    "table_of",
]  # fmt: skip

HIGHEST_EPOCH = 2**15 - 1
_BUMPS = 2


@unique
class Origin(Enum):
    """Who writes."""

    CLIENT = "client"
    COORDINATOR = "coordinator"
    REPLICATION = "replication"


@unique
class Epoch(Enum):
    """A batch's epoch next to that of its producer's entry."""

    OLDER = "older"
    SAME = "same"
    NEWER = "newer"
    FIRST = "first"
    BEGUN = "begun"


@unique
class Sequence(Enum):
    """A batch's first sequence next to the last one written under its epoch."""

    NEXT = "next"
    AGAIN = "again"
    GAP = "gap"
    LOST = "lost"


class NotInTheTable(QuestionError):
    """Two facts that cannot both hold."""


_VERDICTS: dict[str, type[JavaException] | None] = {
    ".": None,
    "o": OutOfOrderSequenceException,
    "u": UnknownProducerIdException,
    "d": DuplicateSequenceNumberException,
    "f": ProducerFencedException,
    "e": InvalidProducerEpochException,
}

# Columns: next, again, gap, lost.
_TABLES: tuple[tuple[Spans, str], ...] = (
    (since("0.11.0.2", until="0.11.9.9"), """
        older  f f f f
        first  . - - o
        newer  . - - o
        same   . d o o
        begun  . d o o
    """),
    (since("1.0.2", until="2.0.0"), """
        older  f f f f
        first  . - - u
        newer  . - - o
        same   . o o o
        begun  . o o o
    """),
    (since("2.0.1", until="2.4.9"), """
        older  f f f f
        first  . - - u
        newer  . - - o
        same   . o o u
        begun  . o o u
    """),
    (since("2.5.0", until="2.6.9"), """
        older  f f f f
        first  . - - .
        newer  . - - o
        same   . o o o
        begun  . . . .
    """),
    (since("2.7.0"), """
        older  e e e e
        first  . - - .
        newer  . - - o
        same   . o o o
        begun  . . . .
    """),
)  # fmt: skip

Table = Mapping[tuple[Epoch, Sequence], type[JavaException] | None]


@lru_cache(maxsize=128)
def table_of(at: Release) -> Table:
    """A release's table: what is raised, or None if the batch may be written."""
    text = next(text for spans, text in _TABLES if at in spans)
    rows = [line.split() for line in text.strip().splitlines()]
    return MappingProxyType(
        {
            (Epoch(row[0]), sequence): _VERDICTS[verdict]
            for row in rows
            for sequence, verdict in zip(Sequence, row[1:], strict=True)
            if verdict != "-"
        }
    )


def decided(at: Release, epoch: Epoch, sequence: Sequence) -> type[JavaException] | None:
    """What is raised for these two facts, or None. Raises NotInTheTable."""
    try:
        return table_of(at)[epoch, sequence]
    except KeyError:
        raise NotInTheTable(f"a batch cannot be both {epoch.value} and {sequence.value} in {at}") from None


def epoch_of(epoch: int, updated: Entry, before: Entry) -> Epoch:
    """The relation of ``epoch`` to the entry as this request has made it, and as it was before."""
    if epoch < updated.epoch:
        return Epoch.OLDER
    if epoch == updated.epoch:
        return Epoch.BEGUN if before.epoch == NO_EPOCH else Epoch.SAME
    return Epoch.FIRST if updated.epoch == NO_EPOCH else Epoch.NEWER


def sequence_of(batch: DataBatch, updated: Entry, before: Entry) -> Sequence:
    """The relation of a batch's first sequence to the last one under its epoch."""
    entry = next((one for one in (updated, before) if one.batches and one.epoch == batch.epoch), None)
    if entry is None or batch.epoch != updated.epoch:
        return Sequence.LOST if batch.first_sequence else Sequence.NEXT
    last = entry.batches[-1]
    known = last.first_sequence if entry.era.batches_kept == 1 else last.last_sequence
    if known == NO_SEQUENCE and batch.first_sequence != 0:
        return Sequence.LOST
    if (batch.first_sequence, batch.last_sequence) == (last.first_sequence, last.last_sequence):
        return Sequence.AGAIN
    return Sequence.NEXT if _is_next(last.last_sequence, batch.first_sequence) else Sequence.GAP


def _is_next(last: int, first: int) -> bool:
    return first == last + 1 or (first == 0 and last == 2**31 - 1)


def check_data(
    era: Era, batch: DataBatch, origin: Origin, updated: Entry, before: Entry, verified: Verification | None
) -> None:
    """Raises what the batch may not be written for."""
    epoch = epoch_of(batch.epoch, updated, before)
    if origin is Origin.REPLICATION:
        return
    if origin is Origin.COORDINATOR and epoch is not Epoch.OLDER:
        return
    if epoch is not Epoch.OLDER and verified is not None:
        _check_verified(era, batch, before, verified)
    refused = decided(era.at, epoch, sequence_of(batch, updated, before))
    if refused is not None:
        raise refused


def _check_verified(era: Era, batch: DataBatch, before: Entry, verified: Verification) -> None:
    if era.begins_at_zero and verified.supports_epoch_bump and batch.first_sequence and not before.batches:
        raise OutOfOrderSequenceException
    if batch.first_sequence > verified.lowest_sequence:
        raise OutOfOrderSequenceException


def check_marker(era: Era, marker: Marker, origin: Origin, updated: Entry) -> None:
    """Raises what the marker may not be written for."""
    trusted = origin is Origin.REPLICATION and era.own_timestamp
    version = marker.transaction_version if era.bumps_with_markers else 0
    if version == -1 and origin is not Origin.REPLICATION:
        raise IllegalArgumentException
    stale = decided(era.at, Epoch.OLDER, Sequence.NEXT) if _is_stale(era, marker, version, updated) else None
    if stale is not None and not trusted:
        raise stale
    if marker.coordinator_epoch < updated.coordinator_epoch and not trusted:
        raise TransactionCoordinatorFencedException


def _is_stale(era: Era, marker: Marker, version: int, updated: Entry) -> bool:
    if version < _BUMPS or marker.epoch != updated.epoch:
        return marker.epoch < updated.epoch
    highest = era.highest_epoch_may_repeat and marker.epoch == HIGHEST_EPOCH
    return updated.transaction is not None and not highest
