"""Which nodes have something to be sent to, and, if none, when to look again.

Every partition's queue is looked at by its first batch::

    waited     = now - last attempt                    (a batch not sent yet: since it was made)
    backing    = attempts > 0 and waited < back-off    (since 3.6.1: and its leader is still the one that failed)
    full       = several batches, or the first is full
    to_wait    = back-off if backing else linger.ms
    sendable   = full or waited >= to_wait or threads wait for memory or closed or flushing
    sendable and not backing: its leader is ready; else look again after to_wait - waited, the smallest counts

- A partition without a leader makes its topic one to ask about, if it has a batch. 0.10.0 only says that there is such a
  partition, and counts queues that are empty.
- A partition that is muted, or whose leader is ready already, adds nothing: its wait is not counted either.
- With a back-off by chance (3.7.0) ``backing`` draws one, of every batch that came back, whoever its leader is, and a
  batch that is backing draws another one for ``to_wait``, which may be less than it has waited: then it is looked at
  again at once, after 0 ms.

**Load statistics** (since 3.3.0) are taken on the way, per topic, for the partitioner (see ``partitioning.builtin``): only
with adaptive partitioning, and only once there are at least as many queues as the topic has partitions. Each partition
with a leader takes the next slot with its id, and, if its queue is not empty, the queue's length. If the leader is slow,
the slot is given back, so that the next partition overwrites it. A partition with an empty queue does not: it takes over
the length that stands there. Slow is a node which was ready more than ``partitioner.availability.timeout.ms`` after it
last took anything.

Java source mirrored: ``RecordAccumulator.ready``, since 3.3.0 with ``partitionReady`` and ``batchReady``; 0.10.0.1 to 4.4.0.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.metadata import SNAPSHOTS, Metadata
from kafka_reference.accumulator.reasons import CameBack, Looked, Passed
from kafka_reference.accumulator.state import CHOOSES, AccumulatorState, Queue, TopicInfo
from kafka_reference.releases import since

__all__ = ["Ready", "is_backing_off", "ready"]

ONLY_WHETHER_UNKNOWN = since("0.10.0.0", until="0.10.0.99")


@dataclass(slots=True)
class Ready:
    """Nodes that are ready; when to look again, None for never; topics whose leaders are not all known.

    ``node_order`` are the nodes in the order in which they were found to be ready.
    """

    nodes: set[int] = field(default_factory=set)
    delay_ms: int | None = None
    unknown_leader_topics: set[str] = field(default_factory=set)
    node_order: list[int] = field(default_factory=list, compare=False)


def ready(state: AccumulatorState, metadata: Metadata) -> Ready:
    """Look at all queues. Mirrors ``ready``."""
    result = Ready()
    if state.release not in CHOOSES:
        for of, queue in state.flat.items():
            if metadata.leader(*of) is None and (queue or state.release in ONLY_WHETHER_UNKNOWN):
                result.unknown_leader_topics.add(of[0])
                if state.reasons is not None:
                    state.reasons.append(Passed(of, "leader unknown"))
            elif queue:
                _look_at(state, metadata, of, queue, result)
            elif state.reasons is not None:
                state.reasons.append(Passed(of, "empty"))
    for name, topic in state.topics.items():
        _look_at_topic(state, metadata, name, topic, result)
    return result


def is_backing_off(state: AccumulatorState, metadata: Metadata, batch: Batch) -> bool:
    """Whether it is too early to send this batch again. Mirrors ``shouldBackoff``."""
    if state.release in SNAPSHOTS:
        batch.see_epoch(metadata.epoch(*batch.topic_partition))
    if batch.attempts <= 0:
        return False
    waited, back_off = batch.waited_ms(state.now_ms), state.backoff.after(batch.attempts - 1)
    another = state.release in SNAPSHOTS and batch.has_another_leader
    backing = waited < back_off and not another
    if state.reasons is not None:
        state.reasons.append(
            CameBack(batch.topic_partition, batch.number, batch.attempts, waited, back_off, another, backing)
        )
    return backing


def _look_at(state: AccumulatorState, metadata: Metadata, of: tuple[str, int], queue: Queue, result: Ready) -> None:
    batch, leader = queue[0], metadata.leader(*of)
    backing = is_backing_off(state, metadata, batch)
    if leader is None:
        result.unknown_leader_topics.add(of[0])
        why = "leader unknown"
    elif leader in result.nodes:
        why = "leader ready"
    elif state.is_muted(of):
        why = "muted"
    else:
        _weigh(state, queue, leader, backing, result)
        return
    if state.reasons is not None:
        state.reasons.append(Passed(of, why))


def _weigh(state: AccumulatorState, queue: Queue, leader: int, backing: bool, result: Ready) -> None:
    """Whether the first batch is sendable, or when to look again. Mirrors ``batchReady``."""
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
    if state.reasons is not None:
        terms = backing, full, exhausted, state.closed, flushing
        state.reasons.append(Looked(batch.topic_partition, batch.number, leader, waited, to_wait, *terms, left))


def _look_at_topic(state: AccumulatorState, metadata: Metadata, name: str, topic: TopicInfo, result: Ready) -> None:
    count = len(topic.queues)
    counted = state.config.adaptive and count >= len(metadata.of_topic(name).partitions)
    sizes, ids = [0] * count, [0] * count
    racks: list[str | None] = [None] * count
    slot = -1
    for partition, queue in topic.queues.items():
        leader = metadata.leader(name, partition)
        if counted and leader is not None:
            slot += 1
            ids[slot], racks[slot] = partition, metadata.racks.get(leader)
        if not queue:
            if state.reasons is not None:
                state.reasons.append(Passed((name, partition), "empty"))
            continue
        if counted and leader is not None:
            sizes[slot] = len(queue)
            slot -= _is_slow(state, leader)
        _look_at(state, metadata, (name, partition), queue, result)
    topic.partitioner.load(sizes if counted else None, ids, racks, slot + 1)


def _is_slow(state: AccumulatorState, node: int) -> bool:
    latency = state.latencies.get(node)
    timeout_ms = state.config.availability_timeout_ms
    return timeout_ms > 0 and latency is not None and latency.ready_ms - latency.drain_ms > timeout_ms
