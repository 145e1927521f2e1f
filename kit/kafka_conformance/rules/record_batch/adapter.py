"""Answer a question of ``record-batch`` with the reference: encode a batch, or decode bytes batch by batch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from kafka_conformance.core.protocol import Answer, answered, exception_answer
from kafka_conformance.rules.record_batch.question import AskedBatch, RecordBatchQuestion, number
from kafka_reference import record_batch
from kafka_reference.errors import IllegalArgumentException, JavaException, NotInThisRelease
from kafka_reference.record_batch import (
    Batch,
    Codec,
    DefaultBatch,
    EndTransactionMarker,
    Header,
    NewBatch,
    NewRecord,
    Record,
    RecordBatchBehaviour,
    TimestampType,
)
from kafka_reference.record_batch.legacy import Message
from kafka_reference.record_batch.types import NO_PRODUCER_ID, SkippedRecord
from kafka_reference.releases import Release, since

__all__ = ["ask", "new_batch"]

_TYPES = {
    "create": TimestampType.CREATE_TIME,
    "append": TimestampType.LOG_APPEND_TIME,
    "none": TimestampType.NO_TIMESTAMP_TYPE,
}
_TYPE_NAMES = {kind: name for name, kind in _TYPES.items()}
_SNAPPY_MAGIC, _SNAPPY_HEADER, _LARGEST_BLOCK = b"\x82SNAPPY\x00", 16, 1 << 29
_ENTRY_HEADER = 12
_WITH_LEVELS = since("3.8.0")
# Half a surrogate pair in UTF-8, of which Java makes one character U+FFFD and Python three.
_SURROGATE, _REPLACEMENT = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]"), "\ufffd".encode()


def ask(question: RecordBatchQuestion, release: Release) -> Answer:
    """Answer the question with the reference. An exception is its class name alone."""
    return answered(_answer, question, release, with_message=False)


def _answer(question: RecordBatchQuestion, release: Release) -> Answer:
    if question.decode is not None:
        data = bytes.fromhex(question.decode)
        if _has_block_beyond_memory(data) and not RecordBatchBehaviour.of(release).snappy_block_size_limited:
            raise NotInThisRelease(
                f"release {release} allocates a block of snappy above 512 MB: it is refused since 3.5.2"
            )
        return _decode(data, release, exactly=True)
    written = record_batch.encode_batch(new_batch(question.encode or question.compress, release), release)
    return {"bytes": written.hex()} if question.encode is not None else _decode(written, release, exactly=False)


def _has_block_beyond_memory(data: bytes) -> bool:
    """Return whether a frame of snappy in ``data`` has a block of more than 512 MB, for which Java may lack the memory."""
    position = 0
    while len(data) - position >= _ENTRY_HEADER:
        # Of every magic, an entry begins with its offset and the size of what follows, 8 and 4 bytes.
        size = int.from_bytes(data[position + 8 : position + _ENTRY_HEADER], "big", signed=True)
        end = position + _ENTRY_HEADER + max(size, 0)
        if _has_large_block(data[position:end]):
            return True
        position = end
    return False


def _has_large_block(entry: bytes) -> bool:
    start = entry.find(_SNAPPY_MAGIC)
    if start < 0:
        return False
    position = start + _SNAPPY_HEADER
    while len(entry) - position >= 4:
        size = int.from_bytes(entry[position : position + 4], "big", signed=True)
        if size > _LARGEST_BLOCK:
            return True
        if entry.startswith(_SNAPPY_MAGIC[:4], position):
            position += _SNAPPY_HEADER
        elif size < 0:
            return False
        else:
            position += 4 + size
    return False


def new_batch(asked: AskedBatch | None, release: Release) -> NewBatch:
    """Return the batch to encode. Raises NotInThisRelease for a level or a delete horizon that the release lacks."""
    assert asked is not None  # noqa: S101  the question has one of three
    if asked.level is not None and release not in _WITH_LEVELS:
        raise NotInThisRelease(f"release {release} has no compression levels: they are there since 3.8.0")
    if asked.delete_horizon is not None and not RecordBatchBehaviour.of(release).writes_delete_horizon:
        raise NotInThisRelease(f"release {release} has no delete horizon: it is there since 3.1.0")
    records = [
        NewRecord(int(one.timestamp), _bytes(one.key), _bytes(one.value),
                  tuple(Header(name.encode(), _bytes(value)) for name, value in one.headers),
                  None if one.offset is None else int(one.offset))
        for one in asked.records
    ]  # fmt: skip
    if asked.control is not None:
        if (
            asked.records
            or not asked.transactional
            or asked.producer is None
            or int(asked.producer.id) == NO_PRODUCER_ID
        ):
            # appendEndTxnMarker: a transaction of a producer, and no other record in the batch.
            raise IllegalArgumentException
        marker = EndTransactionMarker(asked.control.commit, asked.control.coordinator_epoch)
        key, value = record_batch.encode_end_marker(marker)
        records.append(NewRecord(int(asked.control.timestamp), key, value))
    producer = asked.producer
    return NewBatch(
        records=records,
        magic=asked.magic,
        base_offset=int(asked.base_offset),
        codec=Codec[asked.compression.upper()],
        level=asked.level,
        timestamp_type=_TYPES[asked.timestamp_type],
        log_append_time=int(asked.log_append_time),
        producer_id=-1 if producer is None else int(producer.id),
        producer_epoch=-1 if producer is None else producer.epoch,
        base_sequence=-1 if producer is None else producer.first_sequence,
        transactional=asked.transactional,
        control=asked.control is not None,
        partition_leader_epoch=asked.leader_epoch,
        delete_horizon_ms=None if asked.delete_horizon is None else int(asked.delete_horizon),
    )


def _decode(data: bytes, release: Release, *, exactly: bool) -> Answer:
    """Return all batches; without what depends on compressed bytes unless ``exactly``."""
    answer: Answer = {"batches": []}
    try:
        for batch in record_batch.decode_batches(data, release):
            answer["batches"].append(_batch(batch, release, exactly=exactly))
    except JavaException as error:
        answer |= exception_answer(error, with_message=False)
    if exactly:
        answer["valid_bytes"] = _value(lambda: record_batch.valid_bytes(data, release))
    return answer


def _batch(batch: Batch, release: Release, *, exactly: bool) -> Answer:
    header = _value(lambda: _header(batch, release, exactly=exactly))
    control = header.get("control", False)
    iterated = _all(batch.records, lambda _: None)
    thrown: Answer = iterated.pop() if iterated and iterated[-1] is not None else {}
    answer: Answer = {
        "magic": batch.magic,
        "valid": _value(lambda: batch.ensure_valid() is None),
        "header": header,
        "base_offset": _value(lambda: number(batch.base_offset)),
        "records": _all(batch.streaming_records, lambda record: _record(record, release, control=control)),
        "iterated": {"records": len(iterated), **thrown},
    }
    if exactly:
        answer["size"] = batch.size_in_bytes
    if RecordBatchBehaviour.of(release).skips_keys_and_values:
        answer["skipped"] = _all(batch.skipping_records, _sizes)
    return answer


def _header(batch: Batch, release: Release, *, exactly: bool) -> Answer:
    """Read the fields of a header, in the order in which the Java half reads them."""
    answer: Answer = {
        "compression": batch.codec.name.lower(),
        "timestamp_type": _TYPE_NAMES[batch.timestamp_type],
        "last_offset": number(batch.last_offset),
        "next_offset": number(batch.next_offset),
        "leader_epoch": batch.partition_leader_epoch,
    }
    if exactly:
        answer["crc"] = batch.checksum
    if isinstance(batch, DefaultBatch):
        answer["base_timestamp"] = number(batch.base_timestamp)
    answer |= {
        "max_timestamp": number(batch.max_timestamp),
        "producer_id": number(batch.producer_id),
        "producer_epoch": batch.producer_epoch,
        "base_sequence": batch.base_sequence,
        "last_sequence": batch.last_sequence,
        "count": batch.record_count,
        "transactional": batch.transactional,
        "control": batch.control,
    }
    if RecordBatchBehaviour.of(release).delete_horizon:
        horizon = batch.delete_horizon_ms
        answer["delete_horizon"] = None if horizon is None else number(horizon)
    return answer


def _record(record: Record | Message | None, release: Release, *, control: bool) -> Answer | None:
    """Read a record, in the order in which the Java half reads it: that decides which exception is thrown."""
    if record is None:
        return None
    answer: Answer = {"offset": number(record.offset), "timestamp": number(record.timestamp)}
    if record.timestamp_type is not None:
        answer["timestamp_type"] = _TYPE_NAMES[record.timestamp_type]
    answer |= {
        "sequence": record.sequence,
        "key": _hex(record.key),
        "value": _hex(record.value),
        "headers": [[_text(key), _hex(value)] for key, value in record.headers],
        "size": record.size,
    }
    if isinstance(record, Message):
        answer["valid"] = record.valid
    if control:
        answer["control_type"] = _value(lambda: record_batch.control_type(record.key, release).lower())
        answer["marker"] = _value(lambda: _marker(record.key, record.value, release))
    return answer


def _marker(key: bytes | None, value: bytes | None, release: Release) -> list[Any]:
    marker = record_batch.decode_end_marker(key, value, release)
    return ["commit" if marker.commit else "abort", marker.coordinator_epoch]


def _sizes(record: Record | SkippedRecord | Message | None) -> list[Any] | None:
    if record is None:
        return None
    return [
        number(record.offset), number(record.timestamp), record.sequence, record.size, record.key_size, record.value_size,
    ]  # fmt: skip


def _all(read: Callable[[], Iterable[Any]], answer: Callable[[Any], Any]) -> list[Any]:
    """Return the answers of all records; last the exception, if one ends them."""
    answers: list[Any] = []
    try:
        for record in read():
            answers.append(answer(record))  # noqa: PERF401  those before an exception are kept
    except JavaException as error:
        answers.append(exception_answer(error, with_message=False))
    return answers


def _value(read: Callable[[], Any]) -> Any:
    return answered(read, with_message=False)


def _bytes(field: str | None) -> bytes | None:
    return None if field is None else bytes.fromhex(field)


def _hex(field: bytes | None) -> str | None:
    return None if field is None else field.hex()


def _text(key: bytes) -> str:
    return _SURROGATE.sub(_REPLACEMENT, key).decode("utf-8", "replace")
