"""The batches of a ``consumer-fetch`` question, one row for each: what is in it, and which of its records are delivered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kafka_conformance.core.timeline import Explained
from kafka_conformance.rules.common.step_text import raised
from kafka_conformance.rules.consumer_fetch.question import ConsumerFetchQuestion
from kafka_reference.errors import JavaException
from kafka_reference.record_batch import Batch, decode_batches
from kafka_reference.releases import Release

__all__ = ["explain_fetch"]


def explain_fetch(question: ConsumerFetchQuestion, release: Release, answers: Sequence[Any]) -> Iterator[Explained]:
    """Yield a row for each batch, and one for the position and the exception."""
    (answer,) = answers
    if not isinstance(answer, dict) or not isinstance(answer.get("delivered"), list):
        return
    delivered = [int(offset) for offset in answer["delivered"]]
    try:
        for place, batch in enumerate(decode_batches(bytes.fromhex(question.records), release)):
            yield _row(place, batch, question, delivered)
    except JavaException as error:
        yield Explained(None, "no further batch", error.java_name, "no batch")
    words = f"position {answer.get('position')}"
    yield Explained(None, "the consumer", ", ".join(filter(None, (words, raised(answer)))), "position")


def _row(place: int, batch: Batch, question: ConsumerFetchQuestion, delivered: Sequence[int]) -> Explained:
    first, last = _offset(batch, "base_offset"), _offset(batch, "last_offset")
    if first is None or last is None:
        return Explained(None, f"batch {place}: magic {batch.magic}", "cannot be read", f"batch {place}")
    kinds = ("control", "transactional") if batch.control else ("transactional",) if batch.transactional else ()
    producer = f"producer {batch.producer_id}" if batch.producer_id >= 0 else ""
    step = ", ".join(filter(None, (f"batch {place}: offsets {first} to {last}, magic {batch.magic}", *kinds, producer)))
    found = [str(offset) for offset in delivered if first <= offset <= last]
    reasons = []
    if first < question.fetch_offset:
        reasons.append(f"records below the fetch offset {question.fetch_offset} are skipped")
    if batch.control:
        reasons.append("control records are not delivered")
    return Explained(None, step, f"delivers {', '.join(found) or 'nothing'}", f"batch {place}", tuple(reasons))


def _offset(batch: Batch, name: str) -> int | None:
    try:
        return int(getattr(batch, name))
    except JavaException:
        return None
