"""A history of ``producer-send``, step by step: what is queued, what is sent and why not, and what is left of the memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.timeline import Explained
from kafka_conformance.rules.common.step_text import answer_in_words, count_of, plain_step_in_words
from kafka_conformance.rules.producer_send.adapter import ProducerHistory
from kafka_conformance.rules.producer_send.question import SendStep
from kafka_conformance.rules.producer_sequences.explain import answer_to_step, lanes_of, observe, state_of

__all__ = ["explain_producer"]


def explain_producer(history: ProducerHistory, steps: Sequence[Any], answers: Sequence[Any]) -> Iterator[Explained]:
    """Return every step, with ``answers`` to them and the reference's state."""
    for step, answer in zip(steps, answers, strict=True):
        producer = history.producer
        reasons = tuple(observe(producer.sender, partial(history.take, step)))
        words = plain_step_in_words(step)
        yield Explained(
            time_ms=producer.sender.now_ms,
            step=words,
            answer=_send_in_words(answer) if isinstance(step, SendStep) else answer_to_step(step, answer),
            mark=words,
            reasons=reasons,
            state=(
                *state_of(producer.sender),
                ("memory", f"{producer.accumulator.state.pool.available} B"),
                *(
                    (("flush", count_of(len(producer.sender.flushes), "call") + " waiting"),)
                    * bool(producer.sender.flushes)
                ),
            ),
            lanes=tuple(lanes_of(producer.sender)),
        )


def _send_in_words(answer: Answer) -> str:
    if "partitions" not in answer:
        return answer_in_words(answer)
    words = [_placement_in_words(one) for one in answer["partitions"]]
    return "; ".join((*words, f"the sender is woken {count_of(answer['wakeups'], 'time')}"))


def _placement_in_words(one: Any) -> str:
    if not isinstance(one, dict):
        return f"partition {one}"
    words = ", ".join(f"{how} {one[how]}" for how in ("returns", "throws") if how in one)
    return words if one.get("partition") is None else f"{words}, in a batch of partition {one['partition']}"
