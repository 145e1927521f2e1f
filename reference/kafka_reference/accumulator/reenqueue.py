"""Where a batch to retry is queued: at the front, or, with an idempotent producer, in sequence.

Since 1.0.0, with an idempotent producer, it goes behind those batches at the front that have lower sequences; a batch
without a sequence was never drained, and is behind all that have one. Sequences are compared as numbers, so a batch that
wrapped around to 0 goes before the one it followed. A batch whose partition has nothing in flight cannot be queued again:
IllegalStateException, and the batch is lost. In 0.11, and without an idempotent producer, it goes to the front.

**Pieces** of a split batch have the sequences of their records, and are in flight from the start, in its place. If the
producer no longer has the partition, tracking the last piece, which comes first, throws: that piece is lost, and
the others never existed.

Java source mirrored: ``RecordAccumulator.splitAndReenqueue``, ``insertInSequenceOrder``, since 1.0.0.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_reference.accumulator.batches import Batch, BatchState
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
    """Number the pieces and put them in flight in place of ``batch``. Raises IllegalStateException."""
    state.sequences.number_pieces(batch, pieces)
    if not state.behaviour.pieces_are_in_flight:
        return
    state.sequences.release(batch)
    for piece in reversed(pieces):
        try:
            state.sequences.track(piece)
        except IllegalStateException:
            piece.number, piece.state = len(state.batches), BatchState.LOST
            state.batches.append(piece)
            state.incomplete.add(piece)
            raise
