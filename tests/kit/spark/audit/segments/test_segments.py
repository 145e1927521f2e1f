"""Audits of segment files that are made here: they equal audits of the same records as an export, with more evidence."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from log_partitions import START_MS, Log, control
from msgspec.structs import replace

from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.progress import Steps
from kafka_conformance.spark.audit.local.export import LocalExport
from kafka_conformance.spark.audit.local.run import audit_locally
from kafka_conformance.spark.audit.reports import producers as reports
from kafka_conformance.spark.audit.result import Audit
from kafka_conformance.spark.audit.run import AuditRequest
from kafka_conformance.spark.audit.segments.decode import Task, decode
from kafka_conformance.spark.audit.segments.evidence import with_evidence
from kafka_conformance.spark.audit.segments.folders import find_topic
from kafka_conformance.spark.audit.segments.local import LocalSegments
from kafka_conformance.spark.audit.segments.result import SegmentEvidence
from kafka_conformance.spark.audit.segments.topic import OneByOne, SegmentTopic, survey_topic
from kafka_conformance.spark.audit.topics import Span
from kafka_reference import partition_for_key
from kafka_reference.record_batch import Codec, NewBatch, NewRecord, encode_batch

PARTITIONS = 4
Row = tuple[int, int, int, bytes | None]
"""Partition, offset, timestamp, key."""


def batch(keys: Sequence[bytes | None], producer: tuple[int, int, int] = (-1, -1, -1), **fields: Any) -> NewBatch:
    """A batch of a producer with this id, epoch and base sequence."""
    fields.setdefault("codec", Codec.NONE)
    records = [NewRecord(START_MS + n, key, b"value") for n, key in enumerate(keys)]
    return NewBatch(
        records=records, producer_id=producer[0], producer_epoch=producer[1], base_sequence=producer[2], **fields
    )


def crc(key: bytes, count: int) -> int:
    return zlib.crc32(key) % count


class Topic:
    """A topic's folders, and the records that a consumer reads."""

    def __init__(self, root: Path, name: str = "orders") -> None:
        self.root = root
        self.logs = [Log(root / f"{name}-{number}") for number in range(PARTITIONS)]
        self.rows: list[Row] = []
        self.sequences: dict[tuple[int, int, int], int] = {}

    def send(self, keys: Iterable[bytes | None], producer: int, rule: Any, *, epoch: int = 0, read: bool = True,
             **fields: Any) -> None:  # fmt: skip
        """Append a batch to each partition with those of the keys that the rule puts there."""
        every = list(keys)
        for number in range(PARTITIONS):
            of = [
                key
                for at, key in enumerate(every)
                if (at if key is None else rule(key, PARTITIONS)) % PARTITIONS == number
            ]
            if not of:
                continue
            place = number, producer, epoch
            sequence = self.sequences.get(place, 0) if producer >= 0 else -1
            self.append(number, batch(of, (producer, epoch if producer >= 0 else -1, sequence), **fields), read=read)
            self.sequences[place] = sequence + len(of)

    def append(self, number: int, made: NewBatch, *, read: bool = True) -> None:
        log = self.logs[number]
        if read:
            self.rows += [(number, log.offset + at, one.timestamp, one.key) for at, one in enumerate(made.records)]
        log.append(made)

    def roll(self) -> None:
        for log in self.logs:
            log.roll()

    def write(self) -> str:
        for log in self.logs:
            log.write()
        (self.root / "meta.properties").write_text("version=1\n", encoding="utf-8")
        return str(self.root)

    def export(self, path: Path) -> LocalExport:
        columns = dict(
            zip(("partition", "offset", "timestamp_ms", "key"), map(list, zip(*self.rows, strict=True)), strict=True)
        )
        columns["key"] = pa.array(columns["key"], pa.binary())
        pq.write_table(pa.table(columns), path)
        return LocalExport(str(path), "parquet", PARTITIONS)


def surveyed(root: str, *, committed: bool = True, partitions: int | None = None) -> SegmentTopic:
    """A data directory, or the folder of a topic's only partition."""
    if partitions is None and Path(root).name == "orders-0":
        partitions = 1
    return survey_topic(find_topic([root]), OneByOne(), partitions, committed=committed)


def audited(source: Any, folder: Path, **asked: Any) -> Audit:
    return audit_locally(source, AuditRequest("orders", "", **asked), str(folder), Steps("audit", 1))


def evidence_of(topic: SegmentTopic, folder: Path) -> SegmentEvidence:
    source = LocalSegments(topic)
    found = with_evidence(audited(source, folder), source, OneByOne()).segments
    assert found is not None
    return found


def keys(first: int, count: int) -> list[bytes | None]:
    return [b"customer-%d" % number for number in range(first, first + count)]


def mixture(root: Path) -> Topic:
    """Two writers with several codecs; a third that names partitions; transactions; markers; an open transaction."""
    topic = Topic(root)
    codecs = [Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD]
    for turn in range(10):
        if turn in (4, 7):
            topic.roll()
        codec = codecs[turn % 5]
        topic.send([*keys(turn * 40, 60), None], 1, partition_for_key, codec=codec)
        topic.send(keys(turn * 40, 60), 2, crc, codec=codec)
        topic.send(keys(turn, 20), -1, crc)
        aborts = turn % 2 == 1
        topic.send(keys(turn * 7, 30), 3, partition_for_key, read=not aborts, transactional=True, codec=codec)
        for number in range(PARTITIONS):
            topic.append(number, control(3, 0, commit=not aborts), read=False)
    topic.send(keys(0, 30), 3, partition_for_key, read=False, transactional=True)
    topic.send(keys(0, 30), 1, partition_for_key, read=False)
    return topic


OWN = {"took_s", "offending_records", "segments", "source", "reading", "notes", "by_partition"}
"""An export ends at its last record, a log at its last marker: that shows in these fields."""


def test_the_result_is_that_of_the_records(tmp_path: Path) -> None:
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


def test_aborted_records_can_be_read(tmp_path: Path) -> None:
    made = mixture(tmp_path / "data")
    topic = surveyed(made.write(), committed=False)
    found = audited(LocalSegments(topic), tmp_path / "a", isolation="read_uncommitted")
    assert found.records == len(made.rows) + 5 * 30 + 60


def test_without_a_transaction_index_the_markers_tell(tmp_path: Path) -> None:
    made = mixture(tmp_path / "data")
    root = made.write()
    before = list(surveyed(root).aborted.items())
    with_index = [audited(LocalSegments(surveyed(root)), tmp_path / "a").records]
    for path in Path(root).glob("*/*.txnindex"):
        path.unlink()
    topic = surveyed(root)
    assert [len(each) for each in topic.aborted.values()] == [len(each) for _, each in before]
    assert [audited(LocalSegments(topic), tmp_path / "b").records] == with_index == [len(made.rows)]


def test_each_producer_has_its_rule(tmp_path: Path) -> None:
    found = evidence_of(surveyed(mixture(tmp_path / "data").write()), tmp_path / "a")
    by_id = {one.producer_id: one for one in found.producers}
    assert {number: one.rules for number, one in by_id.items()} == {
        1: ("murmur2",), 2: ("librdkafka-consistent",), 3: ("murmur2",), -1: ()}  # fmt: skip
    assert {one.verdict for one in found.producers} == {"rule", "several writers"}
    assert by_id[2].partitions == PARTITIONS
    assert by_id[2].keyed == by_id[2].records == 600
    assert by_id[1].records == by_id[1].keyed + 10
    assert not any(one.contradictions for one in found.producers)
    assert not found.problems
    assert found.checked_batches > 100
    shares = [(share.rules, share.anonymous, share.producers) for share in found.by_rule]
    assert shares == [(("murmur2",), False, 2), (("librdkafka-consistent",), False, 1), ((), True, 0)]
    assert sum(share.keyed for share in found.by_rule) == sum(one.keyed for one in found.producers)
    crc_share = found.by_rule[1].keyed
    assert f"librdkafka-consistent placed {crc_share:,} (1 id)" in reports.by_rule(found)
    assert reports.by_rule(found).endswith("200 have no producer id.")


def test_a_contradiction_is_counted(tmp_path: Path) -> None:
    topic = Topic(tmp_path / "data")
    topic.send(keys(0, 200), 7, partition_for_key)
    wrong = next(
        key for key in keys(1000, 99) if key and partition_for_key(key, PARTITIONS) not in (0, crc(key, PARTITIONS))
    )
    topic.append(0, batch([wrong], (7, 0, topic.sequences[0, 7, 0])))
    topic.append(1, batch([b"a"], (8, 0, 0)))
    topic.append(1, batch([None], (9, 0, 0)))
    found = {one.producer_id: one for one in evidence_of(surveyed(topic.write()), tmp_path / "a").producers}
    assert (found[7].verdict, found[7].rules, found[7].contradictions) == ("contradicted", ("murmur2",), 1)
    assert (found[8].verdict, found[9].verdict) == ("too few keys", "no keys")


def test_an_expected_rule_that_explains_everything_is_no_evidence(tmp_path: Path) -> None:
    source = LocalSegments(surveyed(mixture(tmp_path / "data").write()))
    found = with_evidence(audited(source, tmp_path / "a", expected="any-partition"), source, OneByOne()).segments
    assert found is not None
    named = {one.producer_id: one.rules[:1] for one in found.producers}
    assert named == {1: ("murmur2",), 2: ("librdkafka-consistent",), 3: ("murmur2",), -1: ()}


def test_a_few_keys_fit_some_rule_by_chance(tmp_path: Path) -> None:
    """Of some twenty rules, one fits six keys in four partitions by chance in every 200th producer."""
    topic = Topic(tmp_path / "data")
    topic.send(keys(0, 300), 1, partition_for_key)
    topic.send(keys(0, 6), 2, partition_for_key)
    topic.send(keys(0, 16), 3, partition_for_key)
    found = {one.producer_id: one.verdict for one in evidence_of(surveyed(topic.write()), tmp_path / "a").producers}
    assert found == {1: "rule", 2: "too few keys", 3: "rule"}


@pytest.mark.parametrize("number", range(PARTITIONS))
def test_one_partition_of_several_shows_its_writers(number: int, tmp_path: Path) -> None:
    """That its folder alone is read does not make it the partition of every key."""
    topic = Topic(tmp_path / "data")
    for turn in range(4):
        topic.send(keys(turn * 300, 600), 1, partition_for_key)
        topic.send(keys(turn * 300, 600), 2, crc)
    source = LocalSegments(surveyed(f"{topic.write()}/orders-{number}", partitions=PARTITIONS))
    found = audited(source, tmp_path / "a")
    assert {share.placed.rule for share in found.shares} == {"murmur2", "librdkafka-consistent"}
    assert not found.doubt
    evidence = with_evidence(found, source, OneByOne()).segments
    assert evidence is not None
    assert {one.producer_id: one.rules for one in evidence.producers} == {
        1: ("murmur2",),
        2: ("librdkafka-consistent",),
    }


def test_the_partition_count_must_be_known(tmp_path: Path) -> None:
    root = Path(mixture(tmp_path / "data").write())
    with pytest.raises(BadInput, match="folder does not show the partition count of its topic: give the topic's"):
        surveyed(f"{root}/orders-1")
    (root / "orders-1").rename(tmp_path / "orders-1")
    with pytest.raises(BadInput, match=r"partitions 1 of orders are not in .*: give the topic's partition count"):
        surveyed(str(root))


def test_progress_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []
    monkeypatch.setattr(Steps, "_show", lambda steps: shown.append((steps.title, steps.done, steps.total)))
    OneByOne(Steps("", 1))(lambda _: b"", "abc", "surveying")
    assert shown == [("surveying", done, 3) for done in range(4)] + [("surveying", 0, 1)]


@pytest.mark.parametrize(("batches", "kind", "certain"), [
    ([(5, 0, 0, 3), (5, 0, 3, 3), (5, 1, 0, 2)], "", True),
    ([(5, 0, 0, 3), (5, 0, 4, 3)], "sequence gap", True),
    ([(5, 0, 0, 3), (5, 0, 3, 3), (5, 0, 3, 3)], "sequence repeated", True),
    ([(5, 0, 0, 3), (5, 0, 1, 2)], "sequence repeated", True),
    ([(5, 1, 0, 3), (5, 0, 0, 3)], "epoch back", True),
    ([(5, 0, 0, 3), (5, 1, 4, 3)], "sequence gap", True),
    ([(5, 0, 9, 3), (6, 3, 9, 1)], "", True),
    ([(5, 0, 2**31 - 2, 2), (5, 0, 0, 2)], "", True),
])  # fmt: skip
@pytest.mark.parametrize("roll", [False, True])
def test_sequences_are_checked(
    batches: list[tuple[int, int, int, int]], kind: str, certain: bool, roll: bool, tmp_path: Path
) -> None:
    log = Log(tmp_path / "orders-0")
    for producer, epoch, sequence, count in batches:
        if roll and log.offset:
            log.roll()
        log.append(batch([b"k"] * count, (producer, epoch, sequence)))
    log.append(batch([b"k"], (77, 0, 0)))
    log.write()
    found = evidence_of(surveyed(str(tmp_path / "orders-0")), tmp_path / "a")
    assert [(one.kind, one.certain) for one in found.problems] == ([(kind, certain)] if kind else [])
    if kind:
        (one,) = found.problems
        base, position, _ = log.positions[len(batches) - 1]
        assert (one.file, one.position) == (f"orders-0/{base:020}.log", position)


def test_missing_offsets_may_explain_a_gap(tmp_path: Path) -> None:
    log = Log(tmp_path / "orders-0")
    log.append(batch([b"a"] * 3, (5, 0, 0)))
    log.offset += 4
    log.append(batch([b"a"] * 3, (5, 0, 7)))
    log.write()
    (one,) = evidence_of(surveyed(str(tmp_path / "orders-0")), tmp_path / "a").problems
    assert (one.kind, one.certain, one.offset) == ("sequence gap", False, 7)


@pytest.mark.parametrize("missing", [0, 5])
def test_a_marker_outlives_the_batches_before_it(missing: int, tmp_path: Path) -> None:
    """The cleaner removes the batches of a transaction, and keeps its marker."""
    log = Log(tmp_path / "orders-0")
    for sequence in (0, 8):
        log.append(batch([b"a"] * 3, (5, 0, sequence), transactional=True))
        log.append(control(5, 0, commit=True))
        log.offset += missing if not sequence else 0
        log.append(control(5, 0, commit=True))
    log.write()
    (one,) = evidence_of(surveyed(str(tmp_path / "orders-0")), tmp_path / "a").problems
    assert (one.kind, one.certain) == ("sequence gap", not missing)


def test_of_a_log_that_begins_later_everything_may_be_gone(tmp_path: Path) -> None:
    log = Log(tmp_path / "orders-0", offset=100, base=100)
    log.append(control(5, 3, commit=True))
    log.append(batch([b"a"] * 3, (5, 3, 70)))
    log.write()
    (one,) = evidence_of(surveyed(str(tmp_path / "orders-0")), tmp_path / "a").problems
    assert not one.certain


def test_a_segment_ends_where_its_last_whole_batch_ends(tmp_path: Path) -> None:
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


def test_corrupt_batches_are_named_and_not_judged(tmp_path: Path) -> None:
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


def test_records_that_cannot_be_decoded_are_named(tmp_path: Path) -> None:
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


def test_old_formats_are_read(tmp_path: Path) -> None:
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


def test_what_is_left_out_and_what_is_missing(tmp_path: Path) -> None:
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


def test_folders(tmp_path: Path) -> None:
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


def test_the_longest_replica_is_read(tmp_path: Path) -> None:
    for number in range(2):
        log = Log(tmp_path / f"{number}" / "orders-0")
        for _ in range(2 - number):
            log.append(batch([b"a"] * 3))
        log.write()
    files = find_topic([str(tmp_path / "1"), str(tmp_path / "0")])
    assert files.files[0][0].path.startswith(str(tmp_path / "0"))


def test_the_log_start_offset_is_respected(tmp_path: Path) -> None:
    made = mixture(tmp_path / "data")
    root = Path(made.write())
    (root / "log-start-offset-checkpoint").write_text("0\n1\norders 2 17\n", encoding="utf-8")
    topic = surveyed(str(root))
    assert (topic.spans[2].first, topic.spans[1].first) == (17, 0)
    found = audited(LocalSegments(topic), tmp_path / "a")
    assert found.records == sum(not (row[0] == 2 and row[1] < 17) for row in made.rows)


def test_offsets_by_time(tmp_path: Path) -> None:
    log = Log(tmp_path / "orders-0")
    for turn in range(6):
        if turn == 3:
            log.roll()
        log.append(NewBatch(records=[NewRecord(1_000 * turn + at, b"k", b"v") for at in range(3)]))
    log.write()
    source = LocalSegments(surveyed(str(tmp_path / "orders-0")))
    assert [source.offsets_at(time).get(0) for time in (0, 1_001, 4_000, 5_002, 5_003)] == [0, 4, 12, 17, None]


def test_a_file_that_a_broker_deletes_meanwhile(tmp_path: Path) -> None:
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


def test_a_file_that_the_cleaner_replaces_meanwhile(tmp_path: Path) -> None:
    """It joins two segments in the first of them."""
    root = mixture(tmp_path / "data").write()
    topic = surveyed(root)
    first, second = topic.files.files[0][:2]
    source = LocalSegments(topic)
    joined = Path(second.path).read_bytes() + Path(first.path).read_bytes()
    Path(first.path).write_bytes(joined)
    with pytest.raises(KitError, match=r"has changed since it was surveyed: it ended at offset .*: audit again"):
        audited(source, tmp_path / "a")


def test_a_file_that_a_broker_deletes_before_it_is_surveyed(tmp_path: Path) -> None:
    files = find_topic([mixture(tmp_path / "data").write()])
    first, second = files.files[0][:2]
    Path(first.path).unlink()
    assert survey_topic(files, OneByOne(), None, committed=True).spans[0].first == second.base_offset


def test_many_producers(tmp_path: Path) -> None:
    """As many as batches: with and without keys, in several epochs, with and without timestamps."""
    log = Log(tmp_path / "orders-0")
    for number in range(300):
        log.append(batch([b"a", None, b"a", b"%d" % number], (number // 2, number % 2, 0)))
    log.append(NewBatch(records=[NewRecord(-1, b"k", b"v")], producer_id=999, producer_epoch=0, base_sequence=0))
    log.write()
    found = evidence_of(surveyed(str(tmp_path / "orders-0"), partitions=9), tmp_path / "a")
    assert (found.producers_in_all, len(found.producers)) == (151, 151)
    first, last = found.producers[0], found.producers[-1]
    assert (first.producer_id, first.first_epoch, first.last_epoch, first.records, first.keyed) == (0, 0, 1, 8, 6)
    assert (first.distinct, first.first_ms, first.last_ms) == (3, START_MS, START_MS + 3)
    assert (last.producer_id, last.first_ms, last.last_ms) == (999, None, None)
