"""Keys, where hand-written vectors never go: each maker yields what it says."""

from __future__ import annotations

from collections import Counter

import pytest
from questions import generated

from kafka_conformance.rules.common.keys import (
    HASHES,
    REQUIRED_LABELS,
    every_tail,
    key_labels,
    key_with_hash,
    unsigned_hash,
)
from kafka_reference.partitioning.murmur2_fast import murmur2

INT_MIN, INT_MAX = -(2**31), 2**31 - 1


# Asked of the real Utils.murmur2, which gave the hash back.
@pytest.mark.parametrize(
    ("prefix", "hashed", "key"),
    [
        (b"", INT_MIN, "a7d6506c"),
        (b"\xff" * 8, INT_MIN, "ffffffffffffffff40f2b7aa"),
        (b"", INT_MIN + 1, "3334f6a5"),
        (b"", -1, "a5d4305c"),
        (b"", 0, "e3871844"),
        (b"\xff" * 8, 0, "fffffffffffffffff7cd7b71"),
        (b"", 1, "039d77d8"),
        (b"", INT_MAX, "027d5343"),
    ],
)
def test_key_built_for_a_requested_murmur2_hash_equals_the_key_confirmed_by_java(
    prefix: bytes, hashed: int, key: str
) -> None:
    assert key_with_hash(prefix, hashed).hex() == key


@pytest.mark.parametrize("prefix", [b"", b"abcd", b"\x80\xff\x00\x7f" * 15, b"\xfe" * 400])
@pytest.mark.parametrize("hashed", [*HASHES, 123456789, -790332482])
def test_four_bytes_appended_to_an_aligned_prefix_give_any_requested_murmur2_hash(prefix: bytes, hashed: int) -> None:
    key = key_with_hash(prefix, hashed)
    assert key[:-4] == prefix
    assert len(key) == len(prefix) + 4
    assert murmur2(key) == hashed


@pytest.mark.parametrize(
    ("key", "hashed"),
    [(b"", 275646681), (b"\xff\x80\x7f", 968261134), (b"foobar", -790332482), (b"\xff" * 261, -706810418)],
)
def test_unsigned_murmur2_equals_published_hash_modulo_2_to_32(key: bytes, hashed: int) -> None:
    assert unsigned_hash(key) == hashed % 2**32


def test_murmur2_tail_keys_have_lengths_0_to_64_and_every_tail_of_edge_bytes() -> None:
    keys = list(every_tail())
    assert len(keys) == len(set(keys))
    lengths = Counter(map(len, keys))
    assert lengths == {length: 4 ** (length % 4) for length in range(65)}
    for length in range(65):
        left = length % 4
        tails = {key[length - left :] for key in keys if len(key) == length}
        assert {bytes([one] * left) for one in (0x00, 0x7F, 0x80, 0xFF)} <= tails
        assert all(byte in (0x00, 0x7F, 0x80, 0xFF) for tail in tails for byte in tail)
        assert len({key[: length - left] for key in keys if len(key) == length}) == 1


def test_64_byte_murmur2_key_has_over_32_different_bytes_on_both_sides_of_0x80() -> None:
    whole = next(key for key in every_tail() if len(key) == 64)
    assert min(whole) < 0x80 <= max(whole)
    assert len(set(whole)) > 32


@pytest.mark.parametrize(
    ("key", "labels"),
    [
        (None, {"null key"}),
        (b"", {"empty key", "0 bytes"}),
        (b"\x7f", {"1 bytes"}),
        (b"\x80", {"1 bytes", "left-over byte 1 of 1 at 0x80 or more"}),
        (b"\x80\xff", {"2 bytes", "hash below zero", "left-over byte 1 of 2 at 0x80 or more",
                       "left-over byte 2 of 2 at 0x80 or more"}),
        (b"\x80\x80\x80\x80", {"4 bytes", "hash below zero"}),
        (b"\xff\xff\xff\xff\x00\x00\xff", {"7 bytes", "left-over byte 3 of 3 at 0x80 or more"}),
        (bytes.fromhex("a7d6506c"), {"4 bytes", "hash below zero", "hash 0x80000000"}),
        (b"\x00" * 65, {"longer than 64 bytes"}),
    ],
)  # fmt: skip
def test_key_labels_name_length_high_tail_bytes_and_negative_hash(key: bytes | None, labels: set[str]) -> None:
    found = set(key_labels(key))
    assert found - {"hash below zero"} == labels - {"hash below zero"}
    assert ("hash below zero" in found) == (key is not None and murmur2(key) < 0)


def test_75_required_key_labels_include_null_key_empty_key_and_negative_hash() -> None:
    assert {"null key", "empty key", "hash below zero", "hash 0x80000000", "0 bytes", "64 bytes"} <= REQUIRED_LABELS
    assert len(REQUIRED_LABELS) == 4 + 65 + 1 + 2 + 3


def test_hypothesis_key_strategy_covers_lengths_high_bytes_and_edge_hashes() -> None:
    questions = generated("murmur2", 600)
    keys = [bytes.fromhex(question.key) for question in questions if question.key is not None]
    assert len(keys) < 600, "and the null key"
    assert b"" in keys
    assert max(map(len, keys)) > 4096
    assert max(map(len, keys)) <= 64 * 1024
    assert sum(len(key) > 0 and min(key) >= 0x80 for key in keys) > 50
    assert {murmur2(key) for key in keys} >= {INT_MIN, -1, 0, INT_MAX}
    assert {len(key) % 4 for key in keys} == {0, 1, 2, 3}
