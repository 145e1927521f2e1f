"""What happened in a history of ``producer-send``, in the newest release: the kinds of question that must be asked."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.producer_send.adapter import ProducerHistory
from kafka_conformance.rules.producer_send.question import ProducerSendQuestion, SendStep
from kafka_conformance.rules.producer_sequences.question import FlushStep, RunStep
from kafka_reference.errors import ConfigException, NotInThisRelease
from kafka_reference.producer.kafka_producer import KafkaProducer
from kafka_reference.releases import NEWEST

__all__ = ["REQUIRED_LABELS", "labels"]

REQUIRED_LABELS = frozenset(
    {"30 steps and more", "refused configuration", "idempotent", "not idempotent", "one in flight at most"}
    | {f"partitioner: {name}" for name in ("None", "default", "uniform-sticky", "round-robin")}
    | {"named partition", "keyed", "no key", "keys ignored", "partition without a leader", "another partition"}
    | {"several batches in a queue", "woken", "not woken", "sent", "sent again", "split", "completed"}
    | {f"returns {name}Exception" for name in ("Timeout", "RecordTooLarge", "BufferExhausted", "ProducerFenced")}
    | {f"throws {name}Exception" for name in ("Kafka", "IllegalArgument")}
    | {"flush", "flush waits", "flush ends", "several flushes"}
)  # fmt: skip


def labels(question: ProducerSendQuestion) -> Iterator[str]:
    """Return the kinds of question this one is."""
    yield f"partitioner: {question.config.partitioner}"
    if len(question.steps) >= 30:
        yield "30 steps and more"
    if None in question.leaders:
        yield "partition without a leader"
    try:
        history = ProducerHistory(KafkaProducer, question, NEWEST)
    except ConfigException:
        yield "refused configuration"
        return
    except NotInThisRelease:
        return
    yield from sorted(set(_of_the_history(history, question)))


def _of_the_history(history: ProducerHistory, question: ProducerSendQuestion) -> Iterator[str]:
    producer = history.producer
    yield "idempotent" if producer.sender.manager.is_idempotent else "not idempotent"
    if question.config.max_in_flight == 1:
        yield "one in flight at most"
    sent: set[int] = set()
    partitions: set[int] = set()
    for step in question.steps:
        waiting = len(producer.sender.flushes)
        answer = history.take(step)
        if isinstance(step, SendStep):
            yield from _of_a_send(step, answer, partitions)
            if question.config.ignore_keys and step.key is not None:
                yield "keys ignored"
        elif isinstance(step, RunStep):
            yield from _of_a_round(answer, sent)
        elif isinstance(step, FlushStep):
            yield "flush"
        yield from _of_flushes(waiting, len(producer.sender.flushes))
        if any(len(queue) > 1 for _, queue in producer.accumulator.state.queues()):
            yield "several batches in a queue"
        if any(batch.is_piece for batch in producer.accumulator.state.batches):
            yield "split"


def _of_a_send(step: SendStep, answer: Answer, partitions: set[int]) -> Iterator[str]:
    yield "named partition" if step.partition is not None else "no key" if step.key is None else "keyed"
    yield "woken" if answer["wakeups"] else "not woken"
    for one in answer["partitions"]:
        if isinstance(one, dict):
            yield from (f"{how} {one[how]}" for how in ("returns", "throws") if how in one)
        elif step.partition is None and step.key is None:
            if partitions and one not in partitions:
                yield "another partition"
            partitions.add(one)


def _of_a_round(answer: Answer, sent: set[int]) -> Iterator[str]:
    for request in answer["sent"]:
        yield "sent"
        for batch in request["batches"]:
            if not sent.isdisjoint(batch["records"]):
                yield "sent again"
            sent.update(batch["records"])
    yield from ("completed" if isinstance(how, int) else f"failed: {how}" for _, how in answer["ended"])


def _of_flushes(before: int, after: int) -> Iterator[str]:
    if after > 1:
        yield "several flushes"
    if after:
        yield "flush waits"
    if after < before:
        yield "flush ends"
