"""The sequences of the batches that idempotent producers send: which numbers a batch may have.

In one epoch and partition each batch begins where the one before ended. Java's client departs from that after an error, and
so no finding may be made of it:

- **A new epoch.** The producer raises its epoch, and numbers the batches without a response from 0 again. Example: a batch
  of 7 records was in flight; it gets sequence 0, and the batch behind it 7, which may be sent first. So the first batch of
  an epoch begins at 0, or behind some of the batches that were in flight
  (``TransactionManager#bumpIdempotentProducerEpoch``, ``TxnPartitionEntry#startSequencesAtBeginning``).
- **A refused batch** that is not sent again, or is divided: batches behind it are numbered lower by its records
  (``TxnPartitionEntry#adjustSequencesDueToFailedBatch``: transactional producers, and up to 2.4 idempotent ones).
- **UNKNOWN_PRODUCER_ID** (59): up to 2.4 the producer begins again with 0 in the same epoch.

A broker accepts none of these before the gap is filled, so that nothing is lost by them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple

from kafka_conformance.reports.terminal import plural
from kafka_reference.record_batch import DefaultBatch

__all__ = ["Producer", "SentBatch", "Sequences"]

_UNKNOWN_PRODUCER: Final = 59
_WRAP: Final = 0x7FFFFFFF
_REMEMBERED: Final = 1_000
"""Batches of a partition whose bytes are remembered: a client repeats one of the last five."""
_RENUMBERED: Final = 8
"""Batches that a client may have numbered again: five in flight, and some of one that was divided."""


class Producer(NamedTuple):
    """A producer id and an epoch."""

    id: int
    epoch: int


class SentBatch(NamedTuple):
    """What is known of a batch by those before: the kind of a finding and what it is, or that it was sent before."""

    repeated: bool = False
    kind: str = ""
    what: str = ""


@dataclass
class _Batch:
    """A batch with a sequence: its bytes from the checksum on, and what is known of its fate."""

    crc: int
    size: int
    records: int
    state: str = "not answered"

    @property
    def is_refused(self) -> bool:
        """Whether the last response to it was an error."""
        return self.state.startswith("error")


@dataclass
class _Numbers:
    """The batches of one producer and epoch in one partition."""

    next: int
    """Where the batch behind the last one begins."""
    acknowledged: int
    """All before this sequence is acknowledged."""
    starts: set[int] = field(default_factory=set)
    """Where the first batch may begin too: behind batches that were in flight with an older epoch."""
    is_renumbered: bool = False
    """Whether a batch was refused, or was in flight with an older epoch: those behind it may have other numbers now."""
    may_restart: bool = False
    sent: dict[int, _Batch] = field(default_factory=dict)
    floor: int = 0
    """What was acknowledged when the producer last had an error, the ``errors``-th."""
    errors: int = 0

    def refused_records(self) -> list[int]:
        """Return the record count of each refused batch that may be numbered again."""
        return [each.records for at, each in self._since(self.acknowledged) if each.is_refused]

    def outstanding(self, errors: int) -> list[int]:
        """Return the record count of each batch that had no response, or an error, at the last error or since."""
        floor = self.floor if self.errors == errors else self.acknowledged
        return [each.records for _, each in self._since(floor)]

    def may_replace(self, sequence: int, old: _Batch) -> bool:
        """Return whether another batch may have this one's sequence: it was refused, or will be, as one before it was."""
        if old.state != "not answered":
            return old.is_refused
        return any(each.is_refused and _is_between(at, self.acknowledged, sequence) for at, each in self.sent.items())

    def admits(self, sequence: int) -> bool:
        """Return whether a batch that was not sent before may have this sequence."""
        if sequence == self.next or sequence in self.starts:
            return True
        return self.is_renumbered and (
            sequence == self.acknowledged
            or any(sequence == (at + each.records) & _WRAP for at, each in self._since(self.acknowledged))
            or (self.next - sequence) & _WRAP in _sums(self.refused_records())
        )

    def leave_gap(self, sequence: int) -> None:
        """Go on at a sequence that is a gap, so that what follows it is not a gap too: what is missing may come later."""
        if not _is_between(sequence, self.acknowledged, self.next):
            self.acknowledged = self.next = sequence

    def add(self, sequence: int, batch: _Batch) -> None:
        """Take a batch that is sent."""
        self.sent.pop(sequence, None)
        self.sent[sequence] = batch
        if len(self.sent) > _REMEMBERED:
            self.sent.pop(next(iter(self.sent)))
        end = (sequence + batch.records) & _WRAP
        if not _is_between(end, self.acknowledged, self.next):
            self.next = end
        while (behind := self.sent.get(self.next)) and behind.records:  # what was sent before its gap was filled
            self.next = (self.next + behind.records) & _WRAP

    def answer(self, batch: _Batch, state: str, errors: int) -> None:
        """Take the response to a batch; ``errors`` are those that the producer had before."""
        batch.state = state
        if batch.is_refused:
            self.is_renumbered = True
            return
        if self.errors != errors:
            self.floor, self.errors = self.acknowledged, errors
        while (one := self.sent.get(self.acknowledged)) and one.state.startswith("acknowledged"):
            self.acknowledged = (self.acknowledged + one.records) & _WRAP
            if self.acknowledged == self.next:
                self.is_renumbered, self.starts = False, set()
                break

    def _since(self, sequence: int) -> list[tuple[int, _Batch]]:
        """Return the last batches that begin at this sequence or behind it."""
        found = ((at, one) for at, one in reversed(self.sent.items()) if _is_between(at, sequence, self.next))
        return list(islice(found, _RENUMBERED))


@dataclass
class Sequences:
    """Takes the batches of all producers as they are sent and answered."""

    _given: set[Producer] = field(default_factory=set)
    _numbers: dict[tuple[int, str, int], dict[int, _Numbers]] = field(default_factory=lambda: defaultdict(dict))
    _latest: dict[int, dict[tuple[int, str, int], int]] = field(default_factory=lambda: defaultdict(dict))
    """The latest epoch of each producer id and partition, by connection."""
    _ended: dict[tuple[int, str, int], tuple[int, int]] = field(default_factory=dict)
    """The same for connections that are closed, and which."""
    _errors: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    def give(self, producer: Producer) -> None:
        """Take a producer id and epoch that a broker gives."""
        self._given.add(producer)

    def send(self, connection: int, topic: str, index: int, batch: DefaultBatch) -> SentBatch:
        """Take a batch that is sent, and return what it shows."""
        producer = Producer(batch.producer_id, batch.producer_epoch)
        place = f"{topic}-{index}: producer {producer.id} epoch {producer.epoch}, sequence {batch.base_sequence}"
        latest = self._latest_epoch(connection, (producer.id, topic, index), producer.epoch)
        epochs = self._numbers[producer.id, topic, index]
        new = _Batch(batch.checksum, batch.size_in_bytes, batch.record_count)
        numbers = epochs.get(producer.epoch)
        if numbers is None:
            numbers = epochs[producer.epoch] = self._begun(producer, epochs, batch.base_sequence)
        if numbers.may_restart and batch.base_sequence == 0:
            in_flight = numbers.outstanding(self._errors[producer.id])
            numbers = epochs[producer.epoch] = _Numbers(0, 0, starts=_sums(in_flight), is_renumbered=True)
        old = numbers.sent.get(batch.base_sequence)
        if old is not None and (old.crc, old.size) == (new.crc, new.size):
            if old.is_refused:
                old.state = "not answered"
            return SentBatch(repeated=True)
        found = SentBatch()
        if producer.epoch < latest:
            found = SentBatch(kind="stale-epoch", what=f"{place}, after epoch {latest}")
        elif old is None and not numbers.admits(batch.base_sequence):
            found = SentBatch(kind="sequence-gap", what=f"{place} in place of {numbers.next}")
            numbers.leave_gap(batch.base_sequence)
        elif old is not None and not numbers.may_replace(batch.base_sequence, old):
            found = SentBatch(kind="sequence-reused", what=(
                f"{place}: {plural(new.records, 'record')} in {new.size:,} bytes; before, "
                f"{plural(old.records, 'other')} in {old.size:,} bytes, {old.state}"))  # fmt: skip
            numbers.acknowledged = numbers.next = batch.base_sequence  # the client goes on from here
        numbers.add(batch.base_sequence, new)
        return found

    def answer(self, topic: str, index: int, batch: DefaultBatch, code: int, *, is_lost: bool) -> None:
        """Take the response to a batch."""
        numbers = self._numbers.get((batch.producer_id, topic, index), {}).get(batch.producer_epoch)
        sent = numbers.sent.get(batch.base_sequence) if numbers else None
        if numbers is None or sent is None or sent.crc != batch.checksum:
            return
        numbers.may_restart |= code == _UNKNOWN_PRODUCER
        if code or not sent.state.startswith("acknowledged"):
            written = "acknowledged, and the response was lost" if is_lost else "acknowledged"
            numbers.answer(sent, f"error {code}" if code else written, self._errors[batch.producer_id])
        self._errors[batch.producer_id] += bool(code)

    def close(self, connection: int, unanswered: Iterable[int]) -> None:
        """Take the end of a connection, on which batches of these producer ids have no response."""
        for producer in unanswered:
            self._errors[producer] += 1
        for place, epoch in self._latest.pop(connection, {}).items():
            self._ended[place] = max(self._ended.get(place, (epoch, connection)), (epoch, connection))

    def _latest_epoch(self, connection: int, place: tuple[int, str, int], epoch: int) -> int:
        """Return the latest epoch of a partition on this connection, or on one that ended before this one was opened."""
        ended, before = self._ended.get(place, (epoch, connection))
        of_connection = self._latest[connection]
        of_connection[place] = max(epoch, of_connection.get(place, epoch), ended if before < connection else epoch)
        return of_connection[place]

    def _begun(self, producer: Producer, epochs: dict[int, _Numbers], sequence: int) -> _Numbers:
        """Return the numbers of a new epoch of a partition: from 0, if the trace has what was before."""
        older = sorted(epoch for epoch in epochs if epoch < producer.epoch)
        if not older and not any(given.id == producer.id and given.epoch <= producer.epoch for given in self._given):
            return _Numbers(sequence, sequence)
        in_flight = [
            records for epoch in older[-2:] for records in epochs[epoch].outstanding(self._errors[producer.id])
        ]
        return _Numbers(0, 0, starts=_sums(in_flight[-_RENUMBERED:]), is_renumbered=bool(in_flight))


def _is_between(sequence: int, first: int, end: int) -> bool:
    """Return whether a sequence is in this range, which may wrap."""
    return (sequence - first) & _WRAP <= (end - first) & _WRAP


def _sums(counts: Iterable[int]) -> set[int]:
    """Return the sums of all selections of these."""
    found = {0}
    for count in counts:
        found |= {total + count for total in found}
    return found
