"""Finite spaces of ``record-batch`` about codecs: headers, checksums and trailers of compressed streams, right and wrong."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import product

from kafka_conformance.rules.record_batch.question import RecordBatchQuestion
from kafka_conformance.rules.record_batch.wire import Message, RawBatch, compressed, message_set, raw_record
from kafka_reference.record_batch.codecs.xxhash32 import xxhash32

__all__ = ["every_gzip_header", "every_large_record", "every_lz4_frame", "every_snappy_frame", "every_zstd_frame"]

_RECORDS = raw_record(b"k", b"v", [(b"h", b"1")], offset_delta=0) + raw_record(None, b"value", offset_delta=1)
_INNER = message_set((Message(b"a", b"k", 0, timestamp=3), Message(None, None, 1, timestamp=5)))
_GZIP, _SNAPPY, _LZ4, _ZSTD = 1, 2, 3, 4
_LZ4_MAGIC = bytes.fromhex("04224d18")


def _batch(codec: int, stream: bytes, count: int = 2) -> RecordBatchQuestion:
    return RecordBatchQuestion(decode=RawBatch(stream, count, 10, attributes=codec).data().hex())


def _wrapper(codec: int, stream: bytes, magic: int = 1) -> RecordBatchQuestion:
    return RecordBatchQuestion(decode=Message(stream, None, 1, magic, codec).data().hex())


def _flips(data: bytes, places: range) -> Iterator[bytes]:
    for place, bit in product(places, range(8)):
        yield data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]


def every_gzip_header() -> Iterator[RecordBatchQuestion]:
    """Yield gzip members with each bit of header and trailer flipped, with each optional field, right, wrong and cut."""
    stream = compressed("gzip", _RECORDS)
    for flipped in (*_flips(stream, range(15)), *_flips(stream, range(len(stream) - 8, len(stream)))):
        yield _batch(_GZIP, flipped)
        yield _batch(_GZIP, stream + flipped, 4)
    for flags in (*range(32), 0x20, 0x40, 0x80):
        header = _gzip_header(flags)
        yield _batch(_GZIP, header + stream[10:])
        yield _batch(_GZIP, stream + header + stream[10:], 4)
        yield _wrapper(_GZIP, header + compressed("gzip", _INNER)[10:])
    for flags in (2, 4, 8, 16, 30):
        header = _gzip_header(flags)
        for length in range(10, len(header)):
            yield _batch(_GZIP, header[:length])
            yield _batch(_GZIP, stream + header[:length])
        for flipped in _flips(header, range(10, len(header))):
            yield _batch(_GZIP, flipped + stream[10:])


def _gzip_header(flags: int) -> bytes:
    header = b"\x1f\x8b\x08" + bytes([flags]) + bytes(5) + b"\xff"
    header += (
        (b"\x03\0abc" if flags & 4 else b"") + (b"n\xff\0" if flags & 8 else b"") + (b"c\0" if flags & 16 else b"")
    )
    return header + ((zlib.crc32(header) & 0xFFFF).to_bytes(2, "little") if flags & 2 else b"")


def every_snappy_frame() -> Iterator[RecordBatchQuestion]:
    """Yield frames of snappy with each bit of the header, of the size and of the start of a block flipped; more frames."""
    stream = compressed("snappy", _RECORDS)
    # Sizes from 512 KB on: Java allocates them, or does not, by library and heap. One that is negative it cannot, and one
    # above 512 MB it does not try since 3.5.2; before, such a question is not asked.
    sizes = (0x80000000, 0xFFFFFFFF, 0x20000001, 0x7FFFFFFF, *(len(stream) - 20 ^ 1 << bit for bit in range(20)))
    for flipped in (
        *_flips(stream, range(16)),
        *(stream[:16] + size.to_bytes(4, "big") + stream[20:] for size in sizes),
        *_flips(stream, range(20, 23)),
    ):
        yield _batch(_SNAPPY, flipped)
        yield _batch(_SNAPPY, stream + flipped, 4)
        yield _batch(_SNAPPY, stream + flipped)
    for more in (stream[:8] + bytes(8), stream[:4] + bytes(12), stream[:4] + bytes(8), stream[:4]):
        yield _batch(_SNAPPY, stream + more)
        yield _batch(_SNAPPY, more + stream[16:])
    raw = stream[20:]
    for block in (raw, *_flips(raw, range(3)), raw + b"\0", raw[:-1]):
        yield _batch(_SNAPPY, block)


def every_large_record() -> Iterator[RecordBatchQuestion]:
    """Yield records around the size of Java's buffers, and larger, before a fault of snappy or gzip; also in a wrapper.

    A read of a whole buffer or more goes past an empty one, so that the next one begins behind that record.
    """
    for first, second, third in product((0, 1000, 2040, 2046, 2047, 6000, 9000), (1000, 2048, 100), (1000, 2100)):
        sizes = (first, second, third, 100)
        content = b"".join(raw_record(None, bytes(size), offset_delta=place) for place, size in enumerate(sizes))
        for fault in (b"\0\0\0\0", b"\x20\0\0\x01", b"\x80\0\0\0", b"\0\0\0\x09"):
            yield _batch(_SNAPPY, compressed("snappy", content) + fault, 5)
    inner = message_set([Message(bytes(size), None, place, timestamp=3) for place, size in enumerate((5000, 900, 10))])
    for cut in (
        b"",
        bytes(12),
        bytes(10) + b"\0\x05",
    ):  # a message that is too small is met before the fault, or is not
        yield _wrapper(_SNAPPY, compressed("snappy", inner + cut + bytes(700)) + b"\0\0\0\0")
    for first, second, third in product((100, 16_376, 16_380, 40_000, 70_000), (20, 9_000, 17_000), (500, 33_000)):
        values = (bytes(size) for size in (first, second, third, 60))
        content = b"".join(raw_record(None, value, offset_delta=place) for place, value in enumerate(values))
        deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
        deflated = deflater.compress(content) + deflater.flush(zlib.Z_SYNC_FLUSH)
        yield _batch(
            _GZIP, compressed("gzip", b"")[:10] + deflated + b"\x07", 5
        )  # a block of a type that does not exist


def every_lz4_frame() -> Iterator[RecordBatchQuestion]:
    """Yield frames of LZ4 with each flag and size of block, with each checksum, right, wrong and cut."""
    for flags, sizes in (
        *((flags, 0x40) for flags in range(256)),
        *((0x60, sizes) for sizes in (*range(0, 256, 16), *range(0x40, 0x50))),
    ):
        yield _batch(_LZ4, _lz4_frame(flags, sizes, _RECORDS))
    for flags in (0x60, 0x64, 0x70, 0x7C):
        for magic in (0, 1):
            for content in (_INNER, b""):
                frame = _lz4_frame(flags, 0x40, content)
                yield _wrapper(_LZ4, frame, magic)
                yield _wrapper(_LZ4, frame[:6] + b"\x01" + frame[7:], magic)
                yield from (_wrapper(_LZ4, frame[:-cut], magic) for cut in range(1, 9))
        frame = _lz4_frame(flags, 0x40, _RECORDS)
        for length in range(len(frame)):
            yield _batch(_LZ4, frame[:length])
        for flipped in (*_flips(frame, range(19)), *_flips(frame, range(len(frame) - 12, len(frame)))):
            yield _batch(_LZ4, flipped)
    packed = _lz4_packed(_RECORDS)
    for block in (packed, packed[:-1], b"\xf0\xff" + packed[2:], packed + b"\0", b"", b"\x10a\x05\0\x10b"):
        yield _batch(_LZ4, _lz4_frame(0x60, 0x40, block, stored=0))
    for name, size in ((0x40, 1 << 16), (0x50, 1 << 18)):
        for more in (0, 1):  # a block that is larger than the frame says
            value = raw_record(None, bytes(size - 12 + more))
            yield _batch(_LZ4, _lz4_frame(0x60, name, value), 1)


def _lz4_frame(flags: int, sizes: int, block: bytes, stored: int = 1 << 31) -> bytes:
    # One block; ``stored`` marks a block that is not compressed.
    head = bytes([flags, sizes]) + (len(block).to_bytes(8, "little") if flags & 8 else b"")
    frame = (
        _LZ4_MAGIC + head + bytes([xxhash32(head) >> 8 & 0xFF]) + (len(block) | stored).to_bytes(4, "little") + block
    )
    frame += xxhash32(block).to_bytes(4, "little") if flags & 0x10 else b""
    return frame + bytes(4) + (xxhash32(block).to_bytes(4, "little") if flags & 4 else b"")


def _lz4_packed(data: bytes) -> bytes:
    return bytes([0xF0, len(data) - 15]) + data


def every_zstd_frame() -> Iterator[RecordBatchQuestion]:
    """Yield frames of zstd before frames to skip, with another header, and with bytes that are not a frame.

    Not records in two frames, and not records behind a frame to skip: up to zstd-jni 1.3.8 a read may end between them.
    """
    stream = compressed("zstd", _RECORDS)
    for kind, size in product((0x50, 0x51, 0x5F), (0, 1, 20)):
        skipped = bytes([kind]) + bytes.fromhex("2a4d18") + size.to_bytes(4, "little") + bytes(size)
        yield _batch(_ZSTD, stream + skipped)
        yield _batch(_ZSTD, skipped, 0)
    # Java returns some of the bytes before a fault: how many depends on the buffer of its library.
    for flipped in (*_flips(stream, range(4)), *_flips(stream, range(5, 6)),
                    *(stream[:4] + bytes([1 << bit]) + stream[5:] for bit in (0, 1, 3, 4, 5))):  # fmt: skip
        yield _batch(_ZSTD, flipped)
    size = len(_RECORDS)
    for descriptor, field in ((0x20, size.to_bytes(1, "little")), (0x60, max(0, size - 256).to_bytes(2, "little")),
                              (0xA0, size.to_bytes(4, "little")), (0xE0, size.to_bytes(8, "little"))):  # fmt: skip
        yield _batch(_ZSTD, stream[:4] + bytes([descriptor]) + field + stream[6:])
    yield _batch(_ZSTD, bytes(20))
