"""Batches in cases: fields to bytes, and back."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_conformance.core.errors import BadInput
from kafka_conformance.wire.broker_gate.batches import HEADER_FIELDS, decode_fields, encode_fields


def decoded(*batches: dict[str, Any]) -> list[dict[str, Any]]:
    return decode_fields(b"".join(map(encode_fields, batches)), lambda time: time)


@pytest.mark.parametrize("codec", ["NONE", "GZIP", "SNAPPY", "LZ4", "ZSTD"])
def test_encoded_record_batch_decodes_to_given_fields_with_every_codec(codec: str) -> None:
    rows = [
        {"key": "a", "value": "1", "timestamp": 3, "headers": [["h", "x"], ["n", None]]},
        {"value": "2", "timestamp": 5},
    ]
    given = {"records": rows, "codec": codec, "baseTimestamp": 103, "producerId": 7, "producerEpoch": 1, "baseSequence": 2,
             "transactional": True}  # fmt: skip
    (found,) = decoded(given)
    assert found["records"] == [
        {"offset": 0, "timestamp": 103, "key": "a", "value": "1", "headers": [["h", "x"], ["n", None]]},
        {"offset": 1, "timestamp": 105, "key": None, "value": "2", "headers": []},
    ]
    assert {**found, "records": 0} == {
        "magic": 2, "baseOffset": 0, "lastOffset": 1, "producerId": 7, "producerEpoch": 1, "baseSequence": 2,
        "transactional": True, "control": False, "codec": codec, "valid": True, "records": 0,
    }  # fmt: skip


def test_batch_with_wrong_checksum_is_decoded_as_not_valid() -> None:
    assert [each["valid"] for each in decoded({"crcXor": 1}, {})] == [False, True]


def test_integer_record_count_generates_numbered_keys_and_values() -> None:
    assert [(each["key"], each["value"]) for each in decoded({"records": 2})[0]["records"]] == [
        ("k0", "v0"),
        ("k1", "v1"),
    ]


def test_batch_of_zero_records_is_encoded_as_61_byte_header() -> None:
    data = encode_fields({"records": 0})
    assert (len(data), data[57:61]) == (61, bytes(4))


def test_batch_with_cut_field_is_encoded_without_last_bytes() -> None:
    assert encode_fields({"cut": 3}) == encode_fields({})[:-3]


@pytest.mark.parametrize("magic", [0, 1])
def test_batch_of_message_format_0_or_1_is_decoded_without_producer_id(magic: int) -> None:
    (found,) = decoded({"format": magic})
    assert (found["magic"], "producerId" in found, found["valid"]) == (magic, False, True)


def test_batch_with_unknown_magic_is_decoded_as_unreadable_corrupt_record() -> None:
    data = bytearray(encode_fields({}))
    data[16] = 9
    assert decode_fields(bytes(data), lambda time: time) == [{"unreadable": "CorruptRecordException"}]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"colour": 1}, "a batch has no field 'colour'"),
        ({"codec": "BROTLI"}, "a batch cannot be encoded: KeyError('BROTLI')"),
        ({"producerEpoch": 2**15}, "a batch cannot be encoded: error("),
        ({"records": [{"headers": [["h"]]}]}, "a batch cannot be encoded: ValueError("),
        ({"records": [5]}, "a batch cannot be encoded: AttributeError("),
    ],
)
def test_batch_with_invalid_field_is_refused_with_one_line_message(given: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput) as raised:
        encode_fields(given)
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "name", [name for name in HEADER_FIELDS if name not in {"batchLength", "magic", "recordCount"}]
)
def test_every_batch_header_field_except_length_magic_and_count_changes_the_encoded_bytes(name: str) -> None:
    assert encode_fields({name: 1}) != encode_fields({name: 2})
