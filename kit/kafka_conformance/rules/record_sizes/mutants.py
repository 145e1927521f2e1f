"""Mistakes in sizes: in a varint, in the parts of a record, in the limit of a batch, in a float.

Each is put into the reference itself: a function, a method or a behaviour of it is replaced while it answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.record_sizes.rule import RULE
from kafka_reference.accumulator import ratios, sizes
from kafka_reference.accumulator.behaviour import MemoryRecordsBuilderBehaviour
from kafka_reference.accumulator.sizes import BatchSize, Headers, SizedRecord
from kafka_reference.behaviour import overridden
from kafka_reference.java.int32 import int32
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["MUTANTS"]


def _but(target: Any, **mistakes: Any) -> Ask:
    """The rule, with other attributes in a module or class of the reference."""

    def ask(question: Any, release: Release) -> Answer:
        with patch.multiple(target, **mistakes):
            return RULE.ask(question, release)

    return ask


def _with(**fields: Any) -> Ask:
    """The rule, with other values in the behaviour record of sizes."""

    def ask(question: Any, release: Release) -> Answer:
        with overridden(MemoryRecordsBuilderBehaviour, **fields):
            return RULE.ask(question, release)

    return ask


def _unsigned(value: int, bits: int = 64) -> int:
    return max(1, ((value & (1 << bits) - 1).bit_length() + 6) // 7)


def _in_32_bits(value: int) -> int:
    return _VARLONG_SIZE(int32(value))


def _field_unsigned(length: int | None) -> int:
    return 1 if length is None else _unsigned(length) + length


def _fields_uncounted(key: int | None, value: int | None, headers: Headers) -> int:
    named = sum(sizes._field(sizes.utf8_length(name)) + sizes._field(length) for name, length in headers)  # noqa: SLF001
    return sizes._field(key) + sizes._field(value) + named  # noqa: SLF001


def _fields_as_if(key: int | None, value: int | None, headers: Headers) -> int:
    """Headers without a value take no bytes."""
    return _FIELDS(key, value, [header for header in headers if header[1] is not None])


_FIELDS, _VARLONG_SIZE = sizes._fields, sizes.varlong_size
_RECORD_SIZE, _UPPER_BOUND, _APPEND = (
    sizes.record_size, sizes.upper_bound, BatchSize.append,
)  # fmt: skip


def _without_its_length(*record: Any) -> int:
    size = _RECORD_SIZE(*record)
    return size - next(length for length in range(1, 6) if sizes.varint_size(size - length) == length)


def _no_offset(_: int, *others: Any) -> int:
    return _RECORD_SIZE(0, *others)


def _append_and_move(batch: BatchSize, record: SizedRecord) -> None:
    _APPEND(batch, record)
    batch._first_timestamp = record.timestamp  # noqa: SLF001


def _append_and_sort(batch: BatchSize, record: SizedRecord) -> None:
    _APPEND(batch, record)
    batch._first_timestamp = min(batch._first_timestamp or 0, record.timestamp)  # noqa: SLF001


def _by_doubles(uncompressed: int, ratio: float, _: int = 32) -> int:
    return int(uncompressed * ratio * 1.05)


def _rounded(uncompressed: int, ratio: float, bits: int = 32) -> int:
    exact = ratios.float32(ratios.float32(uncompressed * ratio) * ratios.float32(1.05))
    last = 1 << bits - 1
    return max(-last, min(round(exact), last - 1))


def _no_reserve(uncompressed: int, ratio: float, _: int = 32) -> int:
    return int(ratios.float32(uncompressed * ratio))


def _room(taken: Callable[[BatchSize, SizedRecord], bool]) -> Ask:
    """The rule, with another condition for room in a batch that is not full."""

    def has_room_for(batch: BatchSize, record: SizedRecord) -> bool:
        return not batch.closed and not batch.full and taken(batch, record)

    return _but(BatchSize, has_room_for=has_room_for)


def _size(batch: BatchSize, record: SizedRecord) -> int:
    return batch._size(record)  # noqa: SLF001


def _whole(batch: BatchSize, record: SizedRecord) -> bool:
    return batch.estimated + _size(batch, record) <= batch.buffer


def _below(batch: BatchSize, record: SizedRecord) -> bool:
    return batch.records == 0 or batch.estimated + _size(batch, record) < batch.buffer


def _compressed_too(batch: BatchSize, record: SizedRecord) -> bool:
    size = _size(batch, record)
    return batch.records == 0 or batch.estimated + int(size * batch.ratio if batch.compressed else size) <= batch.buffer


def _full(full: Callable[[BatchSize], bool]) -> Ask:
    return _but(BatchSize, full=property(lambda batch: batch.closed or full(batch)))


def _inner_overhead(behaviour: Any, magic: int, compressed: bool, *record: Any) -> int:
    return _UPPER_BOUND(behaviour, magic, compressed, *record) + (12 if magic < 2 and compressed else 0)


def _plain_sum(number: int) -> int:
    return number


def _mutant(slug: str, description: str, ask: Ask, release: str | Release = NEWEST, *references: str) -> Mutant:
    return Mutant(slug, RULE.slug, description, ask, parse_release(release), references)


_ZIG_ZAG = "https://github.com/aio-libs/aiokafka/pull/1178"
_INT32_DELTAS = (
    "https://github.com/kafka-protocol-rs/kafka-protocol-rs/issues/158", "https://github.com/twmb/franz-go/issues/324",
)  # fmt: skip
_NO_HEADER = "https://github.com/thomhurst/Dekaf/issues/1349", "https://github.com/IBM/sarama/issues/2085"

MUTANTS = (
    _mutant(
        "no-zig-zag", "negative deltas take ten bytes, small ones seven bits", _but(sizes, varlong_size=_unsigned), NEWEST,
        _ZIG_ZAG,
    ),
    _mutant(
        "deltas-in-32-bits", "the delta of a timestamp is an int", _but(sizes, varlong_size=_in_32_bits), NEWEST,
        *_INT32_DELTAS,
    ),
    _mutant(
        "no-batch-header", "the 61 bytes of a batch's header do not count", _but(sizes, BATCH_OVERHEAD=0), NEWEST,
        *_NO_HEADER,
    ),
    _mutant("unsigned-lengths", "lengths are varints without the zig-zag", _but(sizes, _field=_field_unsigned)),
    _mutant("sixty-bytes", "a batch has a header of 60 bytes", _but(sizes, BATCH_OVERHEAD=60)),
    _mutant("no-record-length", "a record's own length does not count", _but(sizes, record_size=_without_its_length)),
    _mutant("no-offset-delta", "every record is as short as the first", _but(sizes, record_size=_no_offset)),
    _mutant("delta-to-previous", "the delta of a timestamp is to the one before", _but(BatchSize, append=_append_and_move)),
    _mutant("delta-to-earliest", "the delta of a timestamp is to the earliest", _but(BatchSize, append=_append_and_sort)),
    _mutant("headers-uncounted", "the number of headers does not count", _but(sizes, _fields=_fields_uncounted)),
    _mutant("header-without-value", "a header without a value does not count", _but(sizes, _fields=_fields_as_if)),
    _mutant("name-in-characters", "a header's key has one byte per character", _but(sizes, utf8_length=len)),
    _mutant("name-as-written", "half a surrogate pair is declared as one byte", _but(sizes, utf8_length=sizes.utf8_written)),
    _mutant("name-as-counted", "half a surrogate pair is written whole", _but(sizes, utf8_written=sizes.utf8_length)),
    _mutant("by-doubles", "the estimate is computed in doubles", _but(sizes, compressed_estimate=_by_doubles)),
    _mutant("estimate-rounded", "the estimate is rounded, not cut", _but(sizes, compressed_estimate=_rounded)),
    _mutant("no-reserve", "the estimate lacks the five percent", _but(sizes, compressed_estimate=_no_reserve)),
    _mutant("ratio-by-doubles", "the ratio is computed in doubles", _but(ratios, float32=float)),
    _mutant("first-must-fit", "the first record needs room as well", _room(_whole), "1.1.1"),
    _mutant("room-below", "the last byte stays free", _room(_below)),
    _mutant("compressed-in-advance", "the new record counts as compressed", _room(_compressed_too)),
    _mutant("full-above", "a batch is full above its size", _full(lambda batch: batch.estimated > batch.buffer)),
    _mutant("batch-size-is-limit", "a batch takes records up to batch.size", _with(limit_is_batch_size=True)),
    _mutant("whole-wrapper", "the upper bound has the message's own 12 bytes", _but(sizes, upper_bound=_inner_overhead)),
    _mutant("wide-sizes", "sizes do not wrap", _but(sizes, int32=_plain_sum)),
    _mutant("magic-0-with-time", "messages of magic 0 have a timestamp", _but(sizes, _MESSAGE_OVERHEAD={0: 22, 1: 22})),
)  # fmt: skip
