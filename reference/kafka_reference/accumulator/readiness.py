"""Which nodes have batches to send, and, if none has, when to look again.

For each partition, the first batch of its queue decides::

    waited     = now - last attempt                    (a batch not sent yet: since it was made)
    backing    = attempts > 0 and waited < back-off    (since 3.6.1: unless its leader is new)
    full       = several batches, or the first is full
    to_wait    = back-off if backing else linger.ms
    sendable   = full or waited >= to_wait or threads wait for memory or closed or flushing
    sendable and not backing: its leader is ready; else look again after to_wait - waited, the smallest counts

- A partition that has a batch and no leader adds its topic to those whose metadata is needed. In 0.10.0 ready returns only
  whether there is such a partition, and counts empty queues.
- A partition that is muted, or whose leader is ready already, adds nothing: its wait does not count either.
- With a random back-off (since 3.7.0) ``backing`` draws one for every batch that was queued again, whatever its leader,
  and a batch that backs off draws another one for ``to_wait``. That may be less than it has waited: then the next look
  is after 0 ms.

**Load statistics** (since 3.3.0) are collected on the way, per topic, for the partitioner (see ``partitioning.builtin``):
only with adaptive partitioning, and only if there are at least as many queues as the topic has partitions. Each partition
with a leader takes the next entry with its id, and, if its queue is not empty, the queue's length. If the leader is slow,
the entry is given back, and the next partition overwrites it; a partition with an empty queue writes no length and takes
over the one that stands there. A node is slow if it was ready more than ``partitioner.availability.timeout.ms`` after it
last took anything.

Java source mirrored: ``RecordAccumulator.ready``, since 3.3.0 with ``partitionReady`` and ``batchReady``; every release.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.accumulator.reasons import BackoffCheck, QueueSkipped, ReadyCheck, Skip
from kafka_reference.accumulator.state import AccumulatorState, Queue, TopicInfo

__all__ = ["Ready", "is_backing_off", "ready"]


@dataclass(slots=True)
class Ready:
    """Nodes that are ready; when to look again, None for never; topics whose leaders are not all known.

    ``node_order`` are the nodes in the order in which they were found to be ready.

    >>> Ready(nodes={0}).delay_ms is None
    True
    """

    nodes: set[int] = field(default_factory=set)
    delay_ms: int | None = None
    unknown_leader_topics: set[str] = field(default_factory=set)
    node_order: list[int] = field(default_factory=list, compare=False)


def ready(state: AccumulatorState, metadata: Metadata) -> Ready:
    """Return the nodes that are ready, or when to look again. Mirrors ``ready``."""
    result = Ready()
    names_topics = state.behaviour.names_topics_without_leaders
    for topic_partition, queue in state.flat.items():
        if metadata.leader(*topic_partition) is None and (queue or not names_topics):
            result.unknown_leader_topics.add(topic_partition[0])
            state.note(QueueSkipped, topic_partition, Skip.LEADER_UNKNOWN)
        elif queue:
            _check_partition(state, metadata, topic_partition, queue, result)
        else:
            state.note(QueueSkipped, topic_partition, Skip.EMPTY)
    for name, topic in state.topics.items():
        _check_topic(state, metadata, name, topic, result)
    return result


def is_backing_off(state: AccumulatorState, metadata: Metadata, batch: Batch) -> bool:
    """Return whether it is too early to send this batch again. Mirrors ``shouldBackoff``."""
    leader_matters = state.behaviour.new_leader_ends_backoff
    if leader_matters:
        batch.update_leader_epoch(metadata.leader_epoch(batch.topic_partition))
    if batch.attempts <= 0:
        return False
    waited, back_off = batch.waited_ms(state.now_ms), state.backoff.after(batch.attempts - 1)
    new_leader = leader_matters and batch.has_new_leader
    backing = waited < back_off and not new_leader
    terms = batch.attempts, waited, back_off, new_leader, backing
    state.note(BackoffCheck, batch.topic_partition, batch.number, *terms)
    return backing


def _check_partition(
    state: AccumulatorState, metadata: Metadata, topic_partition: tuple[str, int], queue: Queue, result: Ready
) -> None:
    """Mirrors ``partitionReady`` for a queue that is not empty."""
    backing = is_backing_off(state, metadata, queue[0])
    leader = metadata.leader(*topic_partition)
    if leader is None:
        result.unknown_leader_topics.add(topic_partition[0])
        state.note(QueueSkipped, topic_partition, Skip.LEADER_UNKNOWN)
    elif leader in result.nodes:
        state.note(QueueSkipped, topic_partition, Skip.LEADER_READY)
    elif state.is_muted(topic_partition):
        state.note(QueueSkipped, topic_partition, Skip.MUTED)
    else:
        _check_batch(state, queue, leader, backing, result)


def _check_batch(state: AccumulatorState, queue: Queue, leader: int, backing: bool, result: Ready) -> None:
    """Add the leader to those that are ready, or its wait to the delay. Mirrors ``batchReady``."""
    batch = queue[0]
    waited = batch.waited_ms(state.now_ms)
    to_wait = state.backoff.after(batch.attempts - 1) if backing else state.config.linger_ms
    full = len(queue) > 1 or batch.full
    exhausted, flushing, left = state.pool.waiting > 0, state.flushes > 0, None
    if (full or waited >= to_wait or exhausted or state.closed or flushing) and not backing:
        result.nodes.add(leader)
        result.node_order.append(leader)
    else:
        left = max(to_wait - waited, 0)
        result.delay_ms = left if result.delay_ms is None else min(left, result.delay_ms)
    terms = backing, full, exhausted, state.closed, flushing
    state.note(ReadyCheck, batch.topic_partition, batch.number, leader, waited, to_wait, *terms, left)


def _check_topic(state: AccumulatorState, metadata: Metadata, name: str, topic: TopicInfo, result: Ready) -> None:
    """Check a topic's partitions and load its statistics. Mirrors ``partitionReady``."""
    count = len(topic.queues)
    collects = state.config.adaptive and count >= len(metadata.topic_cluster(name).partitions)
    sizes, ids = [0] * count, [0] * count
    racks: list[str | None] = [None] * count
    last = -1
    for partition, queue in topic.queues.items():
        leader = metadata.leader(name, partition)
        if collects and leader is not None:
            last += 1
            ids[last], racks[last] = partition, metadata.racks.get(leader)
        if not queue:
            state.note(QueueSkipped, (name, partition), Skip.EMPTY)
            continue
        if collects and leader is not None:
            sizes[last] = len(queue)
            last -= _is_slow(state, leader)
        _check_partition(state, metadata, (name, partition), queue, result)
    topic.partitioner.load(sizes if collects else None, ids, racks, last + 1)


def _is_slow(state: AccumulatorState, node: int) -> bool:
    latency = state.latencies.get(node)
    timeout_ms = state.config.availability_timeout_ms
    return timeout_ms > 0 and latency is not None and latency.ready_ms - latency.drain_ms > timeout_ms
