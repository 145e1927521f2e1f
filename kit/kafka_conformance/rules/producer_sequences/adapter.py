"""A history of ``producer-sequences`` being taken: what each step means to the reference's sender."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from kafka_conformance.core.protocol import Answer, exception_answer
from kafka_conformance.rules.producer_sequences.question import (
    AdvanceStep,
    AppendStep,
    AskedSender,
    DisconnectStep,
    FlushStep,
    LookStep,
    ProducerIdStep,
    ProducerSequencesQuestion,
    RespondStep,
    RunStep,
)
from kafka_reference.accumulator.accumulator import RecordAccumulator
from kafka_reference.accumulator.backoff import StepDraws
from kafka_reference.accumulator.behaviour import RecordAccumulatorBehaviour
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.accumulator.state import AccumulatorConfig
from kafka_reference.errors import JavaException
from kafka_reference.idempotence.errors import known
from kafka_reference.idempotence.outcomes import Numbered
from kafka_reference.idempotence.requests import Reply, Sent
from kafka_reference.idempotence.sender import Sender, SenderConfig
from kafka_reference.idempotence.sequence_tracker import BEGINS_ANEW_WHEN_DRAINED, IDEMPOTENT, TRACKS
from kafka_reference.idempotence.sequence_tracker import Partition as Known
from kafka_reference.idempotence.transaction_manager import TransactionManager
from kafka_reference.partitioning.cluster import Cluster, Node, Partition
from kafka_reference.releases import Release

__all__ = ["Made", "SenderHistory", "ask_sender"]

Made: TypeAlias = Callable[[Release, SenderConfig, RecordAccumulator, Metadata, bool], Sender]
_TOPIC = "t"


class SenderHistory:
    """A question being answered: the sender, and what the steps mean to it."""

    def __init__(self, made: Made, question: ProducerSequencesQuestion, at: Release) -> None:
        config = question.config
        self._at, self._records = at, 0
        self._draws = StepDraws(question.draws)
        self._metadata = Metadata(at, _cluster(question.leaders), [_TOPIC])
        accumulator = RecordAccumulator(at, _accumulator(config, at), self._draws)
        acks = -1 if config.acks == "all" else int(config.acks)
        names = ("retries", "max_in_flight", "request_timeout_ms", "delivery_timeout_ms", "retry_backoff_ms")
        sending = SenderConfig(acks, *(getattr(config, name) for name in names))
        self.sender = made(at, sending, accumulator, self._metadata, config.idempotence and at in IDEMPOTENT)
        if question.producer is not None and self.sender.manager is not None:
            self._draws.begin_step()
            self.sender.foresee_id(Reply("NONE", producer=(question.producer.id, question.producer.epoch)))
            self.sender.run()
            for partition, sequence in question.producer.next_sequences.items():
                self.sender.manager.begin((_TOPIC, int(partition)), sequence)

    def take(self, step: Any) -> Answer:
        """Take one step."""
        self._draws.begin_step()
        match step:
            case AppendStep():
                return self._append(step)
            case RunStep():
                return self._run()
            case LookStep():
                return self._look()
            case RespondStep() if known(self._at, step.error) and (step.others is None or known(self._at, step.others)):
                reply = Reply(step.error, step.others, step.base_offset, step.log_start_offset)
                self.sender.network.reply(step.node, reply)
            case DisconnectStep(node):
                self.sender.network.lose(node)
            case AdvanceStep(ms):
                self.sender.accumulator.state.now_ms += ms
            case ProducerIdStep(producer_id, epoch, error):
                self.sender.foresee_id(Reply(error, producer=(producer_id, epoch)))
            case FlushStep():
                self.sender.accumulator.begin_flush()
        return {}

    def _append(self, step: AppendStep) -> Answer:
        for _ in range(step.records):
            record = Numbered(0, None, step.bytes, (), self._records)
            self._records += 1
            try:
                self.sender.accumulator.append(_TOPIC, step.partition, record, self._metadata)
            except JavaException as raised:
                return exception_answer(raised, with_message=False)
        return {}

    def _run(self) -> Answer:
        sender, raised = self.sender, None
        in_error = _is_in_error(sender.manager)
        try:
            sender.run()
        except JavaException as error:
            raised = error.java_name
        ended = [list(one) for one in sender.ended]
        if in_error or _is_in_error(sender.manager):
            ended.sort(key=lambda one: one[0])
        answer: Answer = {
            "sent": [{"node": node, "batches": [_batch(batch) for batch in batches]} for node, batches in sender.sent],
            "ended": ended,
        }
        if sender.asked:
            answer["asked_id"] = sender.asked
        if raised is not None:
            answer["raises"] = raised
        if sender.uncaught:
            answer["uncaught"] = list(sender.uncaught)
        return answer

    def _look(self) -> Answer:
        state, manager, untold = self.sender.accumulator.state, self.sender.manager, self._at not in TRACKS
        answer: Answer = {
            "queues": {
                str(of[1]): [
                    [len(batch.records), batch.attempts, -1 if batch.sequence is None or untold else batch.sequence]
                    for batch in queue
                ]
                for of, queue in state.queues()
            },
            "now_ms": state.now_ms,
        }
        if manager is not None:
            answer |= {
                "producer": list(manager.current),
                "state": manager.state,
                "partitions": _partitions(manager, self._at),
            }
        return answer


def _is_in_error(manager: TransactionManager | None) -> bool:
    return manager is not None and manager.state.endswith("_ERROR")


def _accumulator(config: AskedSender, at: Release) -> AccumulatorConfig:
    by_delivery_timeout = RecordAccumulatorBehaviour.of(at).expires_by_delivery_timeout
    return AccumulatorConfig(
        batch_size=config.batch_size,
        linger_ms=config.linger_ms,
        retry_backoff_ms=config.retry_backoff_ms,
        retry_backoff_max_ms=config.retry_backoff_max_ms,
        delivery_timeout_ms=config.delivery_timeout_ms if by_delivery_timeout else config.request_timeout_ms,
        buffer_memory=1 << 30,
        adaptive=False,
        availability_timeout_ms=0,
    )


def _cluster(leaders: tuple[int, ...]) -> Cluster:
    nodes = tuple(Node(node) for node in dict.fromkeys(leaders))
    return Cluster(nodes, tuple(Partition(number, leader) for number, leader in enumerate(leaders)))


def _batch(batch: Sent) -> Answer:
    producer_id, epoch = batch.producer
    return {
        "partition": batch.topic_partition[1], "records": list(batch.records), "producer_id": producer_id, "epoch": epoch,
        "sequence": batch.sequence,
    }  # fmt: skip


def _partitions(manager: TransactionManager, at: Release) -> Answer:
    found: Answer = {}
    for of in {**manager.partitions, **manager.unresolved}:
        known_of = manager.partitions.get(of)
        up_to = manager.unresolved.get(of)
        described = _SILENT if known_of is None else _described(known_of, at in BEGINS_ANEW_WHEN_DRAINED)
        described = {**described, "unresolved": True if of in manager.unresolved and up_to is None else up_to}
        if described != _SILENT:
            found[f"{of[0]}-{of[1]}"] = described
    return found


def _described(partition: Known, knows_producer: bool) -> Answer:
    return {
        "next": partition.next or 0,
        "last_acknowledged": partition.last_acknowledged,
        "in_flight": sorted(-1 if batch.sequence is None else batch.sequence for batch in partition.in_flight),
        "unresolved": None,
        "last_offset": partition.last_offset,
        "producer": list(partition.producer) if knows_producer else [-1, -1],
    }


_SILENT: Answer = {
    "next": 0, "last_acknowledged": -1, "in_flight": [], "unresolved": None, "last_offset": -1, "producer": [-1, -1],
}  # fmt: skip


def ask_sender(made: Made, question: ProducerSequencesQuestion, at: Release) -> Answer:
    """What a sender made by ``made`` answers: the reference's own, or one that something is different about."""
    history = SenderHistory(made, question, at)
    return {"steps": [history.take(step) for step in question.steps]}
