"""The one pass over the records, on Spark: blocks of a partition's records in, what is known of each block out.

A block is up to 65,536 records of one partition in the order of their offsets, packed in the JVM (``AuditBlocks.java``).
Which blocks there are depends on the chunk alone, so a chunk that is done again comes out the same. Two kinds of row go out,
each into a folder of its own (``kind=block``, ``kind=record``), in one frame, since a Spark job writes one:

=========  ============================================================================================================
kind       what
=========  ============================================================================================================
block      ``data``: what :func:`~kafka_conformance.audit.judging.judge` says of a block, as JSON; ``keys_seen``: its keys,
           packed; ``moments``: when records without a key came, packed by :func:`pack_moments`
record     one that is not where the expected placement puts it (all, if asked for): where it is and where it should be, to
           which placement it is attributed, and which explain it
=========  ============================================================================================================

Nothing is carried from one block to the next. So memory is flat, and whatever needs more than a block is found from what is
said of all of them (``summing``).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_conformance.audit.attributing import EITHER_AT, KEYLESS_AT, UNEXPLAINED_AT
from kafka_conformance.audit.judging import Block, Judged, Summary, judge
from kafka_conformance.audit.placements import PLACEMENTS
from kafka_conformance.audit.result import EITHER, UNEXPLAINED, Placed
from kafka_reference import bulk

__all__ = [
    "BLOCK", "BLOCK_SCHEMA", "RECORD", "RECORD_SCHEMA", "SCHEMA", "Mapped", "Scanned", "block_of", "pack_moments", "scanner",
    "unpack_moments",
]  # fmt: skip

BLOCK, RECORD = "block", "record"
KEYLESS = "no key"
_HEADER = 16
PIECES = 32
"""Into so many pieces a block's time is cut, to tell later what came when."""

_PLACE = "partition int, offset long"
_OF_RECORD = "timestamp_ms long, key binary, expected_partition int, attributed string, explained_by string"
_OF_BLOCK = "data binary, keys_seen binary, moments binary"
RECORD_SCHEMA, BLOCK_SCHEMA = f"{_PLACE}, {_OF_RECORD}", f"{_PLACE}, {_OF_BLOCK}"
SCHEMA = f"kind string, {_PLACE}, {_OF_RECORD}, {_OF_BLOCK}"
_ARROW = pa.schema([
    ("kind", pa.string()), ("partition", pa.int32()), ("offset", pa.int64()), ("timestamp_ms", pa.int64()),
    ("key", pa.binary()), ("expected_partition", pa.int32()), ("attributed", pa.string()), ("explained_by", pa.string()),
    ("data", pa.binary()), ("keys_seen", pa.binary()), ("moments", pa.binary()),
])  # fmt: skip


Mapped: TypeAlias = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""What Spark maps over Arrow batches."""


class Scanned(msgspec.Struct, frozen=True):
    """What is said of a block. ``pieces``: of each of PIECES equal parts of its time, whom its records are attributed to."""

    summary: Summary
    pieces: dict[str, list[int]]


@dataclass(frozen=True, slots=True)
class _Plan:
    partitions: int
    expected: Placed
    known: tuple[Placed, ...]
    every: bool


def scanner(partitions: int, expected: Placed, known: tuple[Placed, ...] = (), *, every: bool) -> Mapped:
    """The function Spark maps over Arrow batches. ``known`` are present in the topic, as a look at it says.

    ``every``: rows for all records, not only those out of place.
    """
    plan = _Plan(partitions, expected, known, every)

    def scan(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for block in _blocks(batch):
                yield from _rows(block, plan)

    return scan


def block_of(cell: Any) -> Block:
    """A block, from the bytes that ``AuditBlocks.java`` packed it into (which says how); nothing is copied."""
    count, partition, size = (int(number) for number in struct.unpack_from("<iiq", cell))
    at = _HEADER + 16 * count
    keys_at = at + 4 * (count + 1)
    data_at = keys_at + (count + 7) // 8
    whole = pa.py_buffer(cell)
    keys = pa.Array.from_buffers(
        pa.binary(),
        count,
        [whole.slice(keys_at, data_at - keys_at), whole.slice(at, 4 * (count + 1)), whole.slice(data_at, size)],
    )
    return Block(
        partition,
        np.frombuffer(cell, "<i8", count, _HEADER),
        np.frombuffer(cell, "<i8", count, _HEADER + 8 * count),
        keys,
    )


def _blocks(batch: pa.RecordBatch) -> Iterator[Block]:
    for cell in batch.column("cell"):
        yield block_of(cell.as_buffer())


def _rows(block: Block, plan: _Plan) -> Iterator[pa.RecordBatch]:
    judged = judge(block, plan.partitions, plan.expected, plan.known)
    keyless = judged.attributed == KEYLESS_AT
    said = Scanned(judged.summary, _pieces(block, judged))
    yield _batch(
        1,
        kind=[BLOCK],
        partition=[block.partition],
        offset=[judged.summary.first_offset],
        data=[msgspec.json.encode(said)],
        keys_seen=[judged.keys_seen],
        moments=[pack_moments(block.timestamps_ms[keyless])],
    )
    out = (
        np.ones(len(block.offsets), np.bool_)
        if plan.every
        else judged.offending | (judged.attributed == UNEXPLAINED_AT)
    )
    if out.any():
        yield _records(block, judged, np.flatnonzero(out), plan)


def _records(block: Block, judged: Judged, rows: NDArray[np.int64], plan: _Plan) -> pa.RecordBatch:
    keys = block.keys.take(pa.array(rows))
    masks = np.zeros(len(block.offsets), np.uint32) if judged.masks is None else judged.masks  # there was no key
    count = len(rows)
    times = block.timestamps_ms[rows]
    return _batch(
        count,
        kind=pa.DictionaryArray.from_arrays(np.zeros(count, np.int32), [RECORD]).cast(pa.string()),
        partition=np.full(count, block.partition, np.int32),
        offset=block.offsets[rows],
        timestamp_ms=pa.array(times, mask=times < 0),
        key=keys,
        expected_partition=_expected(keys, plan),
        attributed=_named(judged, judged.attributed[rows]),
        explained_by=_explained(masks[rows], plan.partitions, judged.attributed[rows]),
    )


def _expected(keys: pa.Array, plan: _Plan) -> pa.Array:
    """Where the expected placement, if it is Java's, would put each."""
    if plan.expected.rule != PLACEMENTS[0].slug:
        return pa.nulls(len(keys), pa.int32())
    return bulk.partition_for_key(keys, plan.expected.partitions)


def _named(judged: Judged, codes: NDArray[np.int16]) -> pa.Array:
    """Whom each is attributed to, as text. The codes below 0 come after those who are present."""
    names = [*map(str, judged.present), UNEXPLAINED, EITHER, KEYLESS]
    last = len(judged.present)
    places = np.select(
        [codes == UNEXPLAINED_AT, codes == EITHER_AT, codes == KEYLESS_AT], [last, last + 1, last + 2], codes
    ).astype(np.int32)
    return pa.DictionaryArray.from_arrays(places, names).cast(pa.string())


def _explained(masks: NDArray[np.uint32], partitions: int, codes: NDArray[np.int16]) -> pa.Array:
    """All that explain each with as many partitions as there are now, joined by commas."""
    kinds, places = np.unique(masks, return_inverse=True)
    texts = [_names_of(mask, partitions) for mask in kinds.tolist()]
    made = pa.DictionaryArray.from_arrays(places.astype(np.int32), texts).cast(pa.string())
    return pa.compute.if_else(pa.array(codes != KEYLESS_AT), made, None)


@lru_cache(maxsize=1 << 16)
def _names_of(mask: int, partitions: int) -> str:
    """A set of placements in words; the same few thousand sets come again in every block."""
    return ",".join(f"{each.slug}@{partitions}" for bit, each in enumerate(PLACEMENTS) if mask >> bit & 1)


def _pieces(block: Block, judged: Judged) -> dict[str, list[int]]:
    first, last = judged.summary.first_ms, judged.summary.last_ms
    if first is None or last is None:
        return {}
    wide = max(1, -(-(last - first + 1) // PIECES))
    piece = np.clip((block.timestamps_ms - first) // wide, 0, PIECES - 1)
    found = {}
    for code in np.unique(judged.attributed).tolist():
        name = {UNEXPLAINED_AT: UNEXPLAINED, EITHER_AT: EITHER, KEYLESS_AT: KEYLESS}.get(code)
        name = str(judged.present[code]) if name is None else name
        found[name] = np.bincount(piece[judged.attributed == code], minlength=PIECES).tolist()
    return found


def pack_moments(times_ms: NDArray[np.int64]) -> bytes:
    """Each moment once, and how many records came at it: int64 moments, then int32 counts, little-endian."""
    moments, counts = np.unique(times_ms, return_counts=True)
    return bytes(moments.astype("<i8").tobytes() + counts.astype("<i4").tobytes())


def unpack_moments(packed: bytes) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """What :func:`pack_moments` packed."""
    count = len(packed) // 12
    return np.frombuffer(packed, "<i8", count), np.frombuffer(packed, "<i4", count, 8 * count)


def _batch(count: int, **columns: Any) -> pa.RecordBatch:
    arrays = []
    for field in _ARROW:
        given = columns.get(field.name)
        if given is None:
            arrays.append(pa.nulls(count, field.type))
        else:
            arrays.append(given if isinstance(given, pa.Array) else pa.array(given, field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=_ARROW)
