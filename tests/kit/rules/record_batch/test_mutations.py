"""Ways to make a mutant: each changes what it should, and leaves no change behind."""

from __future__ import annotations

from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.record_batch.mutations import but, decoded, encoded, of_batches, of_records, overriding
from kafka_conformance.rules.record_batch.question import AskedBatch, AskedRecord, RecordBatchQuestion
from kafka_conformance.rules.record_batch.rule import RULE
from kafka_conformance.rules.record_batch.wire import RawBatch, raw_record
from kafka_reference.record_batch import encode
from kafka_reference.releases import NEWEST

BATCH = RawBatch(raw_record(b"k", b"v"), 1).data()
DECODE = RecordBatchQuestion(decode=(BATCH + BATCH[:5]).hex())
ENCODE = RecordBatchQuestion(encode=AskedBatch((AskedRecord("6b", "76"),)))


def raised(data: bytearray, _: Any) -> None:
    data[15] = 9


def test_encode_mutation_changes_only_bytes_of_magic_2_batches_with_or_without_valid_crc() -> None:
    written = encoded(raised)(ENCODE, NEWEST)["bytes"]
    assert written[30:32] == "09"
    assert RULE.ask(RecordBatchQuestion(decode=written), NEWEST)["batches"][0]["valid"] is True

    def producer(data: bytearray, _: Any) -> None:
        data[50] = 9

    wrong = encoded(producer, with_crc=False)(ENCODE, NEWEST)["bytes"]
    assert RULE.ask(RecordBatchQuestion(decode=wrong), NEWEST)["batches"][0]["valid"] is not True
    for unchanged in (
        DECODE,
        RecordBatchQuestion(encode=AskedBatch((AskedRecord(),), 1)),
        RecordBatchQuestion(encode=AskedBatch(())),
    ):
        assert encoded(raised)(unchanged, NEWEST) == RULE.ask(unchanged, NEWEST)


def test_decode_mutation_sees_batches_records_and_trailing_bytes_of_decode_questions_only() -> None:
    rests: list[int] = []
    decoded(lambda _, rest: rests.append(rest))(DECODE, NEWEST)
    decoded(lambda _, rest: rests.append(rest))(ENCODE, NEWEST)
    assert rests == [5]

    def magic(batch: Answer) -> None:
        batch["magic"] = 9

    assert [batch["magic"] for batch in of_batches(magic)(DECODE, NEWEST)["batches"]] == [9]
    readable: list[int] = []
    cut = RawBatch(b"", 1).data()
    for data in (BATCH, cut):
        of_records(lambda found, _: readable.append(len(found)))(RecordBatchQuestion(decode=data.hex()), NEWEST)
    assert readable == [1, 0]


def test_record_batch_mutations_leave_the_reference_unchanged() -> None:
    before = RULE.ask(ENCODE, NEWEST)
    assert but((encode, {"OVERHEAD": 99}))(ENCODE, NEWEST) != before
    wrong = RecordBatchQuestion(decode=RawBatch(b"", 0, crc_xor=1).data().hex())
    old = overriding(wrong_crc_is_invalid_record=True)(wrong, NEWEST)
    assert old["batches"][0]["valid"] == {"raises": "InvalidRecordException"}
    assert RULE.ask(wrong, NEWEST)["batches"][0]["valid"] == {"raises": "CorruptRecordException"}
    assert RULE.ask(ENCODE, NEWEST) == before
