from __future__ import annotations

import gzip
import zlib
from itertools import accumulate

import pytest

from kafka_reference.errors import KafkaException
from kafka_reference.record_batch import Codec, NewBatch, NewRecord, RecordBatchBehaviour, decode_header, encode_batch
from kafka_reference.record_batch.codecs import EndOfInput, InputFault, compress, open_stream
from kafka_reference.record_batch.codecs.xxhash32 import xxhash32
from kafka_reference.record_batch.errors import BufferUnderflowException, NegativeArraySizeException, SnappyError

NEWEST, OLDEST = RecordBatchBehaviour.of("4.4.0"), RecordBatchBehaviour.of("0.11.0.0")
DATA = bytes(range(256)) * 700
CODECS = (Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("data", [b"", b"x", DATA])
@pytest.mark.parametrize("magic", [0, 2])
def test_compressed_data_round_trips_for_each_codec_and_magic(codec: Codec, data: bytes, magic: int) -> None:
    stream = open_stream(codec, compress(codec, data, magic), magic, NEWEST)
    assert (stream.data, stream.fault) == (data, None)


def test_the_checksum_of_the_lz4_header_is_checked_since_magic_1() -> None:
    old = compress(Codec.LZ4, DATA, 0)
    assert open_stream(Codec.LZ4, old, 0, NEWEST).data == DATA
    with pytest.raises(KafkaException):
        open_stream(Codec.LZ4, old, 1, NEWEST)


@pytest.mark.parametrize(
    ("position", "byte"), [(0, 0), (4, 0x61), (4, 0x40), (4, 0xA0), (5, 0x41), (5, 0x30), (5, 0xC0), (6, 0)]
)
def test_malformed_lz4_frame_header_throws_kafka_exception(position: int, byte: int) -> None:
    data = bytearray(compress(Codec.LZ4, DATA, 2))
    data[position] = byte
    with pytest.raises(KafkaException):
        open_stream(Codec.LZ4, bytes(data), 2, NEWEST)


def _lz4(flags: int, *blocks: bytes) -> bytes:
    descriptor = bytes([0x60 | flags, 0x40]) + (bytes(8) if flags & 8 else b"")
    return bytes.fromhex("04224d18") + descriptor + bytes([xxhash32(descriptor) >> 8 & 0xFF]) + b"".join(blocks)


def test_lz4_block_checksum_is_verified_and_content_checksum_is_ignored() -> None:
    block = b"\x03\x00\x00\x80abc"
    checksum = xxhash32(b"abc").to_bytes(4, "little")
    assert open_stream(Codec.LZ4, _lz4(0x10, block, checksum, bytes(4)), 2, NEWEST).data == b"abc"
    assert isinstance(open_stream(Codec.LZ4, _lz4(0x10, block, bytes(4), bytes(4)), 2, NEWEST).fault, InputFault)
    assert isinstance(open_stream(Codec.LZ4, _lz4(0x10, block), 2, NEWEST).fault, BufferUnderflowException)
    assert open_stream(Codec.LZ4, _lz4(0x0C, block, bytes(4), b"any "), 2, NEWEST).data == b"abc"
    assert isinstance(open_stream(Codec.LZ4, _lz4(0x04, block, bytes(4)), 2, NEWEST).fault, BufferUnderflowException)


def test_xxhash32_of_known_inputs_equals_published_values() -> None:
    assert [hex(xxhash32(each)) for each in (b"", b"abc", b"Nobody inspects the spammish repetition")] == [
        "0x2cc5d05", "0x32d153ff", "0xe2293b2f",
    ]  # fmt: skip


def test_gzip_members_are_joined_trailing_bytes_ignored_and_cut_or_wrong_trailers_are_faults() -> None:
    one, other = gzip.compress(b"one"), gzip.compress(b"other")
    for behaviour in (NEWEST, OLDEST):
        assert open_stream(Codec.GZIP, one + other, 2, behaviour).data == b"oneother"
        assert open_stream(Codec.GZIP, one + b"garbage", 2, behaviour).data == b"one"
    assert isinstance(open_stream(Codec.GZIP, one[:-1], 2, NEWEST).fault, EndOfInput)
    assert isinstance(open_stream(Codec.GZIP, one[:-1] + b"x", 2, NEWEST).fault, InputFault)
    with pytest.raises(KafkaException):
        open_stream(Codec.GZIP, b"", 2, NEWEST)


def test_gzip_returns_bytes_before_a_fault_up_to_1_0() -> None:
    # A stored block of five bytes, and a block of a type that does not exist, which is met with the last byte.
    data = bytes.fromhex("1f8b08000000000000ff") + b"\x00\x05\x00\xfa\xffhello" + b"\x07"
    assert open_stream(Codec.GZIP, data, 2, OLDEST).data == b"hell"
    assert open_stream(Codec.GZIP, data, 2, NEWEST).seen_in_chunks().data == b""


def test_raw_or_joined_snappy_frames_are_read_and_truncated_ones_are_an_input_fault() -> None:
    framed = compress(Codec.SNAPPY, b"one", 2)
    assert open_stream(Codec.SNAPPY, framed[20:], 2, NEWEST).data == b"one"  # raw
    assert open_stream(Codec.SNAPPY, framed + framed, 2, NEWEST).data == b"oneone"
    assert open_stream(Codec.SNAPPY, framed + b"\0\0\0", 2, NEWEST).data == b"one"
    cut = open_stream(Codec.SNAPPY, framed[:-1], 2, NEWEST)
    assert isinstance(cut.fault, InputFault)
    with pytest.raises(KafkaException):
        open_stream(Codec.SNAPPY, b"", 2, NEWEST)


def test_zstd_frames_are_joined_skippable_ones_skipped_and_truncated_ones_are_an_input_fault() -> None:
    frame = compress(Codec.ZSTD, b"one", 2)
    skippable = bytes.fromhex("502a4d18") + b"\3\0\0\0abc"
    assert open_stream(Codec.ZSTD, frame + skippable + frame, 2, NEWEST).data == b"oneone"
    for cut in (frame + frame[:-1], frame + b"\0", frame + skippable[:-1]):
        stream = open_stream(Codec.ZSTD, cut, 2, NEWEST)
        assert stream.data == b"one"
        assert isinstance(stream.fault, InputFault)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("release", ["2.4.0", "3.5.2", "4.4.0"])
def test_skipping_iterator_returns_sizes_of_keys_and_values(codec: Codec, release: str) -> None:
    records = [NewRecord(9, None, b"v" * 5000), NewRecord(8, b"key", None)]
    batch = decode_header(encode_batch(NewBatch(records=records, codec=codec), release), release)
    assert batch is not None
    skipped = list(batch.skipping_records())
    assert [(one.offset, one.timestamp, one.key_size, one.value_size) for one in skipped if one] == [
        (0, 9, -1, 5000), (1, 8, 3, -1),
    ]  # fmt: skip
    assert [one.size for one in skipped if one] == [one.size for one in batch.records() if one]


@pytest.mark.parametrize(
    ("release", "first", "second"),
    [
        ("3.5.0", NegativeArraySizeException, InputFault),
        ("3.5.1", SnappyError, SnappyError),
        ("4.4.0", SnappyError, SnappyError),
    ],
)
def test_negative_snappy_block_size_is_a_snappy_error_since_3_5_1(
    release: str, first: type[Exception], second: type[Exception]
) -> None:
    behaviour, frame = RecordBatchBehaviour.of(release), compress(Codec.SNAPPY, b"abc", 2)
    assert type(open_stream(Codec.SNAPPY, frame[:16] + b"\xff" * 4, 2, behaviour).fault) is first
    assert type(open_stream(Codec.SNAPPY, frame + b"\xff" * 4, 2, behaviour).fault) is second


@pytest.mark.parametrize(("release", "expected"), [("3.5.2", b"abc"), ("3.6.0", b"abcabc")])
def test_malformed_second_snappy_header_ends_stream_up_to_3_5_and_is_skipped_later(
    release: str, expected: bytes
) -> None:
    frame = compress(Codec.SNAPPY, b"abc", 2)
    wrong = frame[:4] + bytes(12) + frame[16:]
    assert open_stream(Codec.SNAPPY, frame + wrong, 2, RecordBatchBehaviour.of(release)).data == expected


def test_snappy_header_version_0_is_accepted_in_first_and_a_fault_in_second_header() -> None:
    frame = compress(Codec.SNAPPY, b"abc", 2)
    assert isinstance(open_stream(Codec.SNAPPY, frame + frame[:8] + bytes(8), 2, NEWEST).fault, InputFault)
    assert open_stream(Codec.SNAPPY, frame[:8] + bytes(8) + frame[16:], 2, NEWEST).data == b"abc"


def _reads_before_fault(codec: Codec, data: bytes, *sizes: int) -> int:
    """Return how many bytes reads of these sizes, one after the other, get of a stream with a fault behind ``data``."""
    if codec is Codec.SNAPPY:
        compressed = compress(codec, data, 2) + bytes(4)  # a block of no bytes
    else:
        deflater = zlib.compressobj(wbits=-15)
        deflated = deflater.compress(data) + deflater.flush(zlib.Z_SYNC_FLUSH)
        compressed = compress(codec, b"", 2)[:10] + deflated + b"\x07"  # a block of a type that does not exist
    stream = open_stream(codec, compressed, 2, NEWEST)
    assert stream.fault is not None
    ends = list(accumulate(sizes))
    return len(stream.seen_by((end - size, size) for end, size in zip(ends, sizes, strict=True)).data)


@pytest.mark.parametrize(
    ("sizes", "seen"),
    [
        ((2, 4000, 100, 9000), 6144), ((2, 4093, 1, 9000), 4096), ((2, 4094, 1, 9000), 6144), ((2, 4095, 1, 9000), 6145),
        ((2, 4500, 100, 9000), 6550), ((7000, 1), 7000), ((7001,), 0), ((1,) * 7001, 6144),
    ],
)  # fmt: skip
def test_byte_count_read_before_snappy_fault_shows_that_large_reads_bypass_the_buffer(
    sizes: tuple[int, ...], seen: int
) -> None:
    assert _reads_before_fault(Codec.SNAPPY, bytes(7000), *sizes) == seen


@pytest.mark.parametrize(
    ("sizes", "seen"),
    [((3, 30_000, 60_000), 32_768), ((3, 40_000, 1, 60_000), 56_387), ((1, 16_383, 16_384, 30_000), 32_768)],
)
def test_byte_count_read_before_gzip_fault_shows_that_large_reads_bypass_the_buffer(
    sizes: tuple[int, ...], seen: int
) -> None:
    assert _reads_before_fault(Codec.GZIP, bytes(60_000), *sizes) == seen


@pytest.mark.parametrize(("release", "fault"), [("3.5.1", InputFault), ("3.5.2", SnappyError), ("4.4.0", SnappyError)])
def test_snappy_block_size_above_512_mb_is_a_snappy_error_since_3_5_2(release: str, fault: type[Exception]) -> None:
    behaviour = RecordBatchBehaviour.of(release)
    framed = compress(Codec.SNAPPY, b"one", 2)
    assert isinstance(open_stream(Codec.SNAPPY, framed + b"\x20\0\0\x01", 2, behaviour).fault, fault)
    assert isinstance(open_stream(Codec.SNAPPY, framed + b"\x20\0\0\0", 2, behaviour).fault, InputFault)
