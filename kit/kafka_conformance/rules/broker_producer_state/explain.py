"""The timeline of a ``broker-producer-state`` question: the two relations that decide about a batch, and the state.

The relations are those of the append table (``kafka_reference.broker.append_table``), taken from the state before the step;
of a request, for its first batch. Each producer has a lane with its remembered batches, oldest first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from kafka_conformance.core.timeline import Box, Explained, Lane
from kafka_conformance.rules.broker_producer_state.adapter import BrokerHistory, to_batch
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
from kafka_reference.broker.append_checks import epoch_relation, sequence_relation
from kafka_reference.broker.append_table import EpochRelation, SequenceRelation
from kafka_reference.broker.batches import DataBatch
from kafka_reference.broker.entries import ProducerStateEntry
from kafka_reference.broker.producer_state import ProducerStateManager
from kafka_reference.idempotence.sequences import LAST_SEQUENCE
from kafka_reference.releases import Release

__all__ = ["explain_broker"]

_SEQUENCE = {
    SequenceRelation.NEXT: "next", SequenceRelation.REPEATED: "repeated",
    SequenceRelation.NONZERO_START: "does not start at 0",
}  # fmt: skip
_HALF = 2**30


def explain_broker(
    question: BrokerProducerStateQuestion, release: Release, answers: Sequence[Any]
) -> Iterator[Explained]:  # fmt: skip
    """Yield every step with its answer and the state after it."""
    history = BrokerHistory(question, release)
    for step, answer in zip(question.steps, answers, strict=True):
        reasons = tuple(_reasons(step, history.state))
        history.take(step)
        state = history.state
        yield Explained(
            time_ms=None,
            step=_step_text(step),
            answer=answer_in_words(_shortened(answer)),
            mark=f"{step.__struct_config__.tag}{_outcome(answer)}",
            reasons=reasons,
            state=(
                *(
                    (f"producer {entry.producer_id}", _entry_text(entry))
                    for _, entry in sorted(state.producers.items())
                ),
                *(
                    (f"verifying {each}", f"lowest sequence {one.lowest_sequence}")
                    for each, one in state.verifications.items()
                ),
                ("map", _map_text(state)),
            ),
            lanes=tuple(_lane(entry) for _, entry in sorted(state.producers.items())),
        )


def _reasons(step: Any, state: ProducerStateManager) -> Iterator[str]:
    first = step.batches[0] if isinstance(step, RequestStep) else step
    if not isinstance(first, AppendStep):
        return
    batch = to_batch(first, state.end_offset)
    entry = state.producers.get(first.producer_id) or ProducerStateEntry(state.behaviour, first.producer_id)
    if not isinstance(batch, DataBatch) or step.origin == "replication":
        yield "replicated: already checked by the leader"
        return
    if step.origin == "client" and (known := entry.find_duplicate(batch)) is not None:
        yield f"same epoch and sequences as the batch at offset {known.first_offset} → duplicate"
        return
    epoch = epoch_relation(batch.epoch, entry.copy_for_update(), entry)
    beside = "no entry" if epoch is EpochRelation.UNKNOWN_PRODUCER else f"current epoch {entry.epoch}"
    yield f"epoch {batch.epoch}, {beside} → {epoch.value.replace('_', ' ')}"
    if epoch is not EpochRelation.OLDER and step.origin == "client":
        relation = sequence_relation(batch, entry.copy_for_update(), entry)
        last = entry.last_sequence if epoch is EpochRelation.CURRENT else -1
        words = _SEQUENCE.get(relation) or _distance(batch, last)
        yield f"sequence {batch.first_sequence} after {'none' if last == -1 else last} → {words}"


def _distance(batch: DataBatch, last: int) -> str:
    """Return how a batch that is not the next one relates to ``last``, across 2^31-1, after which sequences begin at 0.

    The table has one relation for all of these: 3 to 5 after 9 is behind, 8 to 11 after 9 overlaps, 12 after 9 is a gap.
    """
    ahead = (batch.first_sequence - last - 1) % (LAST_SEQUENCE + 1)
    if ahead < _HALF:
        return f"gap: {count_of(ahead, 'sequence')} missing"
    behind = LAST_SEQUENCE + 1 - ahead
    if batch.records > behind:
        return f"overlap: {count_of(behind, 'sequence')} of {batch.records} appended before"
    return "behind: appended before, and no longer remembered as this batch"


def _step_text(step: Any) -> str:
    match step:
        case LoadStep(data, offset):
            stays = "" if offset is None else f" and keep it at offset {offset}"
            return f"read a snapshot{stays}: {bytes_in_words(data)}"
        case RequestStep(batches, origin):
            return f"request by {origin}\n" + "\n".join(map(plain_step_in_words, batches))
    return plain_step_in_words(step)


def _shortened(answer: Any) -> Any:
    """Return the answer without what is shown as the state, and with the start of a file only."""
    if isinstance(answer, dict) and "bytes" in answer:
        return {"bytes": bytes_in_words(answer["bytes"])}
    if isinstance(answer, dict) and "producers" in answer:
        return {**answer, "producers": count_of(len(answer["producers"]), "producer")}
    return msgspec.to_builtins(answer)


def _outcome(answer: Any) -> str:
    if not isinstance(answer, dict):
        return ""
    outcome = raised(answer) or next((name for name in ("duplicate", "completed") if name in answer), "")
    return f" → {outcome}" if outcome else ""


def _entry_text(entry: ProducerStateEntry) -> str:
    transaction = "" if entry.transaction is None else f", in a transaction since offset {entry.transaction}"
    return f"epoch {entry.epoch}, last sequence {entry.last_sequence}{transaction}"


def _map_text(state: ProducerStateManager) -> str:
    unstable = state.transactions.first_unstable
    return f"ends at {state.end_offset}" + ("" if unstable is None else f", unstable from {unstable}")


def _lane(entry: ProducerStateEntry) -> Lane:
    boxes = tuple(
        Box(
            f"{one.first_sequence}–{one.last_sequence}",
            "held",
            f"sequences {one.first_sequence} to {one.last_sequence}, offsets {one.first_offset} to {one.last_offset}",
        )
        for one in entry.batches
    )
    return Lane(f"producer {entry.producer_id}", boxes)
