"""What happened in a history of ``record-accumulator``, in the newest release: the kinds that have to be asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka_conformance.core.mutant import Ask
from kafka_conformance.core.newest_run import Watch, newest_answer
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.record_accumulator.adapter import History
from kafka_conformance.rules.record_accumulator.question import (
    AppendStep,
    AskedConfig,
    BlockedStep,
    DrainStep,
    ExpireStep,
    LatencyStep,
    LoadStep,
    ReadyStep,
    RecordAccumulatorQuestion,
    SplitStep,
)
from kafka_conformance.rules.record_accumulator.sequence_labels import (
    SEQUENCE_LABELS,
    Queued,
    queued,
    seen_of_sequences,
)
from kafka_reference.accumulator.chunks import CHUNK

__all__ = ["REQUIRED_LABELS", "labels"]

REQUIRED_LABELS = frozenset(
    {"50 steps and more", "partition chosen", "partition given", "new batch", "appended", "batch full"}
    | {"ready", "not ready", "leader unknown", "looks again", "drained", "drained several", "drained none"}
    | {"statistics", "no statistics", "expired", "not expired", "split", "did complete", "did flushed", "did abort"}
    | {"did abort_undrained", "raises KafkaException", "raises BufferExhaustedException"}
    | SEQUENCE_LABELS
    | {"raises IllegalArgumentException", "raises ArithmeticException", "headers", "refused: ConfigException"}
    | {f"compressed: {label}" for label in ("appended", "new batch", "batch full", "partition chosen", "split")}
    | {"compressed: drained several", "compressed: headers", "compressed: raises BufferExhaustedException"}
    | {f"chunks: {label}" for label in ("appended", "new batch", "batch full", "partition chosen", "split")}
    | {"chunks: did complete", "chunks: did abort", "chunks: raises BufferExhaustedException"}
    | {"chunks: raises IllegalArgumentException", "smaller than a chunk: new batch", "chunks: no rest of memory"}
    | {"nodes not numbered from 0", "rack without rack awareness", "adaptive choice", "racks", "availability timeout"}
    | {"waits for memory"}
)


def labels(ask: Ask, question: RecordAccumulatorQuestion) -> Iterator[str]:
    """The kinds of question this one is, as ``ask`` answers it."""
    if len(question.steps) >= 50:
        yield "50 steps and more"
    if question.cluster.nodes[0].id:
        yield "nodes not numbered from 0"
    if question.config.rack and not question.config.rack_aware:
        yield "rack without rack awareness"
    yield from _features(question)
    watch = _AccumulatorWatch()
    answered = newest_answer(ask, question, History, watch)
    if "raises" in answered:
        yield f"refused: {answered['raises']}"
        return
    headers = {"headers" for step in question.steps if isinstance(step, AppendStep) and step.headers}
    seen = headers | watch.seen
    yield from sorted(seen)
    yield from (f"{way}: {label}" for way in _way(question.config) for label in sorted(seen))
    if "chunks" in _way(question.config) and question.config.buffer_memory % CHUNK == 0:
        yield "chunks: no rest of memory"


class _AccumulatorWatch(Watch):
    """Collects what happens at the steps of a history."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def before(self, history: History, step: Any) -> Queued:  # noqa: ARG002
        return {} if history.producer is None else queued(history.accumulator.state)

    def after(self, history: History, step: Any, before: Queued, answer: Answer | None) -> None:
        self.seen.update(_seen(step, answer))
        if history.producer is not None:
            self.seen.update(seen_of_sequences(history.producer, history.accumulator.state, before, step, answer))


def _features(question: RecordAccumulatorQuestion) -> Iterator[str]:
    """Yield the features of a producer that the question uses."""
    config, ops = question.config, {type(step) for step in question.steps}
    if config.adaptive and any(isinstance(step, AppendStep) and step.partition is None for step in question.steps):
        yield "adaptive choice"
    if config.rack_aware:
        yield "racks"
    if config.availability_timeout_ms or LatencyStep in ops:
        yield "availability timeout"
    if BlockedStep in ops:
        yield "waits for memory"


def _way(config: AskedConfig) -> Iterator[str]:
    """What is out of the ordinary about the batches' memory."""
    if config.compression != "none":
        yield "compressed"
    if config.allocation != "full":
        yield "chunks" if config.batch_size >= CHUNK else "smaller than a chunk"


def _seen(step: Any, answer: Any) -> Iterator[str]:
    """What happened at a step, in the newest release."""
    match step:
        case _ if "raises" in (answer or ()):
            yield f"raises {answer['raises']}"
        case AppendStep(partition):
            yield "partition chosen" if partition is None else "partition given"
            yield "new batch" if answer["new_batch"] else "appended"
            yield "batch full" if answer["batch_full"] else "batch not full"
        case ReadyStep():
            yield "ready" if answer["nodes"] else "not ready"
            yield "leader unknown" if answer["unknown_leader_topics"] else "leaders known"
            yield "nothing to wait for" if answer["delay_ms"] is None else "looks again"
        case DrainStep():
            yield ("drained none", "drained", "drained several")[min(len(answer["batches"]), 2)]
        case LoadStep():
            yield "no statistics" if answer is None else "statistics"
        case ExpireStep():
            yield "expired" if answer["batches"] else "not expired"
        case SplitStep() if answer:
            yield "split"
        case _ if answer:
            yield f"did {step.__struct_config__.tag}"
