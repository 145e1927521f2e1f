"""Every damage is found, by its kind, and at its place: first the ten of the issue."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from crc32c import crc32c
from log_edits import bases, change, file, flip, kinds, rewrite, seen
from log_partitions import START_MS, Log, control, data


def test_flipped_bit_is_found_as_crc_mismatch(log: Log) -> None:
    base, position, size = log.positions[7]
    flip(file(log, base, "log"), 8 * (position + size - 1))
    found = seen(log.folder)
    assert kinds(found) == {"crc-mismatch"}
    (row,) = [row for row in found.findings if row.kind == "crc-mismatch"]
    assert (row.file, row.position) == (f"{base:020}.log", position)


@pytest.mark.parametrize("left", [1, 7, 11, 16, 30, 60, 77])
def test_truncated_active_segment_is_found_as_cut_batch(log: Log, left: int) -> None:
    base, position, size = log.positions[-1]
    path = file(log, base, "log")
    assert left < size
    path.write_bytes(path.read_bytes()[: position + left])
    found = seen(log.folder)
    assert "cut-batch" in kinds(found)
    (row,) = [row for row in found.findings if row.kind == "cut-batch"]
    assert (row.position, row.offset) == (position, log.offset - 1)


def test_truncated_first_segment_is_found_as_cut_batch(log: Log) -> None:
    path = file(log, 0, "log")
    path.write_bytes(path.read_bytes()[:-20])
    assert "cut-batch" in kinds(seen(log.folder))


@pytest.mark.parametrize("foreign", [b"x", b"not a batch", b"\xff" * 500, bytes(range(256)) * 4])
@pytest.mark.parametrize("active", [False, True])
def test_foreign_bytes_appended_to_segment_are_found_at_old_end_of_file(log: Log, foreign: bytes, active: bool) -> None:
    path = file(log, bases(log)[-1 if active else 0], "log")
    size = path.stat().st_size
    path.write_bytes(path.read_bytes() + foreign)
    found = seen(log.folder)
    assert kinds(found) == {"foreign-bytes"}
    assert [row.position for row in found.findings] == [size]


def test_trailing_zeros_are_preallocation_in_active_segment_but_foreign_bytes_in_closed_segment(log: Log) -> None:
    active = file(log, bases(log)[-1], "log")
    active.write_bytes(active.read_bytes() + bytes(100_000))
    found = seen(log.folder)
    assert (found.verdict, kinds(found, "note")) == ("sound", {"zero-tail"})
    first = file(log, 0, "log")
    first.write_bytes(first.read_bytes() + bytes(10))
    assert kinds(seen(log.folder)) == {"foreign-bytes"}


def test_foreign_bytes_inside_segment_are_skipped_to_next_indexed_batch(log: Log) -> None:
    base, position, _ = log.positions[3]
    change(file(log, base, "log"), position, b"\xff" * 20)
    found = seen(log.folder)
    (row,) = [row for row in found.findings if row.kind == "foreign-bytes"]
    assert row.position == position
    assert "the next one that the index names" in row.what
    assert found.partitions[0].batches > len(log.positions) - 8


def test_offset_index_entry_past_segment_end_is_found(log: Log) -> None:
    path = file(log, 0, "index")
    path.write_bytes(path.read_bytes() + struct.pack(">ii", 62, 10**6))
    found = seen(log.folder)
    assert kinds(found) == {"index-past-end"}
    assert found.findings[0].position == path.stat().st_size - 8


def test_offset_index_with_descending_entries_is_found_as_not_ascending(log: Log) -> None:
    path = file(log, 0, "index")
    whole = path.read_bytes()
    path.write_bytes(whole[8:16] + whole[:8] + whole[16:])
    assert kinds(seen(log.folder)) == {"index-not-ascending"}


def test_offset_index_entry_with_wrong_position_or_offset_is_found(log: Log) -> None:
    path = file(log, 0, "index")
    whole = path.read_bytes()
    offset, position = struct.unpack_from(">ii", whole, 8)
    change(path, 8, struct.pack(">ii", offset, position + 1))
    assert kinds(seen(log.folder)) == {"index-wrong-position"}
    for wrong in (offset + 3, offset - 3):
        change(path, 8, struct.pack(">ii", wrong, position))
        assert kinds(seen(log.folder)) <= {"index-wrong-offset", "index-not-ascending"} != set(), wrong
        assert kinds(seen(log.folder))


def test_time_index_with_decreasing_timestamps_is_found(log: Log) -> None:
    path = file(log, 0, "timeindex")
    whole = path.read_bytes()
    path.write_bytes(whole[:12] + whole[24:36] + whole[12:24] + whole[36:])
    assert kinds(seen(log.folder)) == {"time-index-back"}


def test_time_index_entry_that_contradicts_the_log_is_found(log: Log) -> None:
    path = file(log, bases(log)[1], "timeindex")
    whole = path.read_bytes()
    timestamp, offset = struct.unpack_from(">qi", whole, len(whole) - 12)
    change(path, -12, struct.pack(">qi", timestamp + 1000, offset))
    assert kinds(seen(log.folder)) == {"time-index-wrong"}
    change(path, -12, struct.pack(">qi", timestamp, offset + 1000))
    assert kinds(seen(log.folder)) == {"time-index-past-end"}
    timestamp, offset = struct.unpack_from(">qi", whole, 12)
    path.write_bytes(whole)
    change(path, 12, struct.pack(">qi", timestamp - 5, offset + 40))
    assert kinds(seen(log.folder)) & {"time-index-wrong", "time-index-back"}


@pytest.mark.parametrize("number", [1, 2])
def test_missing_producer_snapshot_is_broken_for_active_segment_and_suspicious_for_earlier_segment(
    log: Log, number: int
) -> None:
    file(log, bases(log)[number], "snapshot").unlink()
    found = seen(log.folder)
    # Brokers before 2.8.0 kept the newest two only: one that is missing before all others is legal.
    assert kinds(found, "broken" if number == 2 else "suspicious") == {"snapshot-missing"}
    assert found.verdict == ("broken" if number == 2 else "sound")


def test_missing_producer_snapshots_of_all_segments_are_broken(log: Log) -> None:
    for base in bases(log)[1:]:
        file(log, base, "snapshot").unlink()
    assert kinds(seen(log.folder)) == {"snapshot-missing"}


def test_truncated_or_contradictory_producer_snapshot_is_found_as_corrupt_or_wrong(log: Log) -> None:
    path = file(log, bases(log)[1], "snapshot")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    assert kinds(seen(log.folder)) == {"snapshot-corrupt"}
    flip(path, 100)
    assert kinds(seen(log.folder)) == {"snapshot-corrupt"}
    body = bytearray(whole[6:])
    body[4 + 8 + 2 + 3] ^= 1  # the last sequence of the first producer
    path.write_bytes(struct.pack(">hI", 1, crc32c(bytes(body))) + body)
    found = seen(log.folder)
    assert kinds(found) == {"snapshot-wrong"}
    assert "last sequence" in found.findings[0].what


def test_producer_snapshot_of_batches_removed_by_compaction_is_legal(tmp_path: Path) -> None:
    """The marker of a transaction is left, its batch is not: the snapshot has the last sequence, the log an older one."""
    log = Log(tmp_path / "t-0")
    log.append(data(3, (1, 0, 0), transactional=True))
    log.append(data(3, (1, 0, 3), transactional=True))
    log.append(control(1, 0, commit=True))
    log.roll()
    log.append(data(1))
    path = log.write() / f"{0:020}.log"
    _, position, size = log.positions[1]
    whole = path.read_bytes()
    path.write_bytes(whole[:position] + whole[position + size :])
    (log.folder / f"{0:020}.index").write_bytes(b"")
    (log.folder / f"{0:020}.timeindex").write_bytes(struct.pack(">qi", START_MS + 2, 2))
    found = seen(log.folder, policy="compact")
    assert (found.broken, found.suspicious) == (0, 0), found.findings


def test_sequence_gap_of_producer_is_found_at_position_of_the_batch(log: Log) -> None:
    base, position, _ = log.positions[12]
    shift = lambda batch: batch.__setitem__(slice(53, 57), struct.pack(">i", struct.unpack(">i", batch[53:57])[0] + 5))  # noqa: E731
    rewrite(file(log, base, "log"), position, shift)
    found = seen(log.folder)
    assert kinds(found) >= {"sequence-gap"}
    assert {row.position for row in found.findings if row.kind == "sequence-gap"} >= {position}


def test_removed_batch_is_suspicious_by_default_broken_with_policy_delete_a_note_with_compact(log: Log) -> None:
    base, position, size = log.positions[1]
    path = file(log, base, "log")
    whole = path.read_bytes()
    path.write_bytes(whole[:position] + whole[position + size :])
    for suffix in ("index", "timeindex"):
        file(log, base, suffix).write_bytes(b"")
    found = seen(log.folder)
    assert "offset-gap" in kinds(found, "suspicious")
    assert {"offset-gap"} <= kinds(seen(log.folder, policy="delete"))
    assert {"offset-gap"} <= kinds(seen(log.folder, policy="compact"), "note")


def test_producer_epoch_that_decreases_is_found_as_broken(tmp_path: Path) -> None:
    log = Log(tmp_path / "t-0")
    for epoch in (3, 4, 3):
        log.append(data(2, (9, epoch, 0)))
    assert kinds(seen(log.write())) == {"producer-epoch-back"}


def test_leader_epoch_that_decreases_is_found_as_broken(tmp_path: Path) -> None:
    log = Log(tmp_path / "t-0")
    for epoch in (3, 4, 3):
        log.epoch = epoch
        log.append(data(2))
    assert kinds(seen(log.write())) == {"leader-epoch-back", "leader-epochs-wrong"}


def test_overlapping_segments_are_found_as_overlap(log: Log) -> None:
    _, second, third = bases(log)
    for suffix in ("log", "index", "timeindex", "txnindex", "snapshot"):
        path = file(log, third, suffix)
        if path.exists():
            path.rename(file(log, third - 5, suffix))
    found = seen(log.folder)
    assert "segments-overlap" in kinds(found)
    assert next(row.file for row in found.findings if row.kind == "segments-overlap") == f"{second:020}.log"
