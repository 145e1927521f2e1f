# ruff: noqa: E501  lines of bytes
"""Batches that Kafka's own classes wrote, MemoryRecordsBuilder of 3.7.1: what the reference writes and reads."""

from __future__ import annotations

import pytest

from kafka_reference.errors import JavaException
from kafka_reference.record_batch import (
    Codec,
    EndTransactionMarker,
    Header,
    NewBatch,
    NewRecord,
    TimestampType,
    control_type,
    decode_batches,
    decode_end_marker,
    decode_header,
    decode_records,
    encode_batch,
    encode_end_marker,
    valid_bytes,
)

# Three records at 100, the producer 7 in epoch 3 from sequence 5, the leader's epoch 9; before magic 2 without headers.
WRITTEN = {
    (
        0,
        "none",
    ): "000000000000006400000013acc084000000ffffffff0000000576616c75650000000000000065000000117a0a65ca0000000000036b6579ffffffff000000000000006600000046866b72540000000000036b65790000003576616c75652076616c75652076616c75652076616c75652076616c75652076616c75652076616c75652076616c75652076616c7565",
    (
        0,
        "gzip",
    ): "00000000000000660000005cdafbed9c0001ffffffff0000004e1f8b08000000000000ff636000831420165e73a00548fd070220c55a9698539a0a916500d182555ca9a7c03ce6ecd44aa82a10480362b7b6eca210b8249032056b5720910400b470ce288e000000",
    (
        0,
        "snappy",
    ): "0000000000000066000000723349b9100002ffffffff0000006482534e41505059000000000100000001000000508e01000009015c6400000013acc084000000ffffffff0000000576616c7565091e0000010810117a0a65ca05100c036b65790d260101206600000046866b7254010d051d0c00000035053f0020ba0600",
    (
        0,
        "lz4",
    ): "00000000000000660000007436d75f5d0003ffffffff0000006604224d1860401a5700000012000100f2096400000013acc084000000ffffffff0000000576616c75651e001000080051117a0a65ca100043036b65792600000200906600000046866b72540d00011d0041000000353f001f200600175076616c756500000000",
    (
        1,
        "none",
    ): "00000000000000640000001bbf4a5df3010000000000000003e8ffffffff0000000576616c75650000000000000065000000192f6dae75010000000000000003eb000000036b6579ffffffff00000000000000660000004e0c55d25a010000000000000003ea000000036b65790000003576616c75652076616c75652076616c75652076616c75652076616c75652076616c75652076616c75652076616c75652076616c7565",
    (
        1,
        "gzip",
    ): "00000000000000660000006aab958325010100000000000003ebffffffff000000541f8b08000000000000ff63608003e9fd5eb19f19a11ce617ff8100c8602d4bcc294d858a826425f573d795c295bd0611d9a99550d520c004c47e3ca197a2e08a5e4115012953b0710a249200a25bc902a6000000",
    (
        1,
        "snappy",
    ): "000000000000006600000081b4fd1c32010200000000000003ebffffffff0000006b82534e4150505900000000010000000100000057a60100001901141bbf4a5df3010d103803e8ffffffff0000000576616c75650d16011e10192f6dae75010901012003eb000000036b65790d2e010120020000004e0c55d25a152500ea0d250c00000035054f0020ba0600",
    (
        1,
        "lz4",
    ): "00000000000000660000008474f982e1010300000000000003ebffffffff0000006e04224d186040825f00000016000100631bbf4a5df3011000f30003e8ffffffff0000000576616c75651600001e0050192f6dae7509000002009303eb000000036b65792e0000020095020000004e0c55d25a250013ea250041000000354f001f200600175076616c756500000000",
    (
        2,
        "none",
    ): "00000000000000640000008e0000000902e58efa8300000000000200000000000003e800000000000003eb00000000000000070003000000050000000326000000010a76616c75650402680104c3a9020112000602066b657901007c000404066b65796a76616c75652076616c75652076616c75652076616c75652076616c75652076616c75652076616c75652076616c75652076616c756500",
    (
        2,
        "gzip",
    ): "0000000000000064000000700000000902839ff6bd00010000000200000000000003e800000000000003eb0000000000000007000300000005000000031f8b08000000000000ff5363606060e42a4bcc294d6561ca606439bc92895188818d892d3bb59291a186818505c4ca022b50209164000062be7d025d000000",
    (
        2,
        "snappy",
    ): "0000000000000064000000770000000902b6fa83c800020000000200000000000003e800000000000003eb00000000000000070003000000050000000382534e41505059000000000100000001000000325d9826000000010a76616c75650402680104c3a9020112000602066b657901007c000404066b65796a05210020ba06000000",
    (
        2,
        "lz4",
    ): "00000000000000640000007500000009022133f88900030000000200000000000003e800000000000003eb00000000000000070003000000050000000304224d1860408235000000f01326000000010a76616c75650402680104c3a9020112000602066b657901007c0004040a00116a21001f2006001850616c75650000000000",
    (
        2,
        "zstd",
    ): "0000000000000064000000700000000902176834b200040000000200000000000003e800000000000003eb00000000000000070003000000050000000328b52ffd00589c0100940226000000010a76616c75650402680104c3a9020112000602066b657901007c000404066b65796a20000200a4843869d513010000",
}
MARKER = "000000000000002a000000420000000402ec3319590030000000000000000000001388000000000000138800000000000000070003ffffffff000000012000000008000000010c00000000000b00"
LONG = b"value value value value value value value value value"
HEADERS = (Header(b"h", None), Header("\u00e9".encode(), b"\x01"))


def _batch(magic: int, codec: str = "none") -> NewBatch:
    records = [
        NewRecord(1000, None, b"value", HEADERS if magic == 2 else ()),
        NewRecord(1003, b"key", None),
        NewRecord(1002, b"key", LONG),
    ]
    producer = {"producer_id": 7, "producer_epoch": 3, "base_sequence": 5, "partition_leader_epoch": 9}
    return NewBatch(
        records=records, magic=magic, base_offset=100, codec=Codec[codec.upper()], **producer if magic == 2 else {}
    )


@pytest.mark.parametrize(("magic", "codec"), WRITTEN)
def test_batch_written_by_kafka_is_decoded_for_each_magic_and_codec(magic: int, codec: str) -> None:
    data = bytes.fromhex(WRITTEN[magic, codec])
    batches = list(decode_batches(data))
    for batch in batches:
        batch.ensure_valid()
        assert batch.codec is Codec[codec.upper()]
    records = list(decode_records(data))
    assert [(one.offset, one.key, one.value, one.headers) for one in records if one] == [
        (100, None, b"value", HEADERS if magic == 2 else ()),
        (101, b"key", None, ()),
        (102, b"key", LONG, ()),
    ]
    assert [one.timestamp for one in records if one] == ([1000, 1003, 1002] if magic else [-1, -1, -1])
    assert (batches[0].base_offset, batches[-1].last_offset, batches[-1].next_offset) == (100, 102, 103)
    assert valid_bytes(data) == len(data) == valid_bytes(data + data[:30])


@pytest.mark.parametrize(("magic", "codec"), WRITTEN)
def test_encoded_batch_has_the_records_and_uncompressed_the_bytes_written_by_kafka(magic: int, codec: str) -> None:
    written = encode_batch(_batch(magic, codec))
    if codec == "none":
        assert written.hex() == WRITTEN[magic, codec]
    ours, theirs = list(decode_records(written)), list(decode_records(bytes.fromhex(WRITTEN[magic, codec])))
    assert [one[:7] if magic == 2 else (one.offset, one.data) for one in ours if one] == [
        one[:7] if magic == 2 else (one.offset, one.data) for one in theirs if one
    ]


def test_header_of_a_batch_written_by_kafka_has_expected_fields() -> None:
    batch = decode_header(bytes.fromhex(WRITTEN[2, "zstd"]))
    assert batch is not None
    assert (batch.magic, batch.record_count, batch.partition_leader_epoch) == (2, 3, 9)
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.last_sequence) == (7, 3, 5, 7)
    assert (batch.max_timestamp, batch.timestamp_type) == (1003, TimestampType.CREATE_TIME)
    assert (batch.transactional, batch.control, batch.delete_horizon_ms) == (False, False, None)


def test_encoded_commit_marker_equals_bytes_of_kafka_and_decodes() -> None:
    key, value = encode_end_marker(EndTransactionMarker(commit=True, coordinator_epoch=11))
    marker = NewBatch(
        records=[NewRecord(5000, key, value)], base_offset=42, producer_id=7, producer_epoch=3, transactional=True,
        control=True, partition_leader_epoch=4,
    )  # fmt: skip
    assert encode_batch(marker).hex() == MARKER
    (record,) = decode_records(bytes.fromhex(MARKER))
    assert record is not None
    assert control_type(record.key) == "COMMIT"
    assert decode_end_marker(record.key, record.value) == EndTransactionMarker(commit=True, coordinator_epoch=11)


@pytest.mark.parametrize(
    ("release", "error"), [("2.3.1", "InvalidRecordException"), ("2.4.0", "CorruptRecordException")]
)
@pytest.mark.parametrize("magic", [0, 1, 2])
def test_batch_with_wrong_crc_is_invalid_and_throws_exception_class_of_the_release(
    magic: int, release: str, error: str
) -> None:
    data = bytearray.fromhex(WRITTEN[magic, "none"])
    data[-1 if magic == 2 else 30] ^= 1
    batch = decode_header(bytes(data), release)
    assert batch is not None
    assert not batch.valid()
    with pytest.raises(JavaException, match="Record is corrupt") as thrown:
        batch.ensure_valid()
    assert thrown.value.java_name == error


def _error(batch: bytes, release: str = "4.4.0") -> tuple[str, str | None]:
    with pytest.raises(JavaException) as thrown:
        list(decode_records(batch, release))
    return thrown.value.java_name, thrown.value.message


def _changed(position: int, *bytes_there: int, codec: str = "none", magic: int = 2) -> bytes:
    data = bytearray.fromhex(WRITTEN[magic, codec])
    data[position : position + len(bytes_there)] = bytes(bytes_there)
    return bytes(data)


REMAINING = "Incorrect declared batch size, records still remaining in file"
PREMATURE_EOF = "Incorrect declared batch size, premature EOF reached"


def test_wrong_record_count_throws_invalid_record_exception() -> None:
    assert _error(_changed(60, 2)) == ("InvalidRecordException", REMAINING)
    assert _error(_changed(60, 4)) == ("InvalidRecordException", PREMATURE_EOF)
    assert _error(_changed(57, 255)) == (
        "InvalidRecordException",
        "Found invalid record count -16777213 in magic v2 batch",
    )


def test_small_batch_size_or_unknown_magic_throws_corrupt_record_and_huge_size_illegal_argument() -> None:
    for release, size in (("1.1.1", ""), ("2.0.0", " 13")):
        assert _error(_changed(8, 0, 0, 0, 13), release) == (
            "CorruptRecordException",
            f"Record size{size} is less than the minimum record overhead (14)",
        )
    assert _error(_changed(16, 3)) == ("CorruptRecordException", "Invalid magic found in record: 3")
    assert list(decode_batches(_changed(16, 3)[:40], "1.1.1")) == []
    assert _error(_changed(16, 3)[:40], "2.0.0")[0] == "CorruptRecordException"
    assert _error(_changed(8, 127, 255, 255, 255)) == ("IllegalArgumentException", None)


def test_wrong_record_size_throws_but_one_beyond_the_batch_gives_no_record_in_3_0_0() -> None:
    assert _error(_changed(61, 0x24)) == (
        "InvalidRecordException",
        "Invalid record size: expected to read 18 bytes in record payload, but instead read 19",
    )
    assert _error(_changed(61, 0xFE, 0x7F))[0] == "InvalidRecordException"
    assert _error(_changed(61, 255, 255, 255, 255, 255))[0] == "IllegalArgumentException"
    first = next(decode_records(_changed(61, 0xFE, 0x7F), "3.0.0"))
    assert first is None


def test_record_size_ignores_redundant_bytes_of_the_size_varint() -> None:
    shortest = encode_batch(NewBatch(records=[NewRecord(0, None, None)]))
    size = int.from_bytes(shortest[8:12], "big") + 1
    longer = shortest[:8] + size.to_bytes(4, "big") + shortest[12:61] + b"\x8c\0" + shortest[62:]
    for data in (shortest, longer):
        assert [record.size for record in decode_records(data) if record] == [7]


def test_unknown_codec_or_malformed_compressed_stream_throws() -> None:
    assert _error(_changed(22, 5)) == ("IllegalArgumentException", "Unknown compression type id: 5")
    assert _error(_changed(22, 4), "2.0.1") == ("IllegalArgumentException", "Unknown compression type id: 4")
    for codec in ("gzip", "snappy", "lz4", "zstd"):
        whole = bytes.fromhex(WRITTEN[2, codec])
        assert _error(_changed(61, 0, codec=codec))[0] in ("KafkaException", "InvalidRecordException")
        size = len(whole) - 61 - 14
        cut = whole[:8] + (49 + size).to_bytes(4, "big") + whole[12 : 61 + size]
        assert _error(cut)[0] == "KafkaException"


def test_nested_message_set_is_unpacked_one_level_and_magic_1_record_has_no_sequence_or_headers() -> None:
    inner = encode_batch(_batch(1, "gzip"))
    (record,) = (one for one in decode_records(encode_batch(_batch(1))) if one and one.offset == 100)
    nested = encode_batch(NewBatch(records=[NewRecord(1, None, inner)], magic=1, codec=Codec.GZIP))
    assert [one.value for one in decode_records(nested) if one] == [inner]
    assert (record.sequence, record.headers, record.timestamp_type) == (-1, (), TimestampType.CREATE_TIME)
