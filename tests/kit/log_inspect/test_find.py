"""A search finds what a scan of the whole log finds, by the steps that a broker takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from log_partitions import Log, data, healthy

from kafka_conformance.core.errors import BadInput
from kafka_conformance.log_inspect.directory import open_directory
from kafka_conformance.log_inspect.find import Search, find_offset, one_partition
from kafka_conformance.log_inspect.index_files import IndexFile
from kafka_reference.record_batch import Codec, NewBatch, NewRecord, encode_batch


def search(folder: Path, offset: int) -> Search:
    return find_offset(one_partition(open_directory(folder), ""), offset)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Log:
    return healthy(tmp_path_factory.mktemp("find") / "orders-0")


@settings(max_examples=60, deadline=None, derandomize=True)
@given(part=st.floats(0, 1, exclude_max=True))
def test_offset_search_starts_at_largest_index_entry_at_or_below_the_offset(part: float, log: Log) -> None:
    offset = int(part * log.offset)
    found = search(log.folder, offset)
    assert found.record is not None
    assert found.record.offset == offset
    assert found.segment == max(base for base in found.segments if base <= offset)
    index = IndexFile(log.folder / found.file.replace(".log", ".index"), found.segment)
    below = [entry for entry in index.offset_entries() if entry.offset <= offset]
    assert (found.entry and (found.entry.offset, found.entry.position)) == (below[-1][1:] if below else None)
    assert len(found.probes) <= max(1, index.entries).bit_length() + 1
    assert found.batch is not None
    assert found.batch.first_offset <= offset <= found.batch.last_offset
    assert all(batch.last_offset < offset for batch in found.passed)
    assert found.read == len(found.passed) + 1 < 10


def test_offset_search_scans_forward_from_second_index_entry_to_find_offset_60(tmp_path: Path) -> None:
    """Index entries (12, …) and (24, …); offset 60 is found by a scan from the position of the second."""
    log = Log(tmp_path / "demo-0", interval=10**9)
    for first in range(0, 64, 4):
        log.since_entry = 10**10 if first in {12, 24} else 0
        log.append(data(4))
    log.append(data(1))
    log.write()
    found = search(log.folder, 60)
    assert found.entries == 2
    assert found.entry is not None
    assert (found.entry.offset, found.entry.position) == (27, log.positions[6][1])
    assert [batch.first_offset for batch in found.passed] == [24, 28, 32, 36, 40, 44, 48, 52, 56]
    assert found.batch is not None
    assert found.batch.first_offset == 60


def test_offset_search_outside_the_log_explains_where_log_begins_or_ends(log: Log, tmp_path: Path) -> None:
    assert search(log.folder, log.offset).why == "no batch has this offset or a higher one: the log ends before it"
    late = Log(tmp_path / "late-0", base=7, offset=7)
    late.append(data(2, codec=Codec.ZSTD))
    late.write()
    assert search(late.folder, 3).why == "the log begins with offset 7"
    found = search(late.folder, 8)
    assert found.batch is not None
    assert (found.entry, found.start, found.batch.codec) == (None, 0, "zstd")


def test_offset_search_in_damaged_log_or_index_explains_the_damage(tmp_path: Path) -> None:
    log = healthy(tmp_path / "t-0")
    path = log.folder / f"{0:020}.log"
    whole = bytearray(path.read_bytes())
    whole[log.positions[0][1] + 70] ^= 1
    path.write_bytes(whole)
    assert "checksum" in search(log.folder, 0).why
    path.write_bytes(b"\xff" * 100)
    assert "is not a batch" in search(log.folder, 0).why
    (log.folder / f"{0:020}.index").write_bytes(b"\0\0\0\0\0\1\0\0")
    assert "points past the end" in search(log.folder, 0).why
    (log.folder / f"{0:020}.index").unlink()
    assert search(log.folder, 0).entries == 0


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_offset_search_finds_every_record_of_message_formats_0_and_1(tmp_path: Path, magic: int, codec: Codec) -> None:
    folder = tmp_path / "old-0"
    folder.mkdir()
    made = [
        encode_batch(
            NewBatch(records=[NewRecord(5, b"k", b"%d" % (first + n)) for n in range(3)], magic=magic, base_offset=first,
                     codec=codec)
        )
        for first in (0, 3, 6)
    ]  # fmt: skip
    (folder / f"{0:020}.log").write_bytes(b"".join(made))
    for offset in range(9):
        found = search(folder, offset)
        assert found.record is not None
        assert (found.record.offset, found.record.value) == (offset, str(offset))


def test_unnamed_or_unknown_partition_of_directory_with_two_partitions_is_refused(tmp_path: Path) -> None:
    for name in ("a-0", "b-0"):
        healthy(tmp_path / name)
    opened = open_directory(tmp_path)
    assert one_partition(opened, "b-0").name == "b-0"
    for wrong in ("", "c-0"):
        with pytest.raises(BadInput):
            one_partition(opened, wrong)
