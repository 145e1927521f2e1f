"""``record-batch``: its questions, what it answers for known bytes, its spaces, labels, domain and timeline."""

from __future__ import annotations

from itertools import islice
from typing import Any

import msgspec
import pytest

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.record_batch import spaces
from kafka_conformance.rules.record_batch.adapter import ask
from kafka_conformance.rules.record_batch.domain import domain, nearest, plain
from kafka_conformance.rules.record_batch.labels import labels, path
from kafka_conformance.rules.record_batch.question import AskedBatch, AskedRecord, RecordBatchQuestion, number
from kafka_conformance.rules.record_batch.rule import RULE
from kafka_conformance.rules.record_batch.wire import RawBatch, compressed, raw_record
from kafka_reference.errors import NotInThisRelease
from kafka_reference.releases import NEWEST, parse_release

ONE = RawBatch(raw_record(b"k", b"v", [(b"h", b"\x00")]), 1, 5, base_timestamp=9, max_timestamp=9).data()


def decode(data: bytes, release: str = str(NEWEST)) -> Answer:
    return ask(RecordBatchQuestion(decode=data.hex()), parse_release(release))


def question(**fields: Any) -> RecordBatchQuestion:
    return msgspec.convert(fields, type=RecordBatchQuestion)


def test_magic_2_batch_decodes_to_header_records_and_valid_bytes() -> None:
    answer = decode(ONE)
    (batch,) = answer["batches"]
    assert (batch["magic"], batch["valid"], batch["size"], batch["base_offset"]) == (2, True, len(ONE), 5)
    assert batch["records"] == [
        {"offset": 5, "timestamp": 9, "sequence": -1, "key": "6b", "value": "76", "headers": [["h", "00"]], "size": 13}
    ]
    assert (batch["iterated"], batch["skipped"]) == ({"records": 1}, [[5, 9, -1, 13, 1, 1]])
    assert answer["valid_bytes"] == len(ONE)


def test_decode_exception_is_answered_at_the_java_call_that_throws() -> None:
    wrong = bytearray(ONE)
    wrong[-1] ^= 1
    (batch,) = decode(bytes(wrong))["batches"]
    assert batch["valid"] == {"raises": "CorruptRecordException"}
    assert batch["records"][0]["headers"] == [["h", "01"]]
    assert decode(bytes(wrong), "2.3.1")["batches"][0]["valid"] == {"raises": "InvalidRecordException"}
    assert "skipped" not in decode(ONE, "2.3.1")["batches"][0]
    assert decode(ONE + bytes(12)) == {
        **decode(ONE),
        "raises": "CorruptRecordException",
        "valid_bytes": {"raises": "CorruptRecordException"},
    }
    assert decode(ONE + ONE[:40]) == decode(ONE)


def test_batch_encodes_to_bytes_or_throws_for_unsupported_fields() -> None:
    record = {"key": "6b", "value": "76", "timestamp": 9, "headers": [["h", "00"]]}
    assert ask(question(encode={"records": [record], "base_offset": 5}), NEWEST) == {"bytes": ONE.hex()}
    assert ask(question(encode={"records": [record], "magic": 1}), NEWEST) == {"raises": "IllegalArgumentException"}
    (batch,) = ask(question(compress={"records": [record], "compression": "zstd", "level": 3}), NEWEST)["batches"]
    assert (batch["header"]["compression"], "crc" in batch["header"], "size" in batch) == ("zstd", False, False)
    marker = {"commit": True, "coordinator_epoch": 3}
    with_marker = {
        "records": [],
        "transactional": True,
        "control": marker,
        "producer": {"id": 7, "epoch": 0, "first_sequence": 0},
    }
    written = ask(question(encode=with_marker), NEWEST)["bytes"]
    (batch,) = decode(bytes.fromhex(written))["batches"]
    assert (batch["records"][0]["control_type"], batch["records"][0]["marker"]) == ("commit", ["commit", 3])
    assert ask(question(encode={**with_marker, "transactional": False}), NEWEST) == {
        "raises": "IllegalArgumentException"
    }


@pytest.mark.parametrize("field", [{"compression": "gzip", "level": 1}, {"delete_horizon": 3}])
def test_compression_level_or_delete_horizon_missing_in_release_raises_not_in_this_release(
    field: dict[str, Any],
) -> None:
    kind = "compress" if "compression" in field else "encode"
    with pytest.raises(NotInThisRelease, match=r"release 2\.8\.1 has no"):
        ask(question(**{kind: {"records": [{}], **field}}), parse_release("2.8.1"))


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, "expected one of encode, compress and decode"),
        ({"decode": "", "encode": {"records": []}}, "expected one of encode, compress and decode"),
        ({"encode": {"records": [], "compression": "gzip"}}, "asked with compress"),
        ({"compress": {"records": [], "compression": "snappy", "level": 1}}, "snappy has no levels"),
    ],
)
def test_record_batch_question_with_wrong_operation_or_compression_raises_validation_error(
    fields: dict[str, Any], why: str
) -> None:
    with pytest.raises(msgspec.ValidationError, match=why):
        question(**fields)


def test_long_above_2_to_53_is_a_string_in_json() -> None:
    assert (number(2**53), number(2**53 + 1), number(-(2**63))) == (2**53, "9007199254740993", "-9223372036854775808")
    header = decode(RawBatch(b"", 0, producer_id=2**62).data())["batches"][0]["header"]
    assert header["producer_id"] == str(2**62)


def test_unpaired_surrogate_in_header_key_decodes_to_one_replacement_character() -> None:
    (batch,) = decode(RawBatch(raw_record(headers=[(b"a\xed\xa0\x80\xffb", None)]), 1).data())["batches"]
    assert batch["records"][0]["headers"] == [["a\ufffd\ufffdb", None]]


@pytest.mark.parametrize("space", RULE.spaces, ids=lambda space: space.name)
def test_record_batch_space_questions_are_answered_and_labelled(space: Any) -> None:
    for one in islice(space.questions(), 0, None, 40):
        for release in ("0.11.0.0", str(NEWEST)):
            try:
                ask(one, parse_release(release))
            except NotInThisRelease:
                assert one.decode is None
        assert set(labels(one)) <= RULE.required_labels
        assert path(one)


def test_at_least_48_batches_compressed_by_java_decode_completely_as_valid() -> None:
    read = [ask(one, NEWEST)["batches"] for one in spaces.every_java_batch()]
    whole = [one for one in read if one and not any("raises" in record for batch in one for record in batch["records"])]
    assert len(whole) >= 48
    assert all(batch["valid"] is True for one in whole for batch in one)


def test_everyday_and_nearest_record_batch_questions_are_in_domain() -> None:
    assert not any(map(domain, plain()))
    for one in islice(spaces.every_builder(), 0, None, 7):
        assert domain(nearest(one)) == ""
        assert domain(one) or nearest(one) is one
    assert domain(RecordBatchQuestion(encode=AskedBatch((AskedRecord(timestamp=-1),)))).startswith("ProducerRecord")


def test_decode_explanation_has_rows_with_byte_positions_and_exception() -> None:
    asked = RecordBatchQuestion(decode=(ONE + bytes(12)).hex())
    assert RULE.explain is not None
    rows = list(RULE.explain(asked, NEWEST, [ask(asked, NEWEST)]))
    assert [row.step for row in rows][:2] == [
        "0–11 batch 0: base offset, size", "12–20 batch 0: leader epoch, magic, CRC-32C",
    ]  # fmt: skip
    assert rows[6].step == f"61–{len(ONE) - 1} record 0"
    assert (rows[-1].step, rows[-1].answer) == (f"{len(ONE)} no batch", "raises CorruptRecordException")
    assert list(RULE.explain(asked, NEWEST, [{"raises": "KafkaException"}])) == []


def test_snappy_block_above_512_mb_is_unsupported_up_to_3_5_1() -> None:
    records = compressed("snappy", raw_record(b"k", b"v"))
    for block, refused in ((b"\x20\0\0\x01", True), (b"\x20\0\0\0", False)):
        data = RawBatch(records + block, 2, attributes=2).data()
        (batch,) = decode(data, "3.5.2")["batches"]
        assert batch["iterated"]["raises"] == ("SnappyError" if refused else "KafkaException")
        if refused:
            with pytest.raises(NotInThisRelease, match="above 512 MB"):
                decode(data, "3.5.1")
        else:
            assert decode(data, "3.5.1")["batches"][0]["iterated"]["raises"] == "KafkaException"


def snappy_batch(block_size: int, base_offset: int) -> bytes:
    frame = b"\x82SNAPPY\x00" + b"\0\0\0\1" * 2 + block_size.to_bytes(4, "big")
    return RawBatch(frame, 1, base_offset, attributes=2).data()


def test_oversized_snappy_block_in_any_batch_is_unsupported_in_3_5_1() -> None:
    for data in (snappy_batch(1 << 30, 0), ONE + snappy_batch(1 << 30, 6)):
        assert decode(data)["batches"]
        with pytest.raises(NotInThisRelease, match=r"release 3\.5\.1 allocates a block of snappy above 512 MB"):
            decode(data, "3.5.1")


def test_bytes_after_a_snappy_batch_are_not_taken_for_a_block_size() -> None:
    data = snappy_batch(0, 10) + RawBatch(b"", 0, 11, base_timestamp=1 << 62).data()
    assert [batch["base_offset"] for batch in decode(data, "3.5.1")["batches"]] == [10, 11]
