"""Where a batch goes that comes back: to the front of its queue, or, with an idempotent producer, in sequence.

Without a producer, and in 0.11, it goes to the front. Since 1.0.0, with a producer, it goes behind those batches at the
front that have lower sequences; one without a sequence was never drained, and is behind all that have. Sequences are
compared as numbers, so a batch that went round to 0 gets before the one it followed. A batch whose partition has nothing
in flight cannot come back: IllegalStateException, and it is in nobody's hands.

**Pieces** of a split batch have the sequences of their records, and are in flight from the start, in its place. If the
producer forgot the partition, the first of them to be taken in, which is the last one, is in nobody's hands, and the
others never were.

Java source mirrored: ``RecordAccumulator.splitAndReenqueue``, ``insertInSequenceOrder``, 1.0.0 to 4.4.0.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_reference.accumulator import batches
from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.state import AccumulatorState
from kafka_reference.errors import IllegalStateException

__all__ = ["put_back", "track_pieces"]


def put_back(state: AccumulatorState, batch: Batch) -> None:
    """Queue a batch that was drained before, or a piece of one. Raises IllegalStateException."""
    queue = state.queue(batch.topic_partition)
    place = 0
    if state.sequences.is_idempotent and state.behaviour.reenqueues_in_sequence:
        if not state.sequences.has_in_flight(batch.topic_partition):
            raise IllegalStateException
        while place < len(queue) and _is_before(queue[place], batch):
            place += 1
    queue.insert(place, batch)


def _is_before(one: Batch, other: Batch) -> bool:
    return one.sequence is not None and other.sequence is not None and one.sequence < other.sequence


def track_pieces(state: AccumulatorState, batch: Batch, pieces: Sequence[Batch]) -> None:
    """The pieces are in flight, and the batch is not. Raises IllegalStateException."""
    sequences = state.sequences
    sequences.number_pieces(batch, pieces)
    if not state.behaviour.pieces_are_in_flight:
        return
    sequences.release(batch)
    for piece in reversed(pieces):
        try:
            sequences.track(piece)
        except IllegalStateException:
            piece.number, piece.state = len(state.batches), batches.BatchState.LOST
            state.batches.append(piece)
            state.incomplete.add(piece)
            raise
