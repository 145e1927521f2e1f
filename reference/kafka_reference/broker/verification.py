"""Transactions that the broker verifies with their coordinator, since 3.6.0 (KIP-890).

Before the first batch of a transaction is appended, the broker asks the coordinator whether that transaction is ongoing.
Meanwhile the producer has a verification entry with the lowest sequence of the batches that wait: none may be appended that
starts above it, so a batch that arrived later cannot be appended first (KAFKA-14920). Another batch of the same epoch can
only lower the sequence; a newer epoch restarts the entry, an older one changes nothing.

An appended transactional batch ends the verification. Since 4.0.0 a marker of the same epoch does not, if the client bumps
its epoch with each transaction: such a marker belongs to the previous transaction. A verification expires like a producer,
counted from when it started.

Java source mirrored: ``VerificationStateEntry`` and ``UnifiedLog.updateProducers``, since 3.6.2.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_reference.broker.batches import LogBatch, Marker
from kafka_reference.broker.behaviour import ProducerStateBehaviour

__all__ = ["VerificationStateEntry", "ends_verification"]


@dataclass(slots=True)
class VerificationStateEntry:
    """A transaction that is being verified. ``started_ms`` is when that started."""

    started_ms: int
    lowest_sequence: int
    epoch: int
    supports_epoch_bump: bool

    def lower(self, sequence: int, epoch: int) -> None:
        """Add another batch that waits."""
        if epoch == self.epoch:
            self.lowest_sequence = min(self.lowest_sequence, sequence)
        elif epoch > self.epoch:
            self.epoch, self.lowest_sequence = epoch, sequence


def ends_verification(
    behaviour: ProducerStateBehaviour, batch: LogBatch, verification: VerificationStateEntry | None
) -> bool:
    """Return whether an appended batch ends the verification of its producer."""
    if not batch.transactional or verification is None:
        return False
    same_epoch = isinstance(batch, Marker) and batch.epoch == verification.epoch
    return not (behaviour.verification_notes_epoch_bump and verification.supports_epoch_bump and same_epoch)
