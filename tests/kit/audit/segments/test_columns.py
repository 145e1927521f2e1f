"""Compiled code reads the records of a batch as the reference does, which is proven against Java; or it refuses them."""

from __future__ import annotations

import random
import struct
from dataclasses import replace

import pytest
from crc32c import crc32c

from kafka_conformance.audit.segments.columns import Columns
from kafka_conformance.audit.segments.records import REFUSED
from kafka_conformance.log_inspect.header import HEADER, BatchHeader
from kafka_reference.errors import JavaException
from kafka_reference.record_batch import Codec, NewBatch, NewRecord, decode_header, encode_batch
from kafka_reference.record_batch.types import Header, TimestampType

EVERYTHING = 0, 2**63 - 1
Rows = list[tuple[int, int, bytes | None]]


def made(draws: random.Random, codec: Codec) -> bytes:
    """A batch with keys and values of any size, null and empty ones, headers, large deltas."""
    records = [
        NewRecord(
            1_700_000_000_000 + draws.choice([-(10**12), -1, 0, 1, 70, 10**5, 2**40]),
            draws.choice([None, b"", b"k", draws.randbytes(draws.randrange(300))]),
            draws.choice([None, b"", draws.randbytes(draws.randrange(20_000))]),
            tuple(
                Header(f"h{n}".encode(), draws.choice([None, b"", b"x" * 200])) for n in range(draws.choice([0, 0, 3]))
            ),
        )
        for _ in range(draws.choice([1, 2, 70, 200]))
    ]
    batch = NewBatch(records=records, codec=codec, base_offset=draws.choice([0, 5, 2**40]), producer_id=7,
                     producer_epoch=1, base_sequence=0)  # fmt: skip
    if draws.random() < 0.2:
        batch = replace(batch, timestamp_type=TimestampType.LOG_APPEND_TIME, log_append_time=1_650_000_000_000)
    return encode_batch(batch)


def by_reference(data: bytes, wanted: tuple[int, int]) -> Rows | None:
    batch = decode_header(data)
    assert batch is not None
    try:
        found = [record for record in batch.records() if record is not None]
    except JavaException:
        return None
    return [(one.offset, one.timestamp, one.key) for one in found if wanted[0] <= one.offset < wanted[1]]


def read(data: bytes, wanted: tuple[int, int], columns: Columns) -> Rows | None:
    """What compiled code reads; None if it refuses."""
    header = BatchHeader._make(HEADER.unpack_from(data))
    try:
        if columns._read(header, data) == REFUSED:
            return None
    except JavaException:
        return None
    columns.add(header, data)
    if not columns.records:
        return []
    piece = columns.cut()
    assert set(piece.producers.tolist()) == {header.producer_id}
    piece.keys.validate(full=True)
    return list(zip(piece.offsets.tolist(), piece.timestamps_ms.tolist(), piece.keys.to_pylist(), strict=True))


@pytest.mark.parametrize("codec", list(Codec))
def test_compiled_batch_reader_reads_the_records_of_the_reference_decoder_with_every_codec(codec: Codec) -> None:
    draws, columns = random.Random(codec.value), Columns(*EVERYTHING)
    for _ in range(40):
        data = made(draws, codec)
        expected = by_reference(data, EVERYTHING)
        assert expected
        assert read(data, EVERYTHING, columns) == expected
        first = draws.choice(expected)[0]
        wanted = first, first + draws.randrange(9)
        assert read(data, wanted, Columns(*wanted)) == by_reference(data, wanted)


def test_compiled_batch_reader_reads_or_rejects_damaged_batches_as_the_reference_decoder_does() -> None:
    """Compiled code never reads what the reference refuses, nor anything else than it reads."""
    draws, columns = random.Random(5), Columns(*EVERYTHING)
    both = refused = 0
    for _ in range(3_000):
        records = [NewRecord(1_700_000_000_000 + n, draws.choice([None, b"key"]), b"v", (Header(b"h", b"x"),) * (n % 2))
                   for n in range(draws.choice([1, 3]))]  # fmt: skip
        data = bytearray(encode_batch(NewBatch(records=records, codec=Codec.NONE)))
        for _ in range(draws.choice([1, 1, 2])):
            data[draws.randrange(57, len(data))] = draws.choice([0, 1, 2, 0x7F, 0x80, 0xFF, draws.randrange(256)])
        struct.pack_into(">I", data, 17, crc32c(bytes(data[21:])))
        expected = by_reference(bytes(data), EVERYTHING)
        found = read(bytes(data), EVERYTHING, columns)
        assert found is None or found == expected
        both += found is not None
        refused += found is None and expected is None
        assert not expected or found is not None  # nothing well-formed is left to the slow reference
    assert both > 500
    assert refused > 500


@pytest.mark.parametrize("delta", ["8280808070", "ffffffff0f", "feffffff0f", "80808080808001", "8080"])
@pytest.mark.parametrize("time", ["00", "ffffffffffffffffff01", "feffffffffffffffff01", "ffffffffffffffffffff01"])
def test_compiled_batch_reader_truncates_or_rejects_long_varints_as_the_reference_decoder_does(
    delta: str, time: str
) -> None:
    """Of a varint, bits beyond the 32nd are dropped; of a varlong, those beyond the 64th."""
    body = bytes.fromhex(f"00{time}{delta}010100")
    data = bytearray(encode_batch(NewBatch(records=[NewRecord(1, b"k", b"v")], base_offset=10, codec=Codec.NONE))[:61])
    data += bytes([2 * len(body)]) + body
    struct.pack_into(">i", data, 8, len(data) - 12)
    everything = -(2**63), 2**63 - 1
    expected = by_reference(bytes(data), everything)
    assert read(bytes(data), everything, Columns(*everything)) == expected
    assert (expected is None) == (delta in {"80808080808001", "8080"} or len(time) > 20)


def test_empty_batch_has_no_records_and_unknown_codec_raises() -> None:
    data = bytearray(encode_batch(NewBatch(records=[NewRecord(1, b"k", b"v")], codec=Codec.NONE)))
    empty = data[:57] + struct.pack(">i", 0)
    struct.pack_into(">i", empty, 8, len(empty) - 12)
    columns = Columns(*EVERYTHING)
    columns.add(BatchHeader._make(HEADER.unpack_from(empty)), bytes(empty))
    assert columns.records == 0
    data[22] |= 7
    with pytest.raises(JavaException, match="Unknown compression type id: 7"):
        columns.add(BatchHeader._make(HEADER.unpack_from(data)), bytes(data))
