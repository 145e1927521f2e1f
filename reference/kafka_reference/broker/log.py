"""A partition's log before its producer state: it gives batches their offsets and the time, as a leader does.

Java source mirrored: ``UnifiedLog.appendAsLeader``, as far as offsets go.
"""

# unreached file: a front for programs over ProducerStateManager, which questions call
from __future__ import annotations

from dataclasses import dataclass

from kafka_reference.arguments import checked, proven_by
from kafka_reference.broker.append_checks import Origin
from kafka_reference.broker.batches import DataBatch, Marker
from kafka_reference.broker.entries import ProducerStateEntry
from kafka_reference.broker.producer_state import DAY_MS, Duplicate, ProducerStateManager
from kafka_reference.releases import NEWEST, Release

__all__ = ["AppendResult", "ProducerState"]


@dataclass(frozen=True, slots=True)
class AppendResult:
    """The offset of a batch's first record; ``duplicate``: it is an earlier one's, and nothing was appended.

    >>> AppendResult(offset=42)
    AppendResult(offset=42, duplicate=False)
    """

    offset: int
    duplicate: bool = False


@checked(version=proven_by("broker-producer-state"))
class ProducerState:
    """The producer state of a partition of release ``version``, led by a broker: batches go to the end of its log.

    ``now_ms`` is its clock, ``manager`` Kafka's ProducerStateManager; :meth:`remove_expired` forgets a producer
    ``expiration_ms`` after its last batch.

        >>> state = ProducerState()
        >>> state.append(producer_id=7, epoch=0, first_sequence=0, records=3)
        AppendResult(offset=0, duplicate=False)
        >>> state.append(producer_id=7, epoch=0, first_sequence=0, records=3)
        AppendResult(offset=0, duplicate=True)
        >>> state.append(producer_id=7, epoch=0, first_sequence=9, records=1)
        Traceback (most recent call last):
        kafka_reference.errors.OutOfOrderSequenceException: OutOfOrderSequenceException
        >>> state.producers
        [<Producer 7, epoch 0: sequences 0 to 2>]

    Raises NotInThisRelease for a release without a producer state: before 0.11.0.0.
    """

    def __init__(self, version: str | Release = NEWEST, expiration_ms: int = DAY_MS) -> None:
        self.manager = ProducerStateManager(version, expiration_ms)
        self.now_ms = 0

    def __repr__(self) -> str:
        return f"<ProducerState at {self.now_ms} ms, offset {self.end_offset}: {len(self.producers)} producers>"

    @property
    def end_offset(self) -> int:
        """The offset of the next record."""
        return self.manager.end_offset

    @property
    def producers(self) -> list[ProducerStateEntry]:
        """The producers that the broker remembers."""
        return [entry for _, entry in self.manager.producers.items()]

    def append(
        self, producer_id: int, epoch: int, first_sequence: int, records: int = 1, *, transactional: bool = False
    ) -> AppendResult:
        """Append a client's batch of ``records`` records. Raises the JavaException that refuses it."""
        offset = self.end_offset
        batch = DataBatch(producer_id, epoch, first_sequence, records, offset, self.now_ms, transactional)
        appended = self.manager.append([batch], Origin.CLIENT)
        return (
            AppendResult(appended.offset, duplicate=True) if isinstance(appended, Duplicate) else AppendResult(offset)
        )

    def end_transaction(
        self, producer_id: int, epoch: int, *, commit: bool = True, coordinator_epoch: int = 0
    ) -> AppendResult:
        """Append the marker that ends a transaction. Raises the JavaException that refuses it."""
        offset = self.end_offset
        self.manager.append(
            [Marker(producer_id, epoch, offset, self.now_ms, commit, coordinator_epoch)], Origin.COORDINATOR
        )
        return AppendResult(offset)

    def remove_expired(self) -> None:
        """Forget the producers that have expired."""
        self.manager.remove_expired(self.now_ms)
