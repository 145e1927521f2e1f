"""``log inspect`` on directories of real brokers: the healthy ones are sound, and every damage to a copy is found.

Healthy: three releases; idempotent producers with every codec, transactions by librdkafka and by Java's producer (whose
epoch grows with every transaction since 4.0.0), compaction, retention; a broker that runs, stopped, was killed, and has
recovered; replicas of a cluster; several disks; tiered storage. See :mod:`log_directories`.
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from crc32c import crc32c
from log_directories import NAMES, RELEASES, TIERED, Directories, make_directories

from kafka_conformance.log_inspect.directory import open_directory
from kafka_conformance.log_inspect.find import find_offset, one_partition
from kafka_conformance.log_inspect.inspection import inspect
from kafka_conformance.log_inspect.result import Inspection
from kafka_conformance.log_inspect.scan import Scanned, Segment, scan

pytestmark = [pytest.mark.long, pytest.mark.timeout(1_200)]


@pytest.fixture(scope="module")
def directories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Directories]:
    root = tmp_path_factory.mktemp("brokers")
    yield make_directories(root)
    shutil.rmtree(root)


def seen(folder: Path, **how: Any) -> Inspection:
    return inspect(open_directory(folder), **how)


def test_log_inspect_covers_at_least_twenty_directories_of_real_brokers(directories: Directories) -> None:
    assert set(directories.seen) == set(NAMES)
    assert len({found.directory for found in directories.seen.values()}) >= 20


@pytest.mark.parametrize("name", NAMES)
def test_log_inspect_of_healthy_broker_directory_reports_sound(directories: Directories, name: str) -> None:
    found = directories.seen[name]
    assert [row for row in found.findings if row.severity != "note"] == []
    assert found.verdict == "sound"
    assert sum(one.records for one in found.partitions) > 5_000


@pytest.mark.parametrize("release", RELEASES)
def test_inspected_directories_have_transactions_compaction_and_retention(
    directories: Directories, release: str
) -> None:
    for state in ("running", "stopped"):
        by_name = {one.name: one for one in directories.seen[f"{release} {state}"].partitions}
        assert len(by_name) >= 16
        assert by_name["java-0"].transactions >= 12
        assert by_name["compacted-0"].compacted
        assert by_name["plain-none-0"].segments >= 2
        assert by_name["retained-0"].start > 0


def test_log_inspect_recognizes_a_partition_that_moves_between_disks_and_one_being_deleted(
    directories: Directories,
) -> None:
    running = [name for name in NAMES if "disk" in name and "running" in name]
    moving = [one.name for name in running for one in directories.seen[name].partitions if "-future" in one.name]
    assert len(moving) == 1
    assert moving[0].startswith("moves-0.")
    assert any("-delete" in row.file for name in running for row in directories.seen[name].findings)


@pytest.mark.parametrize("release", TIERED)
def test_tiered_storage_directory_has_old_leader_epochs_and_remote_segments(
    directories: Directories, release: str
) -> None:
    folder = directories.copies[f"{release} tiered stopped"]
    by_name = {one.name: one for one in directories.seen[f"{release} tiered stopped"].partitions}
    assert by_name["tiered-0"].start > 0
    assert (folder / "tiered-0" / "leader-epoch-checkpoint").read_text().splitlines()[2] == "0 0"
    assert list((folder / "remote-log-index-cache").iterdir())
    assert list(directories.remote[release].glob("*.LOG"))


@pytest.mark.parametrize("release", RELEASES)
def test_log_find_finds_records_by_offset_in_real_segments_reading_at_most_three_batches(
    directories: Directories, release: str
) -> None:
    folder = directories.copies[f"{release} stopped"] / "plain-zstd-0"
    partition = one_partition(open_directory(folder), "")
    for offset in (0, 1_234, 2_999):
        found = find_offset(partition, offset)
        assert found.record is not None
        assert found.record.offset == offset
        assert found.read <= 3


# ---------------------------------------------------------------------------------------------------------- damages


def log_of(folder: Path, number: int = 0) -> Path:
    return sorted(folder.glob("*.log"))[number]


def batches(path: Path) -> list[Scanned]:
    with Segment(path) as segment:
        return [each for each in scan(segment) if isinstance(each, Scanned)]


def edit(path: Path, position: int, new: bytes, *, batch: int | None = None) -> None:
    whole = bytearray(path.read_bytes())
    whole[position : position + len(new)] = new
    if batch is not None:
        size = struct.unpack_from(">i", whole, batch + 8)[0] + 12
        whole[batch + 17 : batch + 21] = struct.pack(">I", crc32c(bytes(whole[batch + 21 : batch + size])))
    path.write_bytes(whole)


def flip_a_bit(folder: Path) -> None:
    path = log_of(folder)
    at = path.stat().st_size // 2
    edit(path, at, bytes([path.read_bytes()[at] ^ 4]))


def cut(folder: Path) -> None:
    path = log_of(folder, -1)
    path.write_bytes(path.read_bytes()[:-10])


def append_foreign_bytes(folder: Path) -> None:
    path = log_of(folder, -1)
    path.write_bytes(path.read_bytes() + b"these bytes are no batch")


def index_past_the_end(folder: Path) -> None:
    path = log_of(folder).with_suffix(".index")
    whole = path.read_bytes()
    path.write_bytes(whole + struct.pack(">ii", struct.unpack(">ii", whole[-8:])[0] + 1, 2**30))


def index_not_ascending(folder: Path) -> None:
    path = log_of(folder).with_suffix(".index")
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:8])


def time_index_back(folder: Path) -> None:
    path = log_of(folder).with_suffix(".timeindex")
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:12])


def snapshot_missing(folder: Path) -> None:
    log_of(folder, -1).with_suffix(".snapshot").unlink()


def sequence_gap(folder: Path) -> None:
    path = log_of(folder)
    each = batches(path)[1]
    edit(path, each.position + 53, struct.pack(">i", each.header.base_sequence + 7), batch=each.position)


def producer_epoch_back(folder: Path) -> None:
    path = log_of(folder)
    for each in batches(path)[:3]:
        edit(path, each.position + 51, struct.pack(">h", 9), batch=each.position)


def leader_epoch_back(folder: Path) -> None:
    path = log_of(folder)
    edit(path, batches(path)[2].position + 12, struct.pack(">i", 50))


def segments_overlap(folder: Path) -> None:
    base = int(log_of(folder, 1).stem)
    for path in folder.glob(f"{base:020}.*"):
        path.rename(folder / f"{base - 5:020}{path.suffix}")


DAMAGES: dict[Callable[[Path], None], str] = {
    flip_a_bit: "crc-mismatch", cut: "cut-batch", append_foreign_bytes: "foreign-bytes",
    index_past_the_end: "index-past-end", index_not_ascending: "index-not-ascending", time_index_back: "time-index-back",
    snapshot_missing: "snapshot-missing", sequence_gap: "sequence-gap", producer_epoch_back: "producer-epoch-back",
    leader_epoch_back: "leader-epoch-back", segments_overlap: "segments-overlap",
}  # fmt: skip


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_log_inspect_finds_every_kind_of_damage_in_a_broker_directory(
    directories: Directories, release: str, damage: Callable[[Path], None], tmp_path: Path
) -> None:
    folder = tmp_path / "plain-none-0"
    shutil.copytree(directories.copies[f"{release} stopped"] / "plain-none-0", folder)
    assert seen(folder).broken == 0
    damage(folder)
    found = seen(folder)
    assert DAMAGES[damage] in {row.kind for row in found.findings if row.severity == "broken"}
