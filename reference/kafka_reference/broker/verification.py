"""Transactions on their way to being verified, from 3.6.0 on (KIP-890).

Before a transaction's first batch is written, its coordinator is asked whether there is such a transaction. Meanwhile there
is an entry for its producer, with the lowest sequence of the batches that wait: when they are written, none may begin
above it, so a batch that came later cannot be written first. Asking again under the same epoch can only lower the
sequence; a newer epoch starts anew, an older one changes nothing.

A transactional batch, once taken, ends the verification. From 4.0.0 on, a marker of the same epoch does not, if the client
bumps its epoch with each transaction: the marker then belongs to the transaction before. An entry expires as producers do,
by when it was made.

Java source mirrored: ``VerificationStateEntry``, ``UnifiedLog.updateProducers``, 3.6.2 to 4.4.0.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_reference.broker.batches import Marker, Written
from kafka_reference.broker.eras import Era

__all__ = ["Verification", "ends_verification"]


@dataclass(slots=True)
class Verification:
    """What is known of a transaction that is being verified. ``made_ms`` is when that began."""

    made_ms: int
    lowest_sequence: int
    epoch: int
    supports_epoch_bump: bool

    def lower(self, sequence: int, epoch: int) -> None:
        """Another batch waits."""
        if epoch == self.epoch:
            self.lowest_sequence = min(self.lowest_sequence, sequence)
        elif epoch > self.epoch:
            self.epoch, self.lowest_sequence = epoch, sequence


def ends_verification(era: Era, batch: Written, entry: Verification | None) -> bool:
    """Whether a batch that was taken ends what is verified for its producer."""
    if not batch.transactional or entry is None:
        return False
    of_the_one_before = isinstance(batch, Marker) and entry.supports_epoch_bump and batch.epoch == entry.epoch
    return not (era.knows_bumps and of_the_one_before)
