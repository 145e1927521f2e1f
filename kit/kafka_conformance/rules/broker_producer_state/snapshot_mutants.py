"""Known mistakes with snapshots that no broker writes, and with verifications that expire or restart."""

from __future__ import annotations

from dataclasses import astuple
from functools import partial

from kafka_conformance.core.mutant import Mutant
from kafka_conformance.rules.broker_producer_state.adapter import CreateState, ask
from kafka_conformance.rules.broker_producer_state.rule import RULE
from kafka_reference.broker.entries import BatchMetadata, ProducerStateEntry
from kafka_reference.broker.producer_state import ProducerStateManager
from kafka_reference.broker.transactions import CompletedTxn, Transactions
from kafka_reference.broker.verification import VerificationStateEntry
from kafka_reference.errors import CorruptSnapshotException
from kafka_reference.java.long_maps import Scala212Map, java_hash
from kafka_reference.releases import Release, parse_release

__all__ = ["MUTANTS"]


class _ExpiresBeforeTime(ProducerStateManager):
    """The difference of two times has no width, as Python's has none; Java's is a long."""

    def _has_expired(self, entry: ProducerStateEntry, now_ms: int) -> bool:
        return entry.transaction is None and now_ms - entry.timestamp >= self.expiration_ms


class _OffsetWithoutWidth(BatchMetadata):
    @property
    def first_offset(self) -> int:
        return self.last_offset - self.offset_delta


class _NoOffsetWrap(ProducerStateManager):
    def read(self, data: bytes) -> list[ProducerStateEntry]:
        entries = super().read(data)
        for entry in entries:
            read = [_OffsetWithoutWidth(*astuple(batch)) for batch in entry.batches]
            entry.batches.clear()
            entry.batches.extend(read)
        return entries


class _HashesAsJava(Scala212Map[ProducerStateEntry]):
    hash_of = staticmethod(java_hash)


class _NegativeIdsAsJava(ProducerStateManager):
    def __init__(self, version: str | Release, expiration_ms: int, disk: dict[int, bytes] | None = None) -> None:
        super().__init__(version, expiration_ms, disk)
        self.producers = _HashesAsJava()


class _CompletesAnything(Transactions):
    def complete(self, completed: CompletedTxn) -> int:
        self._ongoing.setdefault(completed.first_offset, completed.producer_id)
        return super().complete(completed)


class _CompletesUnknown(ProducerStateManager):
    def __init__(self, version: str | Release, expiration_ms: int, disk: dict[int, bytes] | None = None) -> None:
        super().__init__(version, expiration_ms, disk)
        self.transactions = _CompletesAnything(self.behaviour)


class _StopsAtCorruptFile(ProducerStateManager):
    """A corrupt snapshot is removed, but the one before it is not tried."""

    def _load(self, log_start: int, now_ms: int) -> None:
        latest = self.snapshots.latest
        try:
            if latest is not None:
                self.read(self.snapshots.disk[latest])
        except CorruptSnapshotException:
            self.snapshots.remove([latest] if latest is not None else [])
            self.end_offset = self._last_snapshot = log_start
            return
        super()._load(log_start, now_ms)


class _VerifiesForever(ProducerStateManager):
    def remove_expired(self, now_ms: int) -> None:
        verifications = dict(self.verifications)
        super().remove_expired(now_ms)
        self.verifications = verifications


class _VerifiesFirstEpoch(ProducerStateManager):
    """A verification under a newer epoch changes nothing."""

    def verify(
        self, producer_id: int, sequence: int, epoch: int, supports_epoch_bump: bool, now_ms: int
    ) -> VerificationStateEntry | None:
        known = self.verifications.get(producer_id)
        if known is not None and epoch > known.epoch:
            return known
        return super().verify(producer_id, sequence, epoch, supports_epoch_bump, now_ms)


def _mutant(slug: str, description: str, create: CreateState, *, release: str = "4.4.0") -> Mutant:
    return Mutant(slug, RULE.slug, description, partial(ask, create=create), parse_release(release))


MUTANTS = (
    _mutant(
        "broker-expires-before-time", "a producer with a time near -2^63 in the snapshot expires", _ExpiresBeforeTime
    ),
    _mutant(
        "broker-offset-without-width", "the first offset of a batch in a snapshot is not a long", _NoOffsetWrap
    ),
    _mutant(
        "broker-negative-ids-as-java", "a negative producer id in a snapshot is hashed as Java does, in Scala's map",
        _NegativeIdsAsJava, release="2.3.1",
    ),
    _mutant(
        "broker-completes-unknown", "a marker may complete a transaction that another marker has completed",
        _CompletesUnknown,
    ),
    _mutant(
        "broker-stops-at-corrupt-file", "the snapshot before a corrupt one is not tried", _StopsAtCorruptFile
    ),
    _mutant("broker-verifies-forever", "a verification does not expire", _VerifiesForever),
    _mutant(
        "broker-verifies-first-epoch", "a verification under a newer epoch changes nothing", _VerifiesFirstEpoch
    ),
)  # fmt: skip
