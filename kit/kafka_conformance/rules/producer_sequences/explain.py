"""The timeline of a history of ``producer-sequences``: what is queued, what is in flight, and the producer's sequences.

:func:`observe` makes the reference's sender note why it does not complete a batch: the row of the decision table
(``kafka_reference.idempotence.batch_actions``) that applies, or the time that has passed. What waits for a sequence, or
backs off, the accumulator notes itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.timeline import NOTHING, Box, Explained, Lane
from kafka_conformance.rules.common.step_text import answer_in_words, count_of, fields_in_words, plain_step_in_words
from kafka_conformance.rules.producer_sequences.adapter import SenderHistory
from kafka_conformance.rules.producer_sequences.question import LookStep, RunStep
from kafka_conformance.rules.record_accumulator.explain_text import partition_name, reason_words
from kafka_reference.accumulator.batches import Batch, BatchState
from kafka_reference.accumulator.reasons import BackoffCheck, Reason, SequenceWait
from kafka_reference.idempotence.batch_actions import BatchAction, SideEffect, answer_of, matching_rows, situation_of
from kafka_reference.idempotence.errors import ProduceError
from kafka_reference.idempotence.sender import Sender

__all__ = ["answer_to_step", "explain_sender", "lanes_of", "observe", "state_of"]

# What a fact of the decision table says of a batch where it holds, and where it does not.
_FACTS = {
    "can_split": ("it has several records", "it has one record, or has ended"),
    "duplicate_completes": ("a duplicate is in the log", "a duplicate is an error in this release"),
    "is_own": ("it is of this producer", "it is not of this producer, or sequence errors are not handled"),
    "is_stale": ("its id or epoch is an old one", "its id and epoch are the current ones"),
    "is_behind": ("another batch comes before it, or it was numbered again", "no batch comes before it"),
    "waits_for_resolution": (
        "the partition is unresolved, and it does not follow the unresolved batches", "it waits for no unresolved batch",
    ),
    "bumps_epoch": ("a sequence error begins another epoch", "a sequence error begins no other epoch"),
    "is_undecided": ("it is not known where the log begins, or it was numbered again", "the log's beginning is known"),
    "log_is_lost": ("the log begins after what was acknowledged", "the log has what was acknowledged"),
}  # fmt: skip
_ACTIONS = {
    BatchAction.SPLIT: "split", BatchAction.RETRIED: "retried", BatchAction.FAILED: "fails",
    BatchAction.DROPPED: "fails with OutOfOrderSequenceException",
}  # fmt: skip
_EFFECTS = {
    SideEffect.NOTHING: "", SideEffect.BUMP: ", another epoch is requested",
    SideEffect.RESTART: ", the partition's sequences begin at 0 again",
}  # fmt: skip


class _ObservedSender(Sender):
    """A sender that notes in ``reasons`` why batches are not completed."""

    reasons: list[str]

    def _decide(self, batch: Batch, error: ProduceError, log_start: int) -> tuple[BatchAction, SideEffect]:
        situation = situation_of(
            batch, self.manager, log_start, sender=self._behaviour,
            may_retry=self._may_retry(batch), is_done=self._outcomes.is_done(batch),
        )  # fmt: skip
        action, effect = super()._decide(batch, error, log_start)
        if action is not BatchAction.COMPLETED:
            (row,) = matching_rows(answer_of(error), situation)
            why = [self._retry_text(batch, holds) if fact == "may_retry" else _FACTS[fact][not holds]
                   for fact, holds in row.conditions.items()]  # fmt: skip
            why = why or ["the error is not retriable"]
            self.reasons.append(
                f"{_name(batch)} received {error.name}: {', '.join(why)} → {_ACTIONS[action]}{_EFFECTS[effect]}"
            )
        return action, effect

    def _retry_text(self, batch: Batch, may_retry: bool) -> str:
        config = self._config
        if may_retry:
            return f"retries are left after attempt {batch.attempts + 1}"
        if batch.attempts >= config.retries:
            return f"no retry is left of {config.retries}"
        if self._outcomes.is_done(batch):
            return "it has ended already"
        return f"{self._age(batch)} ms old, delivery.timeout.ms {config.delivery_timeout_ms} has passed"

    def _age(self, batch: Batch) -> int:
        return self.now_ms - batch.created_ms

    def _expire_batches(self) -> bool:
        waiting = [batch for batch in self.accumulator.state.batches if not self._outcomes.is_done(batch)]
        goes_on = super()._expire_batches()
        for batch in waiting:
            if self._outcomes.is_done(batch):
                by_delivery_timeout = self.accumulator.state.behaviour.expires_by_delivery_timeout
                limit = f", delivery.timeout.ms is {self._config.delivery_timeout_ms}" if by_delivery_timeout else ""
                self.reasons.append(f"{_name(batch)} is {self._age(batch)} ms old{limit} → fails with TimeoutException")
        return goes_on

    def _abort_batches(self) -> None:
        self.reasons.append(f"the producer failed with {self.manager.last_error}: all batches are aborted")
        super()._abort_batches()


def _name(batch: Batch) -> str:
    return f"{partition_name(batch.topic_partition)} #{batch.number}"


def observe(sender: Sender, take: Callable[[], object]) -> Iterator[str]:
    """Take a step and yield the reasons that the sender and its accumulator note in it."""
    kind, noted, reasons = type(sender), list[Reason](), list[str]()
    before = _producer(sender)
    sender.accumulator.state.reasons = noted
    sender.__class__ = type(kind.__name__, (_ObservedSender, kind), {"reasons": reasons})
    try:
        take()
    finally:
        sender.__class__ = kind
    waits = [one for one in noted if isinstance(one, SequenceWait | BackoffCheck)]
    yield from dict.fromkeys((*reason_words(waits, None, sender.metadata), *reasons))
    if before != (now := _producer(sender)):
        yield f"the producer had {before} and has {now}"


def explain_sender(history: SenderHistory, steps: Sequence[Any], answers: Sequence[Any]) -> Iterator[Explained]:
    """Return every step with its answer, the reasons, and the reference's state after it."""
    for step, answer in zip(steps, answers, strict=True):
        reasons = tuple(observe(history.sender, partial(history.take, step)))
        words = plain_step_in_words(step)
        yield Explained(
            time_ms=history.sender.now_ms,
            step=words,
            answer=answer_to_step(step, answer),
            mark=words,
            reasons=reasons,
            state=tuple(state_of(history.sender)),
            lanes=tuple(lanes_of(history.sender)),
        )


def answer_to_step(step: Any, answer: Answer) -> str:
    """Return the answer to a step as text."""
    if not isinstance(step, RunStep) or "sent" not in answer:
        return "; ".join(_look_text(answer)) or NOTHING if isinstance(step, LookStep) else answer_in_words(answer)
    words = [f"{_batch(batch)} to node {sent['node']}" for sent in answer["sent"] for batch in sent["batches"]]
    words += [f"record {record} {_end(end)}" for record, end in answer["ended"]]
    if "asked_id" in answer:
        words.append(f"requested a producer id {count_of(answer['asked_id'], 'time')}")
    words += [f"throws {answer['raises']}"] if "raises" in answer else []
    words += [f"logs {name}" for name in answer.get("uncaught", ())]
    return "; ".join(words) or NOTHING


def _look_text(answer: Answer) -> Iterator[str]:
    """Yield the state that an answer to ``look`` has."""
    if "producer" in answer:
        yield f"producer {answer['producer'][0]}, epoch {answer['producer'][1]}, {answer['state']}"
    for number, queue in answer.get("queues", {}).items():
        batches = (
            f"{count_of(records, 'record')} {f'at sequence {sequence}' if sequence is not None else 'without sequence'}"
            + (f", attempt {attempts + 1}" if attempts else "")
            for records, attempts, sequence in queue
        )
        yield f"queue of {number}: {' │ '.join(batches) or 'empty'}"
    for number, partition in answer.get("partitions", {}).items():
        yield f"partition {number}: {', '.join(f'{name} {text}' for name, text in fields_in_words(partition))}"
    yield from (f"raises {answer['raises']}" for _ in [answer] if "raises" in answer)


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
