"""The bytes of a ``record-batch`` question, or of the answer to it: a row for each group of header fields and each record.

Records are those of ``streamingIterator``; another iterator has a row if it ends otherwise.
Positions are those in the whole input, from 0; records of a compressed batch have none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.timeline import Explained
from kafka_conformance.rules.common.step_text import answer_in_words, count_of, raised
from kafka_conformance.rules.record_batch.adapter import ask
from kafka_conformance.rules.record_batch.question import RecordBatchQuestion
from kafka_conformance.rules.record_batch.wire import HEADER
from kafka_reference.releases import Release

__all__ = ["explain_batches"]

_NEW = (
    (0, 12, "base offset, size", ("base_offset", "size")),
    (12, 21, "leader epoch, magic, CRC-32C", ("leader_epoch", "magic", "crc", "valid")),
    (21, 27, "attributes, delta of the last offset",
     ("compression", "timestamp_type", "transactional", "control", "delete_horizon", "last_offset", "next_offset")),
    (27, 43, "base and highest timestamp", ("base_timestamp", "max_timestamp")),
    (43, 57, "producer id, epoch, first sequence", ("producer_id", "producer_epoch", "base_sequence", "last_sequence")),
    (57, HEADER, "number of records", ("count",)),
)  # fmt: skip
_OLD = (
    (0, 12, "offset, size", ("last_offset", "size")),
    (12, 17, "CRC-32, magic", ("crc", "magic", "valid")),
    (17, 18, "attributes", ("compression", "timestamp_type")),
)
_TIMESTAMP = (18, 26, "timestamp", ("max_timestamp",))


def explain_batches(question: RecordBatchQuestion, release: Release, answers: Sequence[Any]) -> Iterator[Explained]:
    """Yield the rows of the only answer: of the batches it lists, or of the bytes it encoded."""
    (answer,) = answers
    if isinstance(answer, dict) and "bytes" in answer:
        answer = ask(RecordBatchQuestion(decode=answer["bytes"]), release)
    if not isinstance(answer, dict) or "batches" not in answer:
        return
    start: int | None = 0 if question.compress is None else None
    for number, batch in enumerate(answer["batches"]):
        yield from _batch_rows(number, batch, start)
        if start is not None:
            start += batch["size"]
    if "raises" in answer:
        yield Explained(None, f"{_span(start, None)} no batch", raised(answer), raised(answer))


def _batch_rows(number: int, batch: Answer, start: int | None) -> Iterator[Explained]:
    fields = {
        **batch["header"],
        **{name: batch[name] for name in ("magic", "valid", "size", "base_offset") if name in batch},
    }
    groups = _NEW if batch["magic"] == 2 else (*_OLD, *([_TIMESTAMP] if batch["magic"] == 1 else []))
    for first, last, name, shown in groups:
        found = {field: fields[field] for field in shown if field in fields}
        step = f"{_span(start, first, last)} batch {number}: {name}"
        yield Explained(None, step, (answer_in_words(found) if found else "") or raised(batch["header"]), name)
    # An uncompressed batch has its records one after another; a message of magic 0 and 1 is its own record.
    plain = start is not None and fields.get("compression") == "none"
    place = start + HEADER if plain and start is not None and batch["magic"] == 2 else start if plain else None
    for index, record in enumerate(batch["records"]):
        size = 0 if record is None else record.get("size", 0)
        words = "null" if record is None else raised(record) or answer_in_words(record)
        yield Explained(None, f"{_span(place, 0, size)} record {index}", words, f"record {index}")
        place = None if place is None else place + size
    yield from _other_iterators(batch)


def _other_iterators(batch: Answer) -> Iterator[Explained]:
    """Yield a row for ``iterator`` and ``skipKeyValueIterator``, each if it ends differently from ``streamingIterator``."""
    streamed = _ended(batch["records"])
    found = {"iterator": (batch["iterated"]["records"], raised(batch["iterated"]))}
    if "skipped" in batch:
        found["skipKeyValueIterator"] = _ended(batch["skipped"])
    for name, ended in found.items():
        if ended != streamed:
            words = ", ".join(filter(None, (count_of(ended[0], "record"), ended[1])))
            yield Explained(None, f"by {name}", words, name)


def _ended(records: Sequence[Any]) -> tuple[int, str]:
    """Return how many records an iterator returned, and the exception that ended them, or ""."""
    thrown = raised(records[-1]) if records and isinstance(records[-1], dict) else ""
    return len(records) - bool(thrown), thrown


def _span(start: int | None, first: int | None, last: int = 0) -> str:
    if start is None:
        return "compressed" if first is not None else "behind"
    begin = start + (first or 0)
    return f"{begin}–{start + last - 1}" if start + last > begin + 1 else f"{begin}"
