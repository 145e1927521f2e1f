"""xxHash of keys of every number of left-over bytes, against values of the original library."""

from __future__ import annotations

import pytest

from kafka_conformance.gate.diagnosis.xxhash import xxh32, xxh64


@pytest.mark.parametrize(
    ("key", "in_32", "in_64"),
    [
        (b"", 0x02CC5D05, 0xEF46DB3751D8E999),
        (b"abc", 0x32D153FF, 0x44BC2CF5AD770999),
        (b"q" * 15, 0xF974FE0C, 0x8A6E59FCC5E94197),
        (b"x" * 17, 0x483F1B5F, 0x2215CF593832A5EE),
        (bytes(range(40)), 0xD6A6CF02, 0xF5DA40F1B11741E9),
    ],
)
def test_xxhash_of_32_and_64_bits_equals_the_original_library(key: bytes, in_32: int, in_64: int) -> None:
    assert xxh32(key) == in_32
    assert xxh64(key) == in_64
