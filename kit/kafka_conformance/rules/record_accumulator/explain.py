"""A history of ``record-accumulator``, step by step: every deque, what is in flight, memory, and why.

The reasons are the reference's own (``kafka_reference.accumulator.reasons``). What became of batches is read off the
batches themselves, before and after.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.timeline import Box, Explained, Lane
from kafka_conformance.rules.common.step_text import count_of
from kafka_conformance.rules.record_accumulator.explain_text import (
    answer_words,
    mark_words,
    partition_name,
    reason_words,
    step_words,
)
from kafka_conformance.rules.record_accumulator.question import (
    AbortUndrainedStep,
    AppendStep,
    CompleteStep,
    DrainStep,
    FlushedStep,
    ReenqueueStep,
    SplitStep,
)
from kafka_reference.accumulator.accumulator import RecordAccumulator
from kafka_reference.accumulator.batches import Batch, BatchState
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.accumulator.reasons import Reason

__all__ = ["Walked", "explain_history"]

_OUT = {
    BatchState.DRAINED: ("sent", "in flight"),
    BatchState.LOST: ("lost", "lost by a drain that threw"),
    BatchState.EXPIRED: ("ended", "expired, to be completed"),
    BatchState.ABORTED_IN_FLIGHT: ("ended", "aborted in flight"),
}

# Steps that a state or a release may have no use for.
_MAY_BE_IDLE = AppendStep, ReenqueueStep, SplitStep, CompleteStep, FlushedStep, AbortUndrainedStep


class Walked(Protocol):
    """A history that is walked through, step by step."""

    accumulator: RecordAccumulator
    metadata: Metadata

    def take(self, step: Any) -> Answer | None:
        """Take one step."""
        ...


def explain_history(history: Walked, steps: Sequence[Any], answers: Sequence[Any]) -> Iterator[Explained]:
    """Every step, with ``answers`` to them and the reference's reasons and state."""
    state = history.accumulator.state
    for step, answer in zip(steps, answers, strict=True):
        noted: list[Reason] = []
        state.reasons, before = noted, _places(state.batches)
        expected = history.take(step)
        reasons = list(reason_words(noted, (expected or {}).get("delay_ms"), history.metadata))
        mark = mark_words(step, answer, noted)
        if isinstance(step, ReenqueueStep | SplitStep | CompleteStep):
            mark += "".join(f" #{batch.number}" for batch in state.batches if _moved(before, batch))
        if expected == {} or not isinstance(step, AppendStep | DrainStep):
            changes = list(_changes(before, state.batches))
            idle = isinstance(step, _MAY_BE_IDLE) and not expected and not changes
            reasons += changes or ["no effect in this state or release"] * idle
        yield Explained(
            time_ms=state.now_ms,
            step=step_words(step),
            answer=answer_words(step, answer),
            mark=mark,
            reasons=tuple(reasons),
            state=tuple(_state(history.accumulator, history.metadata)),
            lanes=tuple(_lanes(history.accumulator, before)),
        )


def _places(batches: Sequence[Batch]) -> dict[int, tuple[BatchState, int]]:
    return {batch.number: (batch.state, batch.attempts) for batch in batches}


def _changes(before: dict[int, tuple[BatchState, int]], batches: Sequence[Batch]) -> Iterator[str]:
    for batch in batches:
        was = before.get(batch.number)
        if was is None:
            yield f"{_name(batch)} is a piece: {count_of(len(batch.records), 'record')}"
        elif _moved(before, batch):
            yield f"{_name(batch)}: {_place(was[0])} → {_place(batch.state)}"


def _moved(before: dict[int, tuple[BatchState, int]], batch: Batch) -> bool:
    return before.get(batch.number, (batch.state, batch.attempts)) != (batch.state, batch.attempts)


def _place(state: BatchState) -> str:
    if state in _OUT:
        return _OUT[state][1]
    return "queued" if state is BatchState.QUEUED else "done"


def _name(batch: Batch) -> str:
    return f"{partition_name(batch.topic_partition)} #{batch.number}"


def _state(accumulator: RecordAccumulator, metadata: Metadata) -> Iterator[tuple[str, str]]:
    """Every deque that is not empty, in Java's order, and everything else that matters to what comes next."""
    state = accumulator.state
    for partition, queue in state.queues():
        if queue:
            yield partition_name(partition), " │ ".join(_batch(batch, state.now_ms) for batch in queue)
    for where, (_, label) in _OUT.items():
        out = [_name(batch) for batch in state.batches if batch.state is where]
        if out:
            yield label, ", ".join(out)
    for topic, info in state.topics.items():
        stay = info.partitioner.stay
        if stay is not None:
            yield f"{topic} is at", f"partition {stay.partition}, {stay.produced} of {state.config.batch_size} B"
    leaderless = [
        partition_name(partition)
        for partition, queue in state.queues()
        if queue and metadata.leader(*partition) is None
    ]
    if leaderless:
        yield "no leader", ", ".join(leaderless)
    yield from _switches(accumulator)


def _switches(accumulator: RecordAccumulator) -> Iterator[tuple[str, str]]:
    state = accumulator.state
    waiting = f", {count_of(state.pool.waiting, 'thread')} waiting" if state.pool.waiting else ""
    yield "memory", f"{state.pool.available:,} of {state.config.buffer_memory:,} B free{waiting}"
    if state.muted:
        yield "muted", ", ".join(_muted(partition, until) for partition, until in state.muted.items())
    if state.flushes:
        yield "flushing", count_of(state.flushes, "thread")
    if state.closed:
        yield "closed", "takes no records"


def _muted(partition: tuple[str, int], until: int | None) -> str:
    return partition_name(partition) + ("" if until is None else f" until {until} ms")


def _batch(batch: Batch, now_ms: int) -> str:
    what = [count_of(len(batch.records), "record"), f"{batch.estimated} of {batch.buffer} B", _door(batch)]
    if batch.attempts:
        what.append(f"retried {'once' if batch.attempts == 1 else f'{batch.attempts} times'}")
    return f"#{batch.number} {', '.join(what)}, {now_ms - batch.created_ms} ms old"


def _door(batch: Batch) -> str:
    if batch.closed:
        return "closed"
    return "full" if batch.full else "open"


def _lanes(accumulator: RecordAccumulator, before: dict[int, tuple[BatchState, int]]) -> Iterator[Lane]:
    """The queues, and what is out of them; a batch is shown once more at the step that ended it."""
    state = accumulator.state
    queues = dict(state.queues())
    out: dict[tuple[str, int], list[Box]] = {}
    for batch in state.batches:
        was = before.get(batch.number, (BatchState.QUEUED, 0))[0]
        if batch.state in _OUT:
            out.setdefault(batch.topic_partition, []).append(_box(batch, state.now_ms, *_OUT[batch.state]))
        elif batch.state is BatchState.DONE and was is not BatchState.DONE:
            out.setdefault(batch.topic_partition, []).append(_box(batch, state.now_ms, "ended", "done"))
    for partition in sorted({*queues, *out}):
        boxes = [_box(batch, state.now_ms, _kind(batch), "queued") for batch in queues.get(partition, ())]
        yield Lane(partition_name(partition), tuple(boxes), tuple(out.get(partition, ())))


def _kind(batch: Batch) -> str:
    return "retry" if batch.attempts else "full" if batch.full else "open"


def _box(batch: Batch, now_ms: int, kind: str, where: str) -> Box:
    return Box(f"#{batch.number} ×{len(batch.records)}", kind, f"{where}: {_batch(batch, now_ms)}")
