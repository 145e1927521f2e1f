"""Batches in cases: fields to bytes before they are sent, bytes to fields before they are compared.

``records`` is a count, or a list of records with ``key``, ``value``, ``timestamp`` and ``headers``. The other fields
overwrite the header of the batch, whether the result is valid or not, and the checksum is computed after that; ``crcXor``
breaks it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any, Final

from crc32c import crc32c

from kafka_conformance.core.errors import BadInput
from kafka_reference.errors import JavaException
from kafka_reference.record_batch.batches import decode_batches
from kafka_reference.record_batch.encode import encode_batch
from kafka_reference.record_batch.types import Codec, Header, NewBatch, NewRecord

__all__ = ["HEADER_FIELDS", "decode_fields", "encode_fields"]

HEADER_FIELDS: Final = {
    "baseOffset": (0, ">q"), "batchLength": (8, ">i"), "partitionLeaderEpoch": (12, ">i"), "magic": (16, ">b"),
    "attributes": (21, ">h"), "lastOffsetDelta": (23, ">i"), "baseTimestamp": (27, ">q"), "maxTimestamp": (35, ">q"),
    "producerId": (43, ">q"), "producerEpoch": (51, ">h"), "baseSequence": (53, ">i"), "recordCount": (57, ">i"),
}  # fmt: skip
"""Fields of the header of a batch of magic 2: position and form."""

_CRC, _CHECKED = 17, 21
_TRANSACTIONAL, _CONTROL = 0x10, 0x20
_OWN = frozenset({"records", "codec", "format", "crcXor", "transactional", "control", "cut"})
_UNREADABLE = (JavaException, struct.error, ValueError, IndexError, EOFError, OverflowError)


def encode_fields(batch: Mapping[str, Any]) -> bytes:
    """Return the bytes of a batch. Raises BadInput for an unknown field, or a value that does not fit."""
    if unknown := set(batch) - set(HEADER_FIELDS) - _OWN:
        raise BadInput(f"a batch has no field {min(unknown)!r}: expected {', '.join(sorted({*HEADER_FIELDS, *_OWN}))}")
    try:
        return _encoded(batch)
    except (KeyError, TypeError, ValueError, AttributeError, struct.error, JavaException) as error:
        raise BadInput(f"a batch cannot be encoded: {error!r} in {dict(batch)}") from error


def _encoded(batch: Mapping[str, Any]) -> bytes:
    given = batch.get("records", 1)
    rows = [{"key": f"k{at}", "value": f"v{at}"} for at in range(given)] if isinstance(given, int) else given
    # A batch of nothing is not written by any producer: one record is taken out of a batch of one.
    records = [_record(row) for row in rows or [{}]]
    magic, codec = batch.get("format", 2), Codec[batch.get("codec", "NONE")]
    data = bytearray(encode_batch(NewBatch(records=records, magic=magic, codec=codec)))
    if magic < 2:
        return bytes(data)
    if not rows:
        del data[61:]
        struct.pack_into(">i", data, 8, len(data) - 12)
        struct.pack_into(">i", data, 57, 0)
    (attributes,) = struct.unpack_from(">h", data, 21)
    attributes |= _TRANSACTIONAL * bool(batch.get("transactional")) | _CONTROL * bool(batch.get("control"))
    struct.pack_into(">h", data, 21, attributes)
    for name, (position, form) in HEADER_FIELDS.items():
        if name in batch:
            struct.pack_into(form, data, position, batch[name])
    struct.pack_into(">I", data, _CRC, crc32c(bytes(data[_CHECKED:])) ^ batch.get("crcXor", 0))
    return bytes(data[: len(data) - batch.get("cut", 0)])


def decode_fields(data: bytes, timestamp: Callable[[int], Any]) -> list[dict[str, Any]]:
    """Return the batches that a fetch returned, with their records; ``timestamp`` names a time."""
    found: list[dict[str, Any]] = []
    try:
        for batch in decode_batches(data):
            fields: dict[str, Any] = {
                "magic": batch.magic,
                "baseOffset": batch.base_offset,
                "lastOffset": batch.last_offset,
            }
            if batch.magic >= 2:
                fields |= {
                    "producerId": batch.producer_id, "producerEpoch": batch.producer_epoch,
                    "baseSequence": batch.base_sequence, "transactional": batch.transactional, "control": batch.control,
                }  # fmt: skip
            fields["codec"] = batch.codec.name
            fields["valid"] = batch.valid()
            fields["records"] = [
                {
                    "offset": each.offset, "timestamp": timestamp(each.timestamp), "key": _text(each.key),
                    "value": _text(each.value),
                    "headers": [[_text(header.key), _text(header.value)] for header in each.headers],
                }
                for each in batch.records()
                if each is not None
            ]  # fmt: skip
            found.append(fields)
    except _UNREADABLE as error:
        found.append({"unreadable": type(error).__name__})
    return found


def _record(row: Mapping[str, Any]) -> NewRecord:
    headers = tuple(Header(name.encode(), _bytes(value)) for name, value in row.get("headers", ()))
    return NewRecord(row.get("timestamp", 0), _bytes(row.get("key")), _bytes(row.get("value")), headers)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode(errors="replace") if len(data) <= 100 else f"{len(data)} bytes"
