"""What else is found, and what is legal: indexes, checkpoints, headers, records, older formats, producers."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import pytest
from log_edits import bases, change, file, flip, kinds, rewrite, seen
from log_partitions import START_MS, Log, control, data, healthy

from kafka_conformance.log_inspect.directory import open_directory
from kafka_conformance.log_inspect.inspection import inspect
from kafka_reference.record_batch import Codec, NewBatch, NewRecord, encode_batch


def test_segment_with_batches_below_base_offset_of_file_name_is_found(log: Log) -> None:
    first = bases(log)[1]
    for suffix in ("log", "index", "timeindex", "txnindex", "snapshot"):
        file(log, first, suffix).rename(file(log, first + 2, suffix))
    assert "offset-before-segment" in kinds(seen(log.folder))


def test_missing_truncated_and_zero_filled_offset_indexes_are_found(log: Log) -> None:
    file(log, 0, "index").unlink()
    assert kinds(seen(log.folder)) == {"index-missing"}
    path = file(log, bases(log)[1], "index")
    path.write_bytes(path.read_bytes() + b"abc")
    assert kinds(seen(log.folder)) == {"index-missing", "index-size"}
    path.write_bytes(path.read_bytes()[:-3] + bytes(800))
    assert kinds(seen(log.folder)) == {"index-missing", "index-zero-tail"}


def test_missing_duplicated_or_changed_transaction_index_entry_is_found(log: Log) -> None:
    path = file(log, 0, "txnindex")
    whole = path.read_bytes()
    path.unlink()
    found = seen(log.folder)
    assert kinds(found) == {"aborted-transaction-not-indexed"}
    path.write_bytes(whole + whole)
    assert kinds(seen(log.folder)) == {"transaction-index-wrong"}
    path.write_bytes(whole[:-1])
    assert "index-size" in kinds(seen(log.folder))
    for at in (1, 9, 17, 25):  # version, producer, first offset, last offset
        path.write_bytes(whole)
        change(path, at, bytes([whole[at] ^ 0x7F]))
        assert kinds(seen(log.folder)) & {"transaction-index-wrong", "aborted-transaction-not-indexed"}, at


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("0\n2\n0 0\n", "leader-epochs-corrupt"), ("1\n1\n0 0\n", "leader-epochs-corrupt"),
        ("0\n1\n", "leader-epochs-corrupt"),
        ("0\n2\n2 0\n0 63\n", "leader-epochs-corrupt"), ("0\n1\nzero 0\n", "leader-epochs-corrupt"),
        ("0\nx\n", "leader-epochs-corrupt"), ("0\n1\n0 0 0\n", "leader-epochs-corrupt"),
        ("0\n3\n0 0\n2 63\n4 127\n", "leader-epochs-wrong"), ("0\n1\n0 0\n", "leader-epochs-wrong"),
    ],
)  # fmt: skip
def test_invalid_leader_epoch_checkpoint_is_found_as_corrupt_or_wrong(log: Log, text: str, kind: str) -> None:
    (log.folder / "leader-epoch-checkpoint").write_text(text)
    assert kinds(seen(log.folder)) == {kind}


def test_missing_leader_epoch_checkpoint_is_suspicious(log: Log) -> None:
    (log.folder / "leader-epoch-checkpoint").unlink()
    assert kinds(seen(log.folder), "suspicious") == {"leader-epochs-missing"}


def test_leader_epoch_checkpoint_that_begins_after_log_start_is_suspicious_except_in_metadata_log(log: Log) -> None:
    (log.folder / "leader-epoch-checkpoint").write_text("0\n1\n4 140\n")
    one = next(each for each in seen(log.folder).findings if each.severity == "suspicious")
    assert (one.kind, one.what) == (
        "leader-epochs-missing", f"it begins with offset 140; offset 0 has leader epoch 0 in {0:020}.log"
    )  # fmt: skip
    (log.folder.parent / "log-start-offset-checkpoint").write_text("0\n1\norders 0 140\n")
    assert kinds(seen(log.folder.parent), "suspicious") == set()
    metadata = log.folder.rename(
        log.folder.with_name("__cluster_metadata-0")
    )  # begins at a snapshot, without a checkpoint
    assert kinds(seen(metadata), "suspicious") == set()


@pytest.mark.parametrize("text", ["", "0\n", "0\n0\n"])
def test_empty_checkpoint_files_are_not_corrupt_but_leader_epochs_are_reported_missing(log: Log, text: str) -> None:
    """As Java reads them: a new broker creates all of them so."""
    (log.folder / "leader-epoch-checkpoint").write_text(text)
    (log.folder.parent / "log-start-offset-checkpoint").write_text(text)
    found = seen(log.folder.parent)
    assert (kinds(found), kinds(found, "suspicious")) == (set(), {"leader-epochs-missing"})


def test_leader_epoch_checkpoint_written_by_broker_during_inspection_gives_no_finding(log: Log) -> None:
    path = log.folder / "leader-epoch-checkpoint"
    whole = path.read_text()
    path.write_text("")
    found = inspect(open_directory(log.folder), read=lambda _: path.write_text(whole))
    assert found.findings == []


def test_batch_header_with_inconsistent_count_or_attributes_is_a_bad_header(tmp_path: Path) -> None:
    def more(batch: bytearray) -> None:
        batch[57:61] = struct.pack(">i", 7)

    log = Log(tmp_path / "t-0")
    log.append(data(2))
    path = log.write() / f"{0:020}.log"
    rewrite(path, 0, more)
    assert kinds(seen(log.folder)) == {"bad-header"}
    rewrite(path, 0, lambda batch: batch.__setitem__(slice(21, 23), b"\x01\x05"))
    assert kinds(seen(log.folder)) == {"bad-header"}


@pytest.mark.parametrize("codec", list(Codec))
def test_undecodable_records_under_valid_checksum_are_found_only_when_records_are_read(
    tmp_path: Path, codec: Codec
) -> None:
    log = Log(tmp_path / "t-0")
    log.append(data(5, codec=codec))
    log.append(data(5, codec=codec))
    path = log.write() / f"{0:020}.log"
    assert seen(log.folder, records=True).findings == []
    rewrite(path, 0, lambda batch: batch.__setitem__(slice(61, 64), b"\xff\xff\x01"))
    assert seen(log.folder).verdict == "sound"
    found = seen(log.folder, records=True)
    assert kinds(found) == {"bad-records"}, found.findings


def test_record_timestamps_count_and_offsets_unlike_batch_header_are_found_when_records_are_read(
    tmp_path: Path,
) -> None:
    log = Log(tmp_path / "t-0")
    log.append(data(3))
    path = log.write() / f"{0:020}.log"
    rewrite(path, 0, lambda batch: batch.__setitem__(slice(35, 43), struct.pack(">q", 5)))
    assert "record-timestamp" in kinds(seen(log.folder, records=True))
    log.write()
    rewrite(path, 0, lambda batch: batch.__setitem__(slice(57, 61), struct.pack(">i", 2)))
    assert kinds(seen(log.folder, records=True)) == {"record-count"}
    log.write()
    rewrite(path, 0, lambda batch: batch.__setitem__(64, 8))  # the offset delta of the first record
    assert kinds(seen(log.folder, records=True)) == {"record-offset"}


@pytest.mark.parametrize("magic", [0, 1])
def test_message_formats_0_and_1_get_checksums_checked_but_requested_records_stay_unread(
    tmp_path: Path, magic: int
) -> None:
    folder = tmp_path / "t-0"
    folder.mkdir()
    batches = [
        NewBatch(records=[NewRecord(START_MS + n, b"k", b"v" * 50)], magic=magic, base_offset=n) for n in range(9)
    ]
    encoded = [encode_batch(batch) for batch in batches]
    path = folder / f"{0:020}.log"
    path.write_bytes(b"".join(encoded))
    (folder / f"{0:020}.index").write_bytes(b"")
    found = seen(folder)
    assert (found.verdict, kinds(found, "note")) == ("sound", {"old-format"})
    found = seen(folder, records=True)
    assert (found.verdict, found.left_out) == ("not judged", {"record-unread": 1})
    flip(path, 8 * (len(encoded[0]) + 40))
    assert kinds(seen(folder)) == {"crc-mismatch"}


def test_batch_larger_than_scan_buffer_is_sound_and_flipped_bit_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kafka_conformance.log_inspect.scan.BUFFER", 128)
    log = healthy(tmp_path / "t-0")
    assert seen(log.folder).findings == []
    log.append(data(40))
    path = log.write() / f"{log.base:020}.log"
    assert kinds(seen(log.folder)) == set()
    flip(path, 8 * (path.stat().st_size - 3))
    assert kinds(seen(log.folder)) == {"crc-mismatch"}


def test_findings_of_a_type_beyond_20_are_only_counted(tmp_path: Path) -> None:
    log = Log(tmp_path / "t-0")
    for number in range(100):
        log.append(data(1, (5, 100 - number, 0)))
    found = seen(log.write())
    assert found.broken == 99
    assert len(found.findings) == 20
    assert sum(row.more for row in found.findings) == 79


def test_wrong_offset_or_leader_epoch_of_a_batch_is_reported_only_once(log: Log) -> None:
    base, position, _ = log.positions[5]
    change(file(log, base, "log"), position, struct.pack(">q", 50))
    found = seen(log.folder)
    assert sum(row.kind == "offsets-overlap" for row in found.findings) == 1
    change(file(log, base, "log"), log.positions[9][1] + 12, struct.pack(">i", 70))
    assert sum(row.kind == "leader-epoch-back" for row in seen(log.folder).findings) == 1


def test_offset_and_sequence_gaps_are_suspicious_unless_cleaner_checkpoint_has_the_partition(tmp_path: Path) -> None:
    log = Log(tmp_path / "t-0")
    log.append(data(3, (1, 0, 0)))
    log.append(data(3, (1, 0, 3)))
    log.append(data(3, (1, 0, 6)))
    position, size = log.positions[1][1:]
    path = log.write() / f"{0:020}.log"
    whole = path.read_bytes()
    path.write_bytes(whole[:position] + whole[position + size :])
    for suffix in ("index", "timeindex"):
        (log.folder / f"{0:020}.{suffix}").write_bytes(b"")
    assert kinds(seen(tmp_path), "suspicious") == {"offset-gap", "sequence-gap"}
    (tmp_path / "cleaner-offset-checkpoint").write_text("0\n1\nt 0 9\n")
    found = seen(tmp_path)
    assert (found.broken, found.suspicious) == (0, 0)
    assert found.partitions[0].compacted


def test_sequence_gap_after_producer_state_expired_is_only_a_note(tmp_path: Path) -> None:
    log = Log(tmp_path / "t-0")
    log.append(replace(data(3, (1, 0, 0)), records=[NewRecord(START_MS, None, b"v")]))
    log.append(data(3, (1, 0, 77), timestamp=START_MS + 86_400_000))
    found = seen(log.write())
    assert (found.verdict, kinds(found, "note")) == ("sound", {"sequence-gap"})


@pytest.mark.parametrize(
    ("key", "value", "what"),
    [
        (None, None, "NullPointerException"), (b"\0", b"", "InvalidRecordException"),
        (b"\0\0\0\7", b"\0" * 6, "IllegalArgumentException"), (b"\0\0\0\1", b"\0\0", "BufferUnderflowException"),
        (b"\xff\xff\0\1", b"\0" * 6, "InvalidRecordException"),
    ],
)  # fmt: skip
def test_control_batch_without_readable_transaction_marker_is_broken(
    tmp_path: Path, key: bytes | None, value: bytes | None, what: str
) -> None:
    log = Log(tmp_path / "t-0")
    log.append(data(2, (1, 0, 0), transactional=True))
    log.append(replace(control(1, 0, commit=True), records=[NewRecord(START_MS, key, value)]))
    found = seen(log.write())
    assert kinds(found) == {"bad-marker"}
    assert what in found.findings[0].what


def test_empty_control_batch_left_by_compaction_is_not_a_bad_marker(tmp_path: Path) -> None:
    log = Log(tmp_path / "t-0")
    log.append(data(2, (1, 0, 0), transactional=True))
    log.append(control(1, 0, commit=True))
    path = log.write() / f"{0:020}.log"
    position = log.positions[1][1]
    whole = path.read_bytes()
    path.write_bytes(whole[: position + 61])
    rewrite(path, position, lambda batch: batch.__setitem__(slice(8, 12), struct.pack(">i", 49)))
    rewrite(path, position, lambda batch: batch.__setitem__(slice(57, 61), bytes(4)))
    assert "bad-marker" not in kinds(seen(log.folder))


@pytest.mark.parametrize("codec", [5, 7])
def test_batch_with_undefined_compression_codec_number_is_a_bad_header(log: Log, codec: int) -> None:
    base, position, _ = log.positions[5]

    def edit(batch: bytearray) -> None:
        batch[22] = batch[22] & ~0x07 | codec

    rewrite(file(log, base, "log"), position, edit)
    (row,) = [row for row in seen(log.folder).findings if row.severity == "broken"]
    assert (row.kind, row.what) == ("bad-header", f"codec {codec} is unknown")


def test_producer_sequence_that_wraps_to_0_after_int32_max_gives_no_finding(tmp_path: Path) -> None:
    log = Log(tmp_path / "t-0")
    log.append(data(2, (5, 0, 2**31 - 2)))
    log.append(data(1, (5, 0, 0)))
    assert seen(log.write()).findings == []
    log.append(data(1, (5, 0, 2)))
    assert kinds(seen(log.write())) == {"sequence-gap"}
