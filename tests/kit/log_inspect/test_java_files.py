"""A file that the classes of Kafka 4.4.0 read is sound, and one at which they throw is broken; their answers stand here.

``CheckpointFile.read`` with the formatters of ``OffsetCheckpointFile`` and ``LeaderEpochCheckpointFile``,
``LeaderEpochFileCache``, ``PartitionMetadataFile.read``, ``LogFileUtils.offsetFromFileName``.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from log_edits import kinds, seen
from log_partitions import META, Log, healthy

from kafka_conformance.log_inspect.directory import CHECKPOINTS, checkpoint_lines

TOPIC = "bQ-4lLbbTQSsH0SZpHBEYQ"

# The number of entries that the class returns, None if it throws.
OFFSETS: list[tuple[str, int | None]] = [
    ("", 0), ("0", 0), ("0\n", 0), ("0\n0\n", 0), ("0\n1\nx 0 5\n", 1), ("0\n1\nx 0 5", 1),
    ("0\r\n1\r\nx 0 5\r\n", 1), ("0\r1\rx 0 5\r", 1), (" 0\n1\nx 0 5\n", None), ("0 \n1\nx 0 5\n", None),
    ("+0\n1\nx 0 5\n", 1), ("00\n1\nx 0 5\n", 1), ("-0\n1\nx 0 5\n", 1), ("1\n1\nx 0 5\n", None),
    ("0\n+1\nx 0 5\n", 1), ("0\n01\nx 0 5\n", 1), ("0\n-1\n", None), ("0\n1_0\nx 0 5\n", None),
    ("0\n2\nx 0 5\n", None), ("0\n0\nx 0 5\n", None), ("0\n1\nx 0 5\n\n", None), ("0\n1\n\nx 0 5\n", None),
    ("\n", None), ("\n0\n", None), ("0\n\n", None), ("0\n1\n x 0 5\n", None), ("0\n1\nx 0 5 \n", 1),
    ("0\n1\nx 0 5\t\t\n", 1), ("0\n1\nx\t0\t5\n", 1), ("0\n1\nx  0  5\n", 1), ("0\n1\nx\u00a00\u00a05\n", None),
    ("0\n1\nx\u20030\u20035\n", None), ("0\n1\nx 0 1_0\n", None), ("0\n1\nx 0 9223372036854775807\n", 1),
    ("0\n1\nx 0 9223372036854775808\n", None), ("0\n1\nx 2147483648 5\n", None), ("0\n1\nx -1 -5\n", 1),
    ("0\n1\nx +0 +5\n", 1), ("0\n1\nx 00 005\n", 1), ("0\n1\nx \u0663 \u0664\n", 1), ("0\n1\nx 0\n", None),
    ("0\n1\nx 0 5 6\n", None), ("0\n1\nx 0 5\0\n", None), ("0\n1\nx 0 5\v\n", 1), ("0\n1\nx 0 5\f\n", 1),
    ("0\n1\nx 0 5\x1c\n", None), ("0\n1\nx 0 5\u0085\n", None), ("0\n2\nx 0 5\nx 0 6\n", 2),
    ("0\n3000000000\nx 0 5\n", None), ("0\n1\nx 0 5\n\u2028", None), ("\ufeff0\n1\nx 0 5\n", None),
]  # fmt: skip

# Whether the class returns; the entries are those of a partition with batches of epochs 0, 2 and 4.
EPOCHS = [
    ("0 0_0", False), ("4294967296 0", False), ("2147483648 0", False), ("0 9223372036854775808", False), (" ", False),
    ("-1 0", False), ("0 -5", False), ("0 0 0", False), ("0\t0", True), ("\u0660 0", True), ("+0 00", True),
]  # fmt: skip

METADATA = [
    (f"version: 0\ntopic_id: {TOPIC}", True), (f"version: 0\ntopic_id: {TOPIC}\n", True),
    (f"version: 0\r\ntopic_id: {TOPIC}\r\n", True), (f"version:0\ntopic_id: {TOPIC}", False),
    (f"version: 00\ntopic_id: {TOPIC}", True), (f"version: +0\ntopic_id:  {TOPIC}", True),
    (f"version: 0 \ntopic_id: {TOPIC}", False), (f"version: 1\ntopic_id: {TOPIC}", True),
    (f"version: 0_0\ntopic_id: {TOPIC}", False), (f"version : 0\ntopic_id: {TOPIC}", True),
    (f" version: 0\n topic_id: {TOPIC}", True), (f"x: 0\ny: {TOPIC}", True), (f"version: -1\ntopic_id: {TOPIC}", False),
    (f"version: 0\ntopic_id: {TOPIC[:-1]}", False), (f"version: 0\ntopic_id: {TOPIC}Q", False),
    (f"version: 0\ntopic_id: {TOPIC}==", True), (f"version: 0\ntopic_id: {TOPIC[:-1]}!", False),
    (f"version: 0\ntopic_id: {TOPIC.replace('-', '+')}", False), (f"version: 0\ntopic_id: {TOPIC} ", False),
    (f"version: 0\ntopic_id: {TOPIC[:-1]}R", True), ("version: 0", False), ("", False),
    (f"\nversion: 0\ntopic_id: {TOPIC}", False), (f"topic_id: {TOPIC}\nversion: 0", False),
    (f"version: 0\ntopic_id: {TOPIC}\nmore: 1", True), (f"version: 0\ntopic_id: {21 * 'A'}Q", True),
    (f"version: 0\ntopic_id: {22 * 'A'}", False), (f"version: \u0660\ntopic_id: {TOPIC}", True),
    (f"version: 0: 1\ntopic_id: {TOPIC}", False), (f"version:\t0\ntopic_id:\u00a0{TOPIC}", False),
    ("version: 0\ntopic_id: ", False), (f"version: 0: \ntopic_id: {TOPIC}: : ", True),
]  # fmt: skip


@pytest.mark.parametrize(("text", "entries"), OFFSETS)
@pytest.mark.parametrize("name", CHECKPOINTS)
def test_offset_checkpoint_is_broken_exactly_if_java_reader_throws(
    tmp_path: Path, name: str, text: str, entries: int | None
) -> None:
    healthy(tmp_path / "orders-0").write()
    (tmp_path / "meta.properties").write_text(META, encoding="utf-8")
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    found = seen(tmp_path)
    assert found.verdict == ("broken" if entries is None else "sound")
    assert kinds(found) == ({"checkpoint-corrupt"} if entries is None else set())
    if entries is not None:
        assert len(list(checkpoint_lines(text))) == entries


@pytest.mark.parametrize(("line", "reads"), EPOCHS)
def test_leader_epoch_checkpoint_is_corrupt_exactly_if_java_reader_throws(log: Log, line: str, reads: bool) -> None:
    rest = "2 63\n4 126\n"
    (log.folder / "leader-epoch-checkpoint").write_text(f"0\n3\n{line}\n{rest}", encoding="utf-8")
    assert kinds(seen(log.folder)) == (set() if reads else {"leader-epochs-corrupt"})


@pytest.mark.parametrize(("text", "reads"), METADATA)
def test_partition_metadata_file_is_corrupt_exactly_if_java_reader_throws(log: Log, text: str, reads: bool) -> None:
    (log.folder / "partition.metadata").write_text(text, encoding="utf-8", newline="")
    assert kinds(seen(log.folder)) == (set() if reads else {"partition-metadata-corrupt"})


@pytest.mark.parametrize("suffix", ["log", "index", "timeindex", "txnindex", "snapshot"])
@pytest.mark.parametrize("number", ["09223372036854775808", "99999999999999999999", "0000000000000000006_", "copy", ""])
def test_segment_file_name_that_broker_cannot_parse_is_a_bad_name(log: Log, suffix: str, number: str) -> None:
    (log.folder / f"{number}.{suffix}").write_bytes(b"")
    found = seen(log.folder)
    assert kinds(found) == {"bad-name"}
    assert [row.file for row in found.findings if row.kind == "bad-name"] == [f"{number}.{suffix}"]


@pytest.mark.parametrize("number", ["5", "-5", "+5", "\u0661\u0662"])
def test_segment_file_name_of_unusual_form_that_broker_parses_is_not_broken(log: Log, number: str) -> None:
    (log.folder / f"{number}.log").write_bytes(b"")
    assert not kinds(seen(log.folder))


def test_folder_named_like_a_segment_is_noted_as_unknown_file(log: Log) -> None:
    (log.folder / "copy.log").mkdir()
    found = seen(log.folder)
    assert found.verdict == "sound"
    assert "unknown-file" in kinds(found, "note")


@pytest.mark.parametrize(("number", "reads"), [("2147483647", True), ("2147483648", False), ("9999999999", False)])
def test_partition_folder_with_number_above_int32_max_is_a_bad_name(tmp_path: Path, number: str, reads: bool) -> None:
    healthy(tmp_path / "orders-0").write()
    healthy(tmp_path / f"orders-{number}").write()
    assert kinds(seen(tmp_path)) == (set() if reads else {"bad-name"})
