"""Which questions of ``record-batch`` a user can bring about.

A producer writes batches with its records in order, without gaps between their offsets; a broker assigns offsets, the leader
epoch and, by configuration, timestamps. A consumer reads whatever is in a log: batches of other clients, and of earlier
releases, damaged by disks and networks. So everything to be decoded is in domain.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.rules.common.domains import first_reason
from kafka_conformance.rules.record_batch.question import (
    AskedBatch,
    AskedProducer,
    AskedRecord,
    RecordBatchQuestion,
    number,
)

__all__ = ["OPTIONAL_LABELS", "OPTIONAL_PARTS", "domain", "half", "nearest", "plain"]

_OLD, _CODEC, _BROKER = "message formats 0 and 1", "this codec", "batches that brokers and coordinators write"
_CODECS = ("gzip", "snappy", "lz4", "zstd")
OPTIONAL_LABELS = {
    **{f"encode magic {magic}": _OLD for magic in (0, 1)},
    **{f"decode {codec}, magic {magic}": _OLD for codec in ("none", *_CODECS) if codec != "zstd" for magic in (0, 1)},
    **{f"compress {codec}": _CODEC for codec in _CODECS},
    **{f"decode {codec}, magic 2": _CODEC for codec in _CODECS},
    "a control record": _BROKER,
    "a delete horizon": _BROKER,
    "log append time": _BROKER,
    "offsets with gaps": _BROKER,
    "a base offset": _BROKER,
    "a leader epoch": _BROKER,
    **dict.fromkeys(
        ("several batches", "a batch cut off", "no whole batch"), "several batches in one answer of a broker"
    ),
    "transactional": "transactions",
    "a compression level": "compression levels",
    "an exception of the builder": "the checks of Kafka's builder",
    "a timestamp of 2^53 or more": "timestamps of 2^53 or more",
}

_HEADER, _ITERATORS, _RECORD = "fields of the header", "Java's other ways to read", "what Java computes for each record"
OPTIONAL_PARTS = {
    "valid_bytes": _ITERATORS,
    "batches.magic": _HEADER,
    "batches.size": _HEADER,
    "batches.base_offset": _HEADER,
    "batches.header": _HEADER,
    "batches.iterated": _ITERATORS,
    "batches.skipped": _ITERATORS,
    **{
        f"batches.records.{field}": _RECORD
        for field in ("sequence", "size", "timestamp_type", "valid", "control_type", "marker")
    },
}


def half(question: RecordBatchQuestion) -> str:
    """Return the half of the rule: a producer encodes, a consumer decodes."""
    return "decodes" if question.decode is not None else "encodes"


def domain(question: RecordBatchQuestion) -> str:
    """Return why no user can bring the question about, or ""."""
    asked = question.encode or question.compress
    return "" if asked is None else first_reason(_reasons(asked))


def _reasons(asked: AskedBatch) -> Iterator[str]:
    if not asked.records and asked.control is None:
        yield "a batch has a record"
    if any(int(record.timestamp) < 0 for record in asked.records):
        yield "ProducerRecord refuses a timestamp below 0"
    if asked.magic < 2 and (asked.transactional or asked.control or asked.producer or asked.delete_horizon is not None):
        yield "message formats 0 and 1 have no producers, transactions and control records"
    if asked.magic < 2 and any(record.headers for record in asked.records):
        yield "message formats 0 and 1 have no headers"
    if (asked.timestamp_type == "none") != (asked.magic == 0):
        yield "message format 0 has no timestamps, and the others do"
    if asked.timestamp_type == "append" and int(asked.log_append_time) < 0:
        yield "the clock of a broker is 0 or more"
    yield _producer_domain(asked)
    if asked.control is not None and (asked.records or not asked.transactional):
        yield "a control batch has one record, which ends a transaction"
    if asked.delete_horizon is not None and int(asked.delete_horizon) < 0:
        yield "a delete horizon is 0 or more"
    if not _ascending(asked):
        yield "offsets ascend, by less than 2^31 within a batch"


def _producer_domain(asked: AskedBatch) -> str:
    producer = asked.producer
    if producer is None:
        return "a transaction has a producer" if asked.transactional else ""
    sequence = 0 if asked.control is not None else producer.first_sequence
    return "" if min(int(producer.id), producer.epoch, sequence) >= 0 else "ids, epochs and sequences are 0 or more"


def _ascending(asked: AskedBatch) -> bool:
    last = int(asked.base_offset) - 1
    for record in asked.records:
        offset = last + 1 if record.offset is None else int(record.offset)
        if offset <= last or offset - int(asked.base_offset) >= 2**31:
            return False
        last = offset
    return True


def nearest(question: RecordBatchQuestion) -> RecordBatchQuestion:
    """Return a batch like the one that is asked, of the same codec, that a producer writes."""
    asked = question.encode or question.compress
    if asked is None or not domain(question):
        return question
    records = tuple(
        AskedRecord(one.key, one.value, number(max(0, int(one.timestamp))), one.headers if asked.magic == 2 else ())
        for one in asked.records
    ) or (AskedRecord(),)
    batch = AskedBatch(records, asked.magic, asked.compression, asked.level,
                       "none" if asked.magic == 0 else "create", base_offset=asked.base_offset)  # fmt: skip
    return RecordBatchQuestion(encode=batch) if question.encode else RecordBatchQuestion(compress=batch)


def plain() -> Iterator[RecordBatchQuestion]:
    """Yield everyday batches: with and without keys, values and headers, idempotent and transactional, of each codec."""
    records = (
        AskedRecord("6b6579", "76616c7565", 1_700_000_000_000, (("trace", "0a0b"), ("empty", None))),
        AskedRecord(None, "00" * 100, 1_700_000_000_005),
        AskedRecord("6b6579", None, 1_700_000_000_003),
    )
    producer = AskedProducer(1000, 0, 0)
    for count in (1, 2, 3):
        for extra in (
            {},
            {"producer": producer},
            {"producer": producer, "transactional": True},
            {"base_offset": 41, "leader_epoch": 7},
        ):
            yield RecordBatchQuestion(encode=AskedBatch(records[:count], **extra))
    for codec in ("gzip", "snappy", "lz4", "zstd"):
        yield RecordBatchQuestion(compress=AskedBatch(records * 10, compression=codec))
