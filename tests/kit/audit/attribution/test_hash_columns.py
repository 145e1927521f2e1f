"""Every hash over a column is, key by key, the gate's scalar one."""

from __future__ import annotations

import itertools

import audit_truth
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_conformance.audit.attribution.hash_columns import HASH_NAMES, hash_column, hash_columns

text = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("aé漢😀\x7f\x80"), max_size=12).map(
    str.encode
)
raw = st.lists(
    st.integers(0, 255) | st.sampled_from([0x7F, 0x80, 0xBF, 0xC2, 0xE0, 0xED, 0xF0, 0xF4, 0xFF]), max_size=40
)
keys = text | raw.map(bytes) | st.tuples(text, raw.map(bytes)).map(b"".join)

# Where UTF-8 may break: each leading byte, followed by what its second may be at the limits, and ends that come too early.
EDGES = [
    bytes((lead, *rest)) + behind
    for lead in (
        0x7F,
        0x80,
        0xC0,
        0xC1,
        0xC2,
        0xDF,
        0xE0,
        0xE1,
        0xEC,
        0xED,
        0xEE,
        0xEF,
        0xF0,
        0xF1,
        0xF3,
        0xF4,
        0xF5,
        0xFF,
    )
    for count in range(4)
    for rest in itertools.product((0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0), repeat=count)
    for behind in (b"", b"z")
]


def hold(column: list[bytes], before: bytes = b"", width: type = np.int32) -> None:
    offsets = np.cumsum([len(before), *map(len, column)], dtype=width)
    hashes = hash_columns(offsets, np.frombuffer(before + b"".join(column), np.uint8))
    assert hashes.shape == (len(HASH_NAMES), len(column))
    for name, row in zip(HASH_NAMES, hashes, strict=True):
        scalar = audit_truth.SCALAR_HASHES[name]
        want = [scalar(key) & 0xFFFFFFFF for key in column]
        wrong = [key.hex() for key, one, other in zip(column, row.tolist(), want, strict=True) if one != other]
        assert not wrong, f"{name}: {wrong[:3]}"


@given(st.lists(keys, max_size=8), st.binary(max_size=3), st.sampled_from([np.int32, np.int64]))
@example([], b"", np.int32)
@example([b"", b"\x80"], b"xy", np.int64)
def test_vectorized_hashes_equal_scalar_hashes_of_every_key(column: list[bytes], before: bytes, width: type) -> None:
    hold(column, before, width)


def test_vectorized_hashes_equal_scalar_hashes_of_one_byte_and_edge_two_byte_keys() -> None:
    telling = [0, 1, 0x41, 0x7F, 0x80, 0x81, 0xBF, 0xC2, 0xE0, 0xF4, 0xFE, 0xFF]
    hold(
        [b"", *(bytes((byte,)) for byte in range(256)), *(bytes(pair) for pair in itertools.product(telling, repeat=2))]
    )


def test_vectorized_hashes_equal_scalar_hashes_of_truncated_and_invalid_utf8_keys() -> None:
    hold(EDGES)


def test_vectorized_hashes_equal_scalar_hashes_of_ascii_and_binary_keys_up_to_69_bytes() -> None:
    hold([bytes(97 + at % 26 for at in range(size)) for size in range(70)])
    hold([bytes(at * 37 % 256 for at in range(size)) for size in range(70)])


def test_hash_column_of_one_algorithm_equals_row_of_the_full_hash_matrix() -> None:
    offsets, data = np.array([0, 3, 3, 6], np.int32), np.frombuffer(b"abcdef", np.uint8)
    for name, row in zip(HASH_NAMES, hash_columns(offsets, data), strict=True):
        assert (hash_column(name, offsets, data) == row).all()


def test_key_offsets_beyond_the_data_raise_damaged_offsets_error() -> None:
    with pytest.raises(ValueError, match="damaged offsets: key 1"):
        hash_columns(np.array([0, 3, 9], np.int32), np.zeros(6, np.uint8))
