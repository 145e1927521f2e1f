"""What happened in a history of ``producer-send``, in the newest release: the kinds of question that must be asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka_conformance.core.mutant import Ask
from kafka_conformance.core.newest_run import Watch, newest_answer
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.producer_send.adapter import ProducerHistory
from kafka_conformance.rules.producer_send.question import ProducerSendQuestion, SendStep
from kafka_conformance.rules.producer_sequences.question import FlushStep, RunStep
from kafka_reference.errors import ConfigException, NotInThisRelease

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


def labels(ask: Ask, question: ProducerSendQuestion) -> Iterator[str]:
    """Return the kinds of question this one is, as ``ask`` answers it."""
    yield f"partitioner: {question.config.partitioner}"
    if len(question.steps) >= 30:
        yield "30 steps and more"
    if None in question.leaders:
        yield "partition without a leader"
    watch = _ProducerWatch(question)
    try:
        newest_answer(ask, question, ProducerHistory, watch)
    except ConfigException:
        yield "refused configuration"
        return
    except NotInThisRelease:
        return
    yield from sorted(watch.found)


class _ProducerWatch(Watch):
    """Collects the labels of a history."""

    def __init__(self, question: ProducerSendQuestion) -> None:
        self._config = question.config
        self._sent: set[int] = set()
        self._partitions: set[int] = set()
        self.found: set[str] = {"one in flight at most"} if question.config.max_in_flight == 1 else set()

    def begin(self, history: ProducerHistory) -> None:
        self.found.add("idempotent" if history.producer.sender.manager.is_idempotent else "not idempotent")

    def before(self, history: ProducerHistory, step: Any) -> int:  # noqa: ARG002
        return len(history.producer.sender.flushes)

    def after(self, history: ProducerHistory, step: Any, before: int, answer: Answer) -> None:
        producer = history.producer
        if isinstance(step, SendStep):
            self.found.update(_of_a_send(step, answer, self._partitions))
            if self._config.ignore_keys and step.key is not None:
                self.found.add("keys ignored")
        elif isinstance(step, RunStep):
            self.found.update(_of_a_round(answer, self._sent))
        elif isinstance(step, FlushStep):
            self.found.add("flush")
        self.found.update(_of_flushes(before, len(producer.sender.flushes)))
        if any(len(queue) > 1 for _, queue in producer.accumulator.state.queues()):
            self.found.add("several batches in a queue")
        if any(batch.is_piece for batch in producer.accumulator.state.batches):
            self.found.add("split")


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
