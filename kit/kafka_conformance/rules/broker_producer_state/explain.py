"""Histories of ``broker-producer-state``, step by step: the two facts that decide about a batch, and what is remembered.

The facts are those of the reference's table (``kafka_reference.broker.append_checks``), asked of the state that the batch
met; of a request, its first batch's. Each producer has a lane: the batches remembered, oldest first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from kafka_conformance.core.timeline import Box, Explained, Lane
from kafka_conformance.rules.broker_producer_state.adapter import BrokerHistory, batch_of
from kafka_conformance.rules.broker_producer_state.question import (
    AppendStep,
    BrokerProducerStateQuestion,
    LoadStep,
    RequestStep,
)
from kafka_conformance.rules.common.step_text import (
    answer_in_words,
    bytes_in_words,
    count_of,
    plain_step_in_words,
    raised,
)
from kafka_reference.broker.append_checks import Epoch, epoch_of, sequence_of
from kafka_reference.broker.batches import DataBatch
from kafka_reference.broker.entries import Entry
from kafka_reference.broker.producer_state import ProducerState
from kafka_reference.releases import Release

__all__ = ["explain_broker"]


def explain_broker(question: BrokerProducerStateQuestion, at: Release, answers: Sequence[Any]) -> Iterator[Explained]:
    """Every step, with ``answers`` to them and what the reference remembers."""
    history = BrokerHistory(ProducerState, question, at)
    for step, answer in zip(question.steps, answers, strict=True):
        reasons = tuple(_reasons(step, history.state))
        history.take(step)
        state = history.state
        yield Explained(
            time_ms=None,
            step=_words(step),
            answer=answer_in_words(_shortened(answer)),
            mark=f"{step.__struct_config__.tag}{_came_of(answer)}",
            reasons=reasons,
            state=(
                *((f"producer {entry.producer_id}", _told(entry)) for _, entry in sorted(state.producers.items())),
                *(
                    (f"verifying {each}", f"not above {one.lowest_sequence}")
                    for each, one in state.verifications.items()
                ),
                ("the map", _map(state)),
            ),
            lanes=tuple(_lane(entry) for _, entry in sorted(state.producers.items())),
        )


def _reasons(step: Any, state: ProducerState) -> Iterator[str]:
    first = step.batches[0] if isinstance(step, RequestStep) else step
    if not isinstance(first, AppendStep):
        return
    batch = batch_of(first, state.end)
    entry = state.producers.get(first.producer_id) or Entry(state.era, first.producer_id)
    if not isinstance(batch, DataBatch) or step.origin == "replication":
        yield "replicated: the leader has looked at it"
        return
    if step.origin == "client" and (known := entry.duplicate(batch)) is not None:
        yield f"the batch at offset {known.first_offset} has this epoch and these sequences → a duplicate"
        return
    epoch = epoch_of(batch.epoch, entry.to_update(), entry)
    yield f"epoch {batch.epoch} next to {entry.epoch} → {epoch.value}"
    if epoch is not Epoch.OLDER and step.origin == "client":
        sequence = sequence_of(batch, entry.to_update(), entry)
        last = entry.last_sequence if epoch is Epoch.SAME else -1
        yield f"sequence {batch.first_sequence} after {'none' if last == -1 else last} → {sequence.value}"


def _words(step: Any) -> str:
    match step:
        case LoadStep(data, offset):
            stays = "" if offset is None else f", which stays at offset {offset}"
            return f"a snapshot is read{stays}: {bytes_in_words(data)}"
        case RequestStep(batches, origin):
            return f"request by {origin}\n" + "\n".join(map(plain_step_in_words, batches))
    return plain_step_in_words(step)


def _shortened(answer: Any) -> Any:
    """What a look sees is shown as the state; a file is shown by its beginning."""
    if isinstance(answer, dict) and "bytes" in answer:
        return {"bytes": bytes_in_words(answer["bytes"])}
    if isinstance(answer, dict) and "producers" in answer:
        return {**answer, "producers": count_of(len(answer["producers"]), "producer")}
    return msgspec.to_builtins(answer)


def _came_of(answer: Any) -> str:
    if not isinstance(answer, dict):
        return ""
    said = raised(answer) or next((name for name in ("duplicate", "completed") if name in answer), "")
    return f" → {said}" if said else ""


def _told(entry: Entry) -> str:
    transaction = "" if entry.transaction is None else f", in a transaction since offset {entry.transaction}"
    return f"epoch {entry.epoch}, last sequence {entry.last_sequence}{transaction}"


def _map(state: ProducerState) -> str:
    unstable = state.transactions.first_unstable
    return f"ends at {state.end}" + ("" if unstable is None else f", unstable from {unstable}")


def _lane(entry: Entry) -> Lane:
    boxes = tuple(
        Box(
            f"{one.first_sequence}–{one.last_sequence}",
            "held",
            f"sequences {one.first_sequence} to {one.last_sequence}, offsets {one.first_offset} to {one.last_offset}",
        )
        for one in entry.batches
    )
    return Lane(f"producer {entry.producer_id}", boxes)
