"""Batches part by part: what is not changed is as the reference encodes it, and readable."""

from __future__ import annotations

import pytest

from kafka_conformance.rules.record_batch.wire import (
    CODECS,
    Message,
    RawBatch,
    compressed,
    message_set,
    raw_record,
    varint,
)
from kafka_reference.record_batch import Header, NewBatch, NewRecord, decode_records, encode_batch


@pytest.mark.parametrize(
    ("value", "expected"), [(0, "00"), (-1, "01"), (1, "02"), (63, "7e"), (64, "8001"), (-(2**31), "ffffffff0f")]
)
def test_varint_encodes_int_as_zig_zag(value: int, expected: str) -> None:
    assert varint(value).hex() == expected


def test_raw_batch_equals_encoding_of_the_reference() -> None:
    records = raw_record(b"k", b"v", [(b"h", None)]) + raw_record(None, None, offset_delta=1, timestamp_delta=-3)
    ours = RawBatch(
        records,
        2,
        7,
        leader_epoch=4,
        base_timestamp=9,
        max_timestamp=9,
        producer_id=5,
        producer_epoch=1,
        base_sequence=3,
    )
    theirs = NewBatch(
        records=[NewRecord(9, b"k", b"v", (Header(b"h", None),)), NewRecord(6, None, None)], base_offset=7,
        partition_leader_epoch=4, producer_id=5, producer_epoch=1, base_sequence=3,
    )  # fmt: skip
    assert ours.data() == encode_batch(theirs)


@pytest.mark.parametrize("magic", [0, 1])
def test_raw_message_equals_encoding_of_the_reference(magic: int) -> None:
    theirs = NewBatch(records=[NewRecord(9, b"k", b"v")], magic=magic, base_offset=7)
    assert Message(b"v", b"k", 7, magic, timestamp=9).data() == encode_batch(theirs)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("size", [1, 100, 70_000])
def test_records_compressed_with_any_codec_decode_unchanged(codec: str, size: int) -> None:
    batch = RawBatch(compressed(codec, raw_record(b"k", bytes(size))), 1, attributes=list(CODECS).index(codec))
    assert [(one.key, one.value) for one in decode_records(batch.data()) if one] == [(b"k", bytes(size))]


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4"])
@pytest.mark.parametrize("magic", [0, 1])
def test_compressed_wrapper_message_decodes_to_inner_messages(codec: str, magic: int) -> None:
    inner = message_set([Message(b"a", offset=0, magic=magic), Message(b"b", offset=1, magic=magic)])
    wrapper = Message(compressed(codec, inner, magic=magic), None, 1, magic, list(CODECS).index(codec))
    assert [(one.offset, one.value) for one in decode_records(wrapper.data()) if one] == [(0, b"a"), (1, b"b")]


def test_raw_record_encodes_replaced_field_and_wrong_length() -> None:
    assert raw_record(b"k", b"v").hex() == "10000000026b027600"
    assert raw_record(b"k", b"v", replaced=(3, b"\x01"), length_more=1).hex() == "12000000016b027600"
