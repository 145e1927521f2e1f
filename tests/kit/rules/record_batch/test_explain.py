"""The rows of a ``record-batch`` question: positions, records, and the iterators that end otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_conformance.core.timeline import Explained
from kafka_conformance.rules.record_batch.adapter import ask
from kafka_conformance.rules.record_batch.explain import explain_batches
from kafka_conformance.rules.record_batch.question import AskedBatch, AskedRecord, RecordBatchQuestion
from kafka_conformance.rules.record_batch.wire import Message, RawBatch, compressed, message_set, raw_record
from kafka_reference.releases import parse_release


def rows(question: RecordBatchQuestion, release: str = "4.4.0") -> list[Explained]:
    asked = parse_release(release)
    return list(explain_batches(question, asked, [ask(question, asked)]))


def decode(data: bytes) -> RecordBatchQuestion:
    return RecordBatchQuestion(decode=data.hex())


def others(found: list[Explained]) -> dict[str, str]:
    return {row.step: row.answer for row in found if row.step.startswith("by ")}


def test_explanation_of_uncompressed_records_has_byte_positions() -> None:
    one, other = raw_record(b"k", b"v"), raw_record(offset_delta=1)
    found = rows(decode(RawBatch(one + other, 2).data() + RawBatch(one, 1).data()))
    assert [row.step for row in found if "record " in row.step] == [
        "61–69 record 0", "70–76 record 1", "138–146 record 0",
    ]  # fmt: skip
    assert others(found) == {}


def test_explanation_of_encoded_batch_has_byte_positions_but_no_rows_for_empty_batch() -> None:
    found = rows(RecordBatchQuestion(encode=AskedBatch((AskedRecord("6b", "76", 9),), base_offset=5)))
    assert found[0].answer == "base_offset 5, size 70"
    assert found[-1].step == "61–69 record 0"
    assert rows(RecordBatchQuestion(encode=AskedBatch(()))) == []


def test_explanation_of_compressed_records_has_no_byte_positions() -> None:
    steps = [
        row.step for row in rows(RecordBatchQuestion(compress=AskedBatch((AskedRecord("6b"),), compression="gzip")))
    ]
    assert (steps[0], steps[-1]) == ("compressed batch 0: base offset, size", "compressed record 0")


def test_uncompressed_message_row_has_position_and_compressed_message_row_has_none() -> None:
    message = Message(b"v", b"k", 7)
    assert rows(decode(message.data()))[-1].step == "0–35 record 0"
    wrapper = Message(compressed("gzip", message_set([message])), None, 7, attributes=1)
    assert rows(decode(wrapper.data()))[-1].step == "compressed record 0"
    assert [row.step for row in rows(decode(Message(b"v", magic=0).data()))] == [
        "0–11 batch 0: offset, size", "12–16 batch 0: CRC-32, magic", "17 batch 0: attributes", "0–26 record 0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        ("3.5.2", {}),
        ("4.4.0", {"by skipKeyValueIterator": "1 record"}),
        ("2.3.1", {}),
    ],
)
def test_explanation_shows_java_iterator_that_reads_an_invalid_record_only_in_4_4_0(
    release: str, expected: dict[str, str]
) -> None:
    batch = RawBatch(compressed("lz4", raw_record(b"k", b"v", length_more=-1)), 1, attributes=3)
    found = rows(decode(batch.data()), release)
    assert found[6].answer == "raises InvalidRecordException"
    assert others(found) == expected


def test_explanation_shows_java_iterator_that_loses_records_before_exception() -> None:
    content = raw_record(b"k", b"v") + raw_record(offset_delta=1, length_more=-1)
    found = rows(decode(RawBatch(compressed("gzip", content), 2, attributes=1).data()), "2.3.1")
    assert others(found) == {"by iterator": "0 records, raises InvalidRecordException"}


@pytest.mark.parametrize("answer", [None, {"raises": "KafkaException"}, {}])
def test_record_batch_answer_without_batches_is_explained_by_no_rows(answer: Any) -> None:
    assert list(explain_batches(decode(b""), parse_release("4.4.0"), [answer])) == []
