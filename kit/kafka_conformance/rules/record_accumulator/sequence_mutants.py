"""Mistakes of idempotent producers: when sequences are set and to what, which batch waits, where one is queued again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.rules.record_accumulator.adapter import ask_of
from kafka_conformance.rules.record_accumulator.rule import RULE
from kafka_reference.accumulator.accumulator import Appended, RecordAccumulator
from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.accumulator.sizes import SizedRecord
from kafka_reference.accumulator.state import Queue
from kafka_reference.idempotence.sequence_order import Sequenced
from kafka_reference.idempotence.sequence_tracker import SequenceTracker
from kafka_reference.idempotence.sequences import added, increment
from kafka_reference.releases import NEWEST

__all__ = ["MUTANTS"]


class _FrontOfTheQueue(RecordAccumulator):
    def reenqueue(self, batch: Batch) -> None:
        super().reenqueue(batch)
        queue = self.state.queue(batch.topic_partition)
        queue.remove(batch)
        queue.appendleft(batch)


class _OrderGoesRound(RecordAccumulator):
    """After a wrap-around, batches that are queued again keep the order in which they were sent."""

    def reenqueue(self, batch: Batch) -> None:
        super().reenqueue(batch)
        queue = self.state.queue(batch.topic_partition)
        place = queue.index(batch)
        while place + 1 < len(queue) and _follows(batch, queue[place + 1]):
            queue[place], queue[place + 1] = queue[place + 1], batch
            place += 1


def _follows(batch: Batch, other: Batch) -> bool:
    return (
        batch.sequence is not None and other.sequence is not None and (batch.sequence - other.sequence) % 2**31 < 2**30
    )


class _NumberedWhenAppended(RecordAccumulator):
    def _append_new(self, of: tuple[str, int], queue: Queue, record: SizedRecord, buffer: int) -> Appended:
        appended = super()._append_new(of, queue, record, buffer)
        self.state.sequences.number(queue[-1], False)
        return appended


class _OthersGoOn(RecordAccumulator):
    """A partition that must wait does not end the visit of its node."""

    def drain(self, metadata: Metadata, nodes: Iterable[int], max_size: int) -> Sequence[Batch]:
        state = self.state
        waiting = [
            of
            for of, queue in state.queues()
            if queue and state.sequences.waits_for(queue[0]) and not state.is_muted(of)
        ]
        for of in waiting:
            state.mute(of)
        try:
            return super().drain(metadata, nodes, max_size)
        finally:
            for of in waiting:
                state.unmute(of, 0)


class _CountsBatches(SequenceTracker):
    def number(self, batch: Sequenced, sent_before: bool) -> None:
        had = batch.sequence
        super().number(batch, sent_before)
        if had is None and batch.sequence is not None:
            self.partitions[batch.topic_partition].next = increment(batch.sequence, 1)


class _NeverGoesRound(SequenceTracker):
    def number(self, batch: Sequenced, sent_before: bool) -> None:
        had = batch.sequence
        super().number(batch, sent_before)
        if had is None and batch.sequence is not None:
            self.partitions[batch.topic_partition].next = added(batch.sequence, batch.record_count)


class _NumbersAnew(SequenceTracker):
    def number(self, batch: Sequenced, sent_before: bool) -> None:
        if batch.sequence is not None:
            self.release(batch)
            batch.sequence = None
        super().number(batch, sent_before)


class _NobodyWaits(SequenceTracker):
    def waits_for(self, batch: Sequenced) -> str | None:
        return None if batch.sequence is not None else super().waits_for(batch)


class _NothingIsUnresolved(SequenceTracker):
    def mark_unresolved(self, batch: Sequenced) -> None:
        pass


class _NewEpochAtOnce(SequenceTracker):
    def _is_of_another(self, first: Sequenced | None) -> bool:  # noqa: ARG002  any batch
        return False


class _PiecesKeepTheBase(SequenceTracker):
    def number_pieces(self, batch: Sequenced, pieces: Iterable[Sequenced]) -> None:
        for piece in pieces:
            piece.producer, piece.sequence = batch.producer, batch.sequence


class _FailedStaysInFlight(SequenceTracker):
    def fail(self, batch: Sequenced, refused: bool) -> None:
        pass


class _LastGoesRound(SequenceTracker):
    def acknowledge(self, batch: Sequenced) -> None:
        super().acknowledge(batch)
        self.partitions[batch.topic_partition].last_acknowledged = increment(
            batch.sequence or 0, batch.record_count - 1
        )


class _LowestAcknowledged(SequenceTracker):
    """What was acknowledged last is the last one acknowledged, whatever was acknowledged before."""

    def acknowledge(self, batch: Sequenced) -> None:
        super().acknowledge(batch)
        self.partitions[batch.topic_partition].last_acknowledged = added(batch.sequence or 0, batch.record_count - 1)


def _made(made: Callable[..., RecordAccumulator]) -> Ask:
    return partial(ask_of, made)


def _told(kind: type[SequenceTracker]) -> Ask:
    """An accumulator whose producer is of this kind."""

    return partial(ask_of, RecordAccumulator, tracker=kind)


_MISTAKES: tuple[tuple[str, str, Ask], ...] = (
    ("retry-at-the-front", "a batch that comes back goes before those it follows", _made(_FrontOfTheQueue)),
    ("order-goes-round", "batches come back in the order they were sent, also after 2^31 - 1", _made(_OrderGoesRound)),
    ("numbered-when-appended", "a batch gets its sequence when it is made", _made(_NumberedWhenAppended)),
    ("others-go-on", "a partition that must wait does not stop its node", _made(_OthersGoOn)),
    ("counts-batches", "the next sequence is one further, whatever was sent", _told(_CountsBatches)),
    ("never-goes-round", "the next sequence after 2^31 - 1 is negative", _told(_NeverGoesRound)),
    ("numbers-anew", "a batch that is sent again has a new sequence", _told(_NumbersAnew)),
    ("nobody-waits", "a batch is sent again while those before it are not answered", _told(_NobodyWaits)),
    ("nothing-unresolved", "an expired batch leaves nothing unresolved", _told(_NothingIsUnresolved)),
    ("new-epoch-at-once", "a new epoch begins while an old one is in flight", _told(_NewEpochAtOnce)),
    ("pieces-keep-the-base", "all pieces have the sequence of their batch", _told(_PiecesKeepTheBase)),
    ("failed-stays-in-flight", "who failed is still waited for", _told(_FailedStaysInFlight)),
    ("last-goes-round", "the last one acknowledged goes round after 2^31 - 1", _told(_LastGoesRound)),
    ("lowest-acknowledged", "the last one acknowledged may be lower than before", _told(_LowestAcknowledged)),
)

_KAFKA = "https://github.com/apache/kafka/pull/"
_AIOKAFKA = "https://github.com/aio-libs/aiokafka/blob/672947afe85c91b7d953f0259e69837a711d3246/aiokafka"
_REFERENCES: dict[str, tuple[str, ...]] = {
    "numbered-when-appended": ("https://github.com/IBM/sarama/pull/1661",),
    "never-goes-round": (
        f"{_KAFKA}5989",
        "https://github.com/twmb/franz-go/issues/216",
        f"{_AIOKAFKA}/producer/transaction_manager.py",
    ),
    "new-epoch-at-once": (f"{_KAFKA}13796",),
}

MUTANTS = tuple(
    Mutant(slug, RULE.slug, description, ask, NEWEST, _REFERENCES.get(slug, ())) for slug, description, ask in _MISTAKES
)
