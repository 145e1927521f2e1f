"""Record batches of every magic and codec, and checksums made right again after a change."""

from __future__ import annotations

import struct
import zlib
from functools import cache

import cramjam
from crc32c import crc32c

from kafka_reference.record_batch import Codec, EndTransactionMarker, Header, NewBatch, NewRecord, encode_batch
from kafka_reference.record_batch.codecs.xxhash32 import xxhash32
from kafka_reference.record_batch.control import encode_end_marker

__all__ = ["BATCHES", "batch_of", "bombs", "repaired"]

RECORDS = [
    NewRecord(1_000, b"key", b"value"), NewRecord(1_001, None, b"x" * 40, (Header(b"h", None), Header(b"", b"v"))),
    NewRecord(999, b"", None),
]  # fmt: skip
PLAIN = [NewRecord(record.timestamp, record.key, record.value) for record in RECORDS]
_MAGIC_AT = 16


def repaired(data: bytes) -> bytes:
    """Make the checksums of all batches right, as far as there are batches."""
    changed, at = bytearray(data), 0
    while at + 26 <= len(changed):
        size = int.from_bytes(changed[at + 8 : at + 12], "big", signed=True) + 12
        if size < 26 or at + size > len(changed):
            break
        if changed[at + _MAGIC_AT] == 2 and size >= 61:
            changed[at + 17 : at + 21] = struct.pack(">I", crc32c(bytes(changed[at + 21 : at + size])))
        elif changed[at + _MAGIC_AT] < 2:
            changed[at + 12 : at + 16] = struct.pack(">I", zlib.crc32(bytes(changed[at + 16 : at + size])))
        at += size
    return bytes(changed)


def batch_of(payload: bytes, codec: Codec, count: int = 1) -> bytes:
    """A batch of magic 2 with these compressed records."""
    head = bytearray(encode_batch(NewBatch(records=PLAIN[:1]))[:61])
    head[8:12], head[57:61] = struct.pack(">i", 61 + len(payload) - 12), struct.pack(">i", count)
    head[23:27] = struct.pack(">i", count - 1)
    head[21:23] = struct.pack(">h", codec)
    return repaired(bytes(head) + payload)


def _batches() -> list[bytes]:
    key, value = encode_end_marker(EndTransactionMarker(True, 3))
    made = [NewBatch(records=RECORDS, codec=codec, base_offset=7, producer_id=5, producer_epoch=1, base_sequence=9)
            for codec in Codec]  # fmt: skip
    made += [NewBatch(records=PLAIN, magic=magic, codec=codec) for magic in (0, 1) for codec in list(Codec)[:4]]
    marker = NewBatch(
        records=[NewRecord(1_000, key, value)], producer_id=5, producer_epoch=1, transactional=True, control=True
    )
    made.append(marker)
    return [encode_batch(batch) for batch in made]


BATCHES = _batches()
"""Valid batches; the last one is a marker."""

_SNAPPY_HEAD = b"\x82SNAPPY\x00\0\0\0\1\0\0\0\1"
_HUGE = b"\xff\xff\xff\xff\x0f"  # 2^32-1, the size that a block of snappy declares
_ZSTD_HEAD = (0xFD2FB528).to_bytes(4, "little") + b"\x00\x58"  # no size of the content, a window of 2 MiB
_RUN = (131_072 << 3 | 1 << 1).to_bytes(3, "little")  # a block that repeats one byte 131,072 times
LARGE = 2**27 + 2**26


def _gzip_zeros() -> bytes:
    """A gzip member of one block of 1 MiB, repeated: a full flush makes it independent of those before."""
    deflater, piece, crc = zlib.compressobj(6, zlib.DEFLATED, -15), bytes(2**20), 0
    block = deflater.compress(piece) + deflater.flush(zlib.Z_FULL_FLUSH)
    for _ in range(LARGE // 2**20):
        crc = zlib.crc32(piece, crc)
    end = deflater.flush() + struct.pack("<II", crc, LARGE)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + block * (LARGE // 2**20) + end


def _lz4_zeros() -> bytes:
    block = bytes(cramjam.lz4.compress_block(bytes(4 * 2**20), store_size=False))
    frame = encode_batch(NewBatch(records=PLAIN[:1], codec=Codec.LZ4))[61:]
    head = frame[:4] + b"\x60\x70"
    checked = head + bytes([xxhash32(head[4:]) >> 8 & 0xFF])
    return checked + (len(block).to_bytes(4, "little") + block) * (LARGE // (4 * 2**20)) + bytes(4)


@cache
def bombs() -> dict[str, bytes]:
    """Small batches that say, or have, far more than they are: 192 MiB of zeros, or 4 GiB that are only declared."""
    zstd = _ZSTD_HEAD + (_RUN + b"\0") * (LARGE // 131_072) + b"\x01\x00\x00"
    return {
        "snappy, declared": batch_of(_HUGE + b"\0\0", Codec.SNAPPY),
        "snappy, declared in a frame": batch_of(_SNAPPY_HEAD + struct.pack(">i", 7) + _HUGE + b"\0\0", Codec.SNAPPY),
        "gzip": batch_of(_gzip_zeros(), Codec.GZIP),
        "lz4": batch_of(_lz4_zeros(), Codec.LZ4),
        "zstd": batch_of(zstd, Codec.ZSTD),
        "zstd, declared": batch_of(_ZSTD_HEAD[:4] + b"\xe0" + b"\xff" * 8 + b"\x01\x00\x00", Codec.ZSTD),
        "many records": batch_of(b"", Codec.NONE, 2**31 - 1),
        "many records, compressed": batch_of(zstd[-40:], Codec.ZSTD, 2**31 - 1),
    }
