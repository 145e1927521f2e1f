"""Taking batches out of the queues, for nodes that can take them, up to a size for each node.

A node's partitions are visited in order, once around, from an index on. From each queue the first batch is taken, at most
one, unless the partition is muted, its queue is empty, or its first batch backs off. If the batch would make the node's
batches larger than ``max_size``, the visit ends there; but the first batch of a visit is always taken.

**The index** keeps the same partitions from always being first:

============== =========================================================================================================
since 3.3.0    One index for each node (KAFKA-13834), which is that of the partition visited last. So a visit begins with
               the partition the last one ended with: the one without room, or, after a whole round, its last one.
2.1.0 to 3.2.x One index for all nodes. It moves on *before* a partition is visited, so the one without room has to wait
               until it is its turn again.
up to 2.0.x    One index for all nodes. It moves on after a partition was visited, so after a visit that ended because of
               the size, the next one begins with the partition without room.
============== =========================================================================================================

With one index for all, a node's visit moves the next node's beginning, and an index modulo 1 is 0.

**With an idempotent producer** a first batch that must wait for others ends the visit, too: so one partition stops its
node, and, since 3.3.0, stops it again at each visit, which begins there, until it may go on. A batch without a sequence is
numbered. A batch with a negative sequence cannot be built, IllegalArgumentException; it is lost, as are all that this drain
took before.

Up to 3.6.0 a node without partitions is a division by zero, ArithmeticException, and batches taken for nodes before it are
lost.

Java source mirrored: ``RecordAccumulator.drain``, since 2.1.0 with ``drainBatchesForOneNode``; every release.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kafka_reference.accumulator.batches import Batch, BatchState
from kafka_reference.accumulator.behaviour import DrainIndex
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.accumulator.readiness import is_backing_off
from kafka_reference.accumulator.reasons import DrainCheck, NodeVisit, QueueSkipped, SequenceWait, Skip
from kafka_reference.accumulator.state import AccumulatorState
from kafka_reference.errors import ArithmeticException, NullPointerException

__all__ = ["drain"]


def drain(state: AccumulatorState, metadata: Metadata, nodes: Iterable[int], max_size: int) -> list[Batch]:
    """Take batches for these nodes, up to ``max_size`` bytes each, and return them in order. Mirrors ``drain``.

    Raises ArithmeticException, NullPointerException, IllegalArgumentException.
    """
    taken: list[Batch] = []
    for node in dict.fromkeys(nodes):
        taken += _drain_node(state, metadata, node, max_size)
    for batch in taken:
        batch.state = BatchState.DRAINED
        batch.in_flight = state.behaviour.keeps_memory_in_flight_on_abort
    return taken


def _drain_node(state: AccumulatorState, metadata: Metadata, node: int, max_size: int) -> list[Batch]:
    partitions = metadata.node_partitions(node)
    if partitions is None and state.behaviour.npe_on_unknown_node:
        raise NullPointerException
    if not partitions:
        if state.behaviour.skips_node_without_partitions:
            return []
        raise ArithmeticException
    taken: list[Batch] = []
    size = 0
    for topic_partition in _visit(state, node, partitions):
        batch = _first(state, metadata, topic_partition)
        if batch is None:
            continue
        estimated = batch.estimated
        room = size + estimated <= max_size or not taken
        waits_for = state.sequences.waits_for(batch) if room else None
        if waits_for is not None:
            state.note(SequenceWait, topic_partition, batch.number, waits_for)
            break
        state.note(DrainCheck, topic_partition, batch.number, estimated, size, max_size, room)
        if not room:
            break
        state.queue(topic_partition).popleft()
        batch.state = BatchState.LOST
        state.sequences.number(batch, batch.attempts > 0)
        state.close(batch)
        size += batch.built
        taken.append(batch)
    return taken


def _visit(state: AccumulatorState, node: int, partitions: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Yield the partitions once around; the index moves as it does in Java, also if the visit ends early."""
    kind = state.behaviour.drain_index
    per_node, moves_first = kind is DrainIndex.PER_NODE, kind is DrainIndex.MOVES_FIRST
    count = len(partitions)
    start = (state.drain_indices.get(node, 0) if per_node else state.drain_index) % count
    state.note(NodeVisit, node, start, count)
    if not per_node:
        state.drain_index = start
    for index in (*range(start, count), *range(start)):
        if per_node:
            state.drain_indices[node] = index
        elif moves_first:
            state.drain_index = (index + 1) % count
        yield partitions[index]
        if not per_node:
            state.drain_index = (index + 1) % count


def _first(state: AccumulatorState, metadata: Metadata, topic_partition: tuple[str, int]) -> Batch | None:
    """Return the first batch of a partition, or None if it is not to be drained now."""
    if state.is_muted(topic_partition):
        why = Skip.MUTED
    elif not (queue := state.find_queue(topic_partition)):
        why = Skip.EMPTY
    elif is_backing_off(state, metadata, queue[0]):
        why = Skip.BACKING_OFF
    else:
        return queue[0]
    state.note(QueueSkipped, topic_partition, why)
    return None
