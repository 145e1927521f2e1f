"""Histories of ``record-accumulator`` with an idempotent producer: several batches in flight, answered in any order.

A byte more than in ``accumulator_histories`` says whether there is a producer, and who it is; a third of the histories
have one. They are spelled in an alphabet of their own, in which more is sent and less is looked at. Some producers have
sent so many records already that sequences go round.

What is said of sequences, in the answer to a look, for each partition of which there is something to say::

    {"sequences": {"t-0": {"next": 5, "last_acknowledged": 1, "in_flight": [2, 4], "unresolved": null}}}

``in_flight`` are base sequences, sorted as numbers. ``unresolved`` is null, or true, or, since 2.5.0, up to where.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.clusters import AskedCluster, AskedNode, AskedPartition
from kafka_conformance.rules.common.scripts import every_script
from kafka_conformance.rules.record_accumulator.generators import LETTERS, After, Record, Take, spelled_history
from kafka_conformance.rules.record_accumulator.question import (
    AbortUndrainedStep,
    AdvanceStep,
    AppendStep,
    AskedConfig,
    AskedProducer,
    CompleteStep,
    DrainStep,
    ExpireStep,
    FailStep,
    LookStep,
    MuteStep,
    ProducerStep,
    ReadyStep,
    RecordAccumulatorQuestion,
    ReenqueueStep,
    SplitStep,
    UnmuteStep,
)
from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.state import AccumulatorState
from kafka_reference.idempotence.sequence_tracker import Partition, Producer, SequenceTracker

__all__ = [
    "MET", "Queued", "every_order_of_answers", "every_way_round", "histories", "producer_of", "queued", "seen_of_sequences",
    "sequences_of", "with_producer",
]  # fmt: skip

_MOST = 2**31 - 1
_ALL, _MUCH = (0, 1, 2), 40
_PRODUCERS = (
    AskedProducer(7, 0),
    AskedProducer(7, 3, {"t-0": _MOST - 2, "t-1": _MOST, "u-0": 5}),
    AskedProducer(2**40, 2**15 - 1),
    AskedProducer(0, 0, {f"{topic}-{number}": _MOST - 4 for topic in ("t", "u") for number in range(6)}),
    AskedProducer(None, 0, {"t-0": 3}),
)  # fmt: skip

# A byte names one of these; repeats are weights. None is no step.
_SENDING: tuple[Any, ...] = (
    None, Record(0, 0, 10), Take(_ALL, _MUCH), ReenqueueStep(-1), CompleteStep(-1), Record(0, 4, -60), Record(1, 0, 9),
    Take(_ALL, _MUCH), ReenqueueStep(-2), Take((0,), _MUCH), Record(0, 4, 0), CompleteStep(-2), ReenqueueStep(-3),
    After("retry_backoff_max_ms", 40), FailStep(-1), FailStep(-1, "refused"), FailStep(-1, "expired"), SplitStep(-1),
    Record(0, 1, 0), Take(_ALL, _MUCH), Record(0, 3, 0), Take((1, 0), 4), CompleteStep(-3), FailStep(-2, "refused"),
    Record(2, 0, 30), Record(None, 1, 0), ReadyStep(), LookStep(), ReenqueueStep(-4), ReenqueueStep(-2), SplitStep(-2),
    After("delivery_timeout_ms"), ExpireStep(), ExpireStep(), ProducerStep(7, 1), ProducerStep(None), ProducerStep(7, 0),
    Record(0, 2, 0, "u"), Record(0, 0, 7, "u"), MuteStep(0), UnmuteStep(0), AbortUndrainedStep(), AdvanceStep(1),
    FailStep(-2, "expired"), FailStep(-3), CompleteStep(0), Take(_ALL, _MUCH), Record(0, 0, 0), Record(0, 4, -67),
    After("retry_backoff_max_ms", 40), Take((0,), 3), Record(1, 4, -60), Record(0, 2, -61), Take(_ALL, _MUCH),
)  # fmt: skip


def _spelled(letters: bytes) -> RecordAccumulatorQuestion:
    who = letters[0] if letters else 0
    if who % 3 < 2:
        return spelled_history(letters[1:])
    question = spelled_history(letters[1:], _SENDING)
    return with_producer(question, _PRODUCERS[who // 3 % len(_PRODUCERS)])


def with_producer(question: RecordAccumulatorQuestion, producer: AskedProducer | None) -> RecordAccumulatorQuestion:
    """The same question about this producer."""
    return replace(question, config=replace(question.config, producer=producer))


_HISTORIES = LETTERS.map(_spelled)


def histories() -> st.SearchStrategy[RecordAccumulatorQuestion]:
    """Histories, most of them of 50 steps and more, a third of them with an idempotent producer."""
    return _HISTORIES


_CONFIG = AskedConfig(
    batch_size=120, linger_ms=5, retry_backoff_ms=0, retry_backoff_max_ms=0, delivery_timeout_ms=30,
    buffer_memory=2000, adaptive=True, availability_timeout_ms=0,
)  # fmt: skip
_CLUSTER = AskedCluster((AskedNode(0),), (AskedPartition(0, 0), AskedPartition(1, 0)))
_APPEND, _OTHER, _DRAIN = AppendStep(0, None, "00" * 10, 0), AppendStep(1, None, "00" * 10, 0), DrainStep((0,), 1000)
_ENDING = (ReadyStep(), _DRAIN, LookStep())


def _after(
    begun: tuple[Any, ...], alphabet: tuple[Any, ...], producer: AskedProducer
) -> Iterator[RecordAccumulatorQuestion]:
    config = replace(_CONFIG, producer=producer)
    for steps in every_script(alphabet, 3):
        yield RecordAccumulatorQuestion(config, _CLUSTER, (), (*begun, *steps, *_ENDING))


def every_order_of_answers() -> Iterator[RecordAccumulatorQuestion]:
    """Three batches of a partition are in flight, a fourth one waits, as does one of another partition of that node.

    Then every history of up to 3 of 12 steps, a drain, and a look.
    """
    begun = (_APPEND, _DRAIN, _APPEND, _APPEND, _DRAIN, _APPEND, _DRAIN, _APPEND, _OTHER)
    alphabet = (
        _DRAIN, ReenqueueStep(-1), ReenqueueStep(-2), ReenqueueStep(-3), CompleteStep(-1), CompleteStep(-3), FailStep(-2),
        FailStep(-2, "refused"), FailStep(0, "expired"), ExpireStep(), AdvanceStep(30), ProducerStep(7, 1),
    )  # fmt: skip
    return _after(begun, alphabet, AskedProducer(7, 0))


def every_way_round() -> Iterator[RecordAccumulatorQuestion]:
    """A batch of three records that goes round after 2^31 - 1 is in flight, another batch waits.

    Then every history of up to 3 of 8 steps, a drain, and a look.
    """
    begun = (_APPEND, _APPEND, _APPEND, _DRAIN, _APPEND)
    alphabet = (
        _DRAIN, ReenqueueStep(-1), ReenqueueStep(-2), CompleteStep(-1), CompleteStep(-2), SplitStep(-1), _APPEND,
        FailStep(-2, "refused"),
    )  # fmt: skip
    return _after(begun, alphabet, AskedProducer(7, 0, {"t-0": _MOST - 1}))


def producer_of(config: AskedConfig) -> Producer | None:
    """The producer, as the reference takes it."""
    asked = config.producer
    if asked is None:
        return None
    names = {name: name.rpartition("-") for name in asked.next_sequences}
    sent = {(topic, int(number)): asked.next_sequences[name] for name, (topic, _, number) in names.items()}
    return Producer(asked.id, asked.epoch, sent)


def sequences_of(producer: SequenceTracker) -> Answer:
    """What is known of each partition of which anything is."""
    known: Answer = {}
    for topic, number in {**producer.partitions, **producer.unresolved}:
        of = (topic, number)
        partition = producer.partitions.get(of)
        up_to = producer.unresolved.get(of)
        described = {
            "next": (partition.next or 0) if partition else 0,
            "last_acknowledged": partition.last_acknowledged if partition else -1,
            "in_flight": sorted(batch.sequence or 0 for batch in partition.in_flight) if partition else [],
            "unresolved": True if of in producer.unresolved and up_to is None else up_to,
        }
        if described != _SILENT:
            known[f"{topic}-{number}"] = described
    return known


_SILENT = {"next": 0, "last_acknowledged": -1, "in_flight": [], "unresolved": None}

Queued = Mapping[tuple[str, int], tuple[Batch, ...]]

# What must have been met, in the newest release.
MET = frozenset(
    {"several in flight", "reenqueued at the front", "reenqueued between others", "waits for its turn"}
    | {"waits for what is unresolved", "waits for another epoch", "another epoch", "sequence went round"}
    | {"negative sequence", "several pieces numbered", "acknowledged out of order", "failed: exhausted"}
    | {"failed: expired", "failed: refused", "expired with a sequence"}
)


def queued(state: AccumulatorState) -> Queued:
    """What is in the queues."""
    return {of: tuple(queue) for of, queue in state.queues()}


def seen_of_sequences(
    producer: SequenceTracker | None, state: AccumulatorState, before: Queued, step: Any, answer: Any
) -> Iterator[str]:
    """What happened to sequences at a step; ``before`` is what was in the queues."""
    if producer is None:
        return
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
