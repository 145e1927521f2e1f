"""What a user can bring about: each reason against it, and the nearest batch that a producer writes."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_conformance.rules.record_batch.domain import OPTIONAL_LABELS, domain, nearest, plain
from kafka_conformance.rules.record_batch.labels import REQUIRED_LABELS, labels
from kafka_conformance.rules.record_batch.question import (
    AskedBatch,
    AskedControl,
    AskedProducer,
    AskedRecord,
    RecordBatchQuestion,
)

ONE = (AskedRecord("6b"),)
PRODUCER = AskedProducer(7, 0, 0)


@pytest.mark.parametrize(
    ("batch", "reason"),
    [
        (AskedBatch(()), "a batch has a record"),
        (AskedBatch((AskedRecord(timestamp=-1),)), "ProducerRecord refuses a timestamp below 0"),
        (AskedBatch(ONE, 1, producer=PRODUCER), "message formats 0 and 1 have no producers"),
        (AskedBatch(ONE, 1, delete_horizon=5), "message formats 0 and 1 have no producers"),
        (AskedBatch((AskedRecord(headers=(("h", None),)),), 1), "message formats 0 and 1 have no headers"),
        (AskedBatch(ONE, 0), "message format 0 has no timestamps"),
        (AskedBatch(ONE, timestamp_type="none"), "message format 0 has no timestamps"),
        (AskedBatch(ONE, timestamp_type="append"), "the clock of a broker is 0 or more"),
        (AskedBatch(ONE, transactional=True), "a transaction has a producer"),
        (AskedBatch(ONE, producer=AskedProducer(7, -2, 0)), "ids, epochs and sequences are 0 or more"),
        (AskedBatch(ONE, producer=AskedProducer(7, 0, -1)), "ids, epochs and sequences are 0 or more"),
        (AskedBatch(ONE, control=AskedControl(True)), "a control batch has one record"),
        (AskedBatch(ONE, delete_horizon=-1), "a delete horizon is 0 or more"),
        (AskedBatch((AskedRecord(offset=4), AskedRecord(offset=4))), "offsets ascend"),
        (AskedBatch((AskedRecord(), AskedRecord(offset=2**31))), "offsets ascend"),
    ],
)
def test_record_batch_that_kafka_cannot_write_has_a_reason_and_a_writable_nearest_batch(
    batch: AskedBatch, reason: str
) -> None:
    asked = RecordBatchQuestion(encode=batch)
    assert domain(asked).startswith(reason)
    assert domain(nearest(asked)) == ""


@pytest.mark.parametrize(
    "fields",
    [
        {"records": ONE, "producer": PRODUCER, "transactional": True},
        {"records": ONE, "magic": 0, "timestamp_type": "none"},
        {"records": ONE, "timestamp_type": "append", "log_append_time": 5},
        {"records": (), "control": AskedControl(True), "transactional": True, "producer": AskedProducer(7, 0, -1)},
        {"records": (AskedRecord(), AskedRecord(offset=2**31 - 1))},
    ],
)
def test_record_batch_that_producer_or_broker_can_write_is_accepted(fields: dict[str, Any]) -> None:
    asked = RecordBatchQuestion(encode=AskedBatch(**fields))
    assert domain(asked) == ""
    assert nearest(asked) is asked


def test_nearest_batch_changes_only_the_negative_timestamp_and_keeps_decode_questions() -> None:
    asked = RecordBatchQuestion(compress=AskedBatch((AskedRecord("6b", "76", -5),), 2, "zstd", 3, base_offset=9))
    assert nearest(asked) == RecordBatchQuestion(
        compress=AskedBatch((AskedRecord("6b", "76", 0),), 2, "zstd", 3, base_offset=9)
    )
    damaged = RecordBatchQuestion(decode="00")
    assert domain(damaged) == ""
    assert nearest(damaged) is damaged


def test_only_optional_labels_of_ordinary_batches_are_transactional_base_offset_leader_epoch_and_codecs() -> None:
    asked = {label for question in plain() for label in labels(question)}
    assert asked & set(OPTIONAL_LABELS) == {
        *("transactional", "a base offset", "a leader epoch"),
        *(f"compress {codec}" for codec in ("gzip", "snappy", "lz4", "zstd")),
    }
    assert set(OPTIONAL_LABELS) <= REQUIRED_LABELS
