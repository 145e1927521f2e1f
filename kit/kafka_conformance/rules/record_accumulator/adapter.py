"""Take the steps of a question of ``record-accumulator`` on the reference's accumulator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_conformance.core.protocol import Answer, answered, exception_answer
from kafka_conformance.rules.common.clusters import AskedCluster, to_reference
from kafka_conformance.rules.record_accumulator.question import (
    AdvanceStep,
    AppendStep,
    AskedConfig,
    CompleteStep,
    DrainStep,
    ExpireStep,
    FailStep,
    LoadStep,
    LookStep,
    MoveStep,
    ProducerStep,
    ReadyStep,
    RecordAccumulatorQuestion,
    ReenqueueStep,
    SplitStep,
)
from kafka_conformance.rules.record_sizes.question import AskedField, Length
from kafka_reference.accumulator.accumulator import Failure, RecordAccumulator
from kafka_reference.accumulator.backoff import StepDraws
from kafka_reference.accumulator.batches import Batch, BatchState
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.accumulator.sequences import NO_SEQUENCES
from kafka_reference.accumulator.sizes import SizedRecord
from kafka_reference.accumulator.state import AccumulatorConfig
from kafka_reference.errors import JavaException
from kafka_reference.idempotence.behaviour import TransactionManagerBehaviour
from kafka_reference.idempotence.sequence_tracker import Producer, SequenceTracker
from kafka_reference.releases import Release, since

__all__ = ["History", "ask_of"]

HEADERS = since("0.11.0.0")

_NO_SEQUENCES = {"next": 0, "last_acknowledged": -1, "in_flight": [], "unresolved": None}
_OUT = frozenset({BatchState.DRAINED})
_COMPLETABLE = frozenset({BatchState.DRAINED, BatchState.EXPIRED, BatchState.ABORTED_IN_FLIGHT})


class History:
    """The accumulator of a question, and the steps that are taken on it."""

    def __init__(
        self,
        made: Callable[..., RecordAccumulator],
        question: RecordAccumulatorQuestion,
        release: Release,
        tracker: type[SequenceTracker] = SequenceTracker,
    ) -> None:
        self.release, self.topics = release, question.topics
        self.draws = StepDraws(question.draws)
        names = (name for name in question.config.__struct_fields__ if name != "producer")
        config = AccumulatorConfig(**{name: getattr(question.config, name) for name in names})
        producer = _producer(question.config) if TransactionManagerBehaviour.of(release).exists else None
        self.producer = None if producer is None else tracker(release, producer)
        self.accumulator = made(release, config, self.draws, self.producer or NO_SEQUENCES)
        self.behaviour = self.accumulator.state.behaviour
        self.metadata = self._metadata(question.cluster, question.epochs)

    def _metadata(self, cluster: AskedCluster, epochs: tuple[int | None, ...]) -> Metadata:
        return Metadata(self.release, to_reference(cluster), self.topics, epochs)

    def take(self, step: Any) -> Answer | None:
        """Take one step."""
        self.draws.begin_step()
        return answered(self._take, step, with_message=False)

    def _take(self, step: Any) -> Answer | None:
        match step:
            case AppendStep():
                return self._append(step)
            case ReadyStep():
                return self._ready()
            case DrainStep(nodes, max_size):
                drained = self.accumulator.drain(self.metadata, nodes, max_size)
                has_producer = self.producer is not None
                return {"batches": [_drained(batch, has_producer) for batch in drained]}
            case ReenqueueStep(number) | SplitStep(number) | CompleteStep(number) | FailStep(number):
                return self._sent(step, number)
            case LoadStep(topic):
                table = self.accumulator.load_table(topic)
                return None if table is None else _table(table.range_ends, table.partition_ids)
            case ExpireStep():
                expired, next_ms = self.accumulator.expire()
                return {"batches": [batch.number for batch in expired], "next_expiry_ms": next_ms}
            case LookStep():
                return self._look()
            case AdvanceStep() | MoveStep() | ProducerStep():
                return self._change(step)
        return self._other(step)

    def _change(self, step: AdvanceStep | MoveStep | ProducerStep) -> Answer:
        match step:
            case AdvanceStep(ms):
                self.accumulator.state.now_ms += ms
            case MoveStep(cluster, epochs):
                self.metadata = self._metadata(cluster, epochs)
            case ProducerStep(producer_id, epoch):
                self.accumulator.become(producer_id, epoch)
        return {}

    def _append(self, step: AppendStep) -> Answer:
        partition = step.chosen if step.partition is None and not self.behaviour.chooses_partition else step.partition
        if partition is None and not self.behaviour.chooses_partition:
            return {}
        headers = tuple((name, _length(value)) for name, value in step.headers) if self.release in HEADERS else ()
        record = SizedRecord(step.timestamp, _length(step.key), _length(step.value), headers)
        appended = self.accumulator.append(step.topic, partition, record, self.metadata)
        return {
            "partition": appended.partition,
            "batch_full": appended.batch_full,
            "new_batch": appended.new_batch,
            "bytes": appended.bytes,
        }

    def _ready(self) -> Answer:
        ready = self.accumulator.ready(self.metadata)
        unknown = sorted(ready.unknown_leader_topics)
        return {
            "nodes": sorted(ready.nodes),
            "delay_ms": ready.delay_ms,
            "unknown_leader_topics": unknown if self.behaviour.names_topics_without_leaders else bool(unknown),
        }

    def _sent(self, step: ReenqueueStep | SplitStep | CompleteStep | FailStep, number: int) -> Answer:
        batch = self._out(number, _COMPLETABLE if isinstance(step, CompleteStep) else _OUT)
        if batch is None or (isinstance(step, SplitStep) and not self.behaviour.splits_batches):
            return {}
        match step:
            case ReenqueueStep():
                self.accumulator.reenqueue(batch)
                return {}
            case SplitStep():
                pieces = self.accumulator.split(batch)
                return {"pieces": [len(piece.records) for piece in pieces], **self._memory()}
            case CompleteStep() if batch.state is not BatchState.EXPIRED:
                self.accumulator.acknowledge(batch)
            case FailStep(_, "expired") if not self.behaviour.expires_by_delivery_timeout:
                return {}
            case _:
                self.accumulator.fail(batch, Failure(getattr(step, "why", "expired")))
        return self._memory()

    def _out(self, number: int, states: frozenset[BatchState]) -> Batch | None:
        batches = self.accumulator.state.batches
        if number >= 0:
            found = batches[number] if number < len(batches) else None
            return found if found is not None and found.state in states else None
        out = [batch for batch in batches if batch.state in states]
        return out[number] if -number <= len(out) else None

    def _memory(self) -> Answer:
        return {"memory": self.accumulator.state.pool.available}

    def _look(self) -> Answer:
        state = self.accumulator.state
        queues = dict(state.queues())
        return {
            "queues": {
                f"{topic}-{partition}": [[batch.number, len(batch.records), batch.estimated] for batch in queue]
                for (topic, partition), queue in queues.items()
            },
            "incomplete": sorted(batch.number for batch in state.incomplete),
            "undrained": any(queues.values()),
            **self._memory(),
            **({} if self.producer is None else {"sequences": _sequences(self.producer)}),
        }

    def _other(self, step: Any) -> Answer:
        accumulator, state = self.accumulator, self.accumulator.state
        match step.__struct_config__.tag:
            case "latency":
                accumulator.update_node_latency(step.node, step.can_drain)
            case "mute":
                state.mute((step.topic, step.partition))
            case "unmute":
                state.unmute((step.topic, step.partition), step.throttle_ms)
            case "flush":
                accumulator.begin_flush()
            case "flushed" if not state.incomplete:
                accumulator.end_flush()
                return {"flushing": state.flushes > 0}
            case "close":
                accumulator.close()
            case "abort":
                accumulator.abort()
                return self._memory()
            case "abort_undrained" if self.behaviour.aborts_undrained_batches:
                accumulator.abort_undrained()
                return self._memory()
            case "blocked":
                state.pool.waiting = step.threads
        return {}


def _producer(config: AskedConfig) -> Producer | None:
    """Return the producer, as the reference takes it."""
    asked = config.producer
    if asked is None:
        return None
    names = {name: name.rpartition("-") for name in asked.next_sequences}
    sent = {(topic, int(number)): asked.next_sequences[name] for name, (topic, _, number) in names.items()}
    return Producer(asked.id, asked.epoch, sent)


def _sequences(producer: SequenceTracker) -> Answer:
    """Return the state of each partition that has one."""
    known: Answer = {}
    for topic, number in {**producer.partitions, **producer.unresolved}:
        topic_partition = (topic, number)
        partition = producer.partitions.get(topic_partition)
        up_to = producer.unresolved.get(topic_partition)
        described = {
            "next": (partition.next or 0) if partition else 0,
            "last_acknowledged": partition.last_acknowledged if partition else -1,
            "in_flight": sorted(batch.sequence or 0 for batch in partition.in_flight) if partition else [],
            "unresolved": True if topic_partition in producer.unresolved and up_to is None else up_to,
        }
        if described != _NO_SEQUENCES:
            known[f"{topic}-{number}"] = described
    return known


def _length(asked: AskedField) -> int | None:
    if asked is None:
        return None
    return asked.length if isinstance(asked, Length) else len(asked) // 2


def _drained(batch: Batch, has_producer: bool) -> Answer:
    drained: Answer = {"id": batch.number, "partition": batch.topic_partition[1], "records": len(batch.records)}
    if has_producer and batch.producer is not None:
        drained |= {"sequence": batch.sequence, "epoch": batch.producer[1]}
    return drained


def _table(ends: tuple[int, ...], partition_ids: tuple[int, ...]) -> Answer:
    return {"range_end": ends[-1], "partition_ids": list(partition_ids[: len(ends)]), "cumulative": list(ends)}


def ask_of(
    made: Callable[..., RecordAccumulator],
    question: RecordAccumulatorQuestion,
    release: Release,
    tracker: type[SequenceTracker] = SequenceTracker,
) -> Answer:
    """Return the answer of an accumulator made by ``made``: the reference's, or a mutant's."""
    try:
        history = History(made, question, release, tracker)
    except JavaException as refused:
        return exception_answer(refused, with_message=False)
    return {"steps": [history.take(step) for step in question.steps]}
