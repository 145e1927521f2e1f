"""Encode batches.

Java source mirrored: ``MemoryRecordsBuilder``, ``DefaultRecordBatch.writeHeader``, ``DefaultRecord.writeTo`` and
``LegacyRecord.write``, since 0.11.0.0.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import replace
from struct import Struct

from crc32c import crc32c

from kafka_reference.arguments import checked, proven_by
from kafka_reference.errors import IllegalArgumentException
from kafka_reference.java.int32 import INT_MAX, int32
from kafka_reference.java.int64 import int64
from kafka_reference.record_batch.behaviour import RecordBatchBehaviour
from kafka_reference.record_batch.codecs import compress
from kafka_reference.record_batch.default import ATTRIBUTES, LOG_OVERHEAD, OVERHEAD
from kafka_reference.record_batch.types import (
    NO_EPOCH,
    NO_PRODUCER_ID,
    NO_TIMESTAMP,
    Codec,
    NewBatch,
    NewRecord,
    TimestampType,
)
from kafka_reference.record_batch.varints import write_varint, write_varlong
from kafka_reference.releases import NEWEST, Release

__all__ = ["encode_batch"]

_LOG_APPEND_TIME, _TRANSACTIONAL, _CONTROL, _DELETE_HORIZON = 0x08, 0x10, 0x20, 0x40
_HEADER = Struct(">qiiBIhiqqqhii")
_MESSAGE = Struct(">qi")
_NULL = write_varint(-1)
_LEVELS = {Codec.GZIP: (-1, *range(1, 10)), Codec.LZ4: range(1, 18), Codec.ZSTD: range(-131072, 23)}


@checked(release=proven_by("record-batch"))
def encode_batch(batch: NewBatch, release: str | Release = NEWEST) -> bytes:
    """Return the bytes of ``batch``, none if it has no records. With magic 0 and 1 each record without codec is a batch.

    Raises IllegalArgumentException for a batch that ``release`` does not write: the message is Kafka's.
    """
    behaviour = RecordBatchBehaviour.of(release)
    _check_codec(batch, behaviour)
    _check_batch(batch)
    records = list(_checked(batch))
    _check_producer(batch)
    if not records:
        return b""
    return _encode_default(batch, records) if batch.magic >= 2 else _encode_legacy(batch, records)


def _check_codec(batch: NewBatch, behaviour: RecordBatchBehaviour) -> None:
    if batch.codec is Codec.ZSTD and not behaviour.zstd:
        raise IllegalArgumentException("Unknown compression name: zstd")
    if batch.level is not None and batch.codec in _LEVELS and batch.level not in _LEVELS[batch.codec]:
        name = batch.codec.name.lower()
        raise IllegalArgumentException(f"{name} doesn't support given compression level: {batch.level}")


def _check_batch(batch: NewBatch) -> None:
    if batch.magic > 0 and batch.timestamp_type is TimestampType.NO_TIMESTAMP_TYPE:
        raise IllegalArgumentException("TimestampType must be set for magic >= 0")
    if batch.magic >= 2:
        return
    if batch.transactional:
        raise IllegalArgumentException(f"Transactional records are not supported for magic {batch.magic}")
    if batch.control:  # unreached: a control batch is transactional
        raise IllegalArgumentException(f"Control records are not supported for magic {batch.magic}")
    if batch.codec is Codec.ZSTD:
        raise IllegalArgumentException(f"ZStandard compression is not supported for magic {batch.magic}")
    if batch.delete_horizon_ms is not None and batch.delete_horizon_ms != NO_TIMESTAMP:
        raise IllegalArgumentException(f"Delete horizon timestamp is not supported for magic {batch.magic}")


def _checked(batch: NewBatch) -> Iterator[NewRecord]:
    # The records with their offsets; raises at the first that cannot be appended.
    last: int | None = None
    for record in batch.records:
        offset = record.offset
        if offset is None:
            offset = batch.base_offset if last is None else int64(last + 1)
        if last is not None and offset <= last:
            raise IllegalArgumentException(
                f"Illegal offset {offset} following previous offset {last} (Offsets must increase monotonically)."
            )
        if record.timestamp < 0 and record.timestamp != NO_TIMESTAMP:
            raise IllegalArgumentException(f"Invalid negative timestamp {record.timestamp}")
        if batch.magic < 2 and record.headers:
            raise IllegalArgumentException(f"Magic v{batch.magic} does not support record headers")
        if batch.magic < 2 and batch.timestamp_type is TimestampType.LOG_APPEND_TIME:
            _check_log_append_time(batch)
        if int64(offset - batch.base_offset) > INT_MAX:
            raise IllegalArgumentException(
                f"Maximum offset delta exceeded, base offset: {batch.base_offset}, last offset: {offset}"
            )
        last = offset
        yield record._replace(offset=offset)


def _check_log_append_time(batch: NewBatch) -> None:
    if batch.log_append_time < 0 and batch.log_append_time != NO_TIMESTAMP:
        raise IllegalArgumentException(f"Invalid message timestamp {batch.log_append_time}")


def _check_producer(batch: NewBatch) -> None:
    if batch.transactional and batch.producer_id == NO_PRODUCER_ID:
        raise IllegalArgumentException("Cannot write transactional messages without a valid producer ID")
    if batch.producer_id == NO_PRODUCER_ID:
        return
    if batch.producer_epoch == NO_EPOCH:
        raise IllegalArgumentException("Invalid negative producer epoch")
    if batch.base_sequence < 0 and not batch.control:
        raise IllegalArgumentException("Invalid negative sequence number used")
    if batch.magic < 2:
        raise IllegalArgumentException(f"Idempotent messages are not supported for magic {batch.magic}")


def _encode_default(batch: NewBatch, records: list[NewRecord]) -> bytes:
    horizon = batch.delete_horizon_ms if batch.delete_horizon_ms is not None and batch.delete_horizon_ms >= 0 else None
    base_timestamp = records[0].timestamp if horizon is None else horizon
    body = b"".join(_encode_record(record, batch.base_offset, base_timestamp) for record in records)
    if batch.codec is not Codec.NONE:
        body = compress(batch.codec, body, batch.magic, batch.level)
    by_broker = batch.timestamp_type is TimestampType.LOG_APPEND_TIME
    attributes = (
        batch.codec
        | by_broker * _LOG_APPEND_TIME
        | batch.transactional * _TRANSACTIONAL
        | batch.control * _CONTROL
        | (horizon is not None) * _DELETE_HORIZON
    )
    written = bytearray(
        _HEADER.pack(
            batch.base_offset,
            OVERHEAD - LOG_OVERHEAD + len(body),
            batch.partition_leader_epoch,
            batch.magic,
            0,
            attributes,
            int32((records[-1].offset or 0) - batch.base_offset),
            base_timestamp,
            batch.log_append_time if by_broker else max(record.timestamp for record in records),
            batch.producer_id,
            batch.producer_epoch,
            batch.base_sequence,
            len(records),
        )
    )
    written += body
    written[ATTRIBUTES - 4 : ATTRIBUTES] = int(crc32c(bytes(written[ATTRIBUTES:]))).to_bytes(4, "big")
    return bytes(written)


def _encode_record(record: NewRecord, base_offset: int, base_timestamp: int) -> bytes:
    body = bytearray(1)  # the attributes, none of which is used
    body += write_varlong(int64(record.timestamp - base_timestamp))
    body += write_varint(int32((record.offset or 0) - base_offset))
    for field in (record.key, record.value):
        body += _NULL if field is None else write_varint(len(field)) + field
    body += write_varint(len(record.headers))
    for key, value in record.headers:
        body += write_varint(len(key)) + key
        body += _NULL if value is None else write_varint(len(value)) + value
    return write_varint(len(body)) + bytes(body)


def _encode_legacy(batch: NewBatch, records: list[NewRecord]) -> bytes:
    by_broker = batch.timestamp_type is TimestampType.LOG_APPEND_TIME
    relative = batch.magic > 0 and batch.codec is not Codec.NONE
    if by_broker:
        records = [record._replace(timestamp=batch.log_append_time) for record in records]
    plain = replace(batch, codec=Codec.NONE)
    messages = b"".join(
        _encode_message(
            plain,
            int64((record.offset or 0) - relative * batch.base_offset),
            record.timestamp,
            record.key,
            record.value,
        )
        for record in records
    )
    if batch.codec is Codec.NONE:
        return messages
    highest = max(NO_TIMESTAMP, *(record.timestamp for record in records)) if batch.magic else NO_TIMESTAMP
    timestamp = batch.log_append_time if by_broker else highest
    wrapped = compress(batch.codec, messages, batch.magic, batch.level)
    return _encode_message(batch, records[-1].offset or 0, timestamp, None, wrapped)


def _encode_message(batch: NewBatch, offset: int, timestamp: int, key: bytes | None, value: bytes | None) -> bytes:
    attributes: int = batch.codec
    if batch.magic and batch.timestamp_type is TimestampType.LOG_APPEND_TIME:
        attributes |= _LOG_APPEND_TIME
    body = bytes([batch.magic, attributes])
    if batch.magic:
        body += timestamp.to_bytes(8, "big", signed=True)
    for field in (key, value):
        body += b"\xff\xff\xff\xff" if field is None else len(field).to_bytes(4, "big") + field
    return _MESSAGE.pack(offset, len(body) + 4) + zlib.crc32(body).to_bytes(4, "big") + body
