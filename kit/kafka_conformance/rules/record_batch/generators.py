"""Questions of ``record-batch``: batches to write, and bytes to read that are right, wrong in one part, or cut.

Damage is structural: a part of a record, a field of a header, a message of a wrapper. It is done before compression, and the
CRC is computed after it, unless the CRC itself is to be wrong; otherwise every damaged batch would fail at the same check.
No length makes Java allocate more than a few megabytes: an OutOfMemoryError depends on the heap.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from kafka_conformance.rules.record_batch.question import (
    AskedBatch,
    AskedCodec,
    AskedControl,
    AskedMagic,
    AskedProducer,
    AskedRecord,
    RecordBatchQuestion,
    number,
)
from kafka_conformance.rules.record_batch.wire import Message, RawBatch, compressed, message_set, raw_record, varint

__all__ = ["MARKER_KEYS", "MARKER_VALUES", "ODD_VARINTS", "questions"]

_INT_MAX, _LONG_MAX, _LONG_MIN = 2**31 - 1, 2**63 - 1, -(2**63)
_MOST = 1 << 16
ODD_VARINTS = (
    *map(varint, (-1, 0, 1, -2, 5, 63, 64, -64, -65, 8192, _MOST, -(2**31))),
    b"\x80\x00", b"\x81\x80\x00", b"\x80\x80\x80\x80\x00", b"\x80\x80\x80\x80\x80\x00", b"\xff\xff\xff\xff\x7f", b"\xff" * 5,
    b"\xff" * 10, b"\xff" * 9 + b"\x01", b"\x80" * 9 + b"\x02", b"",
)  # fmt: skip
"""Varints of each length, longer than needed, too long, and none."""
MARKER_KEYS = tuple(map(bytes.fromhex, (
    "00000000", "00000001", "00000002", "00000003", "00000004", "00000005", "00000006", "00000007", "0000ffff", "00010001",
    "ffff0000", "000000", "00", "", "0000000000",
)))  # fmt: skip
MARKER_VALUES = tuple(map(bytes.fromhex, (
    "000000000000", "00000000002a", "0000ffffffff", "0001000000050102", "ffff00000000", "0000000000", "0000", "00", "",
    "00000000000000",
)))  # fmt: skip


def _of_any_size(bits: int) -> st.SearchStrategy[int]:
    """Return numbers of 1 to ``bits`` bits, each size as often as any other, with any digits."""

    def number_of(seed: int) -> int:
        top = 1 << seed % bits
        return top | (seed * 0x9E3779B97F4A7C15 >> 11) % top

    return st.integers(0, 1 << 20).map(number_of)


# Numbers of every size and last digit: one that goes through a float, or through fewer bits, comes back different. Just
# above 2^n seconds a float rounds most: 1001 ms become 1.001 s, and then 1000.9999 ms.
_ABOVE_SECONDS = st.integers(0, 1 << 16).map(lambda seed: (1000 << seed % 31) + 1 + seed // 31 % 23)
_USUAL_TIMES = st.one_of(
    st.integers(0, 200), _of_any_size(45), _ABOVE_SECONDS, st.integers(1_500_000_000_000, 1_900_000_000_000),
    st.sampled_from((-1, 1_700_000_000_000, 2**31, 2**40)),
)  # fmt: skip
_TIMES = st.one_of(_USUAL_TIMES, _of_any_size(63), st.sampled_from((_LONG_MAX, -2, _LONG_MIN)))
_FIELDS = st.one_of(
    st.none(), st.binary(max_size=4), st.integers(0, 400).map(bytes),
    st.sampled_from((63, 64, 127, 128, 300, 2047, 8191, 8192)).map(bytes),
)  # fmt: skip
_DELTAS = st.sampled_from((0, 0, 1, -1, 64, -12_345, 2**40, _LONG_MAX))
_KEYS = st.sampled_from(("", "h", "key", "k\u00fc", "\u20ac", "\U0001f600", "n" * 64))
_HEADERS = st.lists(st.tuples(_KEYS, _FIELDS), max_size=2).map(tuple)
_OFFSETS = st.one_of(st.integers(0, 9), _of_any_size(62), st.sampled_from((2**31 - 1, 2**31, 2**40, _LONG_MAX - 3)))
_EPOCHS = st.one_of(st.sampled_from((-1, 0, 1, 5, 2**31 - 1)), _of_any_size(31))
_PRODUCER_EPOCHS = st.one_of(st.sampled_from((0, 1, 2**15 - 1)), _of_any_size(15))
_SEQUENCES = st.one_of(st.sampled_from((0, 5, 2**31 - 2, _INT_MAX)), _of_any_size(31))
_PRODUCERS = st.one_of(st.sampled_from((0, 7, 2**40, 2**62)), _of_any_size(62))
_CODECS = st.sampled_from(("none", "none", "gzip", "snappy", "lz4", "zstd"))
_MAGICS: tuple[AskedMagic, ...] = (2, 2, 2, 1, 0)
_COMPRESSING: tuple[AskedCodec, ...] = ("gzip", "snappy", "lz4", "zstd")
_LEVELS: dict[str, tuple[int, ...]] = {
    "gzip": (-1, 1, 6, 9, 0, 10),
    "lz4": (1, 9, 17, 0, 18),
    "zstd": (1, 3, 19, -5, 22, 23),
}


def questions() -> st.SearchStrategy[RecordBatchQuestion]:
    """Return a strategy for questions: to encode, to compress, and, mostly, to decode."""
    return st.one_of(
        _batches(compress=False).map(lambda batch: RecordBatchQuestion(encode=batch)),
        _batches(compress=True).map(lambda batch: RecordBatchQuestion(compress=batch)),
        _data().map(lambda data: RecordBatchQuestion(decode=data.hex())),
        _data().map(lambda data: RecordBatchQuestion(decode=data.hex())),
    )


@st.composite
def _batches(draw: st.DrawFn, *, compress: bool) -> AskedBatch:
    magic: AskedMagic = draw(st.sampled_from(_MAGICS))
    codec: AskedCodec = draw(st.sampled_from(_COMPRESSING)) if compress else "none"
    rare = draw(st.integers(0, 3)) == 0
    times = _TIMES if rare else _USUAL_TIMES
    base = draw(_OFFSETS)
    records: list[AskedRecord] = []
    offset = base
    for _ in range(draw(st.integers(0, 4))):
        jump = draw(
            st.sampled_from((None, None, None, 1, 2, 1000, 2**31 - 1, 0, -1))
            if rare
            else st.one_of(st.none(), st.none(), st.integers(1, 5_000))
        )
        headers = draw(_HEADERS) if magic == 2 or rare else ()
        asked = None if jump is None or not records else offset + jump
        offset = (offset + 1 if records else base) if asked is None else asked
        records.append(
            AskedRecord(
                _hex(draw(_FIELDS)), _hex(draw(_FIELDS)), number(draw(times)),
                tuple((name, _hex(value)) for name, value in headers),
                None if asked is None else number(min(asked, _LONG_MAX)),
            )
        )  # fmt: skip
    # Java throws for most of what follows in magic 0 and 1.
    new = magic == 2 or rare
    transactional = new and draw(st.booleans())
    control = draw(st.sampled_from((False, False, False, True))) if new else False
    first: dict[str, st.SearchStrategy[int]] = {"epoch": _PRODUCER_EPOCHS, "first_sequence": _SEQUENCES}
    if rare:
        first = {name: st.one_of(values, st.sampled_from((-1, -2))) for name, values in first.items()}
    producer = st.builds(AskedProducer, id=_PRODUCERS.map(number), **first)
    return AskedBatch(
        records=() if control and not rare else tuple(records),
        magic=magic,
        compression=codec,
        level=draw(st.one_of(st.none(), st.sampled_from(_LEVELS[codec]))) if codec in _LEVELS else None,
        timestamp_type=draw(
            st.sampled_from(("create", "create", "append", "none" if magic == 0 or rare else "append"))
        ),
        log_append_time=draw(st.one_of(st.sampled_from((-1, 0, 77, 2**40)), _of_any_size(45))),
        base_offset=number(base),
        leader_epoch=draw(_EPOCHS),
        producer=draw(producer if transactional and not rare else st.one_of(st.none(), producer)) if new else None,
        transactional=transactional,
        control=AskedControl(draw(st.booleans()), draw(_EPOCHS), number(draw(times))) if control else None,
        delete_horizon=draw(st.one_of(st.sampled_from((None, None, None, 0, 5, 2**40, -1)), _of_any_size(45)))
        if new and draw(st.booleans())
        else None,
    )


@st.composite
def _data(draw: st.DrawFn) -> bytes:
    pieces = [draw(st.one_of(_new_batches(), _new_batches(), _messages())) for _ in range(draw(st.integers(1, 3)))]
    data = b"".join(pieces)
    kind = draw(st.sampled_from(("whole", "whole", "whole", "cut", "flipped", "more")))
    if kind == "cut":
        return data[: draw(st.integers(0, len(data)))]
    if kind == "flipped":
        # Only in the first header, and not in its count: a flipped length within compressed bytes is any length.
        place = draw(st.integers(0, min(56 if pieces[0][16] == 2 else 25, len(pieces[0]) - 1)))
        if pieces[0][22] & 7 == 4 and place in (10, 11):  # zstd: see the lengths that are wrong
            place = 12
        return data[:place] + bytes([data[place] ^ 1 << draw(st.integers(0, 7))]) + data[place + 1 :]
    if kind == "more":
        return data + draw(st.sampled_from((b"\0", bytes(11), bytes(12), bytes(17), bytes(30), b"\xff" * 20)))
    return data


@st.composite
def _new_batches(draw: st.DrawFn) -> bytes:
    """Draw a batch of magic 2, in half of the cases with something wrong in it."""
    wrong = draw(st.sampled_from(("", "", "", "", "record", "record", "record", "header", "header", "records", "crc")))
    codec = draw(_CODECS)
    control = draw(st.sampled_from((False, False, False, True)))
    records = [draw(_records(control=control)) for _ in range(draw(st.integers(0, 3)))]
    if wrong == "record" and records:
        # In a stream the last one: behind it any bytes would be the next size.
        place = len(records) - 1 if codec != "none" else draw(st.integers(0, len(records) - 1))
        records[place] = draw(_records(control=control, wrong=True))
    content = b"".join(records)
    if wrong == "records":
        more = draw(st.sampled_from((b"\0", b"\x01", b"\x0c", bytes(8), None)))
        content = content[: draw(st.integers(0, len(content)))] if more is None else content + more
    base = draw(_USUAL_TIMES)
    sequence = draw(st.one_of(st.just(-1), _SEQUENCES))
    kinds = draw(st.sampled_from((0, 0, 8, 0x10, 0x18, 0x40))) | (0x20 if control else 0)
    batch = RawBatch(
        compressed(codec, content), len(records), draw(_OFFSETS), base_timestamp=base, max_timestamp=draw(_USUAL_TIMES),
        leader_epoch=draw(_EPOCHS), attributes=_codec_id(codec) | kinds,
        producer_id=draw(st.one_of(st.just(-1), _PRODUCERS)),
        producer_epoch=draw(st.one_of(st.just(-1), _PRODUCER_EPOCHS)), base_sequence=sequence,
    )  # fmt: skip
    if wrong == "crc":
        return replace(batch, crc_xor=draw(st.sampled_from((1, 0x80000000, 0xFFFFFFFF)))).data()
    if wrong == "header":
        return replace(batch, **draw(_wrong_headers(codec, len(batch.records), kinds, len(records)))).data()
    return batch.data()


def _wrong_headers(codec: str, size: int, kinds: int, count: int) -> st.SearchStrategy[dict[str, Any]]:
    """Return a field of the header that is wrong. A compressed batch claims no more than 65,536 records."""
    counts = (-1, 0, count + 1, count - 1, _MOST, -(2**31), *(() if codec != "none" else (_INT_MAX,)))
    fields: dict[str, tuple[int, ...]] = {
        "count": counts,
        # Libraries of zstd differ on what they return of a frame that is cut, and of one with a byte behind it.
        "length": (*(() if codec == "zstd" else (48 + size, 50 + size)), 13, 14, 48, 49, 50, 0, -1, 2**31 - 1, -(2**31)),
        "magic": (0, 1, 3, -1, 127),
        "attributes": (*(one | kinds for one in (5, 6, 7)), 0x80 | _codec_id(codec), 0x100 | _codec_id(codec), 0xFF00,
                       0 | kinds, 1 | kinds, 2 | kinds, 3 | kinds, 4 | kinds),
        "last_offset_delta": (0, -1, 5, _INT_MAX, -(2**31)),
        "base_timestamp": (-1, -2, _LONG_MAX, _LONG_MIN),
        "max_timestamp": (-1, -2, _LONG_MAX, _LONG_MIN),
        "base_offset": (-1, _LONG_MAX, _LONG_MIN),
        "base_sequence": (-2, -(2**31), _INT_MAX),
        "producer_epoch": (-2, 2**15 - 1),
        "producer_id": (-2, _LONG_MAX, _LONG_MIN),
        "leader_epoch": (-2, -(2**31)),
    }  # fmt: skip
    return st.sampled_from([{name: value} for name, values in fields.items() for value in values])


@st.composite
def _records(draw: st.DrawFn, *, control: bool, wrong: bool = False) -> bytes:
    headers = [(name.encode(), value) for name, value in draw(_HEADERS)]
    key = draw(st.sampled_from(MARKER_KEYS)) if control else draw(_FIELDS)
    value = draw(st.sampled_from(MARKER_VALUES)) if control else draw(_FIELDS)
    replaced, more = None, 0
    if wrong:
        # Parts 3, 5 and 7 are the lengths of key and value and the count of headers, 8 the first header's key's.
        part = draw(st.sampled_from((3, 5, 7, 7, 8, 10, 1, 2, 0, 4, 6)))
        replaced = (part, draw(st.sampled_from(ODD_VARINTS)))
        more = draw(st.sampled_from((0, 0, 0, 1, -1, 100, -100, _MOST)))
    return raw_record(
        key, value, headers, timestamp_delta=draw(st.one_of(_DELTAS, _of_any_size(45))),
        offset_delta=draw(st.one_of(st.sampled_from((0, 1, 2, 64, -1, _INT_MAX)), _of_any_size(31))),
        attributes=draw(st.sampled_from((0, 0, 0, 1, 255))),
        replaced=replaced, length_more=more,
    )  # fmt: skip


@st.composite
def _messages(draw: st.DrawFn) -> bytes:
    """Draw a message set of magic 0 or 1, of single messages or of a wrapper."""
    magic = draw(st.integers(0, 1))
    if draw(st.booleans()):
        return message_set([draw(_message(magic)) for _ in range(draw(st.integers(1, 2)))])
    codec = draw(st.sampled_from(("gzip", "snappy", "lz4", "lz4", "zstd")))
    mixed = draw(st.sampled_from((False, False, False, True)))
    inner = []
    relative = draw(st.booleans())
    for place in range(draw(st.integers(0, 3))):
        each = draw(st.integers(0, 1)) if mixed else magic
        inner.append(replace(draw(_message(each, inner=True)), offset=place if relative else 100 + place))
    # A size that is wrong is that of the last message: behind it any bytes would be the next size.
    inner = [*(replace(each, size=None) for each in inner[:-1]), *inner[-1:]]
    content = message_set(inner)
    kind = draw(st.sampled_from(("", "", "", "", "cut", "more", "nested", "null", "raw")))
    if kind == "cut":
        content = content[: draw(st.integers(0, len(content)))]
    if kind == "more":
        content += draw(st.sampled_from((b"\0", bytes(12), bytes(8) + b"\0\0\0\x0e" + bytes(14), b"\xff" * 12)))
    if kind == "nested":
        nested = Message(compressed("gzip", content), magic=magic, attributes=1, offset=draw(st.integers(0, 3)))
        content = nested.data()
    value: bytes | None = compressed(codec, content, magic=magic if draw(st.integers(0, 9)) else 1 - magic)
    if kind == "null":
        value = None
    if kind == "raw":
        value = content
    last = draw(st.sampled_from((0, len(inner) - 1, 100 + len(inner) - 1, 500, _LONG_MAX)))
    attributes = _codec_id(codec) | draw(st.sampled_from((0, 0, 8)))
    return draw(
        _wrong_message(Message(value, draw(_FIELDS), max(0, last), magic, attributes, draw(_USUAL_TIMES)))
    ).data()


@st.composite
def _message(draw: st.DrawFn, magic: int, *, inner: bool = False) -> Message:
    attributes = draw(st.sampled_from((0, 0, 0, 8)))
    message = Message(draw(_FIELDS), draw(_FIELDS), draw(_OFFSETS), magic, attributes, draw(_USUAL_TIMES))
    return draw(_wrong_message(message, inner=inner))


@st.composite
def _wrong_message(draw: st.DrawFn, message: Message, *, inner: bool = False) -> Message:
    """Draw the message unchanged, or with a wrong field. Within a wrapper a size is at most 65,536 bytes."""
    if draw(st.integers(0, 4)):
        return message
    size = len(message.data()) - 12
    largest = _MOST if inner else _INT_MAX
    lengths = (-1, -2, 0, 1, 5, 1000, _INT_MAX, -(2**31))
    fields: dict[str, tuple[int, ...]] = {
        "crc_xor": (1, 0x80000000),
        "size": (size - 1, size + 1, 13, 14, 15, 0, -1, largest),
        "key_length": lengths,
        "value_length": lengths,
        "magic": (2, 3, -1, 127) if not inner else (0, 1, 3, -1, 2),
        "attributes": (1, 2, 3, 4, 5, 6, 7, 8, 16, 0x80, 0xFF),
        "timestamp": (-1, -2, _LONG_MAX, _LONG_MIN),
        "offset": (-1, _LONG_MAX, _LONG_MIN),
    }
    changes: list[dict[str, Any]] = [{name: one} for name, values in fields.items() for one in values]
    return replace(message, **draw(st.sampled_from(changes)))


def _codec_id(codec: str) -> int:
    return ("none", "gzip", "snappy", "lz4", "zstd").index(codec)


def _hex(field: bytes | None) -> str | None:
    return None if field is None else field.hex()
