"""Records within batches, checked with ``--records``: they decode, in number and order as the header says.

Records of magic 2 are walked without copying keys and values. What does not decode is given to
``kafka_reference.record_batch``, which names the exception that a consumer of the newest release throws.
"""

from __future__ import annotations

from kafka_conformance.log_inspect.checks.batches import unreadable_batch
from kafka_conformance.log_inspect.checks.context import Context
from kafka_conformance.log_inspect.expansion import LARGEST_BYTES, MOST_RECORDS, impossible, most_bytes
from kafka_conformance.log_inspect.header import CODEC_MASK, HEADER, LOG_APPEND_TIME, BatchHeader
from kafka_reference.errors import JavaException
from kafka_reference.record_batch import Codec, RecordBatchBehaviour, decode_header
from kafka_reference.record_batch.codecs import open_stream
from kafka_reference.releases import NEWEST

__all__ = ["RecordCheck"]

_BEHAVIOUR = RecordBatchBehaviour.of(NEWEST)


class RecordCheck:
    """Checks the records of the batches of one file."""

    def __init__(self, context: Context, file: str) -> None:
        self._findings, self._losses, self._file = context.findings, context.losses, file
        self._old = False

    def batch(self, position: int, header: BatchHeader, payload: memoryview | None) -> None:
        """Check a batch of magic 2 whose checksum is right; older ones are not decoded, which is reported once."""
        if header.magic != 2:
            if not self._old:
                self._add("record-unread", position, header, f"records of magic {header.magic} are not decoded")
            self._old = True
            return
        if payload is None:
            self._add("record-unread", position, header, f"a batch of {header.size:,} bytes is too large")
            return
        if found := _not_decoded(header.attributes & CODEC_MASK, payload):
            self._add(found[0], position, header, found[1])
            return
        walked = _decoded(payload, header)
        if walked is None:
            self._undecodable(position, header, bytes(payload))
            return
        left, ascending, first, last, largest = walked
        if left:
            self._add("record-count", position, header, f"{left:,} bytes follow the {header.records} records")
        if header.records and (not ascending or first < 0 or last > header.last_offset_delta):
            what = f"offsets from {header.base_offset + first} to {header.base_offset + last}"
            self._add("record-offset", position, header, what + ("" if ascending else ", not ascending"))
        largest += header.base_timestamp
        if header.records and not header.attributes & LOG_APPEND_TIME and largest > header.max_timestamp:
            self._add(
                "record-timestamp", position, header, f"a record has {largest}, the header {header.max_timestamp}"
            )

    def _undecodable(self, position: int, header: BatchHeader, payload: bytes) -> None:
        what = "the records end early"
        try:
            batch = decode_header(HEADER.pack(*header) + payload)
            if batch is not None and header.records <= MOST_RECORDS:
                for _ in batch.records():
                    pass
        except JavaException as thrown:
            what = f"{thrown.java_name}{f': {thrown.message}' if thrown.message else ''}"
        self._add("bad-records", position, header, what)

    def _add(self, kind: str, position: int, header: BatchHeader, what: str) -> None:
        lost = kind in {"bad-records", "record-count"}
        self._losses.add(self._findings.add(
            kind, self._file, what, position=position, size=header.size, offset=header.base_offset,
            loss=unreadable_batch(header) if lost else None,
        ), header)  # fmt: skip


def _not_decoded(number: int, payload: memoryview) -> tuple[str, str] | None:
    """Return the finding of records that are not to be decompressed, None if they are."""
    if number > max(Codec):
        return "record-unread", f"codec {number} is unknown"
    if (size := most_bytes(number, bytes(payload))) <= LARGEST_BYTES:
        return None
    if impossible(number, bytes(payload)):
        return "bad-records", f"{len(payload):,} bytes of snappy declare {size:,} bytes, more than they can stand for"
    return "record-unread", f"the batch may take {size:,} bytes when decompressed"


def _decoded(payload: memoryview, header: BatchHeader) -> tuple[int, bool, int, int, int] | None:
    """Return the bytes behind the last record, and the rest of what ``_walk`` returns; None if records do not decode."""
    data, number = bytes(payload), header.attributes & CODEC_MASK
    try:
        if number:
            stream = open_stream(Codec(number), data, 2, _BEHAVIOUR)
            if stream.fault is not None:
                return None
            data = stream.data
        walked = _walk(data, header.records)
    except (JavaException, IndexError):
        return None
    return None if walked is None else (len(data) - walked[0], *walked[1:])


def _walk(data: bytes, count: int) -> tuple[int, bool, int, int, int] | None:  # noqa: C901  without calls, for speed
    """Walk over records.

    Returns the end of the last one, whether offsets ascend, the first and last offset delta, and the largest timestamp
    delta; None if a record is longer than the data, or its fields than the record. Raises IndexError at the end of the data.
    """
    at, end = 0, len(data)
    before, first, largest, ascending = -1, 0, -(2**63), True
    for number in range(count):
        size = data[at]
        at += 1
        if size & 0x80:
            size, at = _varint(data, at - 1)
        else:
            size = size >> 1 ^ -(size & 1)
        finish = at + size
        if size < 6 or finish > end:
            return None
        at += 1  # attributes
        timestamp = data[at]
        at += 1
        if timestamp & 0x80:
            timestamp, at = _varint(data, at - 1)
        else:
            timestamp = timestamp >> 1 ^ -(timestamp & 1)
        delta = data[at]
        at += 1
        if delta & 0x80:
            delta, at = _varint(data, at - 1)
        else:
            delta = delta >> 1 ^ -(delta & 1)
        for _ in (0, 1):  # key and value
            length = data[at]
            at += 1
            if length & 0x80:
                length, at = _varint(data, at - 1)
            else:
                length = length >> 1 ^ -(length & 1)
            if length > 0:
                at += length
        if data[at]:
            at = _skip_headers(data, at)
        else:
            at += 1
        if at != finish:
            return None
        if number == 0:
            first = delta
        elif delta <= before:
            ascending = False
        before = delta
        if timestamp > largest:
            largest = timestamp
    return at, ascending, first, before, largest


def _skip_headers(data: bytes, at: int) -> int:
    count, at = _varint(data, at)
    for _ in range(max(count, 0)):
        for _ in ("key", "value"):
            length, at = _varint(data, at)
            at += max(length, 0)
        if at > len(data):
            raise IndexError(at)
    return at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value >> 1 ^ -(value & 1), at
        shift += 7
        if shift > 63:
            raise IndexError(at)
