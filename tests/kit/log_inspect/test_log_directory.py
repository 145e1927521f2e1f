"""Whole directories; what a running broker changes meanwhile; what cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_edits import bases, change, file, kinds, seen
from log_partitions import META, Log, data, healthy

from kafka_conformance.core.errors import BadInput
from kafka_conformance.log_inspect.directory import open_directory
from kafka_conformance.log_inspect.inspection import inspect


def test_log_directory_inspection_reports_leftovers_unknown_files_and_corrupt_or_too_high_checkpoints(
    tmp_path: Path,
) -> None:
    log = healthy(tmp_path / "orders-0")
    log.write()  # a clean stop leaves no preallocated zeros
    healthy(tmp_path / f"orders-1.{'a' * 32}-future").write()
    for name in (f"gone-0.{'b' * 32}-delete", f"lost-0.{'c' * 32}-stray", "remote-log-index-cache"):
        (tmp_path / name).mkdir()
    (tmp_path / "notes").write_bytes(b"x")
    (log.folder / f"{0:020}.log.deleted").write_bytes(b"x")
    (log.folder / f"{0:020}.log.swap").write_bytes(b"x")
    (log.folder / "core.1234").write_bytes(b"x")
    (tmp_path / "meta.properties").write_text(META)
    (tmp_path / ".kafka_cleanshutdown").write_text("{}")
    (tmp_path / "replication-offset-checkpoint").write_text(f"0\n1\norders 0 {log.offset}\n")
    found = seen(tmp_path)
    assert found.verdict == "sound"
    assert [one.name for one in found.partitions] == ["orders-0", f"orders-1.{'a' * 32}-future"]
    assert sorted((row.kind, row.file) for row in found.findings) == [
        ("leftover", f"gone-0.{'b' * 32}-delete"), ("leftover", f"lost-0.{'c' * 32}-stray"),
        ("leftover", f"orders-0/{0:020}.log.deleted"), ("leftover", f"orders-0/{0:020}.log.swap"),
        ("unknown-file", "notes"), ("unknown-file", "orders-0/core.1234"),
    ]  # fmt: skip
    sizes = [row.what for row in found.findings if row.file.endswith((".deleted", ".swap"))]
    assert sizes == ["1 bytes: not inspected"] * 2
    (tmp_path / "replication-offset-checkpoint").write_text(f"0\n1\norders 0 {log.offset + 1}\n")
    (tmp_path / "recovery-point-offset-checkpoint").write_text("0\n1\norders 0\n")
    (log.folder / "partition.metadata").write_text("version: 1\n")
    (tmp_path / ".kafka_cleanshutdown").unlink()
    found = seen(tmp_path)
    assert kinds(found) == {"checkpoint-corrupt", "partition-metadata-corrupt"}
    assert kinds(found, "suspicious") == {"checkpoint-past-end"}
    assert kinds(found, "note") >= {"not-flushed", "active-segment"}


def test_partition_with_first_segment_in_tiered_storage_is_not_broken_or_suspicious(tmp_path: Path) -> None:
    """Segments were deleted here after they were copied: older epochs and the cache of remote indexes stay."""
    log = healthy(tmp_path / "orders-0")
    for path in log.folder.glob(f"{0:020}.*"):
        path.unlink()
    (log.folder / "remote_log_snapshot").write_bytes(b"x")
    (tmp_path / "remote-log-index-cache").mkdir()
    (tmp_path / "remote-log-index-cache" / "0_AAAA.index").write_bytes(b"")
    (tmp_path / "_rlmm_committed_offsets").write_text("0\n0\n")
    (tmp_path / "meta.properties").write_text(META)
    found = seen(tmp_path)
    assert kinds(found) | kinds(found, "suspicious") == set()
    assert found.partitions[0].start == bases(log)[1]


def test_offset_gap_below_log_start_offset_is_a_note_and_not_suspicious(tmp_path: Path) -> None:
    log = Log(tmp_path / "t-0")
    log.append(data(3))
    log.offset = 50
    log.append(data(3))
    (tmp_path / "log-start-offset-checkpoint").write_text("0\n1\nt 0 50\n")
    log.write()
    assert kinds(seen(tmp_path), "note") >= {"offset-gap"}
    assert seen(tmp_path).suspicious == 0


def test_missing_folder_plain_file_and_folder_without_logs_are_refused_as_log_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for folder in (tmp_path, tmp_path / "none", tmp_path / "file"):
        with pytest.raises(BadInput):
            open_directory(folder)


def test_empty_partition_folder_has_findings_for_missing_segments_and_partition_metadata(tmp_path: Path) -> None:
    (tmp_path / "meta.properties").write_text(META)
    (tmp_path / "t-0").mkdir()
    found = seen(tmp_path)
    assert (kinds(found), kinds(found, "suspicious")) == ({"partition-metadata-missing"}, {"no-segments"})
    log = Log(tmp_path / "t-0")
    log.write(preallocated=10)
    assert seen(tmp_path).suspicious == 0


def test_active_segment_appended_by_broker_during_inspection_is_sound(tmp_path: Path) -> None:
    log = healthy(tmp_path / "t-0")
    (tmp_path / "meta.properties").write_text(META)
    path = file(log, log.base, "log")
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])

    def written(count: int) -> None:
        if count == len(whole) - 10:
            path.write_bytes(whole)

    found = inspect(open_directory(tmp_path), read=written)
    assert found.verdict == "sound", found.findings
    assert kinds(found, "note") == {"active-segment", "not-flushed"}
    assert found.partitions[0].batches == len(log.positions) - 1


def test_segments_without_read_permission_give_verdict_not_judged(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("kafka_conformance.log_inspect.inspection.Segment", refuse)
    found = seen(log.folder)
    assert found.verdict == "not judged"
    assert {row.kind for row in found.findings} == {"unreadable"}


def test_index_without_read_permission_is_unreadable_and_not_missing(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("kafka_conformance.log_inspect.checks.offset_index.IndexFile", refuse)
    found = seen(log.folder)
    assert found.verdict == "not judged"
    assert {row.kind for row in found.findings} == {"unreadable"}


@pytest.mark.parametrize("number", [0, 1])
def test_segment_deleted_by_broker_during_inspection_is_noted_as_replaced(log: Log, number: int) -> None:
    """The first while it is read, the second before."""
    base = bases(log)[number]

    def delete(_: int) -> None:
        for path in log.folder.glob(f"{base:020}.*[!t]"):  # snapshots stay
            path.unlink(missing_ok=True)

    found = inspect(open_directory(log.folder), read=delete)
    assert (found.broken, found.suspicious) == (0, 0), found.findings
    assert [row.file for row in found.findings if row.kind == "replaced-segment"] == [f"{base:020}.log"]


def test_partition_renamed_for_deletion_during_inspection_is_a_leftover(log: Log) -> None:
    healthy(log.folder.parent / "orders-1")
    opened = open_directory(log.folder.parent)

    def rename(_: int) -> None:
        if log.folder.with_name("orders-1").exists():
            log.folder.with_name("orders-1").rename(log.folder.with_name(f"orders-1.{'a' * 32}-delete"))

    found = inspect(opened, read=rename)
    assert (found.broken, found.suspicious, len(found.partitions)) == (0, 0, 1)
    assert [row.file for row in found.findings if row.kind == "leftover"] == ["orders-1"]


def test_segments_merged_by_compaction_during_inspection_are_noted_as_replaced(log: Log) -> None:
    """Compaction writes the batches of the second and third segment to the second, while the first is read."""
    log.roll()
    log.append(data(3))
    log.write()
    _, second, third, _ = bases(log)
    both = file(log, second, "log").read_bytes() + file(log, third, "log").read_bytes()

    def merge(_: int) -> None:
        if not file(log, third, "log").exists():
            return
        new = log.folder / "new"
        new.write_bytes(both)
        new.rename(file(log, second, "log"))
        for suffix in ("log", "index", "timeindex", "txnindex"):
            file(log, third, suffix).unlink(missing_ok=True)
        for suffix in ("index", "timeindex"):
            new.write_bytes(b"")
            new.rename(file(log, second, suffix))

    found = inspect(open_directory(log.folder), read=merge)
    assert (found.broken, found.suspicious) == (0, 0), found.findings
    assert len([row for row in found.findings if row.kind == "replaced-segment"]) == 2


def test_checkpoint_past_end_is_not_reported_if_broker_rolls_segment_during_inspection(log: Log) -> None:
    root = log.folder.parent
    (root / "replication-offset-checkpoint").write_text(f"0\n1\norders 0 {log.offset + 3}\n")
    assert kinds(seen(root), "suspicious") == {"checkpoint-past-end"}

    def roll(_: int) -> None:
        if log.base == bases(log)[2]:
            log.roll()
            log.append(data(3))
            log.write()

    found = inspect(open_directory(root), read=roll)
    assert (found.broken, found.suspicious) == (0, 0)


def test_findings_of_segment_compacted_during_inspection_are_dropped_and_others_kept(log: Log) -> None:
    """Its findings are left out; those of the other segments stay."""
    path = file(log, bases(log)[1], "log")
    whole = path.read_bytes()
    change(path, 500, b"\xff" * 9)
    change(file(log, 0, "log"), 300, b"\xff" * 9)
    assert kinds(seen(log.folder)) >= {"crc-mismatch"}

    def replaced(_: int) -> None:
        if path.read_bytes() != whole:
            other = path.with_suffix(".swap")
            other.write_bytes(whole)
            other.rename(path)

    found = inspect(open_directory(log.folder), read=replaced)
    assert {row.file for row in found.findings if row.severity == "broken"} == {f"{0:020}.log"}
    assert [row.file for row in found.findings if row.kind == "replaced-segment"] == [path.name]
