"""The timeline of a history of ``producer-sequences``: what is queued, what is in flight, and the producer's sequences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.timeline import NOTHING, Box, Explained, Lane
from kafka_conformance.rules.common.step_text import answer_in_words, count_of, plain_step_in_words
from kafka_conformance.rules.producer_sequences.adapter import SenderHistory
from kafka_conformance.rules.producer_sequences.question import LookStep, RunStep
from kafka_reference.accumulator.batches import Batch, BatchState
from kafka_reference.idempotence.sender import Sender

__all__ = ["answer_to_step", "explain_sender", "lanes_of", "state_of"]


def explain_sender(history: SenderHistory, steps: Sequence[Any], answers: Sequence[Any]) -> Iterator[Explained]:
    """Return every step with its answer and the reference's state after it."""
    for step, answer in zip(steps, answers, strict=True):
        before = _producer(history.sender)
        history.take(step)
        now = _producer(history.sender)
        words = plain_step_in_words(step)
        yield Explained(
            time_ms=history.sender.now_ms,
            step=words,
            answer=answer_to_step(step, answer),
            mark=words,
            reasons=() if before == now else (f"the producer had {before} and has {now}",),
            state=tuple(state_of(history.sender)),
            lanes=tuple(lanes_of(history.sender)),
        )


def answer_to_step(step: Any, answer: Answer) -> str:
    """Return the answer to a step in words."""
    if not isinstance(step, RunStep) or "sent" not in answer:
        return "see the state" if isinstance(step, LookStep) else answer_in_words(answer)
    words = [f"{_batch(batch)} to node {sent['node']}" for sent in answer["sent"] for batch in sent["batches"]]
    words += [f"record {record} {_end(end)}" for record, end in answer["ended"]]
    if "asked_id" in answer:
        words.append(f"requested a producer id {count_of(answer['asked_id'], 'time')}")
    words += [f"throws {answer['raises']}"] if "raises" in answer else []
    words += [f"logs {name}" for name in answer.get("uncaught", ())]
    return "; ".join(words) or NOTHING


def _end(end: int | str) -> str:
    return f"is at offset {end}" if isinstance(end, int) else f"failed: {end}"


def _batch(batch: Answer) -> str:
    records = ", ".join(map(str, batch["records"]))
    return f"records {records} of partition {batch['partition']}, epoch {batch['epoch']}, sequence {batch['sequence']}"


def _producer(sender: Sender) -> str:
    manager = sender.manager
    if not manager.is_idempotent:
        return "no idempotence"
    return f"id {manager.current[0]}, epoch {manager.current[1]}" if manager.has_id else "no id"


def state_of(sender: Sender) -> Iterator[tuple[str, str]]:
    """Return the producer, the state of its manager, and the sequences of its partitions."""
    yield "producer", _producer(sender)
    manager = sender.manager
    if not manager.is_idempotent:
        return
    yield "manager", manager.state.value
    for (topic, number), partition in manager.partitions.items():
        unresolved = ", unresolved" if (topic, number) in manager.unresolved else ""
        yield (
            f"{topic}-{number}",
            f"next {partition.next or 0}, last acknowledged {partition.last_acknowledged}{unresolved}",
        )


def lanes_of(sender: Sender) -> Iterator[Lane]:
    """Return the batches of each partition, in the queue and in flight."""
    state = sender.accumulator.state
    for (topic, number), queue in state.queues():
        out = (
            batch
            for batch in state.batches
            if batch.topic_partition == (topic, number) and batch.state is BatchState.DRAINED
        )
        yield Lane(f"{topic}-{number}", tuple(map(_box, queue)), tuple(map(_box, out)))


def _box(batch: Batch) -> Box:
    kind = (
        "sent" if batch.state is BatchState.DRAINED else "retry" if batch.attempts else "full" if batch.full else "open"
    )
    sequence = "no sequence" if batch.sequence is None else f"sequence {batch.sequence}"
    return Box(f"#{batch.number}", kind, f"{count_of(len(batch.records), 'record')}, {sequence}")
