"""Batches that Kafka's builder refuses, with its message, and what it writes at the ends of ranges."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_reference.errors import IllegalArgumentException
from kafka_reference.record_batch import Codec, Header, NewBatch, NewRecord, TimestampType, decode_header, encode_batch

ONE = [NewRecord(5, b"k", None)]
PRODUCER = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0}
NONE, APPEND = TimestampType.NO_TIMESTAMP_TYPE, TimestampType.LOG_APPEND_TIME


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"timestamp_type": NONE}, "TimestampType must be set for magic >= 0"),
        ({"magic": 1, "transactional": True, **PRODUCER}, "Transactional records are not supported for magic 1"),
        ({"magic": 1, "codec": Codec.ZSTD}, "ZStandard compression is not supported for magic 1"),
        ({"magic": 1, "delete_horizon_ms": 5}, "Delete horizon timestamp is not supported for magic 1"),
        ({"magic": 0, **PRODUCER}, "Idempotent messages are not supported for magic 0"),
        ({"magic": 1, "records": [NewRecord(5, None, None, (Header(b"h", None),))]},
         "Magic v1 does not support record headers"),
        ({"magic": 1, "timestamp_type": APPEND, "log_append_time": -2}, "Invalid message timestamp -2"),
        ({"records": [NewRecord(-2, None, None)]}, "Invalid negative timestamp -2"),
        ({"records": [NewRecord(5, None, None, (), 4), NewRecord(5, None, None, (), 4)]},
         "Illegal offset 4 following previous offset 4 (Offsets must increase monotonically)."),
        ({"records": [NewRecord(5, None, None, (), 2**31)]},
         "Maximum offset delta exceeded, base offset: 0, last offset: 2147483648"),
        ({"transactional": True}, "Cannot write transactional messages without a valid producer ID"),
        ({"producer_id": 7, "base_sequence": 0}, "Invalid negative producer epoch"),
        ({"producer_id": 7, "producer_epoch": 0}, "Invalid negative sequence number used"),
        ({"codec": Codec.GZIP, "level": 0}, "gzip doesn't support given compression level: 0"),
        ({"codec": Codec.LZ4, "level": 18}, "lz4 doesn't support given compression level: 18"),
        ({"codec": Codec.ZSTD, "level": 23}, "zstd doesn't support given compression level: 23"),
    ],
)  # fmt: skip
def test_invalid_batch_fields_are_refused_with_message_of_kafka_builder(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(IllegalArgumentException) as thrown:
        encode_batch(NewBatch(**{"records": ONE, **fields}))
    assert thrown.value.message == message


def test_encoding_with_zstd_throws_illegal_argument_up_to_2_0() -> None:
    with pytest.raises(IllegalArgumentException, match="Unknown compression name: zstd"):
        encode_batch(NewBatch(records=ONE, codec=Codec.ZSTD), "2.0.1")
    assert encode_batch(NewBatch(records=ONE, codec=Codec.ZSTD), "2.1.0")


def test_batch_without_records_encodes_to_no_bytes_and_negative_producer_id_and_epoch_are_kept() -> None:
    assert encode_batch(NewBatch(records=[])) == b""
    batch = decode_header(encode_batch(NewBatch(records=ONE, producer_id=-2, producer_epoch=-2, base_sequence=0)))
    assert batch is not None
    assert (batch.producer_id, batch.producer_epoch) == (-2, -2)


def test_delete_horizon_is_encoded_as_the_base_timestamp() -> None:
    batch = decode_header(encode_batch(NewBatch(records=ONE, delete_horizon_ms=900)))
    assert batch is not None
    assert (batch.delete_horizon_ms, batch.max_timestamp) == (900, 5)
    assert [record.timestamp for record in batch.records() if record] == [5]
