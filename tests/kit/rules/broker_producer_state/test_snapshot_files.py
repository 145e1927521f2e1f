"""Snapshot files that no broker writes: their checksum is right, so a release decides by their content."""

from __future__ import annotations

import pytest

from kafka_conformance.rules.broker_producer_state.snapshot_files import SnapshotEntry, snapshot_of, strange_files
from kafka_reference.broker.behaviour import ProducerStateBehaviour
from kafka_reference.broker.entries import ProducerStateEntry
from kafka_reference.broker.snapshots import read_snapshot
from kafka_reference.errors import CorruptSnapshotException
from kafka_reference.java.crc32c import crc32c

ENTRIES = (SnapshotEntry(7, 3, 2, 2, 2, 400, 5, -1), SnapshotEntry(8, 0, 9, 1, 0, 100, 0, 1))
BEHAVIOUR = ProducerStateBehaviour.of("4.4.0")


def read(file: str) -> list[ProducerStateEntry] | None:
    try:
        return read_snapshot(BEHAVIOUR, bytes.fromhex(file))
    except CorruptSnapshotException:
        return None


def test_generated_malformed_snapshot_files_have_valid_checksums() -> None:
    files = [bytes.fromhex(file) for file in strange_files(ENTRIES)]
    assert all(file[2:6] == crc32c(file[6:]).to_bytes(4, "big") for file in files)


def test_snapshot_files_with_wrong_version_or_entry_count_are_corrupt_and_others_are_read() -> None:
    found = [read(file) for file in strange_files(ENTRIES)]
    corrupt = found.count(None)
    # Another version, and a number of entries that is negative or more than there are, or bytes are missing.
    assert corrupt == 4 + 4 + 4
    ids = [[entry.producer_id for entry in entries] for entries in found if entries is not None]
    assert [7, 7, 8] in ids
    assert [8, 7] in ids


@pytest.mark.parametrize(
    ("changes", "first_offset", "first_sequence"),
    [
        ({"last_offset": 2**63 - 1, "offset_delta": -1}, -(2**63), 3),
        ({"last_offset": 0, "offset_delta": 1}, -1, 1),
        ({"last_sequence": 1, "offset_delta": 2}, 0, 2**31 - 1),
    ],
)
def test_snapshot_batch_start_wraps_as_long_offset_and_int_sequence(
    changes: dict[str, int], first_offset: int, first_sequence: int
) -> None:
    entries = read(snapshot_of([ENTRIES[0]._replace(**changes)]))
    assert entries is not None
    (batch,) = entries[0].batches
    assert (batch.first_offset, batch.first_sequence) == (first_offset, first_sequence)
