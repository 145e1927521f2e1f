"""What each release does with record batches, as one record.

The record covers ``DefaultRecordBatch``, ``DefaultRecord``, ``LegacyRecord``, ``AbstractLegacyRecordBatch``,
``ByteBufferLogInputStream``, ``MemoryRecordsBuilder``, ``ControlRecordType``, ``EndTransactionMarker`` and the codecs.
"""

from __future__ import annotations

from kafka_reference.behaviour import Behaviour, behaviour, holds, varies
from kafka_reference.releases import since

__all__ = ["RECORD_BATCH", "RecordBatchBehaviour"]

RECORD_BATCH = since("0.11.0.0")

_TYPES = {0: "ABORT", 1: "COMMIT"}
_TYPES_2_7 = {**_TYPES, 2: "QUORUM_REASSIGNMENT", 3: "LEADER_CHANGE"}
_TYPES_3_0 = {**_TYPES, 2: "LEADER_CHANGE", 3: "SNAPSHOT_HEADER", 4: "SNAPSHOT_FOOTER"}
_TYPES_3_8 = {**_TYPES_3_0, 5: "KRAFT_VERSION", 6: "KRAFT_VOTERS"}


@behaviour("DefaultRecordBatch", RECORD_BATCH)
class RecordBatchBehaviour(Behaviour):
    """How bytes become batches and records, and how malformed ones fail."""

    sizes_in_messages: bool = holds(
        since("2.0.0"),
        "The message about an impossible size of a batch has the size. The magic is checked before it is known whether "
        "the batch is complete.",
        "KAFKA-6834",
    )
    wrong_crc_is_invalid_record: bool = holds(
        since("0.11.0.0", until="2.3.x"),
        "A wrong CRC, or a batch below its minimum size, is an InvalidRecordException instead of a CorruptRecordException.",
        "KAFKA-8729",
    )
    zstd: bool = holds(since("2.1.0"), "Codec 4 is zstd; it is not allowed before magic 2.", "KAFKA-4514")
    delete_horizon: bool = holds(
        since("3.1.0"), "Bit 6 of the attributes: the base timestamp is the delete horizon.", "KAFKA-8522"
    )
    writes_delete_horizon: bool = holds(since("3.1.0"), "A batch may be written with a delete horizon.", "KAFKA-8522")
    incomplete_record_is_null: bool = holds(
        since("0.11.0.0", until="3.0.0"),
        "An uncompressed record whose size exceeds the rest of the batch is null, and the next one is read behind its "
        "size. Later it is an InvalidRecordException.",
        "KAFKA-13149",
    )
    header_count_bounded: bool = holds(
        since("2.8.2", until="2.8.x") | since("3.0.2", until="3.0.x") | since("3.1.2", until="3.1.x") | since("3.2.2"),
        "A record may not have more headers than bytes are left; before, an array of that size is allocated first.",
        "CVE-2022-34917",
    )
    header_keys_decoded: bool = holds(
        since("0.11.0.0", until="2.6.x"),
        "The key of a header is decoded at once, from the array below the buffer: one that ends behind the array is a "
        "StringIndexOutOfBoundsException.",
        "KAFKA-10438",
    )
    stream_of_data_input: bool = holds(
        since("0.11.0.0", until="3.5.x"),
        "Compressed records are read by a DataInputStream: an early end is an EOFException, also that of a codec; a varint "
        "that is too long and a negative size are IllegalArgumentExceptions.",
        "KAFKA-14633",
    )
    negative_size_checked: bool = holds(
        since("4.2.2", until="4.2.x") | since("4.4.0"),
        "A compressed record of negative size has its own error message, as has one beyond the largest array.",
    )
    gzip_unbuffered: bool = holds(
        since("0.11.0.0", until="1.0.x"),
        "Each byte before a fault of gzip is read, because the stream is not buffered.",
        "KAFKA-6430",
    )
    gzip_sees_rest_of_input: bool = holds(
        since("3.6.0"),
        "Behind the end of a gzip member, whatever bytes follow are tried as another member; before, 19 at least.",
        "KAFKA-14633",
    )
    stream_buffer: bool = holds(
        since("3.6.0"),
        "Decompressed bytes are buffered: 2 KB of snappy and lz4, 16 KB of gzip and zstd. A read of a whole buffer or more "
        "goes past an empty one.",
        "KAFKA-14633",
    )
    snappy_block_size_checked: bool = holds(
        since("3.5.1"),
        "A negative size of a block of snappy is a SnappyError, of snappy-java since 1.1.10.1, instead of a "
        "NegativeArraySizeException, or, behind another block, an IOException.",
        "CVE-2023-34455",
    )
    snappy_block_size_limited: bool = holds(
        since("3.5.2"),
        "A size of a block of snappy above 512 MB is a SnappyError, of snappy-java since 1.1.10.4; before, Java allocates "
        "the block.",
        "CVE-2023-43642",
    )
    control_types: dict[int, str] = varies(
        "The types of control records; others are UNKNOWN.",
        (since("0.11.0.0", until="2.6.x"), _TYPES),
        (since("2.7.0", until="2.8.x"), _TYPES_2_7),
        (since("3.0.0", until="3.7.x"), _TYPES_3_0),
        (since("3.8.0"), _TYPES_3_8),
        ticket="KAFKA-10492, KAFKA-12952, KAFKA-16207",
    )
    control_key_size_message: str = varies(
        "The message about the key of a control record that is too short.",
        (since("0.11.0.0", until="4.2.x"), "end control record key"),
        (since("4.3.0"), "control record key"),
        otherwise="",
    )
    short_marker_underflows: bool = holds(
        since("4.1.0"),
        "A value of an end transaction marker that is too short is a BufferUnderflowException instead of an "
        "InvalidRecordException.",
        "KAFKA-10864",
    )
    skips_keys_and_values: bool = holds(
        since("2.4.0"), "There is an iterator that skips keys, values and headers.", "KAFKA-8106"
    )
    skipping_checks_size: bool = holds(
        since("2.4.0", until="3.5.x"),
        "The iterator that skips keys and values checks the size of each compressed record.",
        "KAFKA-14633",
    )
