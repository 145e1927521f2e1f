"""The kinds of ``record-batch`` questions: each label by a question that has it, and the groups of differences."""

from __future__ import annotations

import pytest

from kafka_conformance.rules.record_batch.labels import labels, path
from kafka_conformance.rules.record_batch.question import (
    AskedBatch,
    AskedControl,
    AskedProducer,
    AskedRecord,
    RecordBatchQuestion,
)
from kafka_conformance.rules.record_batch.wire import Message, RawBatch, compressed, message_set, raw_record

RECORD = raw_record(b"k", b"v")
BATCH = RawBatch(RECORD, 1)


def decode(data: bytes) -> RecordBatchQuestion:
    return RecordBatchQuestion(decode=data.hex())


def kinds(question: RecordBatchQuestion) -> set[str]:
    return set(labels(question))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", {"no whole batch"}),
        (BATCH.data()[:40], {"no whole batch"}),
        (BATCH.data(), {"decode none, magic 2"}),
        (BATCH.data() + BATCH.data()[:40], {"decode none, magic 2", "a batch cut off"}),
        (BATCH.data() * 2, {"decode none, magic 2", "several batches"}),
        (BATCH.data() + bytes(12), {"decode none, magic 2", "an invalid size or magic"}),
        (RawBatch(RECORD, 1, crc_xor=1).data(), {"decode none, magic 2", "a wrong CRC"}),
        (RawBatch(b"", 1).data(), {"a record that cannot be read"}),
        (RawBatch(RECORD * 2, 3).data(), {"decode none, magic 2", "a record that cannot be read"}),
        (RawBatch(RECORD, 1, attributes=7).data(), {"a header that cannot be read", "a record that cannot be read"}),
        (RawBatch(RECORD, 1, base_sequence=2**31 - 1, last_offset_delta=1).data(),
         {"decode none, magic 2", "sequences wrap"}),
        (Message(b"v").data(), {"decode none, magic 1"}),
        (Message(compressed("lz4", message_set([Message(b"v", magic=0)]), magic=0), magic=0, attributes=3).data(),
         {"decode lz4, magic 0"}),
    ],
)  # fmt: skip
def test_decode_labels_name_codec_magic_and_defects_of_bytes(data: bytes, expected: set[str]) -> None:
    assert kinds(decode(data)) == expected


def test_encode_labels_name_codec_records_and_builder_exception() -> None:
    records = (AskedRecord(timestamp=str(2**60), headers=(("h", None),)), AskedRecord(offset=9))
    batch = AskedBatch(
        records, compression="gzip", level=1, timestamp_type="append", transactional=True, delete_horizon=5,
        producer=AskedProducer(7, 0, 0),
    )  # fmt: skip
    assert kinds(RecordBatchQuestion(compress=batch)) == {
        "compress gzip", "headers", "offsets with gaps", "transactional", "a delete horizon", "log append time",
        "a compression level", "a timestamp of 2^53 or more",
    }  # fmt: skip
    refused = AskedBatch((), 1, control=AskedControl(True))
    assert kinds(RecordBatchQuestion(encode=refused)) == {
        "encode magic 1", "a control record", "an exception of the builder",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (decode(b""), "decode magic -1 codec 0"),
        (decode(RawBatch(RECORD, 1, attributes=0x1B).data()), "decode magic 2 codec 3"),
        (decode(Message(b"v", attributes=9).data()), "decode magic 1 codec 1"),
        (RecordBatchQuestion(encode=AskedBatch((), 0)), "encode magic 0 none"),
        (RecordBatchQuestion(compress=AskedBatch((), compression="lz4")), "compress magic 2 lz4"),
    ],
)
def test_record_batch_differences_are_grouped_by_operation_magic_and_codec(
    question: RecordBatchQuestion, expected: str
) -> None:
    assert path(question) == expected
