"""The question of ``record-sizes``, how such questions are made, and the small spaces that are asked whole.

Sizes change at the ends of varints, so lengths, deltas and counts are taken from both sides of each: zig-zag leaves the
first byte at 2^6, the next at 2^13, and so on. Whether there is room changes at one byte, so the size of a batch is close
to the sum of some of its records. That sum is computed here separately: with the sum of the reference, a mistake in it
could choose questions that do not show the mistake.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from hypothesis import strategies as st

from kafka_conformance.core.protocol import Hex, Int32, Question

__all__ = [
    "AskedField", "AskedRecord", "Length", "Measured", "RecordSizesQuestion", "Utf16", "every_batch_size", "every_header",
    "every_length", "every_observation", "every_ratio", "every_varint", "number", "questions",
]  # fmt: skip

Codec: TypeAlias = Literal["none", "gzip"]
Magic: TypeAlias = Literal[0, 1, 2]

_EXACT = 2**53
_INT_MAX, _LONG_MAX = 2**31 - 1, 2**63 - 1
_CODECS: tuple[Codec, ...] = ("none", "gzip")
_MAGICS: tuple[Magic, ...] = (2, 1, 0)
_LARGEST = 1 << 20
Int64: TypeAlias = (
    Annotated[int, msgspec.Meta(ge=-_EXACT, le=_EXACT)]
    | Annotated[str, msgspec.Meta(pattern=r"^-?[0-9]{1,19}$(?![\s\S])")]
)


class Length(Question, frozen=True):
    """A field of zero bytes."""

    length: Annotated[int, msgspec.Meta(ge=0, le=2 * _LARGEST)]
    """The length in bytes."""


class Utf16(Question, frozen=True):
    """The name of a header that is not Unicode text."""

    utf16: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{4})*$(?![\s\S])")]
    """The name in UTF-16, big-endian, as hex."""


AskedField: TypeAlias = Hex | Length | None
AskedHeaders: TypeAlias = tuple[tuple[str | Utf16, AskedField], ...]


class AskedRecord(Question, frozen=True, omit_defaults=True):
    """A record of the batch."""

    timestamp: Int64 = 0
    """The timestamp in ms, at least -1."""
    key: AskedField = None
    """The serialized key."""
    value: AskedField = None
    """The serialized value."""
    headers: AskedHeaders = ()
    """The headers: name and value of each. They have no effect up to 0.10.2.x."""


class Measured(Question, frozen=True, omit_defaults=True):
    """A record without headers, by its lengths alone."""

    offset_delta: Int32 = 0
    """Its offset minus the base offset of the batch."""
    timestamp_delta: Int64 = 0
    """Its timestamp minus the first timestamp of the batch."""
    key: Annotated[int, msgspec.Meta(ge=0, le=_INT_MAX)] | None = None
    """The length of the key in bytes; null: no key."""
    value: Annotated[int, msgspec.Meta(ge=0, le=_INT_MAX)] | None = None
    """The length of the value in bytes; null: no value."""


_Compressed: TypeAlias = Annotated[int, msgspec.Meta(ge=64, le=_LARGEST)]
_Uncompressed: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=_INT_MAX)]


class RecordSizesQuestion(Question, frozen=True, omit_defaults=True):
    """A batch, its records in order, lengths to measure, and observed compression."""

    records: Annotated[tuple[AskedRecord, ...], msgspec.Meta(min_length=1)]
    """The records, in order."""
    batch_size: Annotated[int, msgspec.Meta(ge=0, le=_LARGEST)] = 16384
    """``batch.size``, in bytes."""
    compression: Codec = "none"
    """``compression.type``."""
    ratio: Annotated[float, msgspec.Meta(ge=-1e9, le=1e9)] = 1.0
    """The compression ratio that is expected of the topic, a 32-bit float."""
    magic: Magic = 2
    """The format of the batch; it has no effect up to 0.10.2.x, which writes 1."""
    measured: tuple[Measured, ...] = ()
    """Lengths to measure, without a batch."""
    observed: tuple[tuple[_Compressed, _Uncompressed], ...] = ()
    """Batches that were observed, in order: their bytes after compression and before it."""


def number(value: int) -> int | str:
    """An int64 as JSON takes it: beyond 2^53 as text."""
    return value if -_EXACT <= value <= _EXACT else str(value)


def _around(bits: int) -> Iterator[int]:
    """Both sides of every end of a zig-zag varint of ``bits`` bits, and of 7-bit ends without the zig-zag."""
    yield 0
    for shift in sorted({*range(6, bits, 7), *range(7, bits, 7), bits - 1}):
        for value in (2**shift - 1, 2**shift, 2**shift + 1):
            yield from (each for each in (value, -value) if -(2 ** (bits - 1)) <= each < 2 ** (bits - 1))
    yield -(2 ** (bits - 1))


_INTS = tuple(dict.fromkeys(_around(32)))
_LONGS = tuple(dict.fromkeys(_around(64)))
_LENGTHS = tuple(length for length in _INTS if 0 <= length <= 16385)
_TIMES = tuple(time for time in _LONGS if time >= 0)
_HALVES = (
    "d800", "dbff", "dc00", "dfff", "d8000061", "0061d800", "dc00d800", "d800d800dc00", "d800dc00dc00", "d800d83dde00",
)  # fmt: skip
_NAMES: tuple[str | Utf16, ...] = (
    "", "a", "name", "\x7f", "\x80", "߿", "ࠀ", "￿", "\U00010000", "\U0010ffff", "h\u00e9", "😀" * 16,
    "a" * 63, "a" * 64, "é" * 32, *map(Utf16, _HALVES),
)  # fmt: skip
_FIELDS: tuple[AskedField, ...] = (None, "", "61", *map(Length, (5, 63, 64, 65, 127, 128)))
_ONE = (AskedRecord(),)

# Ratios: the first of each era, what follows them, what no float holds exactly, below 0 as to 2.4, and beyond all sense.
_RATIOS = (1.0, 0.5, 0.995, 0.1, 0.3333, 0.75, 1.05, 1.1, 0.0, -0.005, -0.5, 2.0, 3.7, 1e-9, 2e7, 1e9, -1e9)
_OBSERVED = tuple(
    (compressed, uncompressed)
    for compressed in (64, 99, 1000, 16385, _LARGEST)
    for uncompressed in (1, 63, 64, 65, 1000, 1001, 1003, 16384, 16777217, _INT_MAX)
)


def _length(asked: AskedField) -> int:
    return 0 if asked is None else asked.length if isinstance(asked, Length) else len(asked) // 2


def _plain_size(record: AskedRecord, magic: int) -> int:
    """Roughly its size: right for a record among the first 64, soon after the first, with short fields and no headers."""
    fields = _length(record.key) + _length(record.value)
    return 26 + 8 * magic + fields if magic < 2 else 7 + fields + 2 * len(record.headers)


def _near(records: Sequence[AskedRecord], magic: int, ratio: float | None, more: int) -> int:
    """A batch size that the records come to but for a few bytes; ``ratio`` is None without compression."""
    *before, last = [_plain_size(record, magic) for record in records]
    overhead = 61 if magic == 2 else 0 if ratio is None else 26 + 8 * magic
    packed = sum(before) if ratio is None else int(sum(before) * ratio * 1.05)
    return min(max(overhead + packed + last + more, 0), _LARGEST)


# A byte names one of these; the first are the simplest. None stands for one that the next four bytes spell.
_PLAIN = (
    AskedRecord(), AskedRecord(0, None, "61"), AskedRecord(1, "61", "61"), None, AskedRecord(0, "", ""), None,
    AskedRecord(5, None, Length(20)), AskedRecord(0, Length(64), None), None, AskedRecord(-1, None, Length(300)),
    AskedRecord(1, None, Length(9)), AskedRecord(0, None, "", (("a", None),)), None, AskedRecord(100, "61", Length(16384)),
)  # fmt: skip
_ANY_FIELD: tuple[AskedField, ...] = (*_FIELDS, None, "", *map(Length, _LENGTHS), *map(Length, range(2, 200)))
_ANY_TIME = tuple(map(number, (0, 1, -1, *_TIMES, *range(2, 150), *(3**power for power in range(5, 40)))))
_ANY_HEADERS: tuple[AskedHeaders, ...] = (
    (), (), *(((name, None),) for name in _NAMES), *(((name, "61"), ("b", Length(64))) for name in _NAMES),
    *((("", None),) * count for count in (2, 3, 62, 63, 64, 65, 127, 128)), *((("k", Length(size)),) for size in _LENGTHS),
)  # fmt: skip


def _spelled(letters: bytes) -> Iterator[AskedRecord]:
    """The records that the letters spell, at least one."""
    rest = iter(letters)
    for letter in rest:
        if plain := _PLAIN[letter % len(_PLAIN)]:
            yield plain
        else:
            time, key, value, headers = (next(rest, 0) for _ in range(4))
            yield AskedRecord(
                _ANY_TIME[time % len(_ANY_TIME)], _ANY_FIELD[key % len(_ANY_FIELD)], _ANY_FIELD[value % len(_ANY_FIELD)],
                _ANY_HEADERS[headers % len(_ANY_HEADERS)],
            )  # fmt: skip


_LETTERS = st.binary(min_size=1, max_size=24)
_RATIO = st.one_of(st.sampled_from(_RATIOS), st.floats(-1, 3, width=32), st.floats(-1e9, 1e9))
_MANY = st.sampled_from((0, 0, 0, 0, 0, 0, 64, 65, 63))
_SETTINGS = st.tuples(st.sampled_from(_CODECS), st.sampled_from(_MAGICS[:1] * 2 + _MAGICS))
_MORE = st.sampled_from((0, 1, -1, 2, -2, 14, 13, 15, -7, 40))
_SIZES = st.one_of(st.none(), st.none(), st.sampled_from((0, 1, 61, 82, 83, 16384, _LARGEST)), st.integers(0, 400))


@st.composite
def questions(draw: st.DrawFn) -> RecordSizesQuestion:
    """Batches of any records, most often with a size that they just fit in, or just do not."""
    compression, magic = draw(_SETTINGS)
    ratio = draw(_RATIO) if compression == "gzip" else 1.0
    records = [*_spelled(draw(_LETTERS))]
    if many := draw(_MANY):
        records = [AskedRecord()] * many + records[:2]
    if (size := draw(_SIZES)) is None:
        size = _near(records, magic, None if compression == "none" else ratio, draw(_MORE))
    return RecordSizesQuestion(tuple(records), size, compression, ratio, magic)


def every_varint() -> Iterator[RecordSizesQuestion]:
    """All ends of offset and timestamp deltas, and of lengths of keys and values up to the last int."""
    lengths = (None, *(length for length in _INTS if length >= 0))
    every = [Measured(offset, number(time)) for offset, time in product(_INTS, _LONGS)]
    every += [Measured(0, 0, key, value) for key, value in product(lengths, lengths)]
    every += [
        Measured(offset, number(time), 57 - more) for offset, time, more in product(_INTS, _LONGS[:20], range(20))
    ]
    for magic in _MAGICS:
        for begin in range(0, len(every), 100):
            yield RecordSizesQuestion(_ONE, magic=magic, measured=tuple(every[begin : begin + 100]))


def every_length() -> Iterator[RecordSizesQuestion]:
    """Every end of a field, a name, a number of headers or records, and a delta, really appended."""
    fields: tuple[AskedField, ...] = (*_FIELDS, *map(Length, (*_LENGTHS, _LARGEST - 1, _LARGEST, _LARGEST + 1)))
    for magic, compression in product(_MAGICS, _CODECS):
        settings: dict[str, Any] = {"compression": compression, "magic": magic}
        for some in fields:
            for record in (AskedRecord(0, some), AskedRecord(0, None, some)):
                yield RecordSizesQuestion((record, AskedRecord(), record), 100, **settings)
        for time in _TIMES:
            for times in ((0, time), (time, 0), (-1, time), (time, 0, time), (0, time, time)):
                yield RecordSizesQuestion(tuple(AskedRecord(number(each)) for each in times), **settings)
        for count in (63, 64, 65, 66, *((8191, 8193) if magic == 2 else ())):
            yield RecordSizesQuestion((AskedRecord(),) * count, _LARGEST, **settings)


def every_header() -> Iterator[RecordSizesQuestion]:
    """Every kind of name and of value, every end of their lengths and of the number of headers; twice in a batch."""
    lengths = [length for length in _LENGTHS if length < 8200]
    kinds: list[AskedHeaders] = [((name, value),) for name, value in product(_NAMES, _FIELDS)]
    kinds += [(("a" * length, None),) for length in lengths]
    kinds += [(("a", Length(length)),) for length in lengths]
    kinds += [(("", None),) * count for count in (2, 62, 63, 64, 65, 127, 128, 8191, 8192)]
    for headers, compression, magic in product(kinds, _CODECS, _MAGICS[:2]):
        record = AskedRecord(0, "", "", headers)
        yield RecordSizesQuestion((AskedRecord(), record, record), 16384, compression, 1.0, magic)
        if len(headers) < 100:
            yield RecordSizesQuestion((record, AskedRecord()), 0, compression, 1.0, magic)


def every_batch_size() -> Iterator[RecordSizesQuestion]:
    """Batch sizes 0 to 150 × three scripts × every magic, plain and with four ratios: each fits and fits not by one byte."""
    scripts = (
        (AskedRecord(), AskedRecord(), AskedRecord(0, None, Length(20)), AskedRecord(), AskedRecord()),
        (AskedRecord(0, None, Length(60)), AskedRecord(), AskedRecord()),
        (AskedRecord(0, "61", "61"), AskedRecord(5, None, Length(5)), AskedRecord(1), AskedRecord(0, None, "")),
    )
    kinds: tuple[tuple[Codec, float], ...] = (
        ("none", 1.0),
        ("gzip", 1.0),
        ("gzip", 0.5),
        ("gzip", 0.1),
        ("gzip", -0.5),
    )
    for size, records, magic, (compression, ratio) in product(range(151), scripts, _MAGICS, kinds):
        yield RecordSizesQuestion(records, size, compression, ratio, magic)


def every_ratio() -> Iterator[RecordSizesQuestion]:
    """Estimates of 7 to 4,000 bytes and of a million, with ratios that floats and doubles take differently."""
    growing = tuple(AskedRecord(0, None, Length(length)) for length in range(60))
    longer = (AskedRecord(0, None, Length(_LARGEST)), *growing[:20])
    for ratio, records, magic in product((*_RATIOS, 0.7, 0.9, 0.35, 0.6180339), (growing, longer), _MAGICS[:2]):
        yield RecordSizesQuestion(records, _LARGEST, "gzip", ratio, magic)


def every_observation() -> Iterator[RecordSizesQuestion]:
    """Edge ratios × edge observations, alone and eight times over, so that what creeps is seen to pass what it creeps to."""
    for ratio, observed in product(_RATIOS, _OBSERVED):
        yield RecordSizesQuestion(_ONE, ratio=ratio, observed=(observed,))
        yield RecordSizesQuestion(_ONE, ratio=ratio, observed=(observed,) * 8)
    for first, second in product(_OBSERVED[::3], _OBSERVED):
        yield RecordSizesQuestion(_ONE, observed=(first, second, first))
