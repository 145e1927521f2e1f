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


def test_segment_named_after_a_later_offset_is_found(log: Log) -> None:
    first = bases(log)[1]
    for suffix in ("log", "index", "timeindex", "txnindex", "snapshot"):
        file(log, first, suffix).rename(file(log, first + 2, suffix))
    assert "offset-before-segment" in kinds(seen(log.folder))


def test_missing_cut_and_zeroed_indexes(log: Log) -> None:
    file(log, 0, "index").unlink()
    assert kinds(seen(log.folder)) == {"index-missing"}
    path = file(log, bases(log)[1], "index")
    path.write_bytes(path.read_bytes() + b"abc")
    assert kinds(seen(log.folder)) == {"index-missing", "index-size"}
    path.write_bytes(path.read_bytes()[:-3] + bytes(800))
    assert kinds(seen(log.folder)) == {"index-missing", "index-zero-tail"}


def test_transaction_index_faults_are_found(log: Log) -> None:
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
def test_the_leader_epoch_checkpoint(log: Log, text: str, kind: str) -> None:
    (log.folder / "leader-epoch-checkpoint").write_text(text)
    assert kinds(seen(log.folder)) == {kind}


def test_no_leader_epoch_checkpoint(log: Log) -> None:
    (log.folder / "leader-epoch-checkpoint").unlink()
    assert kinds(seen(log.folder), "suspicious") == {"leader-epochs-missing"}


@pytest.mark.parametrize("text", ["", "0\n", "0\n0\n"])
def test_empty_checkpoints_have_no_entries(log: Log, text: str) -> None:
    """As Java reads them: a new broker creates all of them so."""
    (log.folder / "leader-epoch-checkpoint").write_text(text)
    (log.folder.parent / "log-start-offset-checkpoint").write_text(text)
    found = seen(log.folder.parent)
    assert (kinds(found), kinds(found, "suspicious")) == (set(), {"leader-epochs-missing"})


def test_a_leader_epoch_checkpoint_that_a_broker_writes_in_the_meantime(log: Log) -> None:
    path = log.folder / "leader-epoch-checkpoint"
    whole = path.read_text()
    path.write_text("")
    found = inspect(open_directory(log.folder), read=lambda _: path.write_text(whole))
    assert found.findings == []


def test_headers_that_contradict_themselves(tmp_path: Path) -> None:
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
def test_records_under_a_valid_checksum(tmp_path: Path, codec: Codec) -> None:
    log = Log(tmp_path / "t-0")
    log.append(data(5, codec=codec))
    log.append(data(5, codec=codec))
    path = log.write() / f"{0:020}.log"
    assert seen(log.folder, records=True).findings == []
    rewrite(path, 0, lambda batch: batch.__setitem__(slice(61, 64), b"\xff\xff\x01"))
    assert seen(log.folder).verdict == "sound"
    found = seen(log.folder, records=True)
    assert kinds(found) == {"bad-records"}, found.findings


def test_records_that_contradict_the_header(tmp_path: Path) -> None:
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
def test_formats_before_v2_are_judged_in_part(tmp_path: Path, magic: int) -> None:
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


def test_a_batch_larger_than_the_buffer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka_conformance.log_inspect.scan.BUFFER", 128)
    log = healthy(tmp_path / "t-0")
    assert seen(log.folder).findings == []
    log.append(data(40))
    path = log.write() / f"{log.base:020}.log"
    assert kinds(seen(log.folder)) == set()
    flip(path, 8 * (path.stat().st_size - 3))
    assert kinds(seen(log.folder)) == {"crc-mismatch"}


def test_findings_of_one_kind_are_counted_when_there_are_many(tmp_path: Path) -> None:
    log = Log(tmp_path / "t-0")
    for number in range(100):
        log.append(data(1, (5, 100 - number, 0)))
    found = seen(log.write())
    assert found.broken == 99
    assert len(found.findings) == 20
    assert sum(row.more for row in found.findings) == 79


def test_one_wrong_offset_or_epoch_is_not_reported_for_all_later_batches(log: Log) -> None:
    base, position, _ = log.positions[5]
    change(file(log, base, "log"), position, struct.pack(">q", 50))
    found = seen(log.folder)
    assert sum(row.kind == "offsets-overlap" for row in found.findings) == 1
    change(file(log, base, "log"), log.positions[9][1] + 12, struct.pack(">i", 70))
    assert sum(row.kind == "leader-epoch-back" for row in seen(log.folder).findings) == 1


def test_compaction_makes_gaps_legal(tmp_path: Path) -> None:
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


def test_a_producer_that_the_broker_forgot_may_go_on_with_any_sequence(tmp_path: Path) -> None:
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
def test_a_control_batch_without_a_readable_marker_is_broken(
    tmp_path: Path, key: bytes | None, value: bytes | None, what: str
) -> None:
    log = Log(tmp_path / "t-0")
    log.append(data(2, (1, 0, 0), transactional=True))
    log.append(replace(control(1, 0, commit=True), records=[NewRecord(START_MS, key, value)]))
    found = seen(log.write())
    assert kinds(found) == {"bad-marker"}
    assert what in found.findings[0].what


def test_an_empty_control_batch_is_what_compaction_left_of_a_marker(tmp_path: Path) -> None:
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
def test_a_codec_without_a_number_in_kafka_is_a_bad_header(log: Log, codec: int) -> None:
    base, position, _ = log.positions[5]

    def edit(batch: bytearray) -> None:
        batch[22] = batch[22] & ~0x07 | codec

    rewrite(file(log, base, "log"), position, edit)
    (row,) = [row for row in seen(log.folder).findings if row.severity == "broken"]
    assert (row.kind, row.what) == ("bad-header", f"codec {codec} is unknown")


def test_a_sequence_of_0_follows_the_largest_one(tmp_path: Path) -> None:
    log = Log(tmp_path / "t-0")
    log.append(data(2, (5, 0, 2**31 - 2)))
    log.append(data(1, (5, 0, 0)))
    assert seen(log.write()).findings == []
    log.append(data(1, (5, 0, 2)))
    assert kinds(seen(log.write())) == {"sequence-gap"}
