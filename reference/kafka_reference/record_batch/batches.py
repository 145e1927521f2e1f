"""Find the batches in a buffer.

Java source mirrored: ``ByteBufferLogInputStream`` and ``MemoryRecords``, since 0.11.0.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from kafka_reference.arguments import checked, proven_by
from kafka_reference.errors import IllegalArgumentException
from kafka_reference.java.int32 import INT_MAX
from kafka_reference.record_batch.behaviour import RecordBatchBehaviour
from kafka_reference.record_batch.default import LOG_OVERHEAD, DefaultBatch
from kafka_reference.record_batch.errors import CorruptRecordException, IndexOutOfBoundsException
from kafka_reference.record_batch.legacy import OVERHEAD, LegacyBatch, Message
from kafka_reference.record_batch.types import Record
from kafka_reference.releases import NEWEST, Release

__all__ = ["Batch", "DefaultBatch", "LegacyBatch", "decode_batches", "decode_header", "decode_records", "valid_bytes"]

Batch = DefaultBatch | LegacyBatch

_MAGIC, _NEWEST_MAGIC = 16, 2
_INT32 = Struct(">i")


@checked(release=proven_by("record-batch"))
def decode_batches(data: bytes | memoryview, release: str | Release = NEWEST) -> Iterator[Batch]:
    """Yield the batches in ``data``; a batch that is cut off ends them.

    Raises CorruptRecordException for an impossible size or magic.
    """
    data, behaviour = bytes(data), RecordBatchBehaviour.of(release)
    start = 0
    while (size := _batch_size(data, start, behaviour)) is not None:
        batch_type = DefaultBatch if data[start + _MAGIC] == _NEWEST_MAGIC else LegacyBatch
        yield batch_type(data, start, start + size, behaviour)
        start += size


@checked(release=proven_by("record-batch"))
def decode_header(data: bytes | memoryview, release: str | Release = NEWEST) -> Batch | None:
    """Return the first batch in ``data``, or None if it is cut off; raises as ``decode_batches``."""
    return next(decode_batches(data, release), None)


@checked(release=proven_by("record-batch"))
def decode_records(  # unreached: for tools
    data: bytes | memoryview, release: str | Release = NEWEST
) -> Iterator[Record | Message | None]:
    """Yield the records of all batches in ``data``, without a check of their CRCs."""
    for batch in decode_batches(data, release):
        yield from batch.records()


@checked(release=proven_by("record-batch"))
def valid_bytes(data: bytes | memoryview, release: str | Release = NEWEST) -> int:
    """Return the size of all complete batches in ``data`` in bytes."""
    return sum(batch.size_in_bytes for batch in decode_batches(data, release))


def _batch_size(data: bytes, start: int, behaviour: RecordBatchBehaviour) -> int | None:
    # The size of the batch at ``start``; None if it is not complete.
    remaining = len(data) - start
    if remaining < LOG_OVERHEAD:
        return None
    size: int = _INT32.unpack_from(data, start + 8)[0]
    written = f" {size}" if behaviour.sizes_in_messages else ""
    if size < OVERHEAD[0]:
        raise CorruptRecordException(f"Record size{written} is less than the minimum record overhead ({OVERHEAD[0]})")
    complete = size > INT_MAX - LOG_OVERHEAD or size + LOG_OVERHEAD <= remaining  # the sum wraps in Java
    if not complete and not behaviour.sizes_in_messages:
        return None
    if remaining <= _MAGIC:
        if behaviour.sizes_in_messages:
            return None
        raise IndexOutOfBoundsException
    magic = data[start + _MAGIC]
    if magic > _NEWEST_MAGIC and (behaviour.sizes_in_messages or size <= INT_MAX - LOG_OVERHEAD):
        raise CorruptRecordException(f"Invalid magic found in record: {magic - 256 if magic > 127 else magic}")
    if size > INT_MAX - LOG_OVERHEAD:
        raise IllegalArgumentException
    return size + LOG_OVERHEAD if complete else None
