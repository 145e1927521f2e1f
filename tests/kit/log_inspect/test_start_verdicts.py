"""What a broker of 4.4.0 did when it was started on such a directory: starts, changes, wrong answers."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from log_edits import bases, kinds, seen
from log_partitions import META, START_MS, Log, healthy

from kafka_conformance.log_inspect.directory import open_directory
from kafka_conformance.log_inspect.find import find_offset, one_partition
from kafka_conformance.log_inspect.find_time import find_time
from kafka_conformance.log_inspect.inspection import inspect
from kafka_conformance.log_inspect.reports.text import start_answers
from kafka_conformance.log_inspect.result import Inspection, OffsetRange
from kafka_reference.record_batch import NewBatch, NewRecord, encode_batch
from kafka_reference.releases import parse_release

TOPIC = "version: 0\ntopic_id: "
OTHER = TOPIC + "AbCdEfGhQACAAAAAAAAAAA"
METADATA = "__cluster_metadata-0"
QUORUM = '{"leaderId":1,"leaderEpoch":1,"votedId":-1,"data_version":0}'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A directory of a broker that stopped in order, with two partitions."""
    folder = tmp_path / "data"
    healthy(folder / "orders-0").write()
    healthy(folder / "orders-1").write()
    (folder / "meta.properties").write_text(META)
    (folder / ".kafka_cleanshutdown").write_bytes(b"")
    return folder


def active(root: Path, suffix: str, partition: str = "orders-0") -> Path:
    return max((root / partition).glob(f"*.{suffix}"))


def unclean(root: Path) -> None:
    (root / ".kafka_cleanshutdown").unlink()


def grow(path: Path, data: bytes) -> None:
    path.write_bytes(path.read_bytes() + data)


def by_name(found: Inspection, name: str = "orders-0") -> tuple[int, int]:
    """The end of a partition before and after the start."""
    one = next(one for one in found.partitions if one.name == name)
    return one.end, one.end_after_start


def without(name: str) -> Callable[[Path], object]:
    return lambda root: (root / "meta.properties").write_text(
        "".join(line for line in META.splitlines(keepends=True) if not line.startswith(name))
    )


def later_version(root: Path, at: int) -> Path:
    """Give an entry of the first transaction index of a partition the version 1."""
    path = min((root / "orders-1").glob("*.txnindex"))
    data = bytearray(path.read_bytes())
    data[at : at + 2] = b"\0\1"
    path.write_bytes(data)
    return path


STOPS: dict[str, tuple[Callable[[Path], object], str]] = {
    "no meta.properties": (lambda root: (root / "meta.properties").unlink(), "meta-properties-missing"),
    "empty meta.properties": (lambda root: (root / "meta.properties").write_text(""), "meta-properties-corrupt"),
    "zeros in meta.properties": (lambda root: (root / "meta.properties").write_bytes(bytes(122)), "meta-properties-corrupt"),
    "no node.id": (without("node.id"), "meta-properties-corrupt"),
    "no cluster.id": (without("cluster.id"), "meta-properties-corrupt"),
    "no version": (without("version"), "meta-properties-corrupt"),
    "version 2": (lambda root: grow(root / "meta.properties", b"version=2\n"), "meta-properties-corrupt"),
    "a directory.id of two letters": (
        lambda root: grow(root / "meta.properties", b"directory.id=!!\n"), "meta-properties-corrupt"),
    "lost+found": (lambda root: (root / "lost+found").mkdir(), "folder-not-a-partition"),
    "a copy of a partition": (
        lambda root: shutil.copytree(root / "orders-1", root / "orders-1.bak"), "folder-not-a-partition"),
    "a folder without a number": (lambda root: (root / "a-b").mkdir(), "folder-not-a-partition"),
    "a partition and its copy on the way to another disk": (
        lambda root: shutil.copytree(root / "orders-1", root / f"orders-1.{'ab' * 16}-future"), "folders-of-one-partition"),
    "zeros in the recovery points": (
        lambda root: (root / "recovery-point-offset-checkpoint").write_bytes(bytes(8)), "checkpoint-corrupt"),
    "no Base64 in a topic id": (
        lambda root: (root / "orders-1/partition.metadata").write_text(TOPIC + "!" * 22), "partition-metadata-corrupt"),
    "words in the leader epochs": (
        lambda root: (root / "orders-1/leader-epoch-checkpoint").write_text("0\n1\nzero 0\n"), "leader-epochs-corrupt"),
    "a later version in a transaction index": (
        lambda root: later_version(root, 0), "transaction-index-wrong"),
    "zeros at the end of the log": (lambda root: grow(active(root, "log"), bytes(4_096)), "log-end-unreadable"),
}  # fmt: skip


@pytest.mark.parametrize("name", STOPS)
def test_broker_is_predicted_not_to_start_on_fatally_damaged_directory(root: Path, name: str) -> None:
    assert seen(root).start.starts == "yes"
    damage, kind = STOPS[name]
    damage(root)
    found = seen(root)
    assert (found.start.starts, found.verdict) == ("no", "broken")
    assert kinds(found) == {kind}
    assert len(found.start.stopped_by) == 1


def test_newer_version_in_transaction_index_does_not_stop_start_if_offset_index_is_missing(root: Path) -> None:
    later_version(root, 0).with_suffix(".index").unlink()
    assert seen(root).start.starts == "yes"


@pytest.mark.parametrize(("release", "starts"), [("4.3.1", "yes"), ("4.4.0", "no")])
def test_negative_version_in_transaction_index_stops_start_since_4_4(root: Path, release: str, starts: str) -> None:
    path = later_version(root, 0)
    path.write_bytes(b"\xff\xff" + path.read_bytes()[2:])
    assert inspect(open_directory(root), release=parse_release(release)).start.starts == starts


@pytest.mark.parametrize(("release", "starts"), [("3.3.2", "no"), ("3.9.2", "yes")])
def test_stray_folder_stops_start_of_brokers_before_3_7(root: Path, release: str, starts: str) -> None:
    shutil.copytree(root / "orders-1", root / f"orders-2.{'ab' * 16}-stray")
    assert inspect(open_directory(root), release=parse_release(release)).start.starts == starts


def test_newer_version_in_transaction_index_after_entry_below_base_offset_does_not_stop_start(root: Path) -> None:
    path = later_version(root, 0)
    path.write_bytes(struct.pack(">hqqqq", 0, 1, -2, -1, 0) + path.read_bytes())
    assert seen(root).start.starts == "yes"


@pytest.mark.parametrize("name", ["x.txt", "notes-from-yesterday"])
def test_unknown_file_in_log_directory_does_not_stop_broker_start(root: Path, name: str) -> None:
    (root / name).write_bytes(b"x")
    assert seen(root).start.starts == "yes"


@pytest.mark.parametrize("name", [f"orders-2.{'ab' * 16}-stray", f"orders-2.{'ab' * 16}-delete", "orders-2.abc-delete"])
def test_stray_or_deleted_partition_folder_is_a_leftover_reported_with_size(root: Path, name: str) -> None:
    shutil.copytree(root / "orders-1", root / name)
    found = seen(root)
    assert (found.start.starts, found.verdict) == ("yes", "sound")
    (row,) = [row for row in found.findings if row.kind == "leftover"]
    size = sum(path.stat().st_size for path in (root / name).iterdir())
    assert f"{size:,} bytes" in row.what
    assert ("never deletes" in row.what) == name.endswith("-stray")


def test_zeros_at_log_end_after_unclean_stop_are_truncated_without_loss(root: Path) -> None:
    unclean(root)
    grow(active(root, "log"), bytes(4_096))
    found = seen(root)
    assert (found.start.starts, by_name(found)) == ("yes", (189, 189))


def test_broker_start_is_not_predicted_for_folder_without_meta_properties(log: Log) -> None:
    for folder in (log.folder, log.folder.parent):
        assert seen(folder).start.starts == "not asked"


def test_partition_without_partition_metadata_is_broken_and_ends_at_0_after_broker_start(root: Path) -> None:
    (root / "orders-1/partition.metadata").unlink()
    found = seen(root)
    assert (found.start.starts, found.verdict, kinds(found)) == ("yes", "broken", {"partition-metadata-missing"})
    assert (by_name(found, "orders-1"), by_name(found)) == ((189, 0), (189, 189))
    assert len(found.start.changes) == 1


def test_partition_without_partition_metadata_is_kept_by_brokers_before_3_7(root: Path) -> None:
    (root / "orders-1/partition.metadata").unlink()
    found = inspect(open_directory(root), release=parse_release("3.6.2"))
    assert (found.start.starts, found.verdict, kinds(found, "suspicious")) == (
        "yes",
        "sound",
        {"partition-metadata-missing"},
    )
    assert (by_name(found, "orders-1"), found.start.changes) == ((189, 189), [])


@pytest.mark.parametrize(
    ("release", "source", "starts"),
    [("3.3.2", None, "no"), ("3.9.2", None, "yes"), ("3.3.2", "orders-0", "no"), ("4.4.0", "orders-0", "no")],
)
def test_two_folders_of_one_partition_stop_start_unless_since_3_7_one_has_no_topic_id(
    root: Path, release: str, source: str | None, starts: str
) -> None:
    if source is None:
        (root / "orders-00").mkdir()  # since 3.7.0 it is set aside: it has no topic id
    else:
        shutil.copytree(root / source, root / "orders-00")
    found = inspect(open_directory(root), release=parse_release(release))
    assert found.start.starts == starts
    assert ("folders-of-one-partition" in kinds(found)) == (starts == "no")


@pytest.mark.parametrize(("release", "copies", "starts"), [("3.9.2", 1, "yes"), ("3.9.2", 2, "no"), ("4.0.0", 1, "no")])
def test_partition_with_future_copy_stops_start_except_one_copy_on_3_9_with_zookeeper(
    root: Path, release: str, copies: int, starts: str
) -> None:
    (root / "meta.properties").write_text("version=0\nbroker.id=1\ncluster.id=AAAAAAAAQACAAAAAAAAAAA\n")
    for number in range(copies):
        shutil.copytree(root / "orders-1", root / f"orders-1.{number:032x}-future")
    found = inspect(open_directory(root), release=parse_release(release))
    rows = [row for row in found.findings if row.kind == "folders-of-one-partition"]
    assert (found.start.starts, [row.severity for row in rows]) == (
        starts,
        ["suspicious" if starts == "yes" else "broken"],
    )


def test_partition_with_conflicting_topic_id_is_deleted_by_brokers_before_3_7(root: Path) -> None:
    shutil.copytree(root / "orders-0", root / "orders-2")
    (root / "orders-1/partition.metadata").write_text(OTHER)
    found = inspect(open_directory(root), release=parse_release("3.6.2"))
    assert (found.start.starts, by_name(found, "orders-1")) == ("yes", (189, 0))
    (row,) = [row for row in found.findings if row.kind == "topic-ids-differ"]
    assert (row.effect, row.lost) == ("deletes the partition", OffsetRange(0, 188))
    assert "orders-1: empty for clients, if it is deleted" in found.start.wrong


def test_minority_topic_id_is_broken_and_tied_topic_ids_are_broken_in_every_partition(root: Path) -> None:
    shutil.copytree(root / "orders-0", root / "orders-2")
    (root / "orders-1/partition.metadata").write_text(OTHER)
    found = seen(root)
    assert kinds(found) == {"topic-ids-differ"}
    assert [row.file for row in found.findings if row.severity == "broken"] == ["orders-1/partition.metadata"]
    shutil.rmtree(root / "orders-2")
    found = seen(root)
    assert {row.file for row in found.findings if row.severity == "broken"} == {
        "orders-0/partition.metadata",
        "orders-1/partition.metadata",
    }
    for known in ("bQ-4lLbbTQSsH0SZpHBEYQ", OTHER.removeprefix(TOPIC)):
        assert sum(row.what.count(known) for row in found.findings) == 1


def test_broken_count_of_partition_includes_missing_segments_and_topic_id_findings(root: Path, log: Log) -> None:
    (root / "orders-0" / f"{bases(log)[1]:020}.log").unlink()
    (root / "orders-1/partition.metadata").write_text(OTHER)
    (root / "lost+found").mkdir()
    found = seen(root)
    assert {"segment-gone", "topic-ids-differ", "folder-not-a-partition"} <= kinds(found)
    rows = {row.name: row.broken for row in found.partitions}
    for name in rows:
        broken = [row for row in found.findings if row.severity == "broken" and row.file.startswith(f"{name}/")]
        assert rows[name] == sum(1 + row.more for row in broken) > 0
    assert sum(rows.values()) == found.broken - 1


def test_missing_segment_is_counted_as_broken_for_single_inspected_partition_folder(log: Log) -> None:
    (log.folder / f"{bases(log)[1]:020}.log").unlink()
    found = seen(log.folder)
    assert "segment-gone" in kinds(found)
    assert found.partitions[0].broken == found.broken


def test_offsets_of_missing_first_segment_are_listed_as_lost_only_if_the_broker_starts(root: Path, log: Log) -> None:
    active(root, "log").with_name(f"{0:020}.log").unlink()
    found = seen(root)
    assert found.start.starts == "yes"
    assert f"orders-0: offsets 0 to {bases(log)[1] - 1} are gone" in found.start.wrong
    active(root, "snapshot").with_name("abc.log").write_bytes(b"")
    assert not any("are gone" in line for line in seen(root).start.wrong)  # the broker does not start


def test_start_prediction_has_four_sections_and_names_unchecked_server_properties_in_the_last(root: Path) -> None:
    answers = list(start_answers(seen(root)))
    assert len(answers) == 4
    assert [any("server.properties" in line for line in lines) for _, _, lines in answers] == [
        False,
        False,
        False,
        True,
    ]


def test_truncated_log_with_intact_index_ends_at_segment_base_after_clean_stop_only(root: Path, log: Log) -> None:
    """The last entry of the index has an offset that no batch has: the broker hides the whole segment."""
    path, base = active(root, "log"), bases(log)[-1]
    path.write_bytes(path.read_bytes()[:2_000])
    found = seen(root)
    assert "log-end-wrong" in kinds(found)
    end, after = by_name(found)
    assert (found.start.starts, after) == ("yes", base)
    assert end > base
    unclean(root)
    end, after = by_name(seen(root))
    assert end == after > base


def test_damaged_batch_is_truncated_after_unclean_stop_and_kept_after_clean_stop(root: Path, log: Log) -> None:
    base, position, _ = next(each for each in log.positions[-20:] if each[0] == bases(log)[-1])
    path = active(root, "log")
    whole = bytearray(path.read_bytes())
    whole[position + 70] ^= 1
    path.write_bytes(whole)
    found = seen(root)
    assert (by_name(found), len(found.start.wrong)) == ((189, 189), 1)
    unclean(root)
    found = seen(root)
    assert base <= by_name(found)[1] < 189
    assert any(line.startswith("truncates") for line in found.start.changes)
    (root / "recovery-point-offset-checkpoint").write_text("0\n2\norders 0 189\norders 1 189\n")
    assert by_name(seen(root))[1] < 189  # the last segment is always recovered


def test_damaged_segment_below_recovery_point_is_not_truncated_after_unclean_stop(root: Path, log: Log) -> None:
    unclean(root)
    path = root / "orders-0" / f"{0:020}.log"
    whole = bytearray(path.read_bytes())
    whole[log.positions[3][1] + 70] ^= 1
    path.write_bytes(whole)
    assert 0 < by_name(seen(root))[1] < bases(log)[1]
    (root / "recovery-point-offset-checkpoint").write_text(f"0\n1\norders 0 {bases(log)[1]}\n")
    assert by_name(seen(root)) == (189, 189)


@pytest.mark.parametrize("suffix", ["index", "timeindex"])
def test_trailing_index_zeros_are_broken_after_clean_stop_and_legal_after_unclean_stop(root: Path, suffix: str) -> None:
    grow(active(root, suffix), bytes(240))
    found = seen(root)
    assert (found.start.starts, kinds(found)) == ("yes", {"index-zero-tail"})
    assert len(found.start.wrong) == 1
    unclean(root)
    assert kinds(seen(root)) == set()


def test_time_index_missing_last_entries_is_found_as_too_short(root: Path, log: Log) -> None:
    path = root / "orders-0" / f"{0:020}.timeindex"
    whole = path.read_bytes()
    for entries in (0, 2):
        path.write_bytes(whole[: 12 * entries])
        found = seen(root)
        assert (found.start.starts, kinds(found)) == ("yes", {"time-index-short"})
    path.write_bytes(whole)
    path = active(root, "timeindex")
    path.write_bytes(path.read_bytes()[:-12])
    assert kinds(seen(root)) == {"time-index-short"}
    assert kinds(seen(log.folder)) == set()


def test_index_without_segment_is_a_missing_segment_unless_log_file_is_renamed_to_deleted(root: Path, log: Log) -> None:
    middle = bases(log)[1]
    path = root / "orders-0" / f"{middle:020}.log"
    path.rename(f"{path}.deleted")
    assert "segment-gone" not in kinds(seen(root))  # a broker that deletes renames the .log first
    Path(f"{path}.deleted").unlink()
    found = seen(root)
    assert (found.start.starts, kinds(found)) == ("yes", {"segment-gone"})
    assert found.start.changes[0].startswith("deletes: orders-0/")


def test_log_start_offset_beyond_log_end_is_found_and_becomes_the_end_after_start(root: Path) -> None:
    (root / "log-start-offset-checkpoint").write_text("0\n1\norders 0 500\n")
    found = seen(root)
    assert kinds(found) == {"checkpoint-past-end"}
    assert by_name(found) == (189, 500)


@pytest.mark.parametrize(
    ("text", "starts"),
    [(QUORUM, "yes"), ("\0" * 60, "no"), ("", "no"), ("[]", "no"), ("{}", "no"), (QUORUM.replace("0}", "9}"), "no")],
)
def test_unreadable_quorum_state_file_stops_broker_start(root: Path, text: str, starts: str) -> None:
    Log(root / METADATA).write()
    (root / METADATA / "quorum-state").write_text(text)
    assert seen(root).start.starts == starts


@pytest.mark.parametrize(
    ("text", "release", "starts", "effect"),
    [
        ("", "3.7.2", "yes", "deletes"),
        ("\0" * 60, "3.3.2", "yes", "deletes"),
        ("{}", "3.3.2", "yes", "deletes"),
        ("{}", "3.8.1", "no", "stops the start"),
        (QUORUM.replace("0}", "9}"), "3.6.2", "yes", None),
        (QUORUM.replace("0}", "9}"), "3.7.2", "no", "stops the start"),
        (QUORUM.replace("0}", "1}"), "3.7.2", "no", "stops the start"),
        (QUORUM.replace("0}", "1}"), "3.8.1", "yes", None),
    ],
)
def test_invalid_quorum_state_file_is_ignored_deleted_or_stops_start_depending_on_release(
    root: Path, text: str, release: str, starts: str, effect: str | None
) -> None:
    """As brokers of 3.3.2, 3.6.2, 3.7.2, 3.8.1, 3.9.2 and 4.4.0 did."""
    Log(root / METADATA).write()
    (root / METADATA / "quorum-state").write_text(text)
    found = inspect(open_directory(root), release=parse_release(release))
    effects = [row.effect for row in found.findings if row.kind == "quorum-state-corrupt"]
    assert (found.start.starts, effects) == (starts, [] if effect is None else [effect])


def bootstrap(name: bytes) -> bytes:
    """A ``bootstrap.checkpoint`` with the level 7 of one feature."""
    value = b"\x01\x0c\x00" + bytes([len(name) + 1]) + name + b"\x00\x07\x00"
    return encode_batch(NewBatch(records=[NewRecord(START_MS, None, value)]))


@pytest.mark.parametrize(
    ("data", "starts"),
    [(bootstrap(b"metadata.version"), "yes"), (bootstrap(b"other.version"), "no"), (b"", "no"), (bytes(249), "no"),
     (bootstrap(b"metadata.version")[:-5], "no"), (b"\x55" * 249, "no")],
)  # fmt: skip
def test_bootstrap_checkpoint_without_metadata_version_stops_start_only_if_metadata_log_is_there(
    root: Path, data: bytes, starts: str
) -> None:
    (root / "bootstrap.checkpoint").write_bytes(data)
    assert seen(root).start.starts == "yes"  # it is not the directory of the cluster's metadata
    Log(root / METADATA).write()
    (root / METADATA / "quorum-state").write_text(QUORUM)
    found = seen(root)
    assert (found.start.starts, "bootstrap-corrupt" in kinds(found)) == (starts, starts == "no")


def test_metadata_log_above_offset_0_needs_a_snapshot_and_a_corrupt_one_stops_or_empties_broker(root: Path) -> None:
    log = Log(root / METADATA, base=318, offset=318)
    log.write()
    (root / METADATA / "quorum-state").write_text(QUORUM)
    assert seen(root).start.starts == "no"
    snapshot = root / METADATA / f"{318:020}-{1:010}.checkpoint"
    snapshot.write_bytes((root / "orders-0" / f"{0:020}.log").read_bytes())
    assert seen(root).start.starts == "yes"
    for broken, starts in ((bytes(411), "no"), (b"", "yes"), (snapshot.read_bytes()[:-3], "yes")):
        snapshot.write_bytes(broken)
        found = seen(root)
        assert (found.start.starts, "metadata-snapshot-corrupt" in kinds(found)) == (starts, True)
        empty = [f"{name}: empty for clients, if it is set aside" for name in ("orders-0", "orders-1")]
        corrupt = [line for line in found.start.wrong if "metadata-snapshot-corrupt" in line]
        assert found.start.wrong == ([*empty, *corrupt] if starts == "yes" else [])
        assert len(corrupt) == (starts == "yes")


def test_zookeeper_broker_directory_starts_on_3_9_but_not_on_4_4(root: Path) -> None:
    (root / "meta.properties").write_text("version=0\nbroker.id=1\ncluster.id=AAAAAAAAQACAAAAAAAAAAA\n")
    (root / "orders-1/partition.metadata").unlink()
    opened = open_directory(root)
    assert inspect(opened, release=parse_release("3.9.2")).start.starts == "yes"
    found = inspect(opened)
    assert (found.start.kafka, found.start.starts) == ("4.4.0", "no")


def test_inspection_and_searches_change_no_file_content_or_timestamp(root: Path) -> None:
    grow(active(root, "log"), bytes(100))
    (root / "orders-1/partition.metadata").unlink()

    def state() -> dict[Path, tuple[int, int, bytes]]:
        return {
            path: (path.stat().st_mtime_ns, path.stat().st_ctime_ns, path.read_bytes() if path.is_file() else b"")
            for path in sorted(root.rglob("*"))
        }

    before = state()
    seen(root, records=True)
    find_time(open_directory(root), (START_MS, START_MS + 1_000), scan=True)
    find_offset(one_partition(open_directory(root), "orders-0"), 77)
    assert state() == before


def test_start_prediction_lists_files_read_and_settings_not_checked(root: Path) -> None:
    start = seen(root).start
    assert any("meta.properties" in line for line in start.read)
    assert any("server.properties" in line for line in start.not_checked)


def test_missing_time_index_is_rebuilt_only_if_offset_index_is_missing_too(root: Path) -> None:
    path = root / "orders-0" / f"{0:020}.timeindex"
    path.unlink()
    found = seen(root)
    assert (kinds(found), len(found.start.wrong), len(found.start.changes)) == ({"index-missing"}, 1, 0)
    path.with_suffix(".index").unlink()
    found = seen(root)
    assert (kinds(found), len(found.start.wrong)) == ({"index-missing"}, 0)
    assert [line.startswith("rebuilds") and line.endswith("1 more") for line in found.start.changes] == [True]
