"""What happened to the sequences of an idempotent producer in a history, in the newest release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.record_accumulator.question import (
    CompleteStep,
    DrainStep,
    ExpireStep,
    FailStep,
    ReenqueueStep,
    SplitStep,
)
from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.state import AccumulatorState
from kafka_reference.idempotence.sequence_tracker import Partition, SequenceTracker

__all__ = ["SEQUENCE_LABELS", "Queued", "queued", "seen_of_sequences"]

Queued = Mapping[tuple[str, int], tuple[Batch, ...]]

SEQUENCE_LABELS = frozenset(
    {"several in flight", "reenqueued at the front", "reenqueued between others", "waits for its turn"}
    | {"waits for what is unresolved", "waits for another epoch", "another epoch", "sequence went round"}
    | {"negative sequence", "several pieces numbered", "acknowledged out of order", "failed: exhausted"}
    | {"failed: expired", "failed: refused", "expired with a sequence"}
)


def queued(state: AccumulatorState) -> Queued:
    """What is in the queues."""
    return {of: tuple(queue) for of, queue in state.queues()}


def seen_of_sequences(
    producer: SequenceTracker, state: AccumulatorState, before: Queued, step: Any, answer: Any
) -> Iterator[str]:
    """What happened to sequences at a step; ``before`` is what was in the queues."""
    match step:
        case ReenqueueStep():
            places = {
                queue.index(batch) for of, queue in state.queues() for batch in queue if batch not in before.get(of, ())
            }
            yield from ("reenqueued between others" if place else "reenqueued at the front" for place in places)
        case _ if not answer:
            return
        case DrainStep():
            yield from _seen_drained(state, producer, answer)
        case SplitStep() if len(answer.get("pieces", ())) > 1:
            yield "several pieces numbered"
        case FailStep(_, why) if "memory" in answer:
            yield f"failed: {why}"
        case ExpireStep() if any(state.batches[number].sequence is not None for number in answer["batches"]):
            yield "expired with a sequence"
        case CompleteStep():
            if any(_has_gap(partition) for partition in producer.partitions.values()):
                yield "acknowledged out of order"


def _has_gap(partition: Partition) -> bool:
    first = partition.in_flight.first
    return first is not None and (first.sequence or 0) < partition.last_acknowledged


def _seen_drained(state: AccumulatorState, producer: SequenceTracker, answer: Answer) -> Iterator[str]:
    if any(len(tuple(partition.in_flight)) > 2 for partition in producer.partitions.values()):
        yield "several in flight"
    if answer.get("raises") == "IllegalArgumentException":
        yield "negative sequence"
    for drained in answer.get("batches", ()):
        batch = state.batches[drained["id"]]
        if (producer.partitions[batch.topic_partition].next or 0) < drained["sequence"]:
            yield "sequence went round"
        if drained["epoch"] == 1:
            yield "another epoch"
    for of, queue in state.queues():
        if queue and producer.waits_for(queue[0]):
            if queue[0].sequence is not None:
                yield "waits for its turn"
            else:
                yield "waits for what is unresolved" if of in producer.unresolved else "waits for another epoch"
