"""The files of listed records: standard Parquet, the same each time."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafka_conformance.audit import record_files
from kafka_conformance.audit.attribution.block import Block, judge
from kafka_conformance.audit.record_files import RecordFile, RecordFiles
from kafka_conformance.audit.result import Placed
from kafka_reference import partition_for_key

JAVA = Placed("murmur2", 4)


def block(partition: int, first: int, count: int) -> Block:
    """Records of all keys, wherever they belong; every tenth has none."""
    keys = [None if number % 10 == 0 else b"key-%d" % number for number in range(first, first + count)]
    offsets = np.arange(first, first + count)
    return Block(partition, offsets, np.where(offsets % 3, offsets + 1_000, -1), pa.array(keys, pa.binary()))


def files_of(*blocks: Block, every: bool = False) -> list[RecordFile]:
    files = RecordFiles(JAVA, 4, every=every)
    made = [file for each in blocks for file in files.add(each, judge(each, 4, JAVA))]
    return [*made, *files.end()]


def read(file: RecordFile) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = pq.read_table(pa.BufferReader(file.content)).to_pylist()
    return rows


@pytest.mark.parametrize("every", [False, True])
def test_record_file_holds_misplaced_records_or_every_record_if_requested(every: bool) -> None:
    (file,) = files_of(block(1, 0, 200), block(2, 500, 200), every=every)
    assert (file.partition, file.name) == (1, f"p000001-{file.offset:020d}.parquet")
    rows = read(file)
    keys = {number: b"key-%d" % number for first in (0, 500) for number in range(first, first + 200) if number % 10}
    for row in rows:
        offset, key = row["offset"], row["key"]
        assert key == keys.get(offset)  # type: ignore[call-overload]
        assert row["timestamp_ms"] == (offset + 1_000 if offset % 3 else None)  # type: ignore[operator]
        if key is None:
            assert (row["attributed"], row["explained_by"], row["expected_partition"]) == ("no key", None, None)
            continue
        assert row["expected_partition"] == partition_for_key(key, 4)  # type: ignore[arg-type]
        assert ("murmur2@4" in str(row["explained_by"]).split(",")) == (row["expected_partition"] == row["partition"])
    wrong = {offset for offset, key in keys.items() if partition_for_key(key, 4) != (1 if offset < 500 else 2)}
    unexplained = {row["offset"] for row in rows if row["attributed"] == "unexplained"}
    listed = {row["offset"] for row in rows}
    assert listed == ({*range(200), *range(500, 700)} if every else wrong | unexplained)


def test_record_file_is_closed_at_the_first_block_boundary_over_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_files, "_RECORDS", 100)
    blocks = [block(0, 1_000 * number, 90) for number in range(4)]
    files = files_of(*blocks, every=True)
    assert [len(read(file)) for file in files] == [180, 180]
    assert [file.offset for file in files] == [0, 2_000]
    assert [file.content for file in files] == [file.content for file in files_of(*blocks, every=True)]


def test_blocks_without_keyed_records_make_no_record_file() -> None:
    assert files_of() == []
    assert files_of(Block(0, np.arange(3), np.arange(3), pa.nulls(3, pa.binary()))) == []


def test_blocks_with_different_partitioners_are_written_to_one_record_file() -> None:
    """Two blocks with other present placements have other dictionaries, and one file."""
    keys = [b"k%d" % number for number in range(400)]
    homes = [partition_for_key(key, 4) for key in keys]
    mine = [key for key, home in zip(keys, homes, strict=True) if home == 3]
    other = [key for key, home in zip(keys, homes, strict=True) if home != 3]
    blocks = [
        Block(3, np.arange(at, at + len(some)), np.full(len(some), 5), pa.array(some, pa.binary()))
        for at, some in ((0, mine), (1_000, other))
    ]
    (file,) = files_of(*blocks, every=True)
    rows = read(file)
    assert [row["key"] for row in rows] == mine + other
    assert {row["attributed"] for row in rows[: len(mine)]} == {"murmur2@4"}
