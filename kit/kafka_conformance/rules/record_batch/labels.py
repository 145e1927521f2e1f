"""The kinds of ``record-batch`` questions, and the groups of their differences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka_conformance.core.newest_run import newest_answer
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.record_batch.adapter import ask
from kafka_conformance.rules.record_batch.question import AskedBatch, RecordBatchQuestion

__all__ = ["REQUIRED_LABELS", "labels", "path"]

_CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
REQUIRED_LABELS = frozenset(
    {
        *(f"encode magic {magic}" for magic in (0, 1, 2)),
        *(f"compress {codec}" for codec in _CODECS if codec != "none"),
        *(f"decode {codec}, magic 2" for codec in _CODECS),
        *(f"decode {codec}, magic {magic}" for codec in _CODECS if codec != "zstd" for magic in (0, 1)),
        *("headers", "offsets with gaps", "a control record", "transactional", "a delete horizon", "log append time"),
        *("a compression level", "several batches", "a batch cut off", "a wrong CRC", "a record that cannot be read"),
        *("a header that cannot be read", "no whole batch", "an invalid size or magic", "an exception of the builder"),
        *("sequences wrap", "a timestamp of 2^53 or more", "a base offset", "a leader epoch"),
    }
)


def labels(question: RecordBatchQuestion) -> Iterator[str]:
    """Yield the kinds of a question, by its fields and by its answer in the newest release."""
    answer = newest_answer(ask, question)
    found: set[str] = set()
    asked = question.encode or question.compress
    if asked is not None:
        found.add(f"encode magic {asked.magic}" if question.encode else f"compress {asked.compression}")
        found.update(_asked_labels(asked))
        if "raises" in answer:
            found.add("an exception of the builder")
    else:
        found.update(_decoded_labels(len(question.decode or "") // 2, answer))
    yield from sorted(found)


def _asked_labels(asked: AskedBatch) -> Iterator[str]:
    kinds = {
        "headers": any(record.headers for record in asked.records),
        "offsets with gaps": any(record.offset is not None for record in asked.records),
        "a control record": asked.control is not None,
        "a base offset": int(asked.base_offset) != 0,
        "a leader epoch": asked.leader_epoch != -1,
        "transactional": asked.transactional,
        "a delete horizon": asked.delete_horizon is not None,
        "log append time": asked.timestamp_type == "append",
        "a compression level": asked.level is not None,
        "a timestamp of 2^53 or more": any(isinstance(record.timestamp, str) for record in asked.records),
    }
    yield from (kind for kind, holds in kinds.items() if holds)


def _decoded_labels(size: int, answer: Answer) -> Iterator[str]:
    batches = answer["batches"]
    if "raises" in answer:
        yield "an invalid size or magic"
    elif not batches:
        yield "no whole batch"
    elif sum(batch["size"] for batch in batches) < size:
        yield "a batch cut off"
    if len(batches) > 1:
        yield "several batches"
    for batch in batches:
        yield from _batch_labels(batch)


def _batch_labels(batch: Answer) -> Iterator[str]:
    header = batch["header"]
    if batch["valid"] is not True:
        yield "a wrong CRC"
    records = [record for record in batch["records"] if record is not None]
    if any("raises" in record for record in records):
        yield "a record that cannot be read"
    if "raises" in header:
        yield "a header that cannot be read"
        return
    if any("raises" not in record for record in records):
        yield f"decode {header['compression']}, magic {batch['magic']}"
    if header["last_sequence"] < header["base_sequence"]:
        yield "sequences wrap"


def path(question: RecordBatchQuestion) -> str:
    """Return the group of a difference: what is asked, and the format and codec of the first batch."""
    asked: Any = question.encode or question.compress
    if asked is not None:
        return f"{'encode' if question.encode else 'compress'} magic {asked.magic} {asked.compression}"
    data = bytes.fromhex(question.decode or "")
    magic = data[16] if len(data) > 16 else -1
    attributes = data[22] if magic == 2 and len(data) > 22 else data[17] if len(data) > 17 else 0
    return f"decode magic {magic} codec {attributes & 7}"
