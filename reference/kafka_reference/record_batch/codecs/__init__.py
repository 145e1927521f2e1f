"""The codecs of batches, as Kafka's streams read and write them.

``open_stream`` returns all bytes that can be read, and what is thrown where they end: Java reads a stream lazily, so
records before a fault may be read. A fault when the stream is opened is a KafkaException at once.

Java source mirrored: ``CompressionType.wrapForInput`` and ``wrapForOutput`` (0.11.0.0 to 3.7.x), ``org.apache.kafka.common.
compress`` (since 3.8.0), and the classes below: ``GZIPInputStream``, ``SnappyInputStream`` of snappy-java, Kafka's
``KafkaLZ4BlockInputStream`` and ``ZstdInputStream`` of zstd-jni.
"""

from __future__ import annotations

from kafka_reference.errors import KafkaException
from kafka_reference.record_batch.behaviour import RecordBatchBehaviour
from kafka_reference.record_batch.codecs.gzip import gunzip, gzip
from kafka_reference.record_batch.codecs.lz4 import lz4, unlz4
from kafka_reference.record_batch.codecs.snappy import snappy, unsnappy
from kafka_reference.record_batch.codecs.stream import EndOfInput, InputFault, Stream
from kafka_reference.record_batch.codecs.zstd import unzstd, zstd
from kafka_reference.record_batch.types import Codec

__all__ = ["EndOfInput", "InputFault", "Stream", "compress", "open_stream"]


def open_stream(codec: Codec, data: bytes, magic: int, behaviour: RecordBatchBehaviour) -> Stream:
    """Return the decompressed ``data`` of a batch of ``magic``. Raises KafkaException if the stream cannot be opened."""
    try:
        if codec is Codec.GZIP:
            return gunzip(data, behaviour)
        if codec is Codec.SNAPPY:
            return unsnappy(data, behaviour)
        if codec is Codec.LZ4:
            return unlz4(data, ignore_header_checksum=magic == 0)
        return unzstd(data)
    except InputFault:
        raise KafkaException from None


def compress(codec: Codec, data: bytes, magic: int, level: int | None = None) -> bytes:
    """Return ``data`` compressed by ``codec`` for a batch of ``magic``; ``level`` None is Kafka's default."""
    if codec is Codec.GZIP:
        return gzip(data, level)
    if codec is Codec.SNAPPY:
        return snappy(data)
    if codec is Codec.LZ4:
        return lz4(data, broken_header_checksum=magic == 0)
    return zstd(data, level)
