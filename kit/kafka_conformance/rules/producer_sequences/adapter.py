"""How the reference answers a question of ``producer-sequences``: each step is a call on its sender."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
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
from kafka_reference.errors import JavaException, NotInThisRelease
from kafka_reference.idempotence.behaviour import PartitionRestart, TransactionManagerBehaviour
from kafka_reference.idempotence.outcomes import Numbered
from kafka_reference.idempotence.requests import Reply, Sent
from kafka_reference.idempotence.sender import Sender, SenderConfig
from kafka_reference.idempotence.sequence_tracker import NO_PRODUCER
from kafka_reference.idempotence.sequence_tracker import Partition as KnownPartition
from kafka_reference.idempotence.transaction_manager import TransactionManager
from kafka_reference.partitioning.cluster import Cluster, Node, Partition
from kafka_reference.releases import Release

__all__ = ["SenderFactory", "SenderHistory", "ask_sender", "round_answer", "state_answer", "take_network_step"]

SenderFactory: TypeAlias = Callable[[Release, SenderConfig, RecordAccumulator, Metadata, bool], Sender]
_TOPIC = "t"


class SenderHistory:
    """A question being answered: a sender made by ``factory``, and what each step does to it."""

    def __init__(self, factory: SenderFactory, question: ProducerSequencesQuestion, release: Release) -> None:
        config = question.config
        self._release, self._records = release, 0
        self._draws = StepDraws(question.draws)
        self._metadata = Metadata(release, _cluster(question.leaders), [_TOPIC])
        accumulator = RecordAccumulator(release, _accumulator(config, release), self._draws)
        acks = -1 if config.acks == "all" else int(config.acks)
        names = ("retries", "max_in_flight", "request_timeout_ms", "delivery_timeout_ms", "retry_backoff_ms")
        sender_config = SenderConfig(acks, *(getattr(config, name) for name in names))
        idempotent = config.idempotence and TransactionManagerBehaviour.of(release).exists
        self.sender = factory(release, sender_config, accumulator, self._metadata, idempotent)
        if question.producer is not None and idempotent:
            self._draws.begin_step()
            self.sender.network.queue_producer_id(
                Reply("NONE", producer=(question.producer.id, question.producer.epoch))
            )
            self.sender.run()
            for partition, sequence in question.producer.next_sequences.items():
                self.sender.manager.begin((_TOPIC, int(partition)), sequence)

    def take(self, step: Any) -> Answer:
        """Take one step and return its answer."""
        self._draws.begin_step()
        match step:
            case AppendStep():
                return self._append(step)
            case RunStep():
                return round_answer(self.sender, self.sender.run)
            case LookStep():
                answer = state_answer(self.sender)
                if self.sender.manager.is_idempotent:
                    behaviour = TransactionManagerBehaviour.of(self._release)
                    shows_producer = behaviour.partition_restart is PartitionRestart.DRAINED
                    answer["partitions"] = _partitions(self.sender.manager, shows_producer)
                return answer
            case FlushStep():
                self.sender.accumulator.begin_flush()
            case _:
                take_network_step(self.sender, step)
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


def take_network_step(sender: Sender, step: Any) -> None:
    """Take a step about brokers or the clock. An error that the release does not have is ignored."""
    match step:
        case RespondStep():
            with suppress(NotInThisRelease):
                sender.network.reply(step.node, Reply(step.error, step.others, step.base_offset, step.log_start_offset))
        case DisconnectStep(node):
            sender.network.disconnect(node)
        case AdvanceStep(ms):
            sender.accumulator.state.now_ms += ms
        case ProducerIdStep(producer_id, epoch, error) if sender.manager.is_idempotent:
            sender.network.queue_producer_id(Reply(error, producer=(producer_id, epoch)))


def round_answer(sender: Sender, run: Callable[[], None]) -> Answer:
    """Run a round of the sender by ``run`` and return what it sent and how records ended."""
    thrown: Answer = {}
    was_in_error = sender.manager.state.is_error
    try:
        run()
    except JavaException as raised:
        thrown = exception_answer(raised, with_message=False)
    ended = [list(one) for one in sender.ended]
    if was_in_error or sender.manager.state.is_error:
        ended.sort(key=lambda one: one[0])
    answer: Answer = {
        "sent": [{"node": node, "batches": [_batch(batch) for batch in batches]} for node, batches in sender.sent],
        "ended": ended,
    }
    if sender.network.id_requests:
        answer["asked_id"] = sender.network.id_requests
    answer |= thrown
    if sender.uncaught:
        answer["uncaught"] = list(sender.uncaught)
    return answer


def state_answer(sender: Sender) -> Answer:
    """Return the queues by partition, the time, and the producer's id, epoch and state."""
    behaviour = TransactionManagerBehaviour.of(sender.release)
    answer: Answer = {
        "queues": {
            str(number): [[len(batch.records), batch.attempts, _sequence(batch.sequence, behaviour)] for batch in queue]
            for (_, number), queue in sender.accumulator.state.queues()
        },
        "now_ms": sender.now_ms,
    }
    if sender.manager.is_idempotent:
        answer |= {"producer": list(sender.manager.current), "state": sender.manager.state.value}
    return answer


def _accumulator(config: AskedSender, release: Release) -> AccumulatorConfig:
    expires = RecordAccumulatorBehaviour.of(release).expires_by_delivery_timeout
    return AccumulatorConfig(
        batch_size=config.batch_size,
        linger_ms=config.linger_ms,
        retry_backoff_ms=config.retry_backoff_ms,
        retry_backoff_max_ms=config.retry_backoff_max_ms,
        delivery_timeout_ms=config.delivery_timeout_ms if expires else config.request_timeout_ms,
        buffer_memory=1 << 30,
        adaptive=False,
        availability_timeout_ms=0,
    )


def _cluster(leaders: tuple[int, ...]) -> Cluster:
    nodes = tuple(Node(node) for node in dict.fromkeys(leaders))
    return Cluster(nodes, tuple(Partition(number, leader) for number, leader in enumerate(leaders)))


def _sequence(sequence: int | None, behaviour: TransactionManagerBehaviour) -> int:
    """A batch's sequence as Java shows it: -1 for none, and for all in 0.11."""
    return -1 if sequence is None or not behaviour.tracks_in_flight_batches else sequence


def _batch(batch: Sent) -> Answer:
    producer_id, epoch = batch.producer
    return {
        "partition": batch.topic_partition[1], "records": list(batch.records), "producer_id": producer_id, "epoch": epoch,
        "sequence": batch.sequence,
    }  # fmt: skip


def _partitions(manager: TransactionManager, shows_producer: bool) -> Answer:
    described: Answer = {}
    for topic, number in {**manager.partitions, **manager.unresolved}:
        known = manager.partitions.get((topic, number))
        partition = dict(_UNKNOWN if known is None else _described(known, shows_producer))
        if (topic, number) in manager.unresolved:
            following = manager.unresolved[topic, number]
            partition["unresolved"] = True if following is None else following
        if partition != _UNKNOWN:
            described[f"{topic}-{number}"] = partition
    return described


def _described(partition: KnownPartition, shows_producer: bool) -> Answer:
    return {
        "next": partition.next or 0,
        "last_acknowledged": partition.last_acknowledged,
        "in_flight": sorted(-1 if batch.sequence is None else batch.sequence for batch in partition.in_flight),
        "unresolved": None,
        "last_offset": partition.last_offset,
        "producer": list(partition.producer if shows_producer else NO_PRODUCER),
    }


_UNKNOWN: Answer = {
    "next": 0, "last_acknowledged": -1, "in_flight": [], "unresolved": None, "last_offset": -1,
    "producer": list(NO_PRODUCER),
}  # fmt: skip


def ask_sender(factory: SenderFactory, question: ProducerSequencesQuestion, release: Release) -> Answer:
    """Answer a question by a sender made by ``factory``: the reference's own, or a mutant's."""
    history = SenderHistory(factory, question, release)
    return {"steps": [history.take(step) for step in question.steps]}
