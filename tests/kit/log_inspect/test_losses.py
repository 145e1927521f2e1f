"""What a finding makes unreadable: byte range, offsets, the next good offset, transaction markers and producers inside."""

from __future__ import annotations

import io
import shutil
import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from log_edits import bases, change, file, flip, kinds, seen
from log_partitions import META, Log, control, data, healthy
from rich.console import Console

from kafka_conformance.log_inspect.directory import open_directory
from kafka_conformance.log_inspect.findings import KINDS, Findings, Loss
from kafka_conformance.log_inspect.inspection import inspect
from kafka_conformance.log_inspect.losses import Losses
from kafka_conformance.log_inspect.next_steps import STEPS, next_step
from kafka_conformance.log_inspect.reports import page, text
from kafka_conformance.log_inspect.result import FindingRow, Inspection, OffsetRange


def row(found: Inspection, kind: str) -> FindingRow:
    return next(each for each in found.findings if each.kind == kind)


def answers(one: FindingRow) -> tuple[OffsetRange | None, int | None, str, str]:
    return one.lost, one.next_good_offset, one.transaction_marker, one.only_producer_state


def batch_offsets(log: Log) -> list[tuple[int, int, int, int, bool, int]]:
    """Of every batch: segment, position, size, first and last offset, whether it is a control batch, its producer."""
    found = []
    for base, position, size in log.positions:
        whole = file(log, base, "log").read_bytes()[position : position + size]
        first = struct.unpack_from(">q", whole)[0]
        attributes, delta = struct.unpack_from(">hi", whole, 21)
        found.append((base, position, size, first, first + delta, bool(attributes & 0x20)))
    return found


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_flipped_bit_loses_only_offsets_of_the_damaged_batch(at: float, bit: int, tmp_path: Path) -> None:
    folder = tmp_path / "orders-0"
    shutil.rmtree(folder, ignore_errors=True)
    log = healthy(folder)
    batches = batch_offsets(log)
    number = int(at * len(batches))
    base, position, size, first, last, is_control = batches[number]
    flip(file(log, base, "log"), 8 * (position + size - 1) + bit)
    one = row(seen(folder), "crc-mismatch")
    following = batches[number + 1][3] if number + 1 < len(batches) else None
    assert (one.position, one.end_position) == (position, position + size)
    assert one.lost == OffsetRange(first, last)
    assert one.next_good_offset == following
    assert one.transaction_marker == ("yes" if is_control else "no")


def test_foreign_bytes_lose_offsets_below_the_offset_of_the_next_index_entry(log: Log) -> None:
    batches = batch_offsets(log)
    entries = struct.iter_unpack(">ii", file(log, bases(log)[1], "index").read_bytes())
    named = {position for _, position in entries}
    number = next(n for n, each in enumerate(batches) if each[0] == bases(log)[1] and each[1] in named and each[1])
    base, position, _, first, *_ = batches[number - 1]
    change(file(log, base, "log"), position + 8, b"\xff" * 10)
    one = row(seen(log.folder), "foreign-bytes")
    assert (one.position, one.end_position) == (position, batches[number][1])
    # The entry has the last offset of its batch: a broker that looks for an earlier one begins before the damage.
    last = batches[number][4]
    assert last > batches[number][3]
    assert (one.lost, one.next_good_offset) == (OffsetRange(first, last - 1), last)
    assert one.only_producer_state == "no"  # the snapshot of the third segment has them all


def test_abort_marker_in_lost_bytes_is_detected_from_transaction_index(log: Log) -> None:
    base = bases(log)[1]
    entry = struct.unpack(">hqqqq", file(log, base, "txnindex").read_bytes()[:34])
    marker = next(each for each in batch_offsets(log) if each[3] == entry[3])
    before = next(each for each in batch_offsets(log) if each[0] == base)
    path = file(log, base, "log")
    change(path, 8, b"\xff" * 10)
    file(log, base, "index").write_bytes(b"")  # nothing names a later batch
    one = row(seen(log.folder), "foreign-bytes")
    assert before[3] <= marker[3] <= (one.lost.last or 0) if one.lost else False
    assert one.transaction_marker == "yes"
    file(log, base, "txnindex").unlink()
    assert row(seen(log.folder), "foreign-bytes").transaction_marker == "unknown"


def producers(folder: Path) -> Log:
    """A log of two producers; the last batch is of the second, which has no other."""
    log = Log(folder)
    log.append(data(2, (1, 0, 0)))
    log.append(data(1, (2, 0, 0)))
    return log


@pytest.mark.parametrize(
    ("snapshot", "again", "state"), [(False, False, "yes"), (True, False, "no"), (False, True, "no")]
)
def test_lost_batch_has_the_only_copy_of_producer_state_unless_later_batch_or_snapshot_has_one(
    tmp_path: Path, *, snapshot: bool, again: bool, state: str
) -> None:
    log = producers(tmp_path / "orders-0")
    if again:
        log.append(data(1, (2, 0, 1)))
    if snapshot:
        log.snapshot()
    log.write()
    position, size = log.positions[1][1:]
    flip(file(log, 0, "log"), 8 * (position + size - 1))
    assert answers(row(seen(log.folder), "crc-mismatch")) == (
        OffsetRange(2, 2), 3 if again else None, "no", state
    )  # fmt: skip


def test_damaged_batch_loses_later_offsets_too_after_unclean_stop_or_without_offset_index(tmp_path: Path) -> None:
    log = Log(tmp_path / "orders-0")
    for number in range(4):
        log.append(data(2, (1, 0, 2 * number)))
    log.append(data(1, (3, 0, 0), transactional=True))
    log.append(control(3, 0, commit=True))
    log.write()
    (tmp_path / "meta.properties").write_text(META)
    position, size = log.positions[1][1:]
    flip(file(log, 0, "log"), 8 * (position + size - 1))
    one = row(seen(tmp_path), "crc-mismatch")
    assert one.effect == "truncates"
    assert answers(one) == (OffsetRange(2, 9), None, "yes", "yes")
    assert "copy the folder" in one.next_step
    (tmp_path / ".kafka_cleanshutdown").write_bytes(b"")
    one = row(seen(tmp_path), "crc-mismatch")
    assert (one.effect, answers(one)[:3]) == ("wrong afterwards", (OffsetRange(2, 3), 4, "no"))
    assert "copy the folder" not in one.next_step
    # Without its index the segment is read again after a clean stop too, and cut off; later segments stay.
    file(log, 0, "index").unlink()
    one = row(seen(tmp_path), "crc-mismatch")
    assert (one.effect, one.lost) == ("truncates", OffsetRange(2, 9))


def test_truncated_last_batch_loses_offsets_of_header_or_up_to_high_watermark_if_header_is_cut(tmp_path: Path) -> None:
    log = producers(tmp_path / "orders-0")
    log.write()
    path = file(log, 0, "log")
    path.write_bytes(path.read_bytes()[:-3])
    one = row(seen(tmp_path), "cut-batch")
    assert answers(one) == (OffsetRange(2, 2), None, "unknown", "unknown")  # as the header has it
    path.write_bytes(path.read_bytes()[: log.positions[-1][1] + 26])
    assert row(seen(tmp_path), "cut-batch").lost == OffsetRange(2, None)
    (tmp_path / "replication-offset-checkpoint").write_text("0\n1\norders 0 5\n")
    assert row(seen(tmp_path), "cut-batch").lost == OffsetRange(2, 4)


@pytest.mark.parametrize("damaged", [False, True])
def test_cut_log_loses_offsets_up_to_last_entry_of_index_unless_index_is_damaged(log: Log, damaged: bool) -> None:
    base = bases(log)[-1]
    entries = list(struct.iter_unpack(">ii", file(log, base, "index").read_bytes().rstrip(b"\0")))
    if damaged:
        change(file(log, base, "index"), 8, struct.pack(">ii", *entries[2]))
    path = file(log, base, "log")
    cut = entries[3][1] + 5
    path.write_bytes(path.read_bytes()[:cut])
    lost = row(seen(log.folder), "cut-batch").lost
    assert lost is not None
    assert lost.last == (None if damaged else base + entries[-1][0])


def test_log_cut_between_batches_loses_offsets_up_to_last_entry_of_index(log: Log) -> None:
    base = bases(log)[-1]
    entries = list(struct.iter_unpack(">ii", file(log, base, "index").read_bytes().rstrip(b"\0")))
    kept = max(each[4] for each in batch_offsets(log) if each[0] == base and each[1] < entries[3][1])
    path = file(log, base, "log")
    path.write_bytes(path.read_bytes()[: entries[3][1]])
    one = row(seen(log.folder), "index-past-end")
    assert (one.lost, one.only_producer_state) == (OffsetRange(kept + 1, base + entries[-1][0]), "unknown")
    path.write_bytes(b"")
    assert row(seen(log.folder), "index-past-end").lost == OffsetRange(base, base + entries[-1][0])


def test_partition_without_segments_loses_offsets_up_to_high_watermark(log: Log) -> None:
    for path in log.folder.iterdir():
        path.unlink()
    root = log.folder.parent
    (root / "meta.properties").write_text(META)
    assert row(seen(root), "no-segments").lost is None
    (root / "replication-offset-checkpoint").write_text("0\n1\norders 0 77\n")
    assert row(seen(root), "no-segments").lost == OffsetRange(0, 76)


def test_missing_last_segment_leaves_unknown_whether_producer_state_has_another_copy(log: Log) -> None:
    log.snapshot()
    file(log, bases(log)[-1], "log").unlink()
    assert row(seen(log.folder), "segment-gone").only_producer_state == "unknown"


def test_snapshot_beyond_the_end_of_a_truncated_log_leaves_copy_of_producer_state_unknown(log: Log) -> None:
    root, base = log.folder.parent, bases(log)[-1]
    (root / "meta.properties").write_text(META)
    (root / ".kafka_cleanshutdown").write_bytes(b"")
    log.write()
    log.snapshot()
    path = file(log, base, "log")
    path.write_bytes(path.read_bytes()[:2_000])
    found = seen(root)
    end = row(found, "log-end-wrong")
    assert end.lost is not None
    assert (end.lost.first, end.only_producer_state) == (base, "unknown")
    assert row(found, "cut-batch").only_producer_state == "unknown"


def test_missing_segment_loses_offsets_up_to_next_segment(log: Log) -> None:
    _, middle, last = bases(log)
    file(log, middle, "log").unlink()
    assert answers(row(seen(log.folder), "segment-gone")) == (OffsetRange(middle, last - 1), last, "yes", "no")


def test_partition_without_partition_metadata_file_loses_all_offsets(log: Log) -> None:
    root = log.folder.parent
    (root / "meta.properties").write_text(META)
    (log.folder / "partition.metadata").unlink()
    one = row(seen(root), "partition-metadata-missing")
    assert answers(one) == (OffsetRange(0, log.offset - 1), None, "yes", "yes")


def test_log_start_offset_beyond_log_end_loses_all_offsets(log: Log) -> None:
    (log.folder.parent / "log-start-offset-checkpoint").write_text("0\n1\norders 0 500\n")
    assert row(seen(log.folder.parent), "checkpoint-past-end").lost == OffsetRange(0, log.offset - 1)


def test_offset_gap_is_a_loss_unless_cleanup_policy_is_compact(tmp_path: Path) -> None:
    log = Log(tmp_path / "orders-0")
    log.append(data(2))
    log.offset += 3
    log.append(data(1))
    log.write()
    one = row(seen(log.folder), "offset-gap")
    assert (one.lost, one.next_good_offset) == (OffsetRange(2, 4), 5)
    assert row(seen(log.folder, policy="compact"), "offset-gap").lost is None


@pytest.mark.parametrize(("first", "state"), [(0, "no"), (100, "yes")])
def test_corrupt_snapshot_is_only_copy_of_producer_state_if_log_starts_late_and_none_follows(
    tmp_path: Path, first: int, state: str
) -> None:
    log = Log(tmp_path / "orders-0", offset=first, base=first)
    log.append(data(2, (1, 0, 0)))
    log.roll()
    log.append(data(2, (2, 0, 0)))
    log.write()
    path = file(log, first + 2, "snapshot")
    flip(path, 100)
    one = row(seen(log.folder), "snapshot-corrupt")
    assert answers(one) == (None, None, "no", state)
    log.snapshot()  # a later one has the state too
    assert row(seen(log.folder), "snapshot-corrupt").only_producer_state == "no"


def test_findings_and_losses_of_segment_replaced_by_broker_during_inspection_are_dropped(log: Log) -> None:
    for offset in bases(log)[1:]:
        flip(file(log, offset, "snapshot"), 100)
    path = file(log, 0, "log")
    whole = path.read_bytes()
    change(path, 8, b"\xff" * 10)
    assert row(seen(log.folder), "snapshot-corrupt").only_producer_state == "yes"

    def replaced(count: int) -> None:
        if count == len(whole) and path.read_bytes() != whole:  # it was read
            other = path.with_suffix(".swap")
            other.write_bytes(whole)
            other.rename(path)

    found = inspect(open_directory(log.folder), read=replaced)
    assert kinds(found) == {"snapshot-corrupt"}
    assert row(found, "snapshot-corrupt").only_producer_state == "no"  # the log begins with offset 0


def test_discarded_losses_do_not_change_the_last_lost_offset_of_remaining_losses() -> None:
    losses, findings = Losses(), Findings()
    losses.mark()
    losses.add(findings.add("cut-batch", "replaced.log", "cut", loss=Loss(5)))
    losses.known_end(100)
    losses.withdraw()
    assert losses.open == []
    remaining = findings.add("cut-batch", "kept.log", "cut", loss=Loss(10))
    losses.add(remaining)
    losses.finish(12, [0], {}, -1, high=12, end_after=12, cut=False)
    assert remaining is not None
    assert remaining.loss is not None
    assert remaining.loss.last == 11


def test_corrupt_index_entry_has_byte_range_and_loses_no_offsets(log: Log) -> None:
    for suffix, size in (("index", 8), ("timeindex", 12)):
        path = file(log, 0, suffix)
        whole = path.read_bytes()
        change(path, size, b"\x7f" * size)
        found = [one for one in seen(log.folder).findings if one.file.endswith(suffix)]
        assert (size, 2 * size) in {(one.position, one.end_position) for one in found}
        assert {one.lost for one in found} == {None}
        path.write_bytes(whole)


def test_every_finding_type_has_a_next_step_for_every_effect() -> None:
    assert set(STEPS) == set(KINDS)
    for kind in KINDS.values():
        for effect in {kind.effect, kind.if_recovered or kind.effect}:
            assert len(next_step(kind.name, effect)) > 20


def test_terminal_and_html_reports_show_lost_bytes_next_good_offset_and_next_step(log: Log) -> None:
    position, size = log.positions[3][1:]
    flip(file(log, 0, "log"), 8 * (position + size - 1))
    found = seen(log.folder)
    one = row(found, "crc-mismatch")
    assert one.lost is not None
    out = Console(file=io.StringIO(), width=4_000)
    text.show(out, found)
    for shown in (out.file.getvalue(), page.write(found)):  # type: ignore[attr-defined]
        assert f"bytes {one.position:,} to {(one.end_position or 0) - 1:,}" in shown
        assert f"next good offset: {one.next_good_offset}; the end of a transaction among them: no" in shown.replace(
            "&#39;", "'"
        )
        assert one.next_step in shown
