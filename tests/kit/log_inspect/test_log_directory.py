"""Whole directories; what a running broker changes meanwhile; what cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_edits import bases, change, file, kinds, seen
from log_partitions import Log, data, healthy

from kafka_conformance.core.errors import BadInput
from kafka_conformance.log_inspect.directory import open_directory
from kafka_conformance.log_inspect.inspection import inspect


def test_a_log_directory(tmp_path: Path) -> None:
    log = healthy(tmp_path / "orders-0")
    healthy(tmp_path / f"orders-1.{'a' * 32}-future")
    for name in (f"gone-0.{'b' * 32}-delete", f"lost-0.{'c' * 32}-stray", "remote-log-index-cache", "notes"):
        (tmp_path / name).mkdir()
    (log.folder / f"{0:020}.log.deleted").write_bytes(b"x")
    (log.folder / f"{0:020}.log.swap").write_bytes(b"x")
    (log.folder / "core.1234").write_bytes(b"x")
    (tmp_path / "meta.properties").write_text("version=1\n")
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
    (tmp_path / "replication-offset-checkpoint").write_text(f"0\n1\norders 0 {log.offset + 1}\n")
    (tmp_path / "recovery-point-offset-checkpoint").write_text("0\n1\norders 0\n")
    (log.folder / "partition.metadata").write_text("version: 1\n")
    (tmp_path / ".kafka_cleanshutdown").unlink()
    found = seen(tmp_path)
    assert kinds(found) == {"checkpoint-corrupt", "partition-metadata-corrupt"}
    assert kinds(found, "suspicious") == {"checkpoint-past-end"}
    assert kinds(found, "note") >= {"not-flushed", "active-segment"}


def test_leftovers_of_tiered_storage(tmp_path: Path) -> None:
    """Segments were deleted here after they were copied: older epochs and the cache of remote indexes stay."""
    log = healthy(tmp_path / "orders-0")
    for path in log.folder.glob(f"{0:020}.*"):
        path.unlink()
    (log.folder / "remote_log_snapshot").write_bytes(b"x")
    (tmp_path / "remote-log-index-cache").mkdir()
    (tmp_path / "remote-log-index-cache" / "0_AAAA.index").write_bytes(b"")
    (tmp_path / "_rlmm_committed_offsets").write_text("0\n0\n")
    (tmp_path / "meta.properties").write_text("version=1\n")
    found = seen(tmp_path)
    assert kinds(found) | kinds(found, "suspicious") == set()
    assert found.partitions[0].start == bases(log)[1]


def test_offsets_before_the_log_start_are_not_judged_as_gaps(tmp_path: Path) -> None:
    log = Log(tmp_path / "t-0")
    log.append(data(3))
    log.offset = 50
    log.append(data(3))
    (tmp_path / "log-start-offset-checkpoint").write_text("0\n1\nt 0 50\n")
    log.write()
    assert kinds(seen(tmp_path), "note") >= {"offset-gap"}
    assert seen(tmp_path).suspicious == 0


def test_what_is_no_log_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for folder in (tmp_path, tmp_path / "none", tmp_path / "file"):
        with pytest.raises(BadInput):
            open_directory(folder)


def test_an_empty_partition(tmp_path: Path) -> None:
    (tmp_path / "meta.properties").write_text("version=1\n")
    (tmp_path / "t-0").mkdir()
    found = seen(tmp_path)
    assert (found.verdict, kinds(found, "suspicious")) == ("sound", {"no-segments"})
    log = Log(tmp_path / "t-0")
    log.write(preallocated=10)
    assert seen(tmp_path).suspicious == 0


def test_a_broker_that_writes_while_it_is_inspected(tmp_path: Path) -> None:
    log = healthy(tmp_path / "t-0")
    (tmp_path / "meta.properties").write_text("version=1\n")
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


def test_files_that_cannot_be_read_are_not_judged(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("kafka_conformance.log_inspect.inspection.Segment", refuse)
    found = seen(log.folder)
    assert found.verdict == "not judged"
    assert {row.kind for row in found.findings} == {"unreadable"}


def test_an_index_that_cannot_be_read_is_not_missing(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, _: int) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("kafka_conformance.log_inspect.checks.offset_index.IndexFile", refuse)
    found = seen(log.folder)
    assert found.verdict == "not judged"
    assert {row.kind for row in found.findings} == {"unreadable"}


def test_a_segment_that_a_broker_deletes_during_the_inspection(log: Log) -> None:
    opened = open_directory(log.folder)
    for path in log.folder.glob(f"{0:020}.*"):
        path.unlink()
    found = inspect(opened)
    assert (found.verdict, kinds(found, "note")) == ("sound", {"replaced-segment"})


def test_a_checkpoint_of_a_segment_that_a_broker_begins_during_the_inspection(log: Log) -> None:
    root = log.folder.parent
    (root / "replication-offset-checkpoint").write_text(f"0\n1\norders 0 {log.offset + 3}\n")
    assert kinds(seen(root), "suspicious") == {"checkpoint-past-end"}
    opened = open_directory(root)
    log.roll()
    log.append(data(3))
    log.write()
    found = inspect(opened)
    assert (found.broken, found.suspicious) == (0, 0)


def test_a_segment_that_a_broker_compacts_during_the_inspection(log: Log) -> None:
    """Its findings are left out; those of the other segments stay."""
    path = file(log, bases(log)[1], "log")
    whole = path.read_bytes()
    change(path, 500, b"\xff" * 9)
    change(file(log, 0, "log"), 300, b"\xff" * 9)
    assert kinds(seen(log.folder)) >= {"crc-mismatch"}

    def replaced(_: int) -> None:
        other = path.with_suffix(".swap")
        other.write_bytes(whole)
        other.rename(path)

    found = inspect(open_directory(log.folder), read=replaced)
    assert {row.file for row in found.findings if row.severity == "broken"} == {f"{0:020}.log"}
    assert [row.file for row in found.findings if row.kind == "replaced-segment"] == [path.name]
