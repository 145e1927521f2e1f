"""The rule ``record-accumulator``: RecordAccumulator, from append to drain and back, step by step.

::

    {"config": {"batch_size": 16384, "linger_ms": 5, "retry_backoff_ms": 100, "retry_backoff_max_ms": 1000,
                "delivery_timeout_ms": 120000, "buffer_memory": 33554432, "adaptive": true,
                "availability_timeout_ms": 0},
     "cluster": C, "topics": ["t"], "epochs": [0, 0], "draws": [int32, …], "steps": [
        {"op": "append", "partition": 0, "key": null, "value": "00", "timestamp": 0},
                                       {"partition": 0, "batch_full": false, "new_batch": true, "bytes": 69}
        {"op": "advance", "ms": 5},    {}
        {"op": "ready"},               {"nodes": [0], "delay_ms": null, "unknown_leader_topics": []}
        {"op": "drain", "nodes": [0], "max_size": 1048576},
                                       {"batches": [{"id": 0, "partition": 0, "records": 1}]}
        {"op": "reenqueue", "batch": 0},              {}
        {"op": "split", "batch": -1},                 {"pieces": [1], "memory": 33554432}: records of each piece
        {"op": "complete", "batch": -1},              {"memory": 33554432}
        {"op": "latency", "node": 0, "can_drain": false}, {}
        {"op": "load", "topic": "t"},                 {"range_end": 8, "partition_ids": […], "cumulative": […]} or null
        {"op": "mute", "partition": 0}, {"op": "unmute", "partition": 0, "throttle_ms": 0}, {}
        {"op": "expire"},                             {"batches": [0], "next_expiry_ms": 120000}
        {"op": "flush"}, {"op": "flushed"},           {}, {"flushing": false}
        {"op": "close"}, {"op": "abort"}, {"op": "abort_undrained"}, {}, {"memory": …}
        {"op": "blocked", "threads": 1},              {}: so many threads wait for memory
        {"op": "cluster", "cluster": C, "epochs": […]},   {}
        {"op": "look"}]}        {"queues": {"t-0": [[id, records, bytes]]}, "memory", "incomplete": […], "undrained"}

Batches are numbered in the order of their making; a number below 0 counts back from the highest of those that are out,
which are the drained ones and, to be completed, the expired ones and those aborted in flight. A step whose batch is in no
state for it is answered by {} and does nothing, as is one that a release does not know. Appending with partition null lets
the accumulator choose; before 3.3.0 it did not, and ``chosen`` is where the producer put the record.

The clock is the question's. Appending never waits for memory: the time to block is 0. The draws: within one step Kafka may
draw several times, the partitioner and the jitter of the back-off. The first of a step is the next of ``draws``, and those
that follow it are what ThreadLocalRandom makes of it.

A step that raises is answered by Java's simple class name alone. Its text names sizes and was reworded often.

Order: a set is answered sorted (nodes, topics, incomplete). Where the walk through Java's hash maps shows, which is in
delays, expired batches, statistics and, from 3.6.1 on, in what is drained first, the order is Java's, by the rule in
``kafka_reference.accumulator.java_maps``. Batches are drained for nodes in the order asked. Not asked: a TransactionManager,
compression, the incremental buffers of 4.4.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kafka_conformance.protocol import Answer
from kafka_conformance.rules.accumulator_histories import (
    every_end_of_a_batch,
    every_rare_answer,
    every_short_history,
)
from kafka_conformance.rules.accumulator_sequences import (
    MET,
    every_order_of_answers,
    every_way_round,
    histories,
    producer_of,
    queued,
    seen_of_sequences,
    sequences_of,
)
from kafka_conformance.rules.accumulator_steps import (
    AdvanceStep,
    AppendStep,
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
from kafka_conformance.rules.clusters import AskedCluster, to_reference
from kafka_conformance.rules.rule import Rule, Space
from kafka_reference.accumulator.accumulator import (
    ABORTS_UNDRAINED,
    DELIVERY_TIMEOUT,
    SPLITS,
    Failure,
    RecordAccumulator,
)
from kafka_reference.accumulator.backoff import StepDraws
from kafka_reference.accumulator.batches import Batch, State
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.accumulator.readiness import ONLY_WHETHER_UNKNOWN
from kafka_reference.accumulator.sizes import Sized
from kafka_reference.accumulator.state import CHOOSES, Config
from kafka_reference.errors import JavaRaises
from kafka_reference.releases import NEWEST, Release, since

__all__ = ["RULE", "History", "ask_of"]

_OUT = frozenset({State.DRAINED})
_COMPLETABLE = frozenset({State.DRAINED, State.EXPIRED, State.ABORTED_IN_FLIGHT})


class History:
    """A question being answered: the accumulator, and what the steps mean to it."""

    def __init__(
        self, made: Callable[..., RecordAccumulator], question: RecordAccumulatorQuestion, at: Release
    ) -> None:
        self.at, self.topics = at, question.topics
        self.draws = StepDraws(question.draws)
        config = {name: getattr(question.config, name) for name in question.config.__struct_fields__}
        config["producer"] = producer_of(question.config)
        self.accumulator = made(at, Config(**config), self.draws)
        self.metadata = self._metadata(question.cluster, question.epochs)

    def _metadata(self, cluster: AskedCluster, epochs: tuple[int | None, ...]) -> Metadata:
        return Metadata(self.at, to_reference(cluster), self.topics, epochs)

    def take(self, step: Any) -> Answer | None:
        """Take one step."""
        self.draws.begin_step()
        try:
            return self._take(step)
        except JavaRaises as raised:
            return {"raises": raised.java_name}

    def _take(self, step: Any) -> Answer | None:
        match step:
            case AppendStep():
                return self._append(step)
            case ReadyStep():
                return self._ready()
            case DrainStep(nodes, max_size):
                drained = self.accumulator.drain(self.metadata, nodes, max_size)
                told = self.accumulator.state.producer is not None
                return {"batches": [_drained(batch, told) for batch in drained]}
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
        partition = step.chosen if step.partition is None and self.at not in CHOOSES else step.partition
        if partition is None and self.at not in CHOOSES:
            return {}
        record = Sized(step.timestamp, _length(step.key), _length(step.value))
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
            "unknown_leader_topics": bool(unknown) if self.at in ONLY_WHETHER_UNKNOWN else unknown,
        }

    def _sent(self, step: ReenqueueStep | SplitStep | CompleteStep | FailStep, number: int) -> Answer:
        batch = self._out(number, _COMPLETABLE if isinstance(step, CompleteStep) else _OUT)
        if batch is None or (isinstance(step, SplitStep) and self.at not in SPLITS):
            return {}
        match step:
            case ReenqueueStep():
                self.accumulator.reenqueue(batch)
                return {}
            case SplitStep():
                pieces = self.accumulator.split(batch)
                return {"pieces": [len(piece.records) for piece in pieces], **self._memory()}
            case CompleteStep() if batch.state is not State.EXPIRED:
                self.accumulator.acknowledge(batch)
            case FailStep(_, "expired") if self.at not in DELIVERY_TIMEOUT:
                return {}
            case _:
                self.accumulator.fail(batch, Failure(getattr(step, "why", "expired")))
        return self._memory()

    def _out(self, number: int, states: frozenset[State]) -> Batch | None:
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
            **({} if state.producer is None else {"sequences": sequences_of(state.producer)}),
        }

    def _other(self, step: Any) -> Answer:
        accumulator, state = self.accumulator, self.accumulator.state
        match step.__struct_config__.tag:
            case "latency":
                accumulator.see_latency(step.node, step.can_drain)
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
            case "abort_undrained" if self.at in ABORTS_UNDRAINED:
                accumulator.abort_undrained()
                return self._memory()
            case "blocked":
                state.pool.waiting = step.threads
        return {}


def _length(hexadecimal: str | None) -> int | None:
    return None if hexadecimal is None else len(hexadecimal) // 2


def _drained(batch: Batch, told: bool) -> Answer:
    drained: Answer = {"id": batch.number, "partition": batch.of[1], "records": len(batch.records)}
    if told and batch.producer is not None:
        drained |= {"sequence": batch.sequence, "epoch": batch.producer[1]}
    return drained


def _table(ends: tuple[int, ...], partition_ids: tuple[int, ...]) -> Answer:
    return {"range_end": ends[-1], "partition_ids": list(partition_ids[: len(ends)]), "cumulative": list(ends)}


def ask_of(made: Callable[..., RecordAccumulator], question: RecordAccumulatorQuestion, at: Release) -> Answer:
    """What an accumulator made by ``made`` answers: the reference's own, or one that something is different about."""
    history = History(made, question, at)
    return {"steps": [history.take(step) for step in question.steps]}


def _ask(question: RecordAccumulatorQuestion, at: Release) -> Answer:
    return ask_of(RecordAccumulator, question, at)


def _labels(question: RecordAccumulatorQuestion) -> Iterator[str]:
    if len(question.steps) >= 50:
        yield "50 steps and more"
    seen: set[str] = set()
    history = History(RecordAccumulator, question, NEWEST)
    state = history.accumulator.state
    for step in question.steps:
        before = {} if state.producer is None else queued(state)
        answer = history.take(step)
        seen.update(_seen(step, answer))
        seen.update(seen_of_sequences(state, before, step, answer))
    yield from sorted(seen)


def _seen(step: Any, answer: Any) -> Iterator[str]:
    """What happened at a step, in the newest release."""
    match step:
        case _ if "raises" in (answer or ()):
            yield f"raises {answer['raises']}"
        case AppendStep(partition):
            yield "partition chosen" if partition is None else "partition given"
            yield "new batch" if answer["new_batch"] else "appended"
            yield "batch full" if answer["batch_full"] else "batch not full"
        case ReadyStep():
            yield "ready" if answer["nodes"] else "not ready"
            yield "leader unknown" if answer["unknown_leader_topics"] else "leaders known"
            yield "nothing to wait for" if answer["delay_ms"] is None else "looks again"
        case DrainStep():
            yield ("drained none", "drained", "drained several")[min(len(answer["batches"]), 2)]
        case LoadStep():
            yield "no statistics" if answer is None else "statistics"
        case ExpireStep():
            yield "expired" if answer["batches"] else "not expired"
        case SplitStep() if answer:
            yield "split"
        case _ if answer:
            yield f"did {step.__struct_config__.tag}"


def _path(question: RecordAccumulatorQuestion) -> str:
    """Where releases part ways first: at sequences, or at a partition that is to be chosen."""
    if question.config.producer is not None:
        return "idempotent producer"
    chosen = any(isinstance(step, AppendStep) and step.partition is None for step in question.steps)
    return "partitions chosen" if chosen else "partitions given"


_HISTORIES = histories()
_ISSUES = "https://issues.apache.org/jira/browse"

RULE = Rule(
    slug="record-accumulator",
    title="RecordAccumulator: batches, readiness, retry order",
    releases=since("0.10.0.0"),
    question=RecordAccumulatorQuestion,
    ask=_ask,
    strategy=lambda: _HISTORIES,
    spaces=(
        Space("two partitions of one node: every history of up to 4 of 11 steps", every_short_history),
        Space("a drained batch of three records: every history of up to 4 of 8 steps", every_end_of_a_batch),
        Space("a history for each answer that is rare", every_rare_answer),
        Space("three idempotent batches in flight: every history of up to 3 of 12 steps", every_order_of_answers),
        Space("sequences that go round: every history of up to 3 of 8 steps", every_way_round),
    ),
    labels=_labels,
    path=_path,
    always=frozenset(
        {"50 steps and more", "partition chosen", "partition given", "new batch", "appended", "batch full"}
        | {"ready", "not ready", "leader unknown", "looks again", "drained", "drained several", "drained none"}
        | {"statistics", "no statistics", "expired", "not expired", "split", "did complete", "did flushed", "did abort"}
        | {"did abort_undrained", "raises KafkaException", "raises BufferExhaustedException"}
        | {"raises IllegalArgumentException", "raises ArithmeticException"}
        | MET
    ),
    java=((since("0.10.0.0"), "RecordAccumulatorRule"),),
    share=3,
    source="RecordAccumulator.append, ready, drain, reenqueue, splitAndReenqueue, expiredBatches, deallocate, abort…",
    links=(
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-91+Provide+Intuitive+User+Timeouts+in+The+Producer",
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-580%3A+Exponential+Backoff+for+Kafka+Clients",
        "https://cwiki.apache.org/confluence/display/KAFKA/KIP-794%3A+Strictly+Uniform+Sticky+Partitioner",
        f"{_ISSUES}/KAFKA-13834",
        f"{_ISSUES}/KAFKA-15415",
        f"{_ISSUES}/KAFKA-8350",
    ),
)
