"""Scan the records on Spark, once: take blocks of a partition's records, return the findings of each block.

A block is up to 65,536 records of one partition in the order of their offsets, packed in the JVM (``AuditBlocks.java``).
The blocks depend on the chunk alone, so a repeated chunk gives the same rows. There are three kinds of rows, each written
to its own folder (``kind=block`` and so on), in one frame, because a Spark job writes one frame:

=========  ============================================================================================================
kind       content
=========  ============================================================================================================
block      ``data``: the result of ``attribution.block.judge`` for a block, as JSON; ``moments``: the timestamps of
           records without a key, packed by :func:`pack_moments`
keys       ``keys_seen``: those keys of a block that fall into a ``bucket``, packed (``totals.split_keys``)
file       a Parquet file of the offending records (of all, with ``every_record``): its ``name``, and its content as
           bytes in ``file`` (``record_files``)
=========  ============================================================================================================

No state is carried from one block to the next, so memory is bounded. Everything that needs more than a block is computed
from the rows of all blocks (``totals``).
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
from kafka_conformance.spark.audit.attribution.block import Block, Judged, Summary, attribution_names, judge
from kafka_conformance.spark.audit.record_files import RecordFile, RecordFiles
from kafka_conformance.spark.audit.result import Placed
from kafka_conformance.spark.audit.totals.split_keys import into_buckets
from kafka_conformance.spark.workers import Work

__all__ = [
    "BLOCK", "BLOCK_SCHEMA", "KEYS", "KEYS_SCHEMA", "RECORD", "SCHEMA", "Scanned", "block_of", "pack_moments", "scanner",
    "unpack_moments",
]  # fmt: skip

BLOCK, KEYS, FILE = "block", "keys", "file"
RECORD = "record"
"""The kind of the files' folder."""

_HEADER = 16
PIECES = 32
"""The number of equal pieces that a block's time span is divided into, for counts over time."""

BLOCK_SCHEMA = "partition int, offset long, data binary, moments binary"
KEYS_SCHEMA = "partition int, bucket int, keys_seen binary"
SCHEMA = f"kind string, {BLOCK_SCHEMA}, bucket int, keys_seen binary, name string, file binary"
_ARROW = pa.schema([
    ("kind", pa.string()), ("partition", pa.int32()), ("offset", pa.int64()), ("data", pa.binary()),
    ("moments", pa.binary()), ("bucket", pa.int32()), ("keys_seen", pa.binary()), ("name", pa.string()),
    ("file", pa.binary()),
])  # fmt: skip


class Scanned(msgspec.Struct, frozen=True):
    """The findings of a block. ``pieces``: by attribution, its records in each of PIECES equal parts of its time span."""

    summary: Summary
    pieces: dict[str, list[int]]


def scanner(
    partitions: int,
    expected: Placed,
    known: tuple[Placed, ...] = (),
    *,
    buckets: int = 1,
    every: bool,
    doubtful: bool = False,
) -> Work:
    """Return the function that Spark maps over Arrow batches of blocks.

    ``known`` are placements present in a sample of the topic; ``every`` writes files of all records, not only the offending
    ones; ``buckets`` is the number of buckets for keys; ``doubtful``: no record is attributed (``judge``).
    """

    def scan(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        files = RecordFiles(expected, partitions, every=every)
        for batch in batches:
            for block in _blocks(batch):
                judged = judge(block, partitions, expected, known, doubtful=doubtful, weakest=False)
                yield _finding_rows(block, judged, buckets)
                yield from map(_filed, files.add(block, judged))
        yield from map(_filed, files.end())

    return scan


def block_of(cell: Any) -> Block:
    """Return a block of the bytes packed by ``AuditBlocks.java``, which documents the format; nothing is copied."""
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


def _finding_rows(block: Block, judged: Judged, buckets: int) -> pa.RecordBatch:
    """Return a row with the findings of the block, and one for each bucket with some of its keys."""
    keyless = judged.attributed == KEYLESS_AT
    scanned = Scanned(judged.summary, _pieces(block, judged))
    pieces = list(into_buckets(judged.keys_seen, buckets))
    nothing = [None] * len(pieces)
    return _batch(
        1 + len(pieces),
        kind=[BLOCK, *[KEYS] * len(pieces)],
        partition=[block.partition] * (1 + len(pieces)),
        offset=[judged.summary.first_offset, *nothing],
        data=[msgspec.json.encode(scanned), *nothing],
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
    names = attribution_names(judged.present)
    return {
        names[code]: np.bincount(piece[judged.attributed == code], minlength=PIECES).tolist()
        for code in np.unique(judged.attributed).tolist()
    }


def pack_moments(times_ms: NDArray[np.int64]) -> bytes:
    """Pack each timestamp once with its number of records: int64 timestamps, then int32 counts, little-endian."""
    moments, counts = np.unique(times_ms, return_counts=True)
    return bytes(moments.astype("<i8").tobytes() + counts.astype("<i4").tobytes())


def unpack_moments(packed: bytes) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Unpack the timestamps and counts that :func:`pack_moments` packed."""
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
