from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import groupby

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from kafka_conformance.audit.attribution.distinct_keys import unpack
from kafka_conformance.audit.result import Placed
from kafka_conformance.audit.scan import PIECES, Scanned, block_scanner, pack_moments, scanner, unpack_moments
from kafka_reference import partition_for_key

Record = tuple[int, int, int | None, bytes | None]


def cell(rows: Sequence[Record]) -> bytes:
    """Records of one partition as AuditBlocks.java packs them, written down once more."""
    keys = [key or b"" for _, _, _, key in rows]
    there = np.packbits([key is not None for _, _, _, key in rows], bitorder="little").tobytes()
    head = struct.pack("<iiq", len(rows), rows[0][0], sum(map(len, keys)))
    offsets, times = (np.array([-1 if row[at] is None else row[at] for row in rows], "<i8").tobytes() for at in (1, 2))
    return head + offsets + times + np.cumsum([0, *map(len, keys)]).astype("<i4").tobytes() + there + b"".join(keys)


def batch(*rows: Record) -> pa.RecordBatch:
    cells = [cell(list(some)) for _, some in groupby(rows, key=lambda row: row[0])]
    return pa.RecordBatch.from_arrays([pa.array(cells, pa.binary())], names=["cell"])


def scanned(
    *batches: pa.RecordBatch, partitions: int = 4, every: bool = False
) -> tuple[list[Scanned], list[dict[str, object]]]:
    rows = [
        row
        for made in scanner(block_scanner(partitions, Placed("murmur2", partitions), every=every))(iter(batches))
        for row in made.to_pylist()
    ]
    blocks = [msgspec.json.decode(row["data"], type=Scanned) for row in rows if row["kind"] == "block"]
    files = [pq.read_table(pa.BufferReader(row["file"])) for row in rows if row["kind"] == "file"]
    return blocks, [row for file in files for row in file.to_pylist()]


def at_home(number: int, partitions: int = 4) -> tuple[int, int, int, bytes]:
    key = b"key-%d" % number
    return partition_for_key(key, partitions), number, 1_000 + number, key


def test_scanner_summarizes_one_block_per_partition_and_lists_no_correctly_placed_record() -> None:
    rows = sorted(at_home(number) for number in range(50))
    blocks, out = scanned(batch(*rows))
    assert [block.summary.partition for block in blocks] == sorted({row[0] for row in rows})
    assert sum(block.summary.records for block in blocks) == 50
    assert out == []


def test_scanner_lists_misplaced_records_or_every_record_if_requested() -> None:
    partition, offset, when, key = at_home(1)
    wrong = ((partition + 1) % 4, 7, when, key)
    for every in (False, True):
        _, out = scanned(batch((partition, offset, when, key), wrong, (wrong[0], 8, None, None)), every=every)
        listed = {(row["partition"], row["offset"]): row for row in out}
        assert set(listed) == ({wrong[:2], (partition, offset), (wrong[0], 8)} if every else {wrong[:2]})
        assert listed[wrong[:2]]["expected_partition"] == partition
        assert listed[wrong[:2]]["key"] == key
        assert "murmur2@4" not in str(listed[wrong[:2]]["explained_by"]).split(",")
        if every:
            assert listed[partition, offset]["explained_by"].split(",")[0] == "murmur2@4"  # type: ignore[attr-defined]
            assert (listed[wrong[0], 8]["attributed"], listed[wrong[0], 8]["timestamp_ms"]) == ("no key", None)


def test_time_histogram_of_a_block_counts_each_record_with_a_timestamp_once() -> None:
    blocks, _ = scanned(batch(*((0, number, 5_000 + 7 * number, None) for number in range(100))))
    (block,) = blocks
    assert {name: sum(pieces) for name, pieces in block.pieces.items()} == {"no key": 100}
    assert len(block.pieces["no key"]) == PIECES
    blocks, _ = scanned(batch((0, 0, None, None)))
    assert blocks[0].pieces == {}


def test_scanner_packs_distinct_keys_and_timestamps_of_keyless_records() -> None:
    rows = [made.to_pylist() for made in scanner(block_scanner(1, Placed("murmur2", 1), every=False))(
        iter([batch((0, 0, 5, b"a"), (0, 1, 6, b"a"), (0, 2, 6, None), (0, 3, 6, None), (0, 4, None, None))])
    )]  # fmt: skip
    block, keys = rows[0]
    assert (keys["kind"], keys["bucket"], keys["partition"]) == ("keys", 0, 0)
    assert unpack(keys["keys_seen"]).records.tolist() == [2]
    moments, counts = unpack_moments(block["moments"])
    assert (moments.tolist(), counts.tolist()) == ([-1, 6], [1, 2])


@given(st.lists(st.integers(-1, 2**45), max_size=50))
def test_packed_timestamps_round_trip_in_sorted_order(times: list[int]) -> None:
    moments, counts = unpack_moments(pack_moments(np.array(times, np.int64)))
    assert np.repeat(moments, counts).tolist() == sorted(times)


def test_scanner_returns_no_rows_for_an_empty_record_batch() -> None:
    assert scanned(batch()) == ([], [])


def test_block_summary_lists_string_hash_code_partitioner_only_if_known_for_the_whole_topic() -> None:
    """The sum of the bytes of a key is mostly its String.hashCode, modulo 6."""
    keys = [b"customer-%d" % number for number in range(3000)]
    rows = [(3, number, number, key) for number, key in enumerate(keys) if sum(key) % 6 == 3]
    (block,), _ = scanned(batch(*rows), partitions=6)
    assert block.summary.present == ()
    known = (Placed("string-hash-code-masked", 6),)
    made = next(scanner(block_scanner(6, Placed("murmur2", 6), known, every=False))(iter([batch(*rows)])))
    assert msgspec.json.decode(made.to_pylist()[0]["data"], type=Scanned).summary.present == known
