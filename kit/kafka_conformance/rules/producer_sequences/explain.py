"""A history of ``producer-sequences``, step by step: what is queued, what is sent, and who the producer is by then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.timeline import NOTHING, Box, Explained, Lane
from kafka_conformance.rules.common.step_text import answer_in_words, count_of, plain_step_in_words
from kafka_conformance.rules.producer_sequences.adapter import SenderHistory
from kafka_conformance.rules.producer_sequences.question import LookStep, RunStep
from kafka_reference.accumulator.batches import Batch, BatchState

__all__ = ["explain_sender"]


def explain_sender(history: SenderHistory, steps: Sequence[Any], answers: Sequence[Any]) -> Iterator[Explained]:
    """Every step, with ``answers`` to them and the reference's state."""
    for step, answer in zip(steps, answers, strict=True):
        before = _who(history)
        history.take(step)
        now = _who(history)
        words = plain_step_in_words(step)
        yield Explained(
            time_ms=history.sender.now_ms,
            step=words,
            answer=_answer(step, answer),
            mark=words,
            reasons=() if before == now else (f"the producer was {before} and is {now}",),
            state=tuple(_state(history)),
            lanes=tuple(_lanes(history)),
        )


def _answer(step: Any, answer: Answer) -> str:
    if not isinstance(step, RunStep) or "sent" not in answer:
        return "see the state" if isinstance(step, LookStep) else answer_in_words(answer)
    words = [f"{_batch(batch)} to node {sent['node']}" for sent in answer["sent"] for batch in sent["batches"]]
    words += [f"record {record} " + _end(how) for record, how in answer["ended"]]
    if "asked_id" in answer:
        words.append(f"asked for a producer id {count_of(answer['asked_id'], 'time')}")
    words += [f"raises {answer['raises']}"] if "raises" in answer else []
    words += [f"uncaught {name}" for name in answer.get("uncaught", ())]
    return "; ".join(words) or NOTHING


def _end(how: int | str) -> str:
    return f"is at {how}" if isinstance(how, int) else f"failed: {how}"


def _batch(batch: Answer) -> str:
    records = ", ".join(map(str, batch["records"]))
    return f"records {records} of partition {batch['partition']}, epoch {batch['epoch']}, sequence {batch['sequence']}"


def _who(history: SenderHistory) -> str:
    manager = history.sender.manager
    if manager is None:
        return "not idempotent"
    return f"id {manager.current[0]}, epoch {manager.current[1]}" if manager.has_id else "nobody"


def _state(history: SenderHistory) -> Iterator[tuple[str, str]]:
    yield "producer", _who(history)
    manager = history.sender.manager
    if manager is None:
        return
    yield "manager", manager.state
    for (topic, number), partition in manager.partitions.items():
        unresolved = ", unresolved" if (topic, number) in manager.unresolved else ""
        yield (
            f"{topic}-{number}",
            f"next {partition.next or 0}, last acknowledged {partition.last_acknowledged}{unresolved}",
        )


def _lanes(history: SenderHistory) -> Iterator[Lane]:
    state = history.sender.accumulator.state
    for of, queue in state.queues():
        out = (batch for batch in state.batches if batch.topic_partition == of and batch.state is BatchState.DRAINED)
        yield Lane(f"{of[0]}-{of[1]}", tuple(map(_box, queue)), tuple(map(_box, out)))


def _box(batch: Batch) -> Box:
    kind = (
        "sent" if batch.state is BatchState.DRAINED else "retry" if batch.attempts else "full" if batch.full else "open"
    )
    sequence = "no sequence" if batch.sequence is None else f"sequence {batch.sequence}"
    return Box(f"#{batch.number}", kind, f"{count_of(len(batch.records), 'record')}, {sequence}")
