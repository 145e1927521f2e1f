"""The file of the space ``every_broken_file``, which Java reads and writes, and others made by hand."""

from __future__ import annotations

import struct

import pytest

from kafka_reference.broker.behaviour import ProducerStateBehaviour
from kafka_reference.broker.entries import ProducerStateEntry
from kafka_reference.broker.snapshots import SnapshotFolder, read_snapshot, write_snapshot
from kafka_reference.errors import CorruptSnapshotException, IllegalArgumentException, SchemaException
from kafka_reference.java.crc32c import crc32c

# Written by 2.4.1 to 4.4.0: producer 7, batch of sequences 3 and 4 at offsets 3 and 4, then a marker at time 0.
JAVAS = bytes.fromhex(
    "00012e37fcdd000000010000000000000007000000000004000000000000000400000001"
    "000000000000000000000000ffffffffffffffff"
)  # fmt: skip
BEHAVIOUR = ProducerStateBehaviour.of("4.4.0")


def test_snapshot_file_written_by_java_round_trips() -> None:
    (entry,) = read_snapshot(BEHAVIOUR, JAVAS)
    assert (entry.producer_id, entry.epoch, entry.last_sequence, entry.last_offset) == (7, 0, 4, 4)
    assert (entry.timestamp, entry.coordinator_epoch, entry.transaction) == (0, 0, None)
    assert entry.batches[0].first_offset == 3
    assert write_snapshot([entry]) == JAVAS


def test_snapshot_without_producers_round_trips() -> None:
    empty = write_snapshot([])
    assert empty == struct.pack(">hIi", 1, crc32c(bytes(4)), 0)
    assert read_snapshot(BEHAVIOUR, empty) == []


@pytest.mark.parametrize("length", range(len(JAVAS)))
def test_truncated_snapshot_throws_corrupt_snapshot_exception(length: int) -> None:
    with pytest.raises(CorruptSnapshotException):
        read_snapshot(BEHAVIOUR, JAVAS[:length])


@pytest.mark.parametrize(("version", "count"), [(0, 0), (2, 0), (1, -1), (1, 1), (1, 2**31 - 1)])
def test_snapshot_with_unknown_version_or_wrong_entry_count_is_corrupt(version: int, count: int) -> None:
    body = struct.pack(">i", count)
    with pytest.raises(CorruptSnapshotException):
        read_snapshot(BEHAVIOUR, struct.pack(">hI", version, crc32c(body)) + body)


def test_bytes_behind_snapshot_entries_are_ignored_if_covered_by_checksum() -> None:
    body = struct.pack(">i", 0) + b"more"
    assert read_snapshot(BEHAVIOUR, struct.pack(">hI", 1, crc32c(body)) + body) == []
    with pytest.raises(CorruptSnapshotException):
        read_snapshot(BEHAVIOUR, JAVAS + b"\0")


@pytest.mark.parametrize(("version", "batches"), [("2.3.1", 1), ("2.4.1", 0)])
def test_snapshot_entry_without_batch_is_read_as_one_batch_up_to_2_3(version: str, batches: int) -> None:
    (entry,) = read_snapshot(ProducerStateBehaviour.of(version), write_snapshot([ProducerStateEntry(BEHAVIOUR, 7)]))
    assert len(entry.batches) == batches


@pytest.mark.parametrize(("version", "left"), [("2.0.1", b"ab"), ("2.1.0", b"abXX")])
def test_shorter_snapshot_over_a_longer_file_leaves_trailing_bytes_since_2_1(version: str, left: bytes) -> None:
    disk = {5: b"XXXX"}
    SnapshotFolder(ProducerStateBehaviour.of(version), disk).write(5, b"ab")
    assert disk[5] == left


@pytest.mark.parametrize(("version", "latest"), [("2.7.2", 9), ("2.8.2", 5)])
def test_snapshot_file_added_after_loading_is_ignored_since_2_8(version: str, latest: int) -> None:
    disk = {5: b""}
    snapshots = SnapshotFolder(ProducerStateBehaviour.of(version), disk)
    disk[9] = b""
    assert snapshots.latest == latest
    assert SnapshotFolder(ProducerStateBehaviour.of(version), disk).latest == 9


def test_malformed_snapshot_in_0_11_0_0_is_corrupt_by_checksum_else_throws_schema_or_illegal_argument() -> None:
    old = ProducerStateBehaviour.of("0.11.0.0")
    with pytest.raises(SchemaException):
        read_snapshot(old, JAVAS[:-1])
    with pytest.raises(SchemaException):
        read_snapshot(old, JAVAS[:5])
    with pytest.raises(IllegalArgumentException):
        read_snapshot(old, b"\0\2" + JAVAS[2:])
    with pytest.raises(CorruptSnapshotException):
        read_snapshot(old, JAVAS[:-1] + b"\0")
