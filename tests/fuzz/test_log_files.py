"""Index files and producer snapshots, as each release's broker reads them."""

from __future__ import annotations

import pytest
from byte_mutations import arbitrary_or_mutated
from crc32c import crc32c
from fuzzing import BrokenPromise, Door, FuzzPlan, explore, plant
from hypothesis import strategies as st

from kafka_reference.broker import snapshots
from kafka_reference.broker.behaviour import ProducerStateBehaviour
from kafka_reference.errors import JavaException
from kafka_reference.log_files import abstract_index
from kafka_reference.log_files.entries import (
    read_offset_index,
    read_time_index,
    write_offset_index,
    write_time_index,
)
from kafka_reference.log_files.names import file_name, offset_of_file
from kafka_reference.log_files.offset_index import OffsetIndex
from kafka_reference.log_files.time_index import TimeIndex

RELEASES = ["4.4.0", "2.0.0", "1.0.0", "0.11.0.0"]
OFFSETS = [write_offset_index([(12, 4423), (24, 8773), (30, 9000)], 10) + zeros for zeros in (b"", bytes(16), bytes(3))]
TIMES = [write_time_index([(1000, 24), (1005, 25)], 10) + zeros for zeros in (b"", bytes(24), bytes(5))]
BEHAVIOURS = [ProducerStateBehaviour.of(release) for release in RELEASES]


def repaired(data: bytes) -> bytes:
    """A snapshot with the right checksum."""
    return data[:2] + crc32c(data[6:]).to_bytes(4, "big") + data[6:] if len(data) > 6 else data


HEAD = b"\0\1" + bytes(4)
SNAPSHOTS = [
    repaired(HEAD + b"\0\0\0\2" + b"".join(number.to_bytes(8, "big") + bytes(range(42)) for number in (1, 2))),
    repaired(HEAD + bytes(4)),
]
given = st.tuples(st.integers(0, len(RELEASES) - 1), st.sampled_from([0, 10, 2**62]))


def reads_index(drawn: tuple[bytes, tuple[int, int]]) -> None:
    data, (number, base) = drawn
    assert len(read_offset_index(data, base)) == len(data) // 8
    for kind, read, write in (
        (OffsetIndex, read_offset_index, write_offset_index),
        (TimeIndex, read_time_index, write_time_index),
    ):
        entries = read(data, base)
        if base < 2**62:
            assert (
                write(entries, base)
                == data[: len(data) // (8 if kind is OffsetIndex else 12) * (8 if kind is OffsetIndex else 12)]
            )
        index = kind(base, 100, data, version=RELEASES[number])
        for use in (
            index.sanity_check,
            lambda index=index: index.lookup(base + 20),
            index.trim_to_valid_size,
            index.close,
        ):
            try:
                use()
            except JavaException:
                continue


def reads_snapshot(drawn: tuple[bytes, tuple[int, int]]) -> None:
    data, (number, _) = drawn
    entries = snapshots.read_snapshot(BEHAVIOURS[number], data)
    written = snapshots.write_snapshot(entries)
    assert snapshots.write_snapshot(snapshots.read_snapshot(BEHAVIOURS[number], written)) == written


INDEX = Door(reads_index, (JavaException,))
SNAPSHOT = Door(reads_snapshot, (JavaException,))


def test_fuzzed_offset_and_time_indexes_round_trip_or_raise_java_exceptions_only(plan: FuzzPlan) -> None:
    explore(plan, INDEX, st.tuples(arbitrary_or_mutated([*OFFSETS, *TIMES]), given), 200)


def test_fuzzed_producer_snapshots_round_trip_or_raise_java_exceptions_only(plan: FuzzPlan) -> None:
    explore(plan, SNAPSHOT, st.tuples(arbitrary_or_mutated(SNAPSHOTS, repaired), given), 200)


def test_fuzzed_segment_file_names_raise_documented_errors_only(plan: FuzzPlan) -> None:
    def read(name: str) -> None:
        assert isinstance(offset_of_file(name), int)

    names = st.one_of(
        st.text(), st.builds(file_name, st.integers(-(2**63), 2**63), st.sampled_from([".log", "", ".x"]))
    )
    explore(plan, Door(read, (ValueError,)), names, 100)


def test_fuzzer_finds_bugs_planted_in_index_and_snapshot_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, abstract_index.AbstractIndex, "corrupt", lambda *_: True)
    plant(monkeypatch, snapshots, "_entry", lambda _, fields: fields[0] not in (1, 2))
    for door, files, repair in ((INDEX, [*OFFSETS, *TIMES], bytes), (SNAPSHOT, SNAPSHOTS, repaired)):
        with pytest.raises(BrokenPromise, match="planted"):
            explore(FuzzPlan(shrink=False), door, st.tuples(arbitrary_or_mutated(files, repair), given), 600)
