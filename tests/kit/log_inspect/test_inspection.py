"""Healthy partitions are sound; every damage is found, by its kind, and at its place."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from crc32c import crc32c
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from log_partitions import Log, control, data, healthy

from kafka_conformance.core.errors import BadInput
from kafka_conformance.log_inspect.directory import open_directory
from kafka_conformance.log_inspect.find import find_offset, one_partition
from kafka_conformance.log_inspect.inspection import inspect, total_bytes
from kafka_conformance.log_inspect.result import Inspection
from kafka_reference.record_batch import Codec, NewBatch, NewRecord, encode_batch


def seen(folder: Path, **how: bool | str) -> Inspection:
    return inspect(open_directory(folder), **how)  # type: ignore[arg-type]


def kinds(found: Inspection, severity: str = "broken") -> set[str]:
    return {row.kind for row in found.findings if row.severity == severity}


def change(path: Path, at: int, new: bytes) -> None:
    whole = bytearray(path.read_bytes())
    at %= len(whole)
    whole[at : at + len(new)] = new
    path.write_bytes(whole)


def flip(path: Path, bit: int) -> None:
    change(path, bit // 8, bytes([path.read_bytes()[bit // 8] ^ 1 << bit % 8]))


def rewrite(path: Path, position: int, edit: Callable[[bytearray], None]) -> None:
    """Edit the bytes of a batch, and make its checksum right again."""
    whole = bytearray(path.read_bytes())
    size = struct.unpack_from(">i", whole, position + 8)[0] + 12
    batch = whole[position : position + size]
    edit(batch)
    batch[17:21] = struct.pack(">I", crc32c(bytes(batch[21:])))
    whole[position : position + size] = batch
    path.write_bytes(whole)


def file(log: Log, base: int, suffix: str) -> Path:
    return log.folder / f"{base:020}.{suffix}"


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return healthy(tmp_path / "orders-0")


def bases(log: Log) -> list[int]:
    return sorted({base for base, _, _ in log.positions})


def test_a_healthy_partition_is_sound_and_untouched(log: Log) -> None:
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in log.folder.iterdir()}
    log.folder.chmod(0o555)
    found = seen(log.folder, records=True)
    log.folder.chmod(0o755)
    assert (found.verdict, found.findings) == ("sound", [])
    (one,) = found.partitions
    assert (one.segments, one.batches, one.start, one.end) == (3, len(log.positions), 0, log.offset)
    assert one.bytes == total_bytes(open_directory(log.folder)) == sum(size for _, _, size in log.positions)
    assert (one.producers, one.transactions, one.compacted) == (3, 9, False)
    assert before == {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in log.folder.iterdir()}


# ------------------------------------------------------------------------------------- the ten damages of the issue


def test_a_flipped_bit(log: Log) -> None:
    base, position, size = log.positions[7]
    flip(file(log, base, "log"), 8 * (position + size - 1))
    found = seen(log.folder)
    assert kinds(found) == {"crc-mismatch"}
    (row,) = [row for row in found.findings if row.kind == "crc-mismatch"]
    assert (row.file, row.position) == (f"{base:020}.log", position)


@pytest.mark.parametrize("left", [1, 7, 11, 16, 30, 60, 77])
def test_a_cut_file(log: Log, left: int) -> None:
    base, position, size = log.positions[-1]
    path = file(log, base, "log")
    assert left < size
    path.write_bytes(path.read_bytes()[: position + left])
    found = seen(log.folder)
    assert "cut-batch" in kinds(found)
    (row,) = [row for row in found.findings if row.kind == "cut-batch"]
    assert (row.position, row.offset) == (position, log.offset - 1)


def test_a_cut_file_in_the_middle_of_the_log(log: Log) -> None:
    path = file(log, 0, "log")
    path.write_bytes(path.read_bytes()[:-20])
    assert "cut-batch" in kinds(seen(log.folder))


@pytest.mark.parametrize("foreign", [b"x", b"not a batch", b"\xff" * 500, bytes(range(256)) * 4])
@pytest.mark.parametrize("active", [False, True])
def test_foreign_bytes_appended(log: Log, foreign: bytes, active: bool) -> None:
    path = file(log, bases(log)[-1 if active else 0], "log")
    size = path.stat().st_size
    path.write_bytes(path.read_bytes() + foreign)
    found = seen(log.folder)
    assert kinds(found) == {"foreign-bytes"}
    assert [row.position for row in found.findings] == [size]


def test_zeros_at_the_end_are_preallocated_in_the_active_segment_and_foreign_elsewhere(log: Log) -> None:
    active = file(log, bases(log)[-1], "log")
    active.write_bytes(active.read_bytes() + bytes(100_000))
    found = seen(log.folder)
    assert (found.verdict, kinds(found, "note")) == ("sound", {"zero-tail"})
    first = file(log, 0, "log")
    first.write_bytes(first.read_bytes() + bytes(10))
    assert kinds(seen(log.folder)) == {"foreign-bytes"}


def test_foreign_bytes_in_the_middle_are_skipped_to_the_next_indexed_batch(log: Log) -> None:
    base, position, _ = log.positions[3]
    change(file(log, base, "log"), position, b"\xff" * 20)
    found = seen(log.folder)
    (row,) = [row for row in found.findings if row.kind == "foreign-bytes"]
    assert row.position == position
    assert "the next one that the index names" in row.what
    assert found.partitions[0].batches > len(log.positions) - 8


def test_an_index_entry_past_the_end(log: Log) -> None:
    path = file(log, 0, "index")
    path.write_bytes(path.read_bytes() + struct.pack(">ii", 62, 10**6))
    found = seen(log.folder)
    assert kinds(found) == {"index-past-end"}
    assert found.findings[0].position == path.stat().st_size - 8


def test_an_index_that_does_not_ascend(log: Log) -> None:
    path = file(log, 0, "index")
    whole = path.read_bytes()
    path.write_bytes(whole[8:16] + whole[:8] + whole[16:])
    assert kinds(seen(log.folder)) == {"index-not-ascending"}


def test_an_index_entry_into_the_middle_of_a_batch_or_with_another_offset(log: Log) -> None:
    path = file(log, 0, "index")
    whole = path.read_bytes()
    offset, position = struct.unpack_from(">ii", whole, 8)
    change(path, 8, struct.pack(">ii", offset, position + 1))
    assert kinds(seen(log.folder)) == {"index-wrong-position"}
    for wrong in (offset + 3, offset - 3):
        change(path, 8, struct.pack(">ii", wrong, position))
        assert kinds(seen(log.folder)) <= {"index-wrong-offset", "index-not-ascending"} != set(), wrong
        assert kinds(seen(log.folder))


def test_a_time_index_that_goes_back(log: Log) -> None:
    path = file(log, 0, "timeindex")
    whole = path.read_bytes()
    path.write_bytes(whole[:12] + whole[24:36] + whole[12:24] + whole[36:])
    assert kinds(seen(log.folder)) == {"time-index-back"}


def test_a_time_index_that_contradicts_the_log(log: Log) -> None:
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
def test_a_missing_snapshot(log: Log, number: int) -> None:
    file(log, bases(log)[number], "snapshot").unlink()
    found = seen(log.folder)
    # Brokers before 2.8.0 kept the newest two only: one that is missing before all others is legal.
    assert kinds(found, "broken" if number == 2 else "suspicious") == {"snapshot-missing"}
    assert found.verdict == ("broken" if number == 2 else "sound")


def test_all_snapshots_missing(log: Log) -> None:
    for base in bases(log)[1:]:
        file(log, base, "snapshot").unlink()
    assert kinds(seen(log.folder)) == {"snapshot-missing"}


def test_a_snapshot_that_is_cut_or_contradicts_the_log(log: Log) -> None:
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


def test_a_snapshot_of_batches_that_compaction_removed(tmp_path: Path) -> None:
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
    for suffix in ("index", "timeindex"):
        (log.folder / f"{0:020}.{suffix}").write_bytes(b"")
    found = seen(log.folder, policy="compact")
    assert (found.broken, found.suspicious) == (0, 0), found.findings


def test_a_sequence_gap(log: Log) -> None:
    base, position, _ = log.positions[12]
    shift = lambda batch: batch.__setitem__(slice(53, 57), struct.pack(">i", struct.unpack(">i", batch[53:57])[0] + 5))  # noqa: E731
    rewrite(file(log, base, "log"), position, shift)
    found = seen(log.folder)
    assert kinds(found) >= {"sequence-gap"}
    assert {row.position for row in found.findings if row.kind == "sequence-gap"} >= {position}


def test_a_missing_batch_is_suspicious_and_broken_where_nothing_is_compacted(log: Log) -> None:
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


def test_an_epoch_of_a_producer_that_goes_back(tmp_path: Path) -> None:
    log = Log(tmp_path / "t-0")
    for epoch in (3, 4, 3):
        log.append(data(2, (9, epoch, 0)))
    assert kinds(seen(log.write())) == {"producer-epoch-back"}


def test_a_leader_epoch_that_goes_back(tmp_path: Path) -> None:
    log = Log(tmp_path / "t-0")
    for epoch in (3, 4, 3):
        log.epoch = epoch
        log.append(data(2))
    assert kinds(seen(log.write())) == {"leader-epoch-back", "leader-epochs-wrong"}


def test_segments_that_overlap(log: Log) -> None:
    _, second, third = bases(log)
    for suffix in ("log", "index", "timeindex", "txnindex", "snapshot"):
        path = file(log, third, suffix)
        if path.exists():
            path.rename(file(log, third - 5, suffix))
    found = seen(log.folder)
    assert "segments-overlap" in kinds(found)
    assert next(row.file for row in found.findings if row.kind == "segments-overlap") == f"{second:020}.log"


# ----------------------------------------------------------------------------------------------------------- others


def test_a_segment_after_its_offsets(log: Log) -> None:
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


def test_the_transaction_index(log: Log) -> None:
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
    batches = [NewBatch(records=[NewRecord(5 + n, b"k", b"v" * 50)], magic=magic, base_offset=n) for n in range(9)]
    encoded = [encode_batch(batch) for batch in batches]
    path = folder / f"{0:020}.log"
    path.write_bytes(b"".join(encoded))
    (folder / f"{0:020}.index").write_bytes(b"")
    found = seen(folder, records=True)
    assert (found.verdict, kinds(found, "note")) == ("sound", {"old-format"})
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


# ------------------------------------------------------------------------------------------------------- any partition


@st.composite
def appended(draw: st.DrawFn) -> list[tuple[str, int, int, int]]:
    """What happens to a log: a batch of a producer, the end of its transaction, a new segment, another leader."""
    step = st.tuples(
        st.sampled_from(["plain", "idempotent", "transactional", "commit", "abort", "fence", "roll", "leader"]),
        st.integers(1, 4), st.integers(1, 5), st.integers(-5, 50),
    )  # fmt: skip
    return draw(st.lists(step, max_size=40))


def grown(folder: Path, steps: list[tuple[str, int, int, int]]) -> Log:
    log = Log(folder, interval=150)
    state: dict[int, list[int]] = {}
    now = 1_000
    for what, pid, count, later in steps:
        now += later
        producer = state.setdefault(pid, [0, 0, 0])  # epoch, next sequence, is a transaction open
        if what == "plain":
            log.append(data(count, timestamp=now))
        elif what in {"idempotent", "transactional"}:
            transactional = bool(pid % 2)
            producer[2] |= transactional
            batch = data(count, (pid, producer[0], producer[1]), transactional=transactional, timestamp=now,
                         codec=Codec(count % 5))  # fmt: skip
            log.append(batch)
            producer[1] += count
        elif what in {"commit", "abort", "fence"} and producer[2]:
            if what == "fence":
                producer[:2] = [producer[0] + 1, 0]
            producer[2] = 0
            log.append(control(pid, producer[0], commit=what == "commit", timestamp=now))
        elif what == "roll" and log.offset > log.base:
            log.roll()
        elif what == "leader":
            log.epoch += 1
    log.write(preallocated=3)
    return log


ANY = settings(
    max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@ANY
@given(steps=appended())
def test_any_healthy_partition_is_sound(
    steps: list[tuple[str, int, int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    log = grown(tmp_path_factory.mktemp("any") / "t-0", steps)
    found = seen(log.folder, records=True)
    assert [row for row in found.findings if row.severity != "note"] == []


@ANY
@given(
    part=st.floats(0, 1, exclude_max=True),
    suffix=st.sampled_from(["log", "index", "timeindex", "txnindex", "snapshot"]),
)
def test_any_flipped_bit_is_found(part: float, suffix: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    log = healthy(tmp_path_factory.mktemp("flip") / "t-0")
    path = min(log.folder.glob(f"*.{suffix}"))
    bit = int(part * path.stat().st_size * 8)
    if suffix == "txnindex" and bit % (34 * 8) > 26 * 8:
        return  # the last stable offset, which the log does not tell
    if suffix == "timeindex" and bit % (12 * 8) > 8 * 8:
        return  # a smaller offset makes searches by time longer, and not wrong
    flip(path, bit)
    if seen(log.folder).verdict == "sound":  # an entry that names the end of a later batch: searches do not suffer
        assert suffix == "index", (path.name, bit)
        partition = one_partition(open_directory(log.folder), "")
        found = [find_offset(partition, offset).record for offset in range(log.offset)]
        assert [record and record.offset for record in found] == list(range(log.offset))


# ---------------------------------------------------------------------------------------------------- the directory


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
    log.append(replace(data(3, (1, 0, 0)), records=[NewRecord(1_000, None, b"v")]))
    log.append(data(3, (1, 0, 77), timestamp=1_000 + 86_400_000))
    found = seen(log.write())
    assert (found.verdict, kinds(found, "note")) == ("sound", {"sequence-gap"})
