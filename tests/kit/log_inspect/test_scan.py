"""The scan reads headers as the reference does, whatever the buffer, and stops where the reference stops."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from log_partitions import Log, healthy

from kafka_conformance.log_inspect import scan as scanning
from kafka_conformance.log_inspect.header import BatchHeader
from kafka_conformance.log_inspect.index_files import IndexFile
from kafka_conformance.log_inspect.scan import Damage, Scanned, Segment, scan
from kafka_reference.record_batch import decode_batches, valid_bytes


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Log:
    return healthy(tmp_path_factory.mktemp("scan") / "t-0")


@pytest.mark.parametrize("buffer", [61, 100, 1_000, 4 * 2**20])
def test_segment_scan_reads_same_batch_headers_as_reference_with_any_buffer_size(
    log: Log, buffer: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanning, "BUFFER", buffer)
    for path in sorted(log.folder.glob("*.log")):
        expected = list(decode_batches(path.read_bytes()))
        with Segment(path) as segment:
            found = [(item.header, item.valid) for item in scan(segment) if isinstance(item, Scanned)]
        assert len(found) == len(expected)
        for (header, valid), batch in zip(found, expected, strict=True):
            assert valid == batch.valid()
            assert header.base_offset == batch.base_offset
            assert header.last_offset == batch.last_offset
            assert header.size == batch.size_in_bytes
            assert header.leader_epoch == batch.partition_leader_epoch
            assert header.max_timestamp == batch.max_timestamp
            assert (header.producer_id, header.producer_epoch) == (batch.producer_id, batch.producer_epoch)
            assert (header.base_sequence, header.last_sequence) == (batch.base_sequence, batch.last_sequence)
            assert (header.records, header.crc) == (batch.record_count, batch.checksum)
            assert (header.transactional, header.control) == (batch.transactional, batch.control)
            assert header.codec == batch.codec.name.lower()


@settings(max_examples=80, deadline=None, derandomize=True)
@given(cut=st.integers(0, 4_000))
def test_segment_scan_of_truncated_file_ends_at_last_valid_byte_of_reference(
    cut: int, log: Log, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = (log.folder / f"{0:020}.log").read_bytes()
    path = tmp_path_factory.mktemp("cut") / f"{0:020}.log"
    path.write_bytes(whole[: min(cut, len(whole))])
    with Segment(path) as segment:
        items = list(scan(segment))
    end = sum(item.header.size for item in items if isinstance(item, Scanned))
    assert end == valid_bytes(whole[:cut])
    damages = [item for item in items if isinstance(item, Damage)]
    if end == min(cut, len(whole)):
        assert damages == []
    else:
        (damage,) = damages
        # Without a batch before it, a few bytes are of no batch in particular.
        assert damage.position == end
        assert damage.kind == "cut-batch" or end == 0


@settings(max_examples=100, deadline=None, derandomize=True)
@given(noise=st.binary(max_size=300))
def test_segment_scan_of_random_bytes_ends_without_raising(
    noise: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("noise") / f"{0:020}.log"
    path.write_bytes(noise)
    with Segment(path, keep=True) as segment:
        items = list(scan(segment))
    assert bool(items) == bool(noise)


@pytest.mark.parametrize(
    ("base", "delta", "last"), [(-1, 5, -1), (0, 4, 4), (2**31 - 1, 0, 2**31 - 1), (2**31 - 2, 3, 1)]
)
def test_last_sequence_of_batch_wraps_to_zero_after_int32_max(base: int, delta: int, last: int) -> None:
    assert BatchHeader(0, 0, 0, 2, 0, 0, delta, 0, 0, 1, 0, base, delta + 1).last_sequence == last


def test_trailing_index_zeros_are_no_entries_except_a_first_all_zero_time_index_entry(tmp_path: Path) -> None:
    path = tmp_path / f"{0:020}.index"
    path.write_bytes(b"\0\0\0\x05\0\0\x01\0" + bytes(200_000) + b"")
    index = IndexFile(path, 10)
    assert [entry[1:] for entry in index.offset_entries()] == [(15, 256)]
    assert (index.entries, index.zeros, index.odd) == (1, 200_000, 0)
    assert index.offset_entry(0).offset == 15
    with pytest.raises(IndexError):
        index.offset_entry(1)
    first = tmp_path / f"{0:020}.timeindex"
    first.write_bytes(bytes(12))
    assert [entry[1:] for entry in IndexFile(first, 3).time_entries()] == [(0, 3)]


def test_index_entries_iterated_from_start_number_omit_earlier_entries(tmp_path: Path) -> None:
    path = tmp_path / f"{0:020}.index"
    path.write_bytes(b"".join(bytes((0, 0, 0, number, 0, 0, number, 0)) for number in range(1, 30)))
    index = IndexFile(path, 10)
    every = list(index.offset_entries())
    assert [list(index.offset_entries(first)) for first in range(4)] == [every[first:] for first in range(4)]
    assert list(index.offset_entries(len(every))) == []
