"""What happened in a history of ``producer-sequences``, in the newest release: the kinds that have to be asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.producer_sequences.adapter import SenderHistory
from kafka_conformance.rules.producer_sequences.question import ProducerSequencesQuestion, RespondStep, RunStep
from kafka_reference.idempotence.sender import Sender
from kafka_reference.idempotence.transaction_manager import TransactionManager
from kafka_reference.releases import NEWEST

__all__ = ["REQUIRED_LABELS", "labels"]

# Who the producer is, and the next sequences of its partitions.
Before: TypeAlias = tuple[tuple[int, int], dict[tuple[str, int], int]]

_ERRORS = {"FATAL_ERROR": ("fatal",), "ABORTABLE_ERROR": ("asks anew",)}

REQUIRED_LABELS = frozenset(
    {"30 steps and more", "no idempotence", "no answers wanted", "one at a time", "several in flight", "five in flight"}
    | {
        "sent",
        "sent again",
        "several partitions in a request",
        "completed",
        "asked for an id",
        "no id given",
        "lost its id",
    }
    | {"another epoch", "numbered anew", "sequence went round", "unresolved", "split", "fatal", "asks anew"}
    | {"expired in flight", "expired in the queue", "as many in flight as may be"}
    | {f"failed: {name}Exception" for name in ("OutOfOrderSequence", "UnknownProducerId", "InvalidTimestamp")}
    | {
        f"failed: {name}Exception"
        for name in ("ClusterAuthorization", "NotEnoughReplicas", "Network", "Timeout", "Kafka")
    }
    | {f"answered: {name}" for name in ("DUPLICATE_SEQUENCE_NUMBER", "MESSAGE_TOO_LARGE", "INVALID_PRODUCER_EPOCH")}
)


def labels(question: ProducerSequencesQuestion) -> Iterator[str]:
    """The kinds of question this one is."""
    if len(question.steps) >= 30:
        yield "30 steps and more"
    if question.config.max_in_flight == 1:
        yield "one at a time"
    if question.config.acks == "0":
        yield "no answers wanted"
    yield from {f"answered: {step.error}" for step in question.steps if isinstance(step, RespondStep)}
    history = SenderHistory(Sender, question, NEWEST)
    if history.sender.manager is None:
        yield "no idempotence"
    seen: set[str] = set()
    told: set[int] = set()
    for step in question.steps:
        before = _known(history)
        answer = history.take(step)
        if isinstance(step, RunStep):
            seen.update(_of_the_answer(answer, told))
            if not all(map(history.sender.network.can_send, question.leaders)):
                seen.add("as many in flight as may be")
            if history.sender.manager is not None:
                seen.update(_of_the_manager(history.sender.manager, before))
            if any(batch.is_piece for batch in history.sender.accumulator.state.batches):
                seen.add("split")
    yield from sorted(seen)


def _known(history: SenderHistory) -> Before:
    manager = history.sender.manager
    if manager is None:
        return (-1, -1), {}
    return manager.current, {of: partition.next or 0 for of, partition in manager.partitions.items()}


def _of_the_answer(answer: Answer, told: set[int]) -> Iterator[str]:
    for sent in answer["sent"]:
        yield "sent"
        if len(sent["batches"]) > 1:
            yield "several partitions in a request"
        for batch in sent["batches"]:
            if not told.isdisjoint(batch["records"]):
                yield "sent again"
            told.update(batch["records"])
    for record, how in answer["ended"]:
        yield "completed" if isinstance(how, int) else f"failed: {how}"
        if how == "TimeoutException":
            yield "expired in flight" if record in told else "expired in the queue"
    yield from _of_the_rest(answer)


def _of_the_rest(answer: Answer) -> Iterator[str]:
    if "asked_id" in answer:
        yield "asked for an id"
    if "raises" in answer:
        yield f"raises {answer['raises']}"
    for name in answer.get("uncaught", ()):
        yield f"uncaught {name}"


def _of_the_manager(manager: TransactionManager, before: Before) -> Iterator[str]:
    (producer_id, epoch), nexts = before
    if manager.current[0] == producer_id and manager.current[1] > epoch:
        yield "another epoch"
    if not manager.has_id:
        yield "lost its id" if producer_id >= 0 else "no id given"
    if producer_id >= 0 and manager.current[0] not in {producer_id, -1}:
        yield "lost its id"
    if manager.unresolved:
        yield "unresolved"
    yield from _ERRORS.get(manager.state, ())
    for of, partition in manager.partitions.items():
        count = len(tuple(partition.in_flight))
        if count > 1:
            yield "several in flight"
        if count >= 5:
            yield "five in flight"
        if (partition.next or 0) < nexts.get(of, 0):
            yield "sequence went round" if nexts[of] > 2**30 else "numbered anew"
