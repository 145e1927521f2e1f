"""The kinds of ``consumer-fetch`` questions, and the groups of their differences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from kafka_conformance.core.newest_run import newest_answer
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.consumer_fetch.adapter import ask
from kafka_conformance.rules.consumer_fetch.question import ConsumerFetchQuestion
from kafka_reference.errors import JavaException
from kafka_reference.record_batch import Batch, Codec, DefaultBatch, decode_batches

__all__ = ["REQUIRED_LABELS", "labels", "path"]

_EXCEPTION, _AFTER, _CUT = "an exception", "records before an exception", "no whole batch"
REQUIRED_LABELS = frozenset(
    {
        "read_committed", "read_uncommitted", "a fetch offset within a batch", "a compressed batch", "message format 0 or 1",
        "a control batch", "an aborted transaction", "a batch without records", "offsets removed by compaction",
        "a batch skipped whole", "several batches", "check.crcs off", _EXCEPTION, _AFTER, _CUT,
    }
)  # fmt: skip


def labels(question: ConsumerFetchQuestion) -> Iterator[str]:
    """Yield the kinds of a question, by its batches and by its answer in the newest release."""
    answer = newest_answer(ask, question)
    yield "read_committed" if question.read_committed else "read_uncommitted"
    if not question.check_crcs:
        yield "check.crcs off"
    if question.read_committed and question.aborted:
        yield "an aborted transaction"
    if "raises" in answer:
        yield _AFTER if answer["delivered"] else _EXCEPTION
    yield from sorted(set(_of_batches(question, answer)))


def _of_batches(question: ConsumerFetchQuestion, answer: Answer) -> Iterator[str]:
    batches = _batches(question)
    if not batches:
        yield _CUT
    if len(batches) > 1:
        yield "several batches"
    delivered = answer["delivered"]
    for batch in batches:
        try:
            yield from _of_batch(batch, question, delivered)
        except (JavaException, ValueError):
            continue


def _of_batch(batch: Batch, question: ConsumerFetchQuestion, delivered: list[int]) -> Iterator[str]:
    if batch.codec is not Codec.NONE:
        yield "a compressed batch"
    if not isinstance(batch, DefaultBatch):
        yield "message format 0 or 1"
    if batch.control:
        yield "a control batch"
    if batch.base_offset < question.fetch_offset <= batch.last_offset:
        yield "a fetch offset within a batch"
    count = batch.record_count
    if count == 0:
        yield "a batch without records"
    elif count is not None and 0 < count <= batch.last_offset - batch.base_offset:
        yield "offsets removed by compaction"
    shown = any(batch.base_offset <= offset <= batch.last_offset for offset in delivered)
    if question.read_committed and batch.transactional and not batch.control and count and not shown:
        yield "a batch skipped whole"


def _batches(question: ConsumerFetchQuestion) -> list[Batch]:
    found: list[Batch] = []
    with suppress(JavaException):
        found.extend(decode_batches(bytes.fromhex(question.records)))
    return found


def path(question: ConsumerFetchQuestion) -> str:
    """Return the group of a difference: the isolation level, and the format and kind of the first batch."""
    level = "read_committed" if question.read_committed else "read_uncommitted"
    data = bytes.fromhex(question.records)
    magic = data[16] if len(data) > 16 else -1
    return f"{level}, magic {magic}{', offset' if question.fetch_offset else ''}"
