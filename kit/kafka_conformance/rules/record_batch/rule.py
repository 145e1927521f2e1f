"""The rule ``record-batch``: batches of records, magic 0 to 2, written and read byte for byte.

::

    {"encode": {"magic": 2, "records": [{"key": "00", "value": null, "timestamp": 0, "headers": [["h", "00"]]}],
                "producer": {"id": 7, "epoch": 0, "first_sequence": 0}}}      {"bytes": "0000…"}
    {"compress": {"records": [...], "compression": "zstd", "level": 3}}       {"batches": [...]}, read back
    {"decode": "0000…"}
        {"batches": [{"magic": 2, "size": 84, "valid": true, "base_offset": 0,
                      "header": {"compression", "timestamp_type", "last_offset", "next_offset", "leader_epoch", "crc",
                                 "base_timestamp", "max_timestamp", "producer_id", "producer_epoch", "base_sequence",
                                 "last_sequence", "count", "transactional", "control", "delete_horizon"},
                      "records": [{"offset", "timestamp", "sequence", "key", "value", "headers", "size"}],
                      "iterated": {"records": 1}, "skipped": [[offset, timestamp, sequence, size, key size, value size]]}],
         "valid_bytes": 84}

What throws is answered by its class name, where it is thrown: ``valid``, ``base_offset`` and ``header`` may each be
``{"raises": name}``, and an exception ends ``records``, ``skipped`` or the batches. Numbers beyond 2^53 are text.

Compressed bytes are read back and not compared, at any level: no format fixes them. Java compressed 48 batches
(``java_batches.json``); the reference writes the same bytes for 10 of 10 with gzip, 9 of 11 with lz4, 7 of 13 with snappy
and 0 of 14 with zstd. Gzip matches at every level (60 of 60 streams in Java 17 and 25) only because both sides use zlib:
another build of it, such as zlib-ng, gives other bytes, and Java before 16 writes another byte in the header.

Not asked: what is left of a zstd frame that is cut or malformed behind its header, which differs by library; lengths for
which Java cannot allocate the memory, among them, up to 3.5.1, blocks of snappy above 512 MB; a match of lz4 at offset 0 in
a damaged block, for which up to 0.11.0.x the native library copies uninitialized memory.
"""

from __future__ import annotations

from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.rules.record_batch import codec_spaces, spaces
from kafka_conformance.rules.record_batch.adapter import ask
from kafka_conformance.rules.record_batch.domain import OPTIONAL_LABELS, OPTIONAL_PARTS, domain, half, nearest, plain
from kafka_conformance.rules.record_batch.explain import explain_batches
from kafka_conformance.rules.record_batch.generators import questions
from kafka_conformance.rules.record_batch.harmless import harmless
from kafka_conformance.rules.record_batch.labels import REQUIRED_LABELS, labels, path
from kafka_conformance.rules.record_batch.question import RecordBatchQuestion
from kafka_reference.record_batch import RecordBatchBehaviour
from kafka_reference.releases import since

__all__ = ["RULE"]

_KIP = "https://cwiki.apache.org/confluence/display/KAFKA"

RULE = Rule(
    slug="record-batch",
    title="MemoryRecords: batches of records, written and read",
    area=Area.LOG,
    releases=since("0.11.0.0"),
    question=RecordBatchQuestion,
    ask=ask,
    strategy=questions,
    spaces=(
        # First those in which most mutants differ: selftest ends there.
        Space("batches to encode: 3 magics, 3 timestamp types, 7 producers, transactions", spaces.every_builder),
        Space("batches to encode: timestamps of each size and last digit", spaces.every_timestamp),
        Space("control records: 16 keys by 11 values", spaces.every_control_record),
        Space("batches to compress: 4 codecs, 3 magics, every level", spaces.every_codec_and_level),
        Space("gzip: faults behind a record, members around the end of the first read", spaces.every_gzip_end),
        Space("batches that Java compressed, in 0.11.0.0, 2.1.0 and 4.4.0", spaces.every_java_batch),
        Space("wrappers: 4 codecs, 2 magics, 2 inner magics, offsets, timestamps, nesting", spaces.every_wrapper),
        Space(
            "a message of magic 0 and 1: each field at the ends of its range, also in a wrapper",
            spaces.every_message_field,
        ),
        Space("a batch: each field at the ends of its range, by 5 codecs", spaces.every_header_field),
        Space("the records of a batch: each prefix, more bytes, by 5 codecs", spaces.every_end_of_records),
        Space("batches, message sets, a wrapper, and what each codec made: each prefix", spaces.every_prefix),
        Space(
            "two records: each of 12 parts as each of 22 odd varints, uncompressed and with gzip",
            spaces.every_record_part,
        ),
        Space("gzip: each bit of headers and trailers, each optional field", codec_spaces.every_gzip_header),
        Space(
            "snappy: each bit of headers, sizes and the start of a block; more frames", codec_spaces.every_snappy_frame
        ),
        Space(
            "snappy and gzip: records around the size of Java's buffers before a fault", codec_spaces.every_large_record
        ),
        Space("zstd: frames to skip, other headers, no frame", codec_spaces.every_zstd_frame),
        Space("a batch and a message: each bit flipped, with a wrong CRC and a right one", spaces.every_bit),
        Space("lz4: each flag and size of blocks, each checksum right, wrong and cut", codec_spaces.every_lz4_frame),
    ),
    labels=labels,
    path=path,
    required_labels=REQUIRED_LABELS,
    explain=explain_batches,
    domain=domain,
    nearest=nearest,
    plain=plain,
    optional_labels=OPTIONAL_LABELS,
    optional_parts=OPTIONAL_PARTS,
    half=half,
    harmless=harmless,
    java=((since("0.11.0.0"), "kafkaoracle.record_batch.RecordBatchRule"),),
    codecs=True,
    source="MemoryRecordsBuilder, MemoryRecords, DefaultRecordBatch, DefaultRecord, AbstractLegacyRecordBatch, LegacyRecord",
    links=(
        f"{_KIP}/KIP-98+-+Exactly+Once+Delivery+and+Transactional+Messaging",
        f"{_KIP}/KIP-82+-+Add+Record+Headers",
        f"{_KIP}/KIP-110%3A+Add+Codec+for+ZStandard+Compression",
        f"{_KIP}/KIP-534%3A+Retain+tombstones+and+transaction+markers+for+approximately+delete.retention.ms+milliseconds",
        f"{_KIP}/KIP-390%3A+Support+Compression+Level",
        "https://kafka.apache.org/documentation/#messageformat",
    ),
    harness=(
        "The loop of a consumer is the kit's: over MemoryRecords.batches(), and for each batch its header, ensureValid, "
        "streamingIterator, iterator and, since 2.4.0, skipKeyValueIterator, each on its own: all of them answer where a "
        "consumer would stop at the first exception. Up to 3.5.1 bytes with a block of snappy above 512 MB are refused. A "
        "builder has no limit below 1 GB, and streams have buffers of their own."
    ),
    behaviours=(RecordBatchBehaviour,),
    unobservable=frozenset(
        {
            # The exception is the same; these change its message, or how much memory is allocated before.
            "RecordBatchBehaviour.header_count_bounded",
            "RecordBatchBehaviour.control_key_size_message",
        }
    ),
)
