"""A history of ``producer-send`` being taken: what each step means to the reference's producer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.producer_send.question import ProducerSendQuestion, SendStep
from kafka_conformance.rules.producer_sequences.adapter import round_answer, state_answer, take_network_step
from kafka_conformance.rules.producer_sequences.question import FlushStep, LookStep, RunStep
from kafka_reference.accumulator.backoff import StepDraws
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.partitioning.cluster import Cluster, Node, Partition
from kafka_reference.producer.kafka_producer import KafkaProducer, Placement, Record
from kafka_reference.producer.settings import ProducerSettings
from kafka_reference.releases import Release

__all__ = ["MakeProducer", "ProducerHistory", "ask_producer"]

MakeProducer: TypeAlias = Callable[[Release, ProducerSettings, Metadata, StepDraws], KafkaProducer]
_TOPIC = "t"


class ProducerHistory:
    """A question being answered: the producer, and what the steps mean to it."""

    def __init__(self, make: MakeProducer, question: ProducerSendQuestion, release: Release) -> None:
        self._draws = StepDraws(question.draws)
        nodes = tuple(Node(node) for node in dict.fromkeys(question.leaders) if node is not None)
        partitions = tuple(Partition(number, leader) for number, leader in enumerate(question.leaders))
        metadata = Metadata(release, Cluster(nodes, partitions), [_TOPIC])
        settings = ProducerSettings(**msgspec.structs.asdict(question.config))
        self.producer = make(release, settings, metadata, self._draws)

    def take(self, step: Any) -> Answer:
        """Take one step."""
        self._draws.begin_step()
        match step:
            case SendStep():
                return self._send(step)
            case RunStep():
                return round_answer(self.producer.sender, self.producer.run)
            case LookStep():
                memory = self.producer.accumulator.state.pool.available
                flushes = len(self.producer.sender.flushes)
                return state_answer(self.producer.sender) | {"memory": memory, "flushes": flushes}
            case FlushStep():
                self.producer.flush()
            case _:
                take_network_step(self.producer.sender, step)
        return {}

    def _send(self, step: SendStep) -> Answer:
        before = self.producer.wakeups
        key = None if step.key is None else bytes.fromhex(step.key)
        record = Record(key, step.bytes, step.partition, step.timestamp)
        placed = [self.producer.send(_TOPIC, record) for _ in range(step.records)]
        answer: Answer = {"partitions": list(map(_placement, placed)), "wakeups": self.producer.wakeups - before}
        ended = [[one.number, one.exception] for one in placed if one.returned]
        return answer | {"ended": ended} if ended else answer


def _placement(one: Placement) -> Any:
    if one.exception is None:
        return one.partition
    return {"returns" if one.returned else "throws": one.exception, "partition": one.partition}


def ask_producer(make: MakeProducer, question: ProducerSendQuestion, release: Release) -> Answer:
    """Return what a producer made by ``make`` answers: the reference's own, or one that has a mistake."""
    history = ProducerHistory(make, question, release)
    return {"steps": [history.take(step) for step in question.steps]}
