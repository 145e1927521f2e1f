"""Keys are known by MurmurHash3_x64_128, each once in a block, and come out of the packing as they went in."""

from __future__ import annotations

import mmh3
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_conformance.audit.attribution.distinct_keys import (
    KeysSeen,
    distinct,
    identities,
    keys_seen,
    pack,
    unpack,
)


def ids_of(column: list[bytes], width: type = np.int32) -> np.ndarray:
    return identities(np.cumsum([0, *map(len, column)], dtype=width), np.frombuffer(b"".join(column), np.uint8))


@given(st.lists(st.binary(max_size=70), max_size=10), st.sampled_from([np.int32, np.int64]))
def test_key_ids_equal_mmh3_hash64_for_random_keys(column: list[bytes], width: type) -> None:
    assert [tuple(map(int, row)) for row in ids_of(column, width)] == [
        mmh3.hash64(key, 0, signed=False) for key in column
    ]


def test_key_ids_equal_mmh3_hash64_for_key_lengths_up_to_99() -> None:
    column = [bytes(at * 71 % 256 for at in range(size)) for size in range(100)]
    assert [tuple(map(int, row)) for row in ids_of(column)] == [mmh3.hash64(key, 0, signed=False) for key in column]


@given(st.lists(st.binary(max_size=1) | st.sampled_from([b"x", b"y"]), max_size=40))
def test_repeated_key_is_kept_once_with_first_offset_and_record_count(column: list[bytes]) -> None:
    offsets = np.arange(len(column), dtype=np.int64) * 2 + 7
    seen = unpack(pack(keys_seen(ids_of(column), offsets, offsets + 1000)))
    order = list(dict.fromkeys(column))
    assert [tuple(map(int, row)) for row in seen.ids] == [mmh3.hash64(key, 0, signed=False) for key in order]
    assert seen.first_offset.tolist() == [column.index(key) * 2 + 7 for key in order]
    assert seen.first_ms.tolist() == [column.index(key) * 2 + 1007 for key in order]
    assert seen.records.tolist() == [column.count(key) for key in order]


def test_key_ids_that_share_64_of_128_bits_are_distinct_keys() -> None:
    rows, counts = distinct(np.array([[5, 1], [5, 2], [5, 1], [21, 1], [6, 1]], np.uint64))
    assert rows.tolist() == [0, 1, 3, 4]
    assert counts.tolist() == [2, 1, 1, 1]


def test_packed_keys_have_the_documented_binary_layout() -> None:
    rows = np.array([[1, 2], [1, 2], [3, 4]], np.uint64), np.array([3, 4, 9]), np.array([50, 52, 49])
    head = ((0x00_02_04_04, 4), (2, 8), (3, 8), (49, 8))
    keys = ((1, 8), (2, 8), (3, 8), (4, 8), (0, 4), (6, 4), (1, 4), (0, 4), (1, 2), (0, 2))
    assert pack(keys_seen(*rows)) == b"KSN2" + b"".join(at.to_bytes(size, "little") for at, size in head + keys)


@given(
    st.lists(st.tuples(st.integers(0, 2**63 - 1), st.integers(-1, 2**63 - 2), st.integers(1, 2**32 - 1)), max_size=5)
)
def test_packed_offsets_timestamps_and_counts_of_any_size_round_trip(rows: list[tuple[int, int, int]]) -> None:
    columns = [np.array([row[at] for row in rows], kind) for at, kind in enumerate((np.int64, np.int64, np.uint32))]
    there = unpack(pack(KeysSeen(np.arange(2 * len(rows), dtype=np.uint64).reshape(-1, 2), *columns)))
    back = there.first_offset.tolist(), there.first_ms.tolist(), there.records.tolist()
    assert list(zip(*back, strict=True)) == rows


@pytest.mark.parametrize(
    "packed", [b"", b"KSN2", b"KSN1" + bytes(28), b"KSN2\4\4\2\0" + (1).to_bytes(8, "little") + bytes(41)]
)
def test_unpacking_bytes_of_another_format_raises_value_error(packed: bytes) -> None:
    with pytest.raises(ValueError, match="not the keys of a block"):
        unpack(packed)
