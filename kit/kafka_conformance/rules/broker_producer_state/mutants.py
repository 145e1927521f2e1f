"""Mistakes in a broker's state of producers: what is a duplicate, what is next, whom a marker ends, what a file keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.rules.broker_producer_state.rule import RULE, broker_ask_of
from kafka_conformance.rules.common.partitioner_mutants import as_if
from kafka_reference.broker.append_checks import Epoch, Origin, epoch_of
from kafka_reference.broker.append_info import AppendInfo
from kafka_reference.broker.batches import DataBatch, Marker, Written
from kafka_reference.broker.entries import Entry, Noted
from kafka_reference.broker.eras import era_of
from kafka_reference.broker.producer_state import Duplicate, ProducerState, Taken
from kafka_reference.broker.snapshots import written_snapshot
from kafka_reference.broker.verification import Verification
from kafka_reference.errors import (
    InvalidProducerEpochException,
    InvalidTxnStateException,
    OutOfOrderSequenceException,
    TransactionCoordinatorFencedException,
)
from kafka_reference.java.crc32c import crc32c
from kafka_reference.java.long_maps import Scala213Map
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["MUTANTS"]


def _with(made: type[ProducerState]) -> Ask:
    return lambda question, at: broker_ask_of(made, question, at)


def _in_an_era(**changes: Any) -> Ask:
    """As in the release, but for these rows of its history."""

    def made(at: Release, *rest: Any) -> ProducerState:
        return ProducerState(replace(era_of(at), **changes), *rest)

    return lambda question, at: broker_ask_of(made, question, at)


def _informed(info: type[AppendInfo]) -> Ask:
    class Made(ProducerState):
        info_class = info

    return _with(Made)


def _told_apart(alike: Callable[[Entry, Written, Noted], bool]) -> Ask:
    """A batch that is ``alike`` one of those remembered is a duplicate."""

    class Made(ProducerState):
        def _duplicate(self, batch: Written) -> int | None:
            entry = self.producers.get(batch.producer_id)
            if entry is None:
                return None
            return next((one.first_offset for one in entry.batches if alike(entry, batch, one)), None)

    return _with(Made)


def _by(one: Noted, batch: Written) -> bool:
    return (one.first_sequence, one.last_sequence) == (batch.first_sequence, batch.last_sequence)


class _NoWrap(AppendInfo):
    def check(self, batch: DataBatch) -> None:
        super().check(batch)
        last = max(self.before.last_sequence, self.updated.last_sequence)
        wraps = batch.first_sequence == 0 and last == 2**31 - 1 and batch.epoch == self.updated.epoch
        if self.origin is Origin.CLIENT and wraps:
            raise OutOfOrderSequenceException


class _Forgives(AppendInfo):
    """Sequences are refused only where ``minds`` says so."""

    def minds(self, epoch: Epoch, batch: DataBatch) -> bool:
        raise NotImplementedError

    def check(self, batch: DataBatch) -> None:
        epoch = epoch_of(batch.epoch, self.updated, self.before)
        try:
            super().check(batch)
        except OutOfOrderSequenceException:
            if self.minds(epoch, batch):
                raise


class _BumpsToAnything(_Forgives):
    def minds(self, epoch: Epoch, _: DataBatch) -> bool:
        return epoch is not Epoch.NEWER


class _GapsAreFine(_Forgives):
    def minds(self, epoch: Epoch, batch: DataBatch) -> bool:
        return epoch is not Epoch.SAME or batch.first_sequence <= self.before.last_sequence


class _OldEpochsToo(AppendInfo):
    def check(self, batch: DataBatch) -> None:
        try:
            super().check(batch)
        except InvalidProducerEpochException:
            return


class _BeginsAtZero(AppendInfo):
    """As it was to 2.4, and will be for a partition that was never written to."""

    def check(self, batch: DataBatch) -> None:
        super().check(batch)
        is_first = epoch_of(batch.epoch, self.updated, self.before) is Epoch.FIRST
        if self.origin is Origin.CLIENT and is_first and batch.first_sequence > 0:
            raise OutOfOrderSequenceException


class _NoVerification(AppendInfo):
    def check(self, batch: DataBatch) -> None:
        self.verified = None
        super().check(batch)


class _AnyCoordinator(AppendInfo):
    def check_marker(self, marker: Marker) -> None:
        try:
            super().check_marker(marker)
        except TransactionCoordinatorFencedException:
            return


class _OldMarkersToo(AppendInfo):
    def check_marker(self, marker: Marker) -> None:
        try:
            super().check_marker(marker)
        except InvalidProducerEpochException:
            return


class _WritesOutside(AppendInfo):
    def append(self, batch: DataBatch) -> None:
        try:
            super().append(batch)
        except InvalidTxnStateException:
            return


class _ForgetsAtMarkers(AppendInfo):
    def mark(self, marker: Marker) -> Any:
        ended = super().mark(marker)
        self.updated.move_to(-1)
        self.updated.move_to(marker.epoch)
        return ended


class _ChecksReplicas(ProducerState):
    def append(self, batches: Sequence[Written], origin: Origin) -> Taken | Duplicate:
        return super().append(batches, Origin.COORDINATOR if origin is Origin.REPLICATION else origin)


class _ChecksCoordinators(ProducerState):
    def append(self, batches: Sequence[Written], origin: Origin) -> Taken | Duplicate:
        return super().append(batches, Origin.CLIENT if origin is Origin.COORDINATOR else origin)


class _OneByOne(ProducerState):
    """What comes before a refused batch of the request stays written."""

    def append(self, batches: Sequence[Written], origin: Origin) -> Taken | Duplicate:
        completed: list[Any] = []
        for batch in batches:
            written = super().append((batch,), origin)
            if isinstance(written, Duplicate):
                return written
            completed += written.completed
        return Taken(tuple(completed))


class _ExpiresLater(ProducerState):
    def _has_expired(self, entry: Entry, now_ms: int) -> bool:
        return super()._has_expired(entry, now_ms - 1)


class _ExpiresInTransactions(ProducerState):
    def _has_expired(self, entry: Entry, now_ms: int) -> bool:
        return now_ms - entry.timestamp >= self.expiration_ms


class _NoChecksum(ProducerState):
    def read(self, data: bytes) -> list[Entry]:
        if len(data) < 6:
            return super().read(data)
        return super().read(data[:2] + crc32c(data[6:]).to_bytes(4, "big") + data[6:])


class _ChecksumOfAll(ProducerState):
    def _file(self) -> bytes:
        file = super()._file()
        return file[:2] + crc32c(file[:2] + bytes(4) + file[6:]).to_bytes(4, "big") + file[6:]


class _WritesInOrder(ProducerState):
    def _file(self) -> bytes:
        return written_snapshot(entry for _, entry in sorted(self.producers.items()))


class _SnapshotsAlways(ProducerState):
    def take_snapshot(self) -> None:
        self._last_snapshot = -1
        super().take_snapshot()


class _KeepsTheStart(ProducerState):
    def truncate(self, log_start: int, log_end: int, now_ms: int) -> None:
        kept = self.snapshots.disk.get(log_start) if log_start in self.snapshots.offsets else None
        if kept is not None and log_start <= log_end:
            self.snapshots.remove([log_start])
            self.snapshots.write(log_start, kept)
            self._outlives(log_start, log_end, now_ms)
        else:
            super().truncate(log_start, log_end, now_ms)

    def _outlives(self, log_start: int, log_end: int, now_ms: int) -> None:
        offsets = self.snapshots.offsets
        self.snapshots.remove(offset for offset in offsets if offset > log_end or offset < log_start)
        if log_end == self.end:
            self.raise_log_start(log_start)
            return
        self.producers.clear()
        self.transactions.clear()
        self._load(log_start, now_ms)


class _AlwaysReloads(ProducerState):
    def truncate(self, log_start: int, log_end: int, now_ms: int) -> None:
        self.end = -1
        super().truncate(log_start, log_end, now_ms)


class _StableAtTheMarker(ProducerState):
    """A transaction that ended holds nothing back, replicated or not."""

    def append(self, batches: Sequence[Written], origin: Origin) -> Taken | Duplicate:
        written = super().append(batches, origin)
        self.transactions.replicated_to(2**62)
        return written


class _VerifiesAnew(ProducerState):
    def verify(self, producer_id: int, sequence: int, epoch: int, bumps: bool, now_ms: int) -> Verification | None:
        self.verifications.pop(producer_id, None)
        return super().verify(producer_id, sequence, epoch, bumps, now_ms)


class _MarkersEndVerification(ProducerState):
    """A marker does end it, of whatever transaction it is."""

    def _take(self, batch: Written, *rest: Any) -> Any:
        ended = super()._take(batch, *rest)
        if isinstance(batch, Marker):
            self.verifications.pop(batch.producer_id, None)
        return ended


class _VerifiesOn(ProducerState):
    """A batch does not end the verification."""

    def _take(self, batch: Written, *rest: Any) -> Any:
        verified = self.verifications.get(batch.producer_id)
        ended = super()._take(batch, *rest)
        if verified is not None:
            self.verifications[batch.producer_id] = verified
        return ended


_MISTAKES: tuple[tuple[str, str, Ask, str | Release], ...] = (
    ("broker-four-batches", "four batches are remembered", _in_an_era(batches_kept=4), NEWEST),
    ("broker-six-batches", "six batches are remembered", _in_an_era(batches_kept=6), NEWEST),
    ("broker-duplicate-by-first", "a duplicate has the same first sequence, however long it is",
     _told_apart(lambda entry, batch, one: batch.epoch == entry.epoch and batch.first_sequence == one.first_sequence),
     NEWEST),
    ("broker-duplicate-any-epoch", "a duplicate is one under any epoch",
     _told_apart(lambda _, batch, one: _by(one, batch)), NEWEST),
    ("broker-duplicate-of-last", "only the last batch is known again",
     _told_apart(lambda entry, batch, one: batch.epoch == entry.epoch and one is entry.batches[-1] and _by(one, batch)),
     NEWEST),
    ("broker-no-duplicates", "nothing is known again", _told_apart(lambda *_: False), NEWEST),
    ("broker-begins-at-0", "an unknown producer has to begin at 0", _informed(_BeginsAtZero), NEWEST),
    ("broker-no-wrap", "nothing comes after 2**31 - 1", _informed(_NoWrap), NEWEST),
    ("broker-bump-to-anything", "a new epoch may begin anywhere", _informed(_BumpsToAnything), NEWEST),
    ("broker-gaps-are-fine", "sequences need only rise", _informed(_GapsAreFine), NEWEST),
    ("broker-old-epochs", "an old epoch may write on", _informed(_OldEpochsToo), NEWEST),
    ("broker-any-coordinator", "a marker's coordinator is not looked at", _informed(_AnyCoordinator), NEWEST),
    ("broker-old-markers", "a marker's epoch is not looked at", _informed(_OldMarkersToo), NEWEST),
    ("broker-markers-forget", "a marker forgets the batches", _informed(_ForgetsAtMarkers), NEWEST),
    ("broker-writes-outside", "one in a transaction may write outside of it", _informed(_WritesOutside), NEWEST),
    ("broker-no-verification", "what is being verified is not looked at", _informed(_NoVerification), NEWEST),
    ("broker-verifies-anew", "each batch that waits begins the verification anew", _with(_VerifiesAnew), NEWEST),
    ("broker-verifies-on", "a batch does not end the verification", _with(_VerifiesOn), NEWEST),
    (
        "broker-markers-end-verification",
        "the marker of the transaction before ends what is verified",
        _with(_MarkersEndVerification),
        NEWEST,
    ),
    ("broker-checks-replicas", "epochs of replicated batches are checked", _with(_ChecksReplicas), NEWEST),
    ("broker-checks-coordinators", "a coordinator's sequences are checked", _with(_ChecksCoordinators), NEWEST),
    ("broker-one-by-one", "what comes before a refused batch stays", _with(_OneByOne), NEWEST),
    ("broker-expires-later", "a producer expires beyond its time, not at it", _with(_ExpiresLater), NEWEST),
    ("broker-expires-in-transactions", "a transaction does not keep its producer", _with(_ExpiresInTransactions), NEWEST),
    ("broker-no-checksum", "a snapshot's checksum is not looked at", _with(_NoChecksum), NEWEST),
    ("broker-checksum-of-all", "a snapshot's checksum covers the version", _with(_ChecksumOfAll), "3.3.2"),
    ("broker-writes-in-order", "a snapshot is in the order of ids", _with(_WritesInOrder), "2.3.1"),
    ("broker-scala-order", "a snapshot is in the order of Scala's map", _in_an_era(new_map=Scala213Map), NEWEST),
    ("broker-snapshots-always", "a snapshot is taken though nothing is new", _with(_SnapshotsAlways), NEWEST),
    ("broker-cuts-snapshots", "a longer snapshot is written over whole", _in_an_era(cuts_snapshots=True), NEWEST),
    ("broker-lists-folder", "the folder is listed each time", _in_an_era(lists_folder=True), NEWEST),
    ("broker-keeps-the-start", "a snapshot at the log's start stays", _with(_KeepsTheStart), NEWEST),
    ("broker-always-reloads", "truncating to where it is reloads", _with(_AlwaysReloads), NEWEST),
    ("broker-stable-at-the-marker", "a marker need not be replicated", _with(_StableAtTheMarker), NEWEST),
    ("broker-minds-own", "own transactions hold back the last stable offset",
     _in_an_era(passes_own_transactions=False), NEWEST),
    ("broker-0.11-in-1.1", "one batch is remembered", as_if(RULE.slug, "0.11.0.3"), "1.1.1"),
    ("broker-1.1-in-2.0", "a lost sequence is out of order", as_if(RULE.slug, "1.1.1"), "2.0.1"),
    ("broker-2.0-in-2.3", "a wrapped batch is 2**31 too long", as_if(RULE.slug, "2.0.1"), "2.3.1"),
    ("broker-2.3-in-2.4", "deleted records take their producer along", as_if(RULE.slug, "2.3.1"), "2.4.1"),
    ("broker-2.4-in-2.5", "an unknown producer begins at 0", as_if(RULE.slug, "2.4.1"), "2.5.1"),
    ("broker-2.6-in-2.7", "an old epoch is fenced", as_if(RULE.slug, "2.6.3"), "2.7.2"),
    ("broker-2.7-in-2.8", "a marker opens what it ends", as_if(RULE.slug, "2.7.2"), "2.8.2"),
    ("broker-3.5-in-3.6", "nothing is verified", as_if(RULE.slug, "3.5.2"), "3.6.2"),
    ("broker-3.9-in-4.0", "any marker ends the verification", as_if(RULE.slug, "3.9.2"), "4.0.2"),
    ("broker-4.0-in-4.1", "one that bumps may begin anywhere", as_if(RULE.slug, "4.0.2"), "4.1.2"),
    ("broker-4.1-in-4.2", "markers need no bumped epoch", as_if(RULE.slug, "4.1.2"), "4.2.2"),
    ("broker-4.2-in-4.3", "the highest epoch cannot be repeated", as_if(RULE.slug, "4.2.2"), "4.3.1"),
)  # fmt: skip

MUTANTS = tuple(Mutant(slug, RULE.slug, story, ask, parse_release(at)) for slug, story, ask, at in _MISTAKES)
