"""Record batches: encode and decode, magic 0 to 2, as Kafka's classes of each release do.

    >>> from kafka_reference.record_batch import NewBatch, NewRecord, decode_batches, encode_batch
    >>> data = encode_batch(NewBatch(records=[NewRecord(1_000, b"key", b"value")], base_offset=7))
    >>> [(record.offset, record.value) for batch in decode_batches(data) for record in batch.records()]
    [(7, b'value')]

A batch is decoded lazily: ``decode_batches`` reads only sizes and magics; header fields are read when asked for,
``batch.records()`` decompresses and reads the records, and ``batch.ensure_valid()`` checks the CRC. Every error is the
:class:`kafka_reference.errors.JavaException` that Kafka throws there.
"""

from kafka_reference.record_batch.batches import (
    Batch,
    DefaultBatch,
    LegacyBatch,
    decode_batches,
    decode_header,
    decode_records,
    valid_bytes,
)
from kafka_reference.record_batch.behaviour import RECORD_BATCH, RecordBatchBehaviour
from kafka_reference.record_batch.control import control_type, decode_end_marker, encode_end_marker
from kafka_reference.record_batch.encode import encode_batch
from kafka_reference.record_batch.legacy import Message
from kafka_reference.record_batch.types import (
    Codec,
    EndTransactionMarker,
    Header,
    NewBatch,
    NewRecord,
    Record,
    SkippedRecord,
    TimestampType,
)

__all__ = [
    "RECORD_BATCH",
    "Batch",
    "Codec",
    "DefaultBatch",
    "EndTransactionMarker",
    "Header",
    "LegacyBatch",
    "Message",
    "NewBatch",
    "NewRecord",
    "Record",
    "RecordBatchBehaviour",
    "SkippedRecord",
    "TimestampType",
    "control_type",
    "decode_batches",
    "decode_end_marker",
    "decode_header",
    "decode_records",
    "encode_batch",
    "encode_end_marker",
    "valid_bytes",
]
