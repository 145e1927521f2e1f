"""The one pass over the records, on Spark: blocks of a partition's records in, what is known of each block out.

A block is up to 65,536 records of one partition in the order of their offsets, packed in the JVM (``AuditBlocks.java``).
Which blocks there are depends on the chunk alone, so a chunk that is done again comes out the same. Three kinds of row go
out, each into a folder of its own (``kind=block`` and so on), in one frame, since a Spark job writes one:

=========  ============================================================================================================
kind       what
=========  ============================================================================================================
block      ``data``: what ``attribution.block.judge`` returns for a block, as JSON; ``moments``: when records
           without a key came, packed by :func:`pack_moments`
keys       ``keys_seen``: the keys of a block that are in a ``bucket`` of all keys, packed (``splitting``)
file       a Parquet file of records that are not where the expected placement puts them (all, if asked for): its ``name``
           and its ``file``, that is the bytes of it (``record_files``)
=========  ============================================================================================================

Nothing that is said is carried from one block to the next. So memory is flat, and whatever needs more than a block is found
from what is said of all of them (``summing``).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_conformance.spark.audit.attribution.attribution import KEYLESS_AT
from kafka_conformance.spark.audit.attribution.block import Block, Judged, Summary, judge, whose
from kafka_conformance.spark.audit.record_files import RecordFile, RecordFiles
from kafka_conformance.spark.audit.result import Placed
from kafka_conformance.spark.audit.totals.split_keys import dealt
from kafka_conformance.spark.workers import Work

__all__ = [
    "BLOCK", "BLOCK_SCHEMA", "KEYS", "KEYS_SCHEMA", "RECORD", "SCHEMA", "Scanned", "block_of", "pack_moments", "scanner",
    "unpack_moments",
]  # fmt: skip

BLOCK, KEYS, FILE = "block", "keys", "file"
RECORD = "record"
"""The folder of the files."""

_HEADER = 16
PIECES = 32
"""Into so many pieces a block's time is cut, to tell later what came when."""

BLOCK_SCHEMA = "partition int, offset long, data binary, moments binary"
KEYS_SCHEMA = "partition int, bucket int, keys_seen binary"
SCHEMA = f"kind string, {BLOCK_SCHEMA}, bucket int, keys_seen binary, name string, file binary"
_ARROW = pa.schema([
    ("kind", pa.string()), ("partition", pa.int32()), ("offset", pa.int64()), ("data", pa.binary()),
    ("moments", pa.binary()), ("bucket", pa.int32()), ("keys_seen", pa.binary()), ("name", pa.string()),
    ("file", pa.binary()),
])  # fmt: skip


class Scanned(msgspec.Struct, frozen=True):
    """What is said of a block. ``pieces``: of each of PIECES equal parts of its time, whom its records are attributed to."""

    summary: Summary
    pieces: dict[str, list[int]]


def scanner(
    partitions: int, expected: Placed, known: tuple[Placed, ...] = (), *, buckets: int = 1, every: bool
) -> Work:
    """The function Spark maps over Arrow batches. ``known`` are present in the topic, as a look at it says.

    ``every``: files of all records, not only those out of place. ``buckets``: of how many the keys are dealt into.
    """

    def scan(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        files = RecordFiles(expected, partitions, every=every)
        for batch in batches:
            for block in _blocks(batch):
                judged = judge(block, partitions, expected, known)
                yield _said(block, judged, buckets)
                yield from map(_filed, files.add(block, judged))
        yield from map(_filed, files.end())

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


def _said(block: Block, judged: Judged, buckets: int) -> pa.RecordBatch:
    """A row of what is said of the block, and one for each bucket with some of its keys."""
    keyless = judged.attributed == KEYLESS_AT
    said = Scanned(judged.summary, _pieces(block, judged))
    pieces = list(dealt(judged.keys_seen, buckets))
    nothing = [None] * len(pieces)
    return _batch(
        1 + len(pieces),
        kind=[BLOCK, *[KEYS] * len(pieces)],
        partition=[block.partition] * (1 + len(pieces)),
        offset=[judged.summary.first_offset, *nothing],
        data=[msgspec.json.encode(said), *nothing],
        moments=[pack_moments(block.timestamps_ms[keyless]), *nothing],
        bucket=[None, *(bucket for bucket, _ in pieces)],
        keys_seen=[None, *(packed for _, packed in pieces)],
    )


def _filed(file: RecordFile) -> pa.RecordBatch:
    return _batch(
        1, kind=[FILE], partition=[file.partition], offset=[file.offset], name=[file.name], file=[file.content]
    )


def _pieces(block: Block, judged: Judged) -> dict[str, list[int]]:
    first, last = judged.summary.first_ms, judged.summary.last_ms
    if first is None or last is None:
        return {}
    wide = max(1, -(-(last - first + 1) // PIECES))
    piece = np.clip((block.timestamps_ms - first) // wide, 0, PIECES - 1)
    names = whose(judged.present)
    return {
        names[code]: np.bincount(piece[judged.attributed == code], minlength=PIECES).tolist()
        for code in np.unique(judged.attributed).tolist()
    }


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
