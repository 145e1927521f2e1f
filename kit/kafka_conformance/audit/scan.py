"""Scan the records on Spark, once: take blocks of a partition's records, return the findings of each block.

A block is up to 65,536 records of one partition in the order of their offsets, packed in the JVM (``AuditBlocks.java``).
The blocks depend on the chunk alone, so a repeated chunk gives the same rows. There are four kinds of rows, each written
to its own folder (``kind=block`` and so on), in one frame, because a Spark job writes one frame:

=========  ============================================================================================================
kind       content
=========  ============================================================================================================
block      ``data``: the result of ``attribution.block.judge`` for a block, as JSON; ``moments``: the timestamps of
           records without a key, packed by :func:`pack_moments`
keys       ``keys_seen``: those keys of a block that fall into a ``bucket``, packed (``totals.split_keys``)
forms      ``keys_seen``: the forms of a block's keys that fall into a ``bucket``, packed (``framing.forms``); only with a
           key format
file       a Parquet file of the offending records (of all, with ``every_record``): its ``name``, and its content as
           bytes in ``file`` (``record_files``)
=========  ============================================================================================================

No state is carried from one block to the next, so memory is bounded. Everything that needs more than a block is computed
from the rows of all blocks (``totals``).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.attribution import KEYLESS_AT
from kafka_conformance.audit.attribution.block import Block, BlockSummary, Judged, attribution_names, judge
from kafka_conformance.audit.attribution.candidates import register, registered
from kafka_conformance.audit.attribution.key_views import WHOLE, viewed
from kafka_conformance.audit.findings import BLOCK, FORMS, KEYS
from kafka_conformance.audit.framing.forms import pack_forms
from kafka_conformance.audit.record_files import RecordFile, RecordFiles
from kafka_conformance.audit.result import NOTHING_FOREIGN, Foreign, Placed
from kafka_conformance.audit.sampling import sampled
from kafka_conformance.audit.totals.split_keys import into_buckets
from kafka_conformance.spark.workers import Work

__all__ = [
    "BLOCK_SCHEMA", "FILE", "KEYS_SCHEMA", "SCHEMA", "BlockScan", "Scanned", "block_of", "block_scanner", "pack_moments",
    "scanner", "unpack_moments",
]  # fmt: skip

FILE = "file"
"""The kind of a file's row; the files are written to the folder of RECORD."""

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

    summary: BlockSummary
    pieces: dict[str, list[int]]


BlockScan: TypeAlias = Callable[[Iterable[Block]], Iterator[pa.RecordBatch]]
"""Blocks in, the rows of their findings out."""


def scanner(scan: BlockScan) -> Work:
    """Return the function that Spark maps over Arrow batches of packed blocks."""
    return lambda batches: scan(block for batch in batches for block in _blocks(batch))


def block_scanner(
    partitions: int,
    expected: Placed,
    known: tuple[Placed, ...] | None = None,
    foreign: Foreign = NOTHING_FOREIGN,
    *,
    buckets: int = 1,
    every: bool,
    doubtful: bool = False,
    key_format: str = "",
    share: float = 1.0,
    key_view: str = WHOLE,
) -> BlockScan:
    """Return the function from blocks to the rows of their findings.

    ``known`` are placements present in a sample of the topic, ``foreign`` the records there that none explains; ``every``
    writes files of all records, not only the offending ones; ``buckets`` is the number of buckets for keys; ``doubtful``: no
    record is attributed (``judge``). ``key_format`` is one of ``framing.formats.FORMATS``; without it, there are no rows of
    forms. ``share`` is the share of the keys to judge (``sampling``). ``key_view`` is what the placements place, and the key
    of all findings (``attribution.key_views``); forms are of whole keys.
    """
    candidates = registered()

    def scan(blocks: Iterable[Block]) -> Iterator[pa.RecordBatch]:
        register(candidates)
        files = RecordFiles(expected, partitions, every=every)
        for block in sampled(blocks, share, key_format):
            seen = block if key_view == WHOLE else replace(block, keys=viewed(block.keys, key_view))
            judged = judge(seen, partitions, expected, known, foreign=foreign, doubtful=doubtful, weakest=False)
            yield _finding_rows(seen, judged, buckets)
            if key_format:
                yield from _form_rows(block, list(pack_forms(block, key_format, partitions, buckets)))
            yield from map(_filed, files.add(seen, judged))
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


def _form_rows(block: Block, packed: list[tuple[int, bytes]]) -> Iterator[pa.RecordBatch]:
    if packed:
        buckets, forms = zip(*packed, strict=True)
        count = len(packed)
        yield _batch(
            count, kind=[FORMS] * count, partition=[block.partition] * count, bucket=[*buckets], keys_seen=[*forms]
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
