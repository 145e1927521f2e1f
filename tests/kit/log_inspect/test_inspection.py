"""A healthy partition is sound, and its summary right."""

from __future__ import annotations

from log_edits import seen
from log_partitions import Log

from kafka_conformance.log_inspect.directory import open_directory
from kafka_conformance.log_inspect.inspection import total_bytes


def test_healthy_partition_is_sound_with_right_summary_counts_and_inspection_changes_no_file(log: Log) -> None:
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in log.folder.iterdir()}
    log.folder.chmod(0o555)
    found = seen(log.folder, records=True)
    log.folder.chmod(0o755)
    assert (found.verdict, found.findings) == ("sound", [])
    (one,) = found.partitions
    assert (one.segments, one.batches, one.start, one.end) == (3, len(log.positions), 0, log.offset)
    assert one.bytes == sum(size for _, _, size in log.positions)
    files = [path for path in log.folder.iterdir() if path.suffix in {".log", ".index", ".timeindex", ".txnindex"}]
    assert total_bytes(open_directory(log.folder)) == sum(path.stat().st_size for path in files)
    assert (one.producers, one.transactions, one.compacted) == (3, 9, False)
    assert before == {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in log.folder.iterdir()}
