"""Audits of segment files that are made here: they equal audits of the same records as an export, with more evidence."""

from __future__ import annotations

import struct
from dataclasses import replace as changed
from pathlib import Path

import pytest
from log_partitions import START_MS, Log
from msgspec.structs import replace
from segment_topics import PARTITIONS, Topic, audited, batch, crc, evidence_of, keys, mixture, surveyed

from kafka_conformance.audit.engines.local.segments import LocalSegments
from kafka_conformance.audit.result import Audit
from kafka_conformance.audit.segments.decode import Task, decode
from kafka_conformance.audit.segments.evidence import with_evidence
from kafka_conformance.audit.segments.folders import find_topic
from kafka_conformance.audit.segments.topic import OneByOne, survey_topic
from kafka_conformance.audit.topics import Span
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.progress import Steps
from kafka_reference.record_batch import Codec, NewBatch, NewRecord, encode_batch

OWN = {"took_s", "offending_records", "segments", "source", "reading", "notes", "by_partition"}
"""An export ends at its last record, a log at its last marker: that shows in these fields."""


def test_audit_of_segments_equals_audit_of_an_export_of_the_records(tmp_path: Path) -> None:
    made = mixture(tmp_path / "data")
    topic = surveyed(made.write())
    found = audited(LocalSegments(topic), tmp_path / "a", isolation="read_committed")
    same = audited(made.export(tmp_path / "e.parquet"), tmp_path / "b")
    for field in set(Audit.__struct_fields__) - OWN:
        assert getattr(found, field) == getattr(same, field), field
    lines = [[replace(line, end_offset=0) for line in each.by_partition] for each in (found, same)]
    assert lines[0] == lines[1]
    assert found.reading is not None
    assert found.reading.open > 30
    assert not found.doubt


def test_read_uncommitted_audit_of_segments_includes_aborted_records(tmp_path: Path) -> None:
    made = mixture(tmp_path / "data")
    topic = surveyed(made.write(), committed=False)
    found = audited(LocalSegments(topic), tmp_path / "a", isolation="read_uncommitted")
    assert found.records == len(made.rows) + 5 * 30 + 60


def test_aborted_transactions_are_found_from_markers_without_a_transaction_index(tmp_path: Path) -> None:
    made = mixture(tmp_path / "data")
    root = made.write()
    before = list(surveyed(root).aborted.items())
    with_index = [audited(LocalSegments(surveyed(root)), tmp_path / "a").records]
    for path in Path(root).glob("*/*.txnindex"):
        path.unlink()
    topic = surveyed(root)
    assert [len(each) for each in topic.aborted.values()] == [len(each) for _, each in before]
    assert [audited(LocalSegments(topic), tmp_path / "b").records] == with_index == [len(made.rows)]


def test_segments_that_do_not_show_the_partition_count_raise_an_error_that_asks_for_the_count(tmp_path: Path) -> None:
    root = Path(mixture(tmp_path / "data").write())
    with pytest.raises(BadInput, match="folder does not show the partition count of its topic: give the topic's"):
        surveyed(f"{root}/orders-1")
    (root / "orders-1").rename(tmp_path / "orders-1")
    with pytest.raises(BadInput, match=r"partitions 1 of orders are not in .*: give the topic's partition count"):
        surveyed(str(root))


def test_segment_survey_reports_progress_after_each_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []
    monkeypatch.setattr(Steps, "_show", lambda steps: shown.append((steps.title, steps.done, steps.total)))
    OneByOne(Steps("", 1))(lambda _: b"", "abc", "surveying")
    assert shown == [("surveying", done, 3) for done in range(4)] + [("surveying", 0, 1)]


def test_segment_survey_ignores_a_partially_written_last_batch(tmp_path: Path) -> None:
    made = mixture(tmp_path / "data")
    root = made.write()
    records = audited(LocalSegments(surveyed(root)), tmp_path / "a").records
    for path in Path(root).glob("orders-*"):
        active = max(path.glob("*.log"))
        end = surveyed(root).surveys[int(path.name[-1])][-1].end_offset
        more = encode_batch(changed(batch(keys(0, 9)), base_offset=end))
        active.write_bytes(active.read_bytes() + more[: len(more) // 2])
    topic = surveyed(root)
    assert audited(LocalSegments(topic), tmp_path / "b").records == records
    assert not evidence_of(topic, tmp_path / "c").problems


def test_corrupt_batch_is_reported_with_file_and_position_and_excluded(tmp_path: Path) -> None:
    made = mixture(tmp_path / "data")
    root = made.write()
    log = made.logs[1]
    base, position, _ = log.positions[1]
    path = log.folder / f"{base:020}.log"
    data = bytearray(path.read_bytes())
    data[position + 70] ^= 1
    path.write_bytes(data)
    topic = surveyed(root)
    source = LocalSegments(topic)
    found = with_evidence(audited(source, tmp_path / "a"), source, OneByOne())
    assert found.records < len(made.rows)
    assert found.segments is not None
    assert [(one.kind, one.file, one.position) for one in found.segments.problems] == [
        ("corrupt", f"orders-1/{base:020}.log", position)
    ]
    assert any(f"orders-1/{base:020}.log, byte {position:,}" in note for note in found.notes)


def test_undecodable_record_with_valid_checksum_is_reported_as_corrupt(tmp_path: Path) -> None:
    from crc32c import crc32c

    log = Log(tmp_path / "orders-0")
    log.append(batch([b"a"] * 3))
    log.append(batch([b"b"] * 3))
    log.write()
    path = tmp_path / "orders-0" / f"{0:020}.log"
    data = bytearray(path.read_bytes())
    _, position, size = log.positions[1]
    data[position + 61] = 0x7E
    struct.pack_into(">I", data, position + 17, crc32c(bytes(data[position + 21 : position + size])))
    path.write_bytes(data)
    topic = surveyed(str(tmp_path / "orders-0"))
    source = LocalSegments(topic)
    found = with_evidence(audited(source, tmp_path / "a"), source, OneByOne())
    assert found.records == 3
    assert found.segments is not None
    (one,) = found.segments.problems
    assert (one.kind, one.position, one.offset) == ("corrupt", position, 3)
    assert "InvalidRecordException" in one.what


def test_segments_of_magic_0_and_1_are_read_with_and_without_compression(tmp_path: Path) -> None:
    for magic in (0, 1):
        folder = tmp_path / f"{magic}" / "orders-0"
        folder.mkdir(parents=True)
        data = b"".join(
            encode_batch(NewBatch(records=[NewRecord(START_MS, b"k%d" % at, b"v") for at in range(4)], magic=magic,
                                  base_offset=base, codec=codec))
            for base, codec in ((0, Codec.NONE), (4, Codec.GZIP))
        )  # fmt: skip
        (folder / f"{0:020}.log").write_bytes(data)
        source = LocalSegments(surveyed(str(folder)))
        (block,) = source.blocks(source.spans)
        assert block.offsets.tolist() == list(range(8))
        assert set(block.timestamps_ms.tolist()) == {START_MS if magic else -1}
        assert block.keys[7].as_py() == b"k3"


def test_deleted_future_and_stray_folders_are_ignored_absent_partitions_noted_and_surplus_ones_refused(
    tmp_path: Path,
) -> None:
    made = mixture(tmp_path / "data")
    root = Path(made.write())
    for suffix in ("delete", "future", "stray"):
        Log(root / f"orders-9.{'0' * 32}-{suffix}").write()
    (root / "orders-0" / f"{0:020}.log.deleted").write_bytes(b"x")
    assert surveyed(str(root)).partitions == PARTITIONS
    topic = surveyed(str(root), partitions=6)
    assert topic.spans[5] == Span(0, 0)
    assert "2 of 6 partitions are not in" in topic.notes()[0]
    with pytest.raises(BadInput, match="has a folder of partition 3, but --partitions is 2"):
        surveyed(str(root), partitions=2)


def test_log_folders_with_several_topics_an_absent_topic_or_an_odd_folder_name_raise_errors(tmp_path: Path) -> None:
    a, b = mixture(tmp_path / "a"), Topic(tmp_path / "b", "customers")
    b.send(keys(0, 50), 1, crc)
    root, other = a.write(), b.write()
    with pytest.raises(BadInput, match="there are 2 topics here: name one with --topic: customers, orders"):
        find_topic([root, other])
    with pytest.raises(BadInput, match="no partition of topic order is here, only of customers, orders"):
        find_topic([root, other], "order")
    assert find_topic([root, other], "customers").folders == (root, other)
    (tmp_path / "a" / "orders-1").rename(tmp_path / "odd")
    with pytest.raises(BadInput, match="its name is not that of a partition"):
        find_topic([str(tmp_path / "odd")])
    assert sorted(find_topic([f"{root}/orders-0", f"{root}/orders-3"]).files) == [0, 3]


def test_longest_replica_of_a_partition_is_read(tmp_path: Path) -> None:
    for number in range(2):
        log = Log(tmp_path / f"{number}" / "orders-0")
        for _ in range(2 - number):
            log.append(batch([b"a"] * 3))
        log.write()
    files = find_topic([str(tmp_path / "1"), str(tmp_path / "0")])
    assert files.files[0][0].path.startswith(str(tmp_path / "0"))


def test_records_below_the_log_start_offset_checkpoint_are_not_read(tmp_path: Path) -> None:
    made = mixture(tmp_path / "data")
    root = Path(made.write())
    (root / "log-start-offset-checkpoint").write_text("0\n1\norders 2 17\n", encoding="utf-8")
    topic = surveyed(str(root))
    assert (topic.spans[2].first, topic.spans[1].first) == (17, 0)
    found = audited(LocalSegments(topic), tmp_path / "a")
    assert found.records == sum(not (row[0] == 2 and row[1] < 17) for row in made.rows)


def test_offsets_by_time_are_found_in_segments(tmp_path: Path) -> None:
    log = Log(tmp_path / "orders-0")
    for turn in range(6):
        if turn == 3:
            log.roll()
        log.append(NewBatch(records=[NewRecord(1_000 * turn + at, b"k", b"v") for at in range(3)]))
    log.write()
    source = LocalSegments(surveyed(str(tmp_path / "orders-0")))
    assert [source.offsets_at(time).get(0) for time in (0, 1_001, 4_000, 5_002, 5_003)] == [0, 4, 12, 17, None]


def test_segment_deleted_by_the_broker_during_the_audit_is_skipped_and_noted(tmp_path: Path) -> None:
    made = mixture(tmp_path / "data")
    root = Path(made.write())
    topic = surveyed(str(root))
    first, second = topic.files.files[0][:2]
    task = Task(first, first.size, 0, 10**6)
    Path(first.path).unlink()
    with pytest.raises(KitError, match="cannot be read: No such file"):
        list(decode(task))
    assert topic.earliest()[0] == second.base_offset
    source = LocalSegments(topic)
    found = audited(source, tmp_path / "a")
    assert source.spans[0].first == second.base_offset
    assert found.records == sum(row[0] > 0 or row[1] >= second.base_offset for row in made.rows)
    Path(second.path).unlink()
    found = with_evidence(found, source, OneByOne())
    assert found.notes[0] == "segments that were deleted before their producers were judged: 1"
    assert found.segments is not None
    assert sum(one.records for one in found.segments.producers) < found.records


def test_segment_replaced_by_the_log_cleaner_after_the_survey_is_an_error(tmp_path: Path) -> None:
    """It joins two segments in the first of them."""
    root = mixture(tmp_path / "data").write()
    topic = surveyed(root)
    first, second = topic.files.files[0][:2]
    source = LocalSegments(topic)
    joined = Path(second.path).read_bytes() + Path(first.path).read_bytes()
    Path(first.path).write_bytes(joined)
    with pytest.raises(KitError, match=r"has changed since it was surveyed: it ended at offset .*: audit again"):
        audited(source, tmp_path / "a")


def test_segment_deleted_before_the_survey_is_skipped(tmp_path: Path) -> None:
    files = find_topic([mixture(tmp_path / "data").write()])
    first, second = files.files[0][:2]
    Path(first.path).unlink()
    assert survey_topic(files, OneByOne(), None, committed=True).spans[0].first == second.base_offset
