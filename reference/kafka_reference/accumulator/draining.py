"""Taking batches out of the queues, for nodes that can take them, up to a size for each node.

A node's partitions are visited in order, once around, from an index on. Of each the first batch is taken, at most one,
unless the partition is muted, or has none, or its first batch is backing off. If the batch would make the node's batches
larger than ``max_size``, the visit ends there, but for the very first, which always goes.

**The index** keeps the same partitions from always being first. Its rules differ:

============= ==========================================================================================================
0.10 – 2.0.x  One index for all nodes. It moves on once a partition was dealt with, so after a visit that ended because of
              the size, the next one begins with the partition that found no room.
2.1.0 – 3.2.x One index for all nodes. It moves on *before* a partition is looked at, so the one that found no room has to
              wait until it is its turn again.
3.3.0 on      One index for each node (KAFKA-13834), which is that of the partition looked at last. So a visit begins with
              the partition the last one ended with: the one without room, or, after a whole round, its last one.
============= ==========================================================================================================

With one index for all, a node's visit moves the next node's beginning, and an index modulo 1 is 0.

**With an idempotent producer** (see ``idempotence.client``) a first batch that must wait for others ends the visit too: so
one partition stops its node, and, since 3.3.0, stops it again at each visit, which begins there, until it may go on. A
batch without a sequence is numbered. One whose sequence is negative cannot be built, IllegalArgumentException; it is in
nobody's hands then, as are all that were taken before it.

To 3.6.0 a node without partitions is a division by zero, ArithmeticException, and batches taken for nodes before it are
in nobody's hands then.

Java source mirrored: ``RecordAccumulator.drain``, since 2.1.0 with ``drainBatchesForOneNode``; 0.10.0.1 to 4.4.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kafka_reference.accumulator import batches
from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.metadata import SNAPSHOTS, Metadata
from kafka_reference.accumulator.readiness import is_backing_off
from kafka_reference.accumulator.reasons import Passed, Took, Visit, Waits
from kafka_reference.accumulator.state import AccumulatorState
from kafka_reference.errors import ArithmeticException, NullPointerException
from kafka_reference.releases import since

__all__ = ["drain"]

INDEX_PER_NODE = since("3.3.0")
INDEX_MOVES_FIRST = since("2.1.0", until="3.2.99")
NO_LIST_FOR_STRANGERS = since("0.10.0.0", until="0.10.2.99")
NO_PARTITIONS_NO_HARM = SNAPSHOTS
KEEPS_BUFFERS_IN_FLIGHT = since("3.9.2", until="3.9.99") | since("4.0.2", until="4.0.99") | since("4.1.2")


def drain(state: AccumulatorState, metadata: Metadata, nodes: Iterable[int], max_size: int) -> list[Batch]:
    """The batches for these nodes, in order. Mirrors ``drain``.

    Raises ArithmeticException, NullPointerException, IllegalArgumentException.
    """
    taken: list[Batch] = []
    for node in dict.fromkeys(nodes):
        taken += _drain_one(state, metadata, node, max_size)
    for batch in taken:
        batch.state = batches.BatchState.DRAINED
        batch.in_flight = state.release in KEEPS_BUFFERS_IN_FLIGHT
    return taken


def _drain_one(state: AccumulatorState, metadata: Metadata, node: int, max_size: int) -> list[Batch]:
    partitions = metadata.node_partitions(node)
    if partitions is None and state.release in NO_LIST_FOR_STRANGERS:
        raise NullPointerException
    if not partitions:
        if state.release in NO_PARTITIONS_NO_HARM:
            return []
        raise ArithmeticException
    taken: list[Batch] = []
    size = 0
    for of in _visit(state, node, partitions):
        batch = _first(state, metadata, of)
        if batch is None:
            continue
        room = size + batch.estimated <= max_size or not taken
        waits_for = state.sequences.waits_for(batch) if room else None
        if state.reasons is not None:
            found = Took(of, batch.number, batch.estimated, size, max_size, room)
            state.reasons.append(found if waits_for is None else Waits(of, batch.number, waits_for))
        if not room or waits_for is not None:
            break
        state.queue(of).popleft()
        batch.state = batches.BatchState.LOST
        state.sequences.number(batch, batch.attempts > 0)
        state.close(batch)
        size += batch.built
        taken.append(batch)
    return taken


def _visit(state: AccumulatorState, node: int, partitions: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """The partitions, from the index on, once around; the index moves as it does in Java, also if the visit ends early."""
    per_node, moves_first = state.release in INDEX_PER_NODE, state.release in INDEX_MOVES_FIRST
    count = len(partitions)
    start = (state.drain_indices.get(node, 0) if per_node else state.drain_index) % count
    if state.reasons is not None:
        state.reasons.append(Visit(node, start, count))
    if not per_node:
        state.drain_index = start
    for at in (*range(start, count), *range(start)):
        if per_node:
            state.drain_indices[node] = at
        elif moves_first:
            state.drain_index = (at + 1) % count
        yield partitions[at]
        if not per_node:
            state.drain_index = (at + 1) % count


def _first(state: AccumulatorState, metadata: Metadata, of: tuple[str, int]) -> Batch | None:
    if state.is_muted(of):
        why = "muted"
    elif not (queue := state.queue_if_any(of)):
        why = "empty"
    elif is_backing_off(state, metadata, queue[0]):
        why = "backing off"
    else:
        return queue[0]
    if state.reasons is not None:
        state.reasons.append(Passed(of, why))
    return None
