"""The kinds of question that a history of ``producer-sequences`` is, by what happens in it in the newest release."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from kafka_conformance.core.mutant import Ask
from kafka_conformance.core.newest_run import Watch, newest_answer
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.producer_sequences.adapter import SenderHistory
from kafka_conformance.rules.producer_sequences.question import ProducerSequencesQuestion, RespondStep, RunStep
from kafka_reference.accumulator.batches import BatchState
from kafka_reference.idempotence.sender import Sender
from kafka_reference.idempotence.transaction_manager import ManagerState, TransactionManager

__all__ = ["REQUIRED_LABELS", "labels"]

# The producer's id and epoch, and the next sequences of its partitions.
Before: TypeAlias = tuple[tuple[int, int], dict[tuple[str, int], int]]

_ERRORS = {ManagerState.FATAL_ERROR: "fatal error", ManagerState.ABORTABLE_ERROR: "abortable error"}

REQUIRED_LABELS = frozenset(
    {
        "30 steps and more", "not idempotent", "acks=0", "one request in flight", "several batches in flight",
        "five batches in flight", "max.in.flight requests in flight", "sent", "sent again",
        "several partitions in a request", "completed", "requested an id", "got no id", "lost its id",
        "another epoch", "numbered again", "sequence wrapped", "unresolved", "split", "fatal error",
        "abortable error", "expired in flight", "expired in the queue", "answered: DUPLICATE_SEQUENCE_NUMBER",
        "answered: MESSAGE_TOO_LARGE", "answered: INVALID_PRODUCER_EPOCH",
        "failed: OutOfOrderSequenceException", "failed: UnknownProducerIdException",
        "failed: InvalidTimestampException", "failed: ClusterAuthorizationException",
        "failed: NotEnoughReplicasException", "failed: NetworkException", "failed: TimeoutException",
        "failed: KafkaException",
        "aborted in flight", "aborted in flight, past its delivery timeout",
    }
)  # fmt: skip


def labels(ask: Ask, question: ProducerSequencesQuestion) -> Iterator[str]:
    """Return the kinds of question that this one is, as ``ask`` answers it."""
    if len(question.steps) >= 30:
        yield "30 steps and more"
    if question.config.max_in_flight == 1:
        yield "one request in flight"
    if question.config.acks == "0":
        yield "acks=0"
    yield from {f"answered: {step.error}" for step in question.steps if isinstance(step, RespondStep)}
    watch = _SenderWatch(question)
    newest_answer(ask, question, SenderHistory, watch)
    yield from watch.first
    yield from sorted(watch.found)


class _SenderWatch(Watch):
    """Collects the labels of a history, of its beginning in ``first``."""

    def __init__(self, question: ProducerSequencesQuestion) -> None:
        self._question = question
        self._sent: set[int] = set()
        self.first: list[str] = []
        self.found: set[str] = set()

    def begin(self, history: SenderHistory) -> None:
        if not history.sender.manager.is_idempotent:
            self.first.append("not idempotent")

    def before(self, history: SenderHistory, step: Any) -> Before | None:
        return _producer(history.sender.manager) if isinstance(step, RunStep) else None

    def after(self, history: SenderHistory, step: Any, before: Before | None, answer: Answer) -> None:  # noqa: ARG002
        if before is None:
            return
        sender = history.sender
        self.found.update(_answer_labels(answer, self._sent))
        self.found.update(_manager_labels(sender.manager, before))
        if not all(map(sender.network.can_send, self._question.leaders)):
            self.found.add("max.in.flight requests in flight")
        self.found.update(_abort_labels(sender, self._question.config.delivery_timeout_ms))
        if any(batch.is_piece for batch in sender.accumulator.state.batches):
            self.found.add("split")


def _producer(manager: TransactionManager) -> Before:
    nexts = {topic_partition: partition.next or 0 for topic_partition, partition in manager.partitions.items()}
    return manager.current, nexts


def _answer_labels(answer: Answer, sent_before: set[int]) -> Iterator[str]:
    for sent in answer["sent"]:
        yield "sent"
        if len(sent["batches"]) > 1:
            yield "several partitions in a request"
        for batch in sent["batches"]:
            if not sent_before.isdisjoint(batch["records"]):
                yield "sent again"
            sent_before.update(batch["records"])
    for record, end in answer["ended"]:
        yield "completed" if isinstance(end, int) else f"failed: {end}"
        if end == "TimeoutException":
            yield "expired in flight" if record in sent_before else "expired in the queue"
    if "asked_id" in answer:
        yield "requested an id"
    if "raises" in answer:
        yield f"raises {answer['raises']}"
    for name in answer.get("uncaught", ()):
        yield f"uncaught {name}"


def _abort_labels(sender: Sender, delivery_timeout_ms: int) -> Iterator[str]:
    for batch in sender.accumulator.state.batches:
        if batch.aborted and batch.state is BatchState.ABORTED_IN_FLIGHT:
            yield "aborted in flight"
            if sender.manager.has_id and sender.now_ms - batch.created_ms >= delivery_timeout_ms:
                yield "aborted in flight, past its delivery timeout"


def _manager_labels(manager: TransactionManager, before: Before) -> Iterator[str]:
    if not manager.is_idempotent:
        return
    (producer_id, epoch), nexts = before
    if manager.current[0] == producer_id and manager.current[1] > epoch:
        yield "another epoch"
    if not manager.has_id:
        yield "lost its id" if producer_id >= 0 else "got no id"
    if producer_id >= 0 and manager.current[0] not in {producer_id, -1}:
        yield "lost its id"
    if manager.unresolved:
        yield "unresolved"
    if manager.state.is_error:
        yield _ERRORS[manager.state]
    yield from _partition_labels(manager, nexts)


def _partition_labels(manager: TransactionManager, nexts: dict[tuple[str, int], int]) -> Iterator[str]:
    for topic_partition, partition in manager.partitions.items():
        count = len(tuple(partition.in_flight))
        if count > 1:
            yield "several batches in flight"
        if count >= 5:
            yield "five batches in flight"
        if (partition.next or 0) < nexts.get(topic_partition, 0):
            yield "sequence wrapped" if nexts[topic_partition] > 2**30 else "numbered again"
