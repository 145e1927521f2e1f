"""The iterator that skips keys and values: sizes that are wrong, by release, and records larger than its buffer."""

from __future__ import annotations

import pytest

from kafka_reference.errors import JavaException
from kafka_reference.record_batch import RecordBatchBehaviour, SkippedRecord
from kafka_reference.record_batch.codecs import Stream
from kafka_reference.record_batch.errors import InvalidRecordException
from kafka_reference.record_batch.records import BatchFields
from kafka_reference.record_batch.skipping import skip_stream
from kafka_reference.record_batch.varints import write_varint

FIELDS = BatchFields(1, 10, 100, 5, None)


def record(key: bytes = b"k", value: bytes = b"v", *, more: int = 0) -> bytes:
    body = bytes(3) + write_varint(len(key)) + key + write_varint(len(value)) + value + b"\0"
    return write_varint(len(body) + more) + body


def skipped(data: bytes, release: str, fields: BatchFields = FIELDS) -> list[SkippedRecord]:
    return list(skip_stream(Stream(data), fields, RecordBatchBehaviour.of(release)))


@pytest.mark.parametrize("release", ["2.4.0", "3.5.2", "3.6.0", "4.4.0"])
@pytest.mark.parametrize("size", [1, 2040, 2048, 5000])
def test_skipping_iterator_reads_offset_timestamp_sequence_and_sizes(release: str, size: int) -> None:
    data = record(bytes(size), b"value")
    assert skipped(data, release) == [SkippedRecord(10, 100, 5, size, 5, 0, len(data))]
    by_broker = BatchFields(1, 10, 100, -1, 777)
    assert skipped(data, release, by_broker) == [SkippedRecord(10, 777, -1, size, 5, 0, len(data))]


@pytest.mark.parametrize("more", [-1, 1])
def test_wrong_record_size_is_detected_by_skipping_iterator_up_to_3_5(more: int) -> None:
    data = record(more=more)
    with pytest.raises(InvalidRecordException):
        skipped(data, "3.5.2")
    (found,) = skipped(data, "3.6.0")
    assert found.size == len(data) + more


@pytest.mark.parametrize(
    ("release", "accepted"),
    [("3.5.2", False), ("3.6.0", True), ("4.2.1", True), ("4.2.2", False), ("4.3.1", True), ("4.4.0", False)],
)
def test_skipping_iterator_accepts_negative_record_size_only_in_3_6_to_4_2_1_and_4_3_1(
    release: str, accepted: bool
) -> None:
    data = record(more=-20)
    if accepted:
        assert [found.size for found in skipped(data, release)] == [-11]
    else:
        with pytest.raises(JavaException):
            skipped(data, release)


@pytest.mark.parametrize("release", ["2.4.0", "4.4.0"])
def test_surplus_bytes_or_missing_records_throw_invalid_record_exception(release: str) -> None:
    with pytest.raises(InvalidRecordException, match="records still remaining"):
        skipped(record() + b"\0", release)
    with pytest.raises(InvalidRecordException, match="premature EOF"):
        skipped(record(), release, BatchFields(2, 10, 100, 5, None))
    for length in range(1, len(record())):
        with pytest.raises(InvalidRecordException):
            skipped(record()[:length], release)
