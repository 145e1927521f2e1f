"""Finite spaces of ``record-batch``, asked whole: every field, part, bit, prefix, codec and level of small batches."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

from kafka_conformance.rules.record_batch.generators import MARKER_KEYS, MARKER_VALUES, ODD_VARINTS
from kafka_conformance.rules.record_batch.question import (
    AskedBatch,
    AskedControl,
    AskedProducer,
    AskedRecord,
    RecordBatchQuestion,
)
from kafka_conformance.rules.record_batch.wire import HEADER, Message, RawBatch, compressed, message_set, raw_record
from kafka_reference.java.crc32c import crc32c

__all__ = [
    "every_bit", "every_builder", "every_codec_and_level", "every_control_record", "every_end_of_records",
    "every_gzip_end", "every_header_field", "every_java_batch", "every_message_field", "every_prefix", "every_record_part",
    "every_timestamp", "every_wrapper",
]  # fmt: skip

_CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
_RECORDS = (
    raw_record(b"k", b"v", [(b"h", b"1")], timestamp_delta=-3, offset_delta=0)
    + raw_record(None, b"value", offset_delta=1, timestamp_delta=70)
)  # fmt: skip
_BATCH = RawBatch(
    _RECORDS,
    2,
    10,
    leader_epoch=4,
    base_timestamp=1000,
    max_timestamp=1070,
    producer_id=7,
    producer_epoch=1,
    base_sequence=5,
)
_INNER = (Message(b"a", b"k", 0, timestamp=3), Message(None, None, 1, timestamp=5))
_INT32 = (0, 1, -1, 2, -2, 100, 2**31 - 1, -(2**31))
_INT64 = (*_INT32, 2**31, 2**53 + 1, 2**63 - 1, -(2**63))


def _decode(data: bytes) -> RecordBatchQuestion:
    return RecordBatchQuestion(decode=data.hex())


def _changed(part: Any, name: str, value: int) -> Any:
    return replace(part, **{name: value})


def _coded(batch: RawBatch, codec: str, attributes: int = 0) -> RawBatch:
    return replace(batch, records=compressed(codec, batch.records), attributes=_CODECS.index(codec) | attributes)


def _wrapper(messages: tuple[Message, ...], codec: str, magic: int = 1, **fields: Any) -> Message:
    value = compressed(codec, message_set(messages), magic=magic)
    given = {"attributes": _CODECS.index(codec), "offset": 11, **fields}
    return Message(value, None, magic=magic, **given)


def every_header_field() -> Iterator[RecordBatchQuestion]:
    """Yield a batch of each codec with each field of its header at each end of its range; the CRC matches."""
    ends: dict[str, tuple[int, ...]] = {
        "base_offset": _INT64, "leader_epoch": _INT32, "last_offset_delta": _INT32, "base_timestamp": _INT64,
        "max_timestamp": _INT64, "producer_id": _INT64, "producer_epoch": (0, -1, -2, 2**15 - 1, -(2**15)),
        "base_sequence": (*_INT32, 2**31 - 2), "crc_xor": (1, 0x80000000), "magic": (0, 1, 3, 4, -1, -128, 127),
    }  # fmt: skip
    for codec in _CODECS:
        batch = _coded(_BATCH, codec)
        for name, values in ends.items():
            for value in values:
                yield _decode(_changed(batch, name, value).data())
        for count in (0, 1, 3, -1, -(2**31), *((2**31 - 1,) if codec == "none" else (70_000,))):
            yield _decode(replace(batch, count=count, last_offset_delta=1).data())
        for size in (0, -1, 13, 14, 16, 17, 37, 48, 49, 50, 2**31 - 1, 2**31 - 12, 2**31 - 13, -(2**31)):
            yield _decode(replace(batch, length=size).data() + _BATCH.data())
            yield _decode(replace(batch, length=size).data()[: 12 + max(0, min(size, 90))])
        for attributes in (*range(0, 256, 8), 0x100, 0x8000, 0xFF00):
            yield _decode(replace(batch, attributes=batch.attributes | attributes).data())
    for length in range(12, 20):  # up to 1.x the magic is read where the size overflows
        for size in (2**31 - 1, 2**31 - 12, 2**31 - 13):
            yield _decode(replace(_BATCH, length=size).data()[:length])
    for attributes in range(8):  # the codec is another than the one that the records have
        yield _decode(replace(_BATCH, attributes=attributes).data())


def every_record_part() -> Iterator[RecordBatchQuestion]:
    """Yield two records; each part of the first is replaced by each odd varint, uncompressed and with gzip."""
    second = raw_record(b"2", b"3", offset_delta=1)
    for codec in ("none", "gzip"):
        for part, odd in product(range(12), ODD_VARINTS):
            wrong = raw_record(b"k", b"v", [(b"h", b"1")], replaced=(part, odd))
            for records, count in ((wrong + second, 2), (wrong, 1)):
                yield _decode(_coded(RawBatch(records, count), codec).data())
        for more in (-20, -3, -2, -1, 1, 2, 3, 8, 9, 100, 1000, 70_000):
            for headers in ((), ((b"h", None),)):
                wrong = raw_record(b"k", b"v", headers, length_more=more)
                yield _decode(_coded(RawBatch(wrong + second, 2), codec).data())
                yield _decode(_coded(RawBatch(wrong, 1), codec).data())


def every_end_of_records() -> Iterator[RecordBatchQuestion]:
    """Yield batches with an odd varint before the records, with bytes behind them, and with each part of them.

    Also records of about 2 KB: from 2.4.0 to 3.5.x keys and values are skipped through a buffer of that size.
    """
    for codec, length in product(("gzip", "lz4"), range(2034, 2054)):
        for records in (raw_record(bytes(length), b"v"), raw_record(bytes(length), b"v", [(b"h", bytes(3000))])):
            yield _decode(_coded(RawBatch(records, 1), codec).data())
    for codec in ("none", "gzip"):
        for before in ODD_VARINTS:
            yield _decode(_coded(RawBatch(before + _RECORDS, 2), codec).data())
        for behind in (b"\0", b"\x01", b"\x0c", bytes(12)):
            yield _decode(_coded(replace(_BATCH, records=_RECORDS + behind), codec).data())
        for length in range(len(_RECORDS)):
            yield _decode(_coded(replace(_BATCH, records=_RECORDS[:length]), codec).data())
    for codec in ("snappy", "lz4", "zstd"):
        for length in range(0, len(_RECORDS), 3):
            yield _decode(_coded(replace(_BATCH, records=_RECORDS[:length]), codec).data())


def every_bit() -> Iterator[RecordBatchQuestion]:
    """Yield a batch and a message with each bit flipped, and with the CRC computed again."""
    batch, message = RawBatch(raw_record(b"k", b"v"), 1).data(), Message(b"v", b"k", 7, timestamp=1).data()
    for place, bit in product(range(len(batch)), range(8)):
        flipped = _flipped(batch, place, bit)
        yield _decode(flipped)
        if place > 20:
            yield _decode(flipped[:17] + crc32c(flipped[21:]).to_bytes(4, "big") + flipped[21:])
    for place, bit in product(range(len(message)), range(8)):
        flipped = _flipped(message, place, bit)
        yield _decode(flipped)
        if place > 15:
            yield _decode(flipped[:12] + zlib.crc32(flipped[16:]).to_bytes(4, "big") + flipped[16:])


def _flipped(data: bytes, place: int, bit: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]


def every_prefix() -> Iterator[RecordBatchQuestion]:
    """Yield each prefix of two batches, of a message set, and of a wrapper; the compressed bytes of each codec, cut."""
    wrapper = _wrapper(_INNER, "gzip").data()
    for data in (_BATCH.data() + RawBatch(raw_record(), 1, 12).data(), message_set(_INNER) + _BATCH.data(), wrapper):
        for length in range(len(data)):
            yield _decode(data[:length])
    for codec in _CODECS[1:]:
        stream = compressed(codec, _RECORDS)
        # Libraries of zstd differ on what they return of a frame that is cut, and of one with a byte behind it.
        for length in range(20 if codec == "zstd" else len(stream)):
            yield _decode(replace(_coded(_BATCH, codec), records=stream[:length]).data())
            if codec != "zstd" and length % 3 == 0:
                yield _decode(replace(_wrapper(_INNER, codec), value=stream[:length]).data())
        headless = () if codec == "zstd" else (b"\0", stream[:10], stream[:12], stream[:18])
        for more in (*headless, bytes(8), bytes(20), stream):
            yield _decode(replace(_coded(_BATCH, codec), records=stream + more).data())


def every_message_field() -> Iterator[RecordBatchQuestion]:
    """Yield a message of magic 0 and 1, alone and in a wrapper, with each field at each end of its range."""
    lengths = (-1, -2, 0, 1, 2, 5, 6, 1000, 2**31 - 1, -(2**31))
    for magic in (0, 1):
        message = Message(b"v", b"k", 3, magic, timestamp=1000)
        size = len(message.data()) - 12
        ends: dict[str, tuple[int, ...]] = {
            "offset": _INT64, "timestamp": _INT64, "attributes": tuple(range(256)), "crc_xor": (1, 0x80000000),
            "size": (size - 1, size + 1, 0, 13, 14, 15, 21, 22, -1), "key_length": lengths, "value_length": lengths,
            "magic": (0, 1, 2, 3, -1, 127),
        }  # fmt: skip
        for name, values in ends.items():
            for value in values:
                wrong = _changed(message, name, value)
                yield _decode(wrong.data() + message.data())
                if name != "attributes" or value < 16:
                    for attributes in (1, 1 | 8):
                        # Behind a wrong size any bytes would be the next one.
                        inner = (message, wrong) if name == "size" else (wrong, message)
                        yield _decode(_wrapper(inner, "gzip", magic, attributes=attributes).data())
        for size in (2**31 - 1, 2**31 - 12, -(2**31), 100):
            yield _decode(replace(message, size=size).data())


def every_wrapper() -> Iterator[RecordBatchQuestion]:
    """Yield wrappers of each codec and magic: inner magics, offsets, timestamps of the broker, nesting, what is cut off."""
    for codec, magic in product(("gzip", "snappy", "lz4", "zstd"), (0, 1)):
        for inner, first, offset in product((0, 1), (0, 1, 100), (0, 1, 2, 100, 101, 500, 2**63 - 1, -1)):
            messages = tuple(replace(one, magic=inner, offset=first + place) for place, one in enumerate(_INNER))
            yield _decode(_wrapper(messages, codec, magic, offset=offset, timestamp=77).data())
        for attributes, timestamp in product((0, 8), (-1, 0, 77)):
            given = _CODECS.index(codec) | attributes
            yield _decode(_wrapper(_INNER, codec, magic, attributes=given, timestamp=timestamp).data())
        # lz4 of magic 0 has another checksum; then nothing, a part of a message, and a wrapper within the wrapper.
        content = message_set(_INNER)
        for value in (compressed(codec, content, magic=1 - magic), None, b"", content, compressed(codec, b"")):
            yield _decode(replace(_wrapper(_INNER, codec, magic), value=value).data())
        for length in range(0, len(content), 5):
            value = compressed(codec, content[:length], magic=magic)
            yield _decode(replace(_wrapper(_INNER, codec, magic), value=value).data())
        for within in ("gzip", "snappy"):
            nested = _wrapper(_INNER, within, magic, offset=1)
            yield _decode(_wrapper((_INNER[0], nested), codec, magic).data())
            yield _decode(_wrapper((nested,), codec, magic).data())


def every_control_record() -> Iterator[RecordBatchQuestion]:
    """Yield a control batch with each key and value of a marker, and an ordinary batch with the same."""
    for key, value in product((*MARKER_KEYS, None), (*MARKER_VALUES, None)):
        yield _decode(RawBatch(raw_record(key, value), 1, attributes=0x30, producer_id=7, producer_epoch=0).data())


def every_builder() -> Iterator[RecordBatchQuestion]:
    """Yield batches to encode: magic, timestamp type, producer, transaction, control record and delete horizon."""
    records = (AskedRecord("00", "01", 5), AskedRecord(None, None, 3))
    producers = (
        None, AskedProducer(7, 0, 0), AskedProducer(7, -1, 0), AskedProducer(7, 0, -1), AskedProducer(-1, 3, 4),
        AskedProducer(7, -2, -2), AskedProducer(7, 2**15 - 1, 2**31 - 1),
    )  # fmt: skip
    kinds: tuple[Any, ...] = ("create", "append", "none")
    magics: tuple[Any, ...] = (0, 1, 2)
    for magic, kind, producer, transactional in product(magics, kinds, producers, (False, True)):
        for control, horizon in product((None, AskedControl(True, 3, 9)), (None, 8)):
            for content in ((), records):
                yield RecordBatchQuestion(
                    encode=AskedBatch(
                        content, magic, timestamp_type=kind, log_append_time=50, producer=producer,
                        transactional=transactional, control=control, delete_horizon=horizon,
                    )
                )  # fmt: skip
    for magic, kind, time in product(magics, kinds, (-1, -2)):
        for headers in ((), (("h", "00"),)):
            one = AskedRecord("00", "01", 5, headers)
            yield RecordBatchQuestion(encode=AskedBatch((one,), magic, timestamp_type=kind, log_append_time=time))
    edges: tuple[Any, ...] = (0, -1, -2, 1, 63, 64, 2**40, str(2**63 - 1), str(-(2**63)))
    for first, second in product(edges, edges):
        for magic in magics[1:]:
            times = (AskedRecord("00", None, first), AskedRecord(None, "00", second))
            yield RecordBatchQuestion(encode=AskedBatch(times, magic))
        if not isinstance(first, str):
            later = (AskedRecord("00"), AskedRecord("01", offset=second))
            yield RecordBatchQuestion(encode=AskedBatch(later, base_offset=first))
    for horizon in (0, -1, -2, 2**40):
        yield RecordBatchQuestion(encode=AskedBatch(records, delete_horizon=horizon))


def every_timestamp() -> Iterator[RecordBatchQuestion]:
    """Yield batches to encode with timestamps of each size and last digit.

    They are just above 2^n seconds, where a float rounds most: 1001 ms become 1.001 s, and then 1000.9999 ms.
    """
    magics: tuple[Any, ...] = (1, 2)
    for shift, magic in product(range(43), magics):
        stamps = tuple(AskedRecord("00", None, (1000 << shift) + digit) for digit in range(10))
        yield RecordBatchQuestion(encode=AskedBatch(stamps, magic))


def every_codec_and_level() -> Iterator[RecordBatchQuestion]:
    """Yield batches to compress: each codec and magic, each level around its range, few and many records."""
    few = (AskedRecord("6b", "76" * 10, 5, (("h", "00"),)), AskedRecord(None, None, 3))
    many = tuple(AskedRecord(f"{number:04x}", f"{number % 7:02x}" * 200, number) for number in range(100))
    levels = {"gzip": range(-2, 11), "lz4": range(19), "zstd": (-131073, -131072, -7, *range(24))}
    magics: tuple[Any, ...] = (2, 1, 0)
    for codec, magic in product(_CODECS[1:], magics):
        asked: Any = codec
        plain = tuple(_without_headers(one) if magic < 2 else one for one in few)
        kind: Any = "none" if magic == 0 else "create"
        for records in ((), plain, many):
            yield RecordBatchQuestion(compress=AskedBatch(records, magic, asked, timestamp_type=kind))
        yield RecordBatchQuestion(
            compress=AskedBatch(plain, magic, asked, timestamp_type="append", log_append_time=50, base_offset=40)
        )
        for level in levels.get(codec, ()):
            yield RecordBatchQuestion(compress=AskedBatch(plain, magic, asked, level, kind))
    for codec, level in (("gzip", 1), ("gzip", 9), ("lz4", 1), ("lz4", 17), ("zstd", 1), ("zstd", 22)):
        asked = codec
        yield RecordBatchQuestion(compress=AskedBatch(many, 2, asked, level))


def _without_headers(record: AskedRecord) -> AskedRecord:
    return AskedRecord(record.key, record.value, record.timestamp)


def every_gzip_end() -> Iterator[RecordBatchQuestion]:
    """Yield gzip streams with a fault behind a record, and with members that start around the end of Java's first read."""
    first, second = raw_record(b"k", bytes(30)), raw_record(b"2", b"3", offset_delta=1)
    stored = first + second[:3]
    block = b"\0" + len(stored).to_bytes(2, "little") + (len(stored) ^ 0xFFFF).to_bytes(2, "little") + stored
    for fault in (b"\x07", b"\x07\0\0", b"", b"\0\1\0\1\0", b"\x05\xff\xff"):
        stream = compressed("gzip", b"")[:10] + block + fault
        for count in (1, 2):
            yield _decode(replace(_BATCH, records=stream, attributes=1, count=count).data())
    # The inflater is given 8 KB behind the header; of a member, 26 bytes or fewer may be left of that.
    for left in (0, 7, 8, 18, 19, 26, 27, 40):
        size = 8192 - 5 - left
        value = next(length for length in range(size - 20, size) if len(raw_record(b"k", bytes(length))) == size)
        stream = compressed("gzip", raw_record(b"k", bytes(value)))
        for tail in (compressed("gzip", second), compressed("gzip", second)[:10], b"\x1f\x8b\x08", bytes(30)):
            yield _decode(replace(_BATCH, records=stream + tail, attributes=1).data())


@cache
def _java_batches() -> tuple[dict[str, Any], ...]:
    text = files(__package__).joinpath("java_batches.json").read_text(encoding="utf-8")
    return tuple(json.loads(text)["batches"])


def every_java_batch() -> Iterator[RecordBatchQuestion]:
    """Yield batches that Java compressed: each codec, magic and level, of an early release and of the newest; some cut."""
    for batch in _java_batches():
        data = bytes.fromhex(batch["bytes"])
        yield _decode(data)
        if batch["magic"] == 2 and batch["codec"] != "zstd" and batch["content"] == "few":
            for length in range(HEADER, len(data)):
                cut = data[:8] + (length - 12).to_bytes(4, "big") + data[12:length]
                yield _decode(cut[:17] + crc32c(cut[21:]).to_bytes(4, "big") + cut[21:])
