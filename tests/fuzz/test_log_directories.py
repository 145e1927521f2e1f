"""A broker's log directory: segments, indexes, snapshots, checkpoints, as ``log`` and ``audit`` read them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from batch_files import bombs, repaired
from byte_mutations import mutate, steps
from fuzzing import BrokenPromise, Door, FuzzPlan, explore, plant
from hypothesis import strategies as st
from log_partitions import Log, control, data
from rich.console import Console

from kafka_conformance.audit.segments.decode import Task, decode
from kafka_conformance.audit.segments.folders import find_topic
from kafka_conformance.audit.segments.survey import survey
from kafka_conformance.core.errors import KitError
from kafka_conformance.log_inspect.checks import records
from kafka_conformance.log_inspect.directory import open_directory
from kafka_conformance.log_inspect.find import find_offset, one_partition
from kafka_conformance.log_inspect.inspection import inspect
from kafka_conformance.log_inspect.reports import page, text
from kafka_reference.record_batch import Codec

CHECKPOINT = b"0\n2\norders 0 9\norders 1 5\n"
CHECKPOINTS = ("log-start-offset-checkpoint", "recovery-point-offset-checkpoint", "cleaner-offset-checkpoint")
Edit = tuple[int, list[tuple[int, int, int, int]], bool]
Replaced = tuple[str, bytes]
LOG = "orders-0/00000000000000000000.log"
NUMBERS = (b"-1", b"9" * 19, b"9" * 30, b"9" * 5_000, b"1_0", "٣".encode(), b"+1", b" 1", b"0x1", b"", b"\x00")


def made(root: Path) -> Path:
    """A small log directory with one partition: producers, a transaction that aborts, two segments."""
    log = Log(root / "orders-0", interval=100)
    for codec in (Codec.NONE, Codec.GZIP, Codec.ZSTD):
        log.append(data(2, (1, 0, 2 * codec), codec=codec))
    log.append(data(2, (3, 0, 0), transactional=True))
    log.append(control(3, 0, commit=False))
    log.roll()
    log.append(data(1))
    log.append(data(2, (3, 1, 0), codec=Codec.LZ4))
    log.append(data(1, codec=Codec.SNAPPY))
    log.write(preallocated=2)
    for name in CHECKPOINTS:
        (root / name).write_bytes(CHECKPOINT)
    (root / "meta.properties").write_bytes(b"version=1\n")
    return root


@pytest.fixture
def files(tmp_path: Path) -> dict[str, bytes]:
    root = made(tmp_path / "made")
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def edits(files: dict[str, bytes]) -> st.SearchStrategy[list[Edit]]:
    """Changes to some of the files; of a segment with right checksums, for half of them."""
    edit = st.tuples(st.integers(0, len(files) - 1), steps(4), st.booleans())
    return st.lists(edit, min_size=1, max_size=3)


def written(folder: Path, files: dict[str, bytes], given: list[Edit | Replaced]) -> Path:
    content, names = dict(files), list(files)
    for edit in given:
        if len(edit) == 2:
            content[edit[0]] = edit[1]
            continue
        name = names[edit[0]]
        content[name] = mutate(content[name], edit[1], list(files.values()))
        if edit[2] and name.endswith(".log"):
            content[name] = repaired(content[name])
    shutil.rmtree(folder, ignore_errors=True)
    for name, whole in content.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(whole)
    return folder


def door(tmp_path: Path, files: dict[str, bytes], read: Callable[[Path], object]) -> Door:
    def write_and_read(given: list[Edit | Replaced]) -> None:
        read(written(tmp_path / "log", files, given))

    return Door(write_and_read, (KitError,), 64)


def inspects(root: Path) -> None:
    opened = open_directory(root)
    found = inspect(opened, records=True)
    msgspec.json.encode(found)
    page.write(found)
    with Path("/dev/null").open("w", encoding="utf-8") as nowhere:
        text.show(Console(file=nowhere), found)


def finds(root: Path) -> None:
    partition = one_partition(open_directory(root), "orders-0")
    for offset in (0, 3, 8, 11, 2**63 - 1):
        found = find_offset(partition, offset)
        msgspec.json.encode(found)
        with Path("/dev/null").open("w", encoding="utf-8") as nowhere:
            text.show_search(Console(file=nowhere), found)


def audits(root: Path) -> None:
    topic = find_topic([str(root)], "orders")
    for each in (file for of in topic.files.values() for file in of):
        found = survey(each)
        assert msgspec.json.decode(msgspec.json.encode(found), type=type(found)) == found
        list(decode(Task(each, found.size, 0, 2**63 - 1, tuple(found.aborted or ()), found.end_offset)))


READERS = {"inspect": inspects, "find": finds, "audit": audits}


def hostile() -> list[list[Replaced]]:
    """Checkpoints with extreme numbers, and files that are no files of Kafka's."""
    names = [*CHECKPOINTS, "orders-0/leader-epoch-checkpoint"]
    lines = [
        b"0\n1\norders 0 %s\n",
        b"0\n1\norders %s 1\n",
        b"0\n%s\norders 0 1\n",
        b"%s\n0\n",
        b"0\n1\n0 %s\n",
        b"0\n1\n%s 0\n",
    ]
    found = [[(name, line % number)] for name in names for line in lines for number in NUMBERS]
    found += [[(name, whole)] for name in names for whole in (b"", b"\xff", b"0", b"0\n0", b"\n\n\n", b"0\n" * 1_000)]
    return found + [
        [("orders-0/partition.metadata", whole)]
        for whole in (b"", b"\xff", b":", b"version: 0\ntopic_id: " + b"x" * 22)
    ]


@pytest.mark.parametrize("reader", READERS)
def test_fuzzed_log_directory_raises_documented_errors_only(
    plan: FuzzPlan, tmp_path: Path, files: dict[str, bytes], reader: str
) -> None:
    always = hostile()[plan.seed % 5 :: 5 if reader == "inspect" else 17]
    READERS[reader](written(tmp_path / "log", files, []))  # compiles what it needs
    explore(plan, door(tmp_path, files, READERS[reader]), edits(files), 20, always)


@pytest.mark.parametrize("reader", READERS)
def test_reading_a_decompression_bomb_in_a_log_segment_takes_at_most_64_mib(
    tmp_path: Path, files: dict[str, bytes], reader: str
) -> None:
    """192 MiB that are compressed to 1 MiB and less, or 4 GiB that are only declared, take no such memory."""
    batches = bombs()

    def read(name: str) -> None:
        READERS[reader](written(tmp_path / "log", {"meta.properties": b""}, [(LOG, batches[name])]))

    for name in batches:
        explore(FuzzPlan(), Door(read, (KitError,), 64), st.just(name), 1)


def test_fuzzer_finds_a_bug_planted_in_the_record_check_of_log_inspect(
    tmp_path: Path, files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, records.RecordCheck, "_undecodable", lambda *_: True)
    with pytest.raises(BrokenPromise, match="planted"):
        explore(FuzzPlan(shrink=False), door(tmp_path, files, inspects), edits(files), 150)
