"""Work and memory are bounded by the size of the files: counted in calls, bytes read and bytes allocated, not in time."""

from __future__ import annotations

import io
import struct
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from log_edits import bases, file, kinds, seen
from log_partitions import Log, control, data, healthy

from kafka_conformance.audit.segments.decode import Task, decode
from kafka_conformance.audit.segments.folders import SegmentFile
from kafka_conformance.audit.segments.survey import items_of, survey
from kafka_conformance.log_inspect import index_files
from kafka_conformance.log_inspect.directory import LARGEST_FILE, open_directory, open_file
from kafka_conformance.log_inspect.find import find_offset, one_partition
from kafka_conformance.log_inspect.findings import Findings, Severity
from kafka_conformance.log_inspect.header import HEADER
from kafka_conformance.log_inspect.index_files import IndexFile, OffsetEntry, TooLarge, batch_positions
from kafka_conformance.log_inspect.scan import BUFFER, Damage, Segment, scan


def calls(work: Callable[[], object]) -> int:
    """Return how many functions and turns of generators ``work`` calls."""
    count = 0

    def seen_call(_: object, event: str, __: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(seen_call)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def peak(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def sparse(path: Path, size: int, head: bytes = b"") -> Path:
    with path.open("wb") as stream:
        stream.write(head)
        stream.truncate(size)
    return path


def damaged(folder: Path, batches: int) -> Path:
    """A segment with an entry in the index for each batch, in which every second batch begins with zeros."""
    log = Log(folder, interval=-1)
    for _ in range(batches):
        log.append(data(1, size=10))
    log.write()
    path = file(log, 0, "log")
    whole = bytearray(path.read_bytes())
    for _, position, _ in log.positions[1::2]:
        whole[position : position + 17] = b"\xff" * 17
    path.write_bytes(whole)
    return path


def header(offset: int, size: int, attributes: int = 0) -> bytes:
    return HEADER.pack(offset, size - 12, 0, 2, 0, attributes, 0, 0, 0, -1, -1, -1, 1)


@pytest.mark.parametrize("damages", [100, 400])
def test_scan_of_many_damaged_batches_reads_every_index_entry_at_most_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damages: int
) -> None:
    path, read = damaged(tmp_path / "t-0", 2 * damages), 0
    rows = IndexFile.rows

    def counted(index: IndexFile, first: int = 0) -> object:
        nonlocal read
        for row in rows(index, first):
            read += 1
            yield row

    monkeypatch.setattr(IndexFile, "rows", counted)
    with Segment(path) as segment:
        items = list(items_of(segment))
    assert sum(isinstance(item, Damage) for item in items) == damages
    assert damages <= read <= 2 * damages
    read = 0
    assert seen(path.parent).partitions[0].batches == damages
    assert read <= 5 * damages  # anchors, and the check of the index itself


@pytest.mark.parametrize("kilobytes", [256, 1024])
def test_batch_search_among_false_headers_reads_at_most_8_times_file_size(tmp_path: Path, kilobytes: int) -> None:
    size, step, read = kilobytes * 1024, 1024, 0
    whole = bytearray(b"\xff" * size)
    for position in range(step, size, step):
        whole[position : position + HEADER.size] = header(position, size - position)
    path = tmp_path / f"{0:020}.log"
    path.write_bytes(whole)

    def count(number: int) -> None:
        nonlocal read
        read += number

    entries = [OffsetEntry(0, position, position) for position in range(step, size, step)]
    with Segment(path, read=count) as segment:
        segment._buffer = bytearray(4096)
        segment.search_left = 2 * size
        items = list(scan(segment, batch_positions(entries)))
    assert [item.kind for item in items if isinstance(item, Damage)] == ["foreign-bytes"]
    assert "as far as they were searched" in items[0].what  # type: ignore[union-attr]
    assert read <= 8 * size


def test_intact_batches_between_overwritten_headers_are_all_found(tmp_path: Path) -> None:
    path = damaged(tmp_path / "t-0", 9)
    whole = bytearray(path.read_bytes())
    whole[:17] = b"\xff" * 17
    path.write_bytes(whole)
    with Segment(path) as segment:
        items = list(items_of(segment))
    assert sum(not isinstance(item, Damage) for item in items) == 4


def test_offset_search_does_not_read_batch_with_declared_size_of_2_gib(tmp_path: Path) -> None:
    folder = tmp_path / "t-0"
    folder.mkdir()
    sparse(folder / f"{0:020}.log", LARGEST_FILE, header(0, LARGEST_FILE))
    (folder / f"{0:020}.index").write_bytes(b"")
    partition, found = one_partition(open_directory(folder), ""), []
    assert peak(lambda: found.append(find_offset(partition, 0))) < 4 * BUFFER
    assert found[0].record is None
    assert "2,147,483,647 bytes: more than" in found[0].why


@pytest.mark.parametrize("module", ["decode", "survey"])
def test_audit_skips_batch_above_size_limit_without_reading_any_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    log, read, why = Log(tmp_path / "t-0"), [], []
    log.append(control(7, 0, commit=True) if module == "survey" else data(1, size=5_000))
    log.write()
    path = file(log, 0, "log")
    monkeypatch.setattr(f"kafka_conformance.audit.segments.{module}.LARGEST_BYTES", 70)
    monkeypatch.setattr(Segment, "bytes_at", lambda _, position, count: read.append((position, count)))
    segment = SegmentFile(str(path), path.name, 0, 0, path.stat().st_size, True)
    if module == "survey":
        assert survey(segment).markers == []
    else:
        assert list(decode(Task(segment, segment.size, 0, 9), lambda *words: why.append(words[2]))) == []
        assert why == ["it has more than 70 bytes"]
    assert read == []


def test_segment_file_above_2_gib_is_reported_too_large_without_a_scan(tmp_path: Path) -> None:
    log = healthy(tmp_path / "t-0")
    with file(log, bases(log)[1], "log").open("r+b") as stream:
        stream.truncate(LARGEST_FILE + 1)
    assert calls(lambda: seen(log.folder)) < 20_000
    found = seen(log.folder)
    assert kinds(found) == {"segment-too-large"}
    search = find_offset(one_partition(open_directory(log.folder), ""), bases(log)[1])
    assert (search.batch, search.record) == (None, None)
    assert "a broker opens none of more than 2,147,483,647" in search.why


@pytest.mark.parametrize("suffix", ["index", "timeindex", "txnindex"])
def test_index_file_of_1_tib_is_reported_for_wrong_size_without_reading_entries(log: Log, suffix: str) -> None:
    path = sparse(file(log, 0, suffix), 2**40)
    assert calls(lambda: seen(log.folder)) < 30_000
    assert {row.kind for row in seen(log.folder).findings if row.file == path.name} >= {"index-size"}
    with pytest.raises(TooLarge):
        IndexFile(path, 0)


@pytest.mark.parametrize("used", [0, 1, 2**18 - 8, 2**18, 2**18 + 8, 2**19 - 1, 2**19])
def test_trailing_zeros_of_index_file_are_counted_after_last_nonzero_byte(tmp_path: Path, used: int) -> None:
    path = tmp_path / f"{0:020}.index"
    path.write_bytes(b"\1" * used + bytes(2**19 - used + 8))
    index = IndexFile(path, 0)
    assert (index.entries, index.zeros) == (-(-used // 8), 2**19 + 8 - -(-used // 8) * 8)


def test_trailing_zeros_of_sparse_index_file_are_counted_without_reading_holes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, read = sparse(tmp_path / f"{0:020}.index", 2**31 - 8, struct.pack(">ii", 3, 77)), 0

    class Counted(io.FileIO):
        def read(self, size: int = -1) -> bytes:
            nonlocal read
            found = super().read(size)
            read += len(found)
            return found

    monkeypatch.setattr(index_files, "open_file", lambda path: Counted(path))
    index = IndexFile(path, 0)
    assert (index.entries, index.zeros, list(index.offset_entries())) == (1, 2**31 - 16, [(0, 3, 77)])
    assert read < 2**20
    with path.open("r+b") as stream:  # a second island of bytes
        stream.seek(2**30)
        stream.write(b"\x01")
    assert IndexFile(path, 0).entries == 2**27 + 1


def test_discarding_recent_findings_needs_under_200_calls_and_10_kb_despite_20000_earlier_findings(
    tmp_path: Path,
) -> None:
    findings = Findings()
    for number in range(20_000):
        findings.add("leftover", f"{number}", "")

    def segment() -> None:
        findings.mark()
        findings.add("crc-mismatch", "a", "", position=1)
        findings.withdraw()
        assert findings.count(Severity.BROKEN) == 0

    segment()
    assert peak(segment) < 10_000
    assert calls(segment) < 200
    assert (len(findings), findings.count(Severity.NOTE)) == (20_000, 20_000)


@pytest.mark.parametrize("segments", [50, 200])
def test_inspection_function_calls_grow_linearly_with_number_of_segments(tmp_path: Path, segments: int) -> None:
    log = Log(tmp_path / "t-0")
    for number in range(segments):
        if number:
            log.roll()
        log.append(data(1))
    log.write()
    assert calls(lambda: seen(log.folder)) < 1_200 * segments + 20_000


def test_inspection_progress_includes_bytes_read_from_index_files(log: Log) -> None:
    read = []
    from kafka_conformance.log_inspect.inspection import inspect, total_bytes

    directory = open_directory(log.folder)
    inspect(directory, read=read.append)
    assert sum(read) >= total_bytes(directory)


def test_open_file_reads_existing_and_raises_for_missing(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    with open_file(path) as stream:
        assert stream.read() == b"abc"
    with pytest.raises(FileNotFoundError):
        open_file(tmp_path / "b")
