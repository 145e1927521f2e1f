"""Hashes of keys are those of the packages that producers use: published values, and what the packages returned."""

from __future__ import annotations

import hashlib
import random

import mmh3
import pytest

from kafka_reference.partitioning.key_hashes import HASHES

KEYS = (b"", b"a", b"order-4711", b"customer-1:eu-west-1", bytes(range(0, 255, 7)), b"x" * 64)
# What the packages returned for KEYS: python-xxhash 3.6, seahash 0.2 (of the author's crate), Erlang/OTP 25.2.
PACKAGES = {
    "xxhash": (0x02CC5D05, 0x550D7456, 0x301C4C63, 0x19D65982, 0x80228200, 0xF6216102),
    "xxhash-murmur2-seed": (0x8D3B42D8, 0x12B7E114, 0xE474AB74, 0x4ED0FB80, 0x93FF89FA, 0xE4D1D2FD),
    "xxhash-64": (
        0xEF46DB3751D8E999, 0xD24EC4F1A98C6E5B, 0x48309CECA8BF3EC9, 0x9DC1352545F28C3A, 0x0F67F332BDD5B35B,
        0xA97161D5402F516E,
    ),
    "seahash": (
        0xC920CA43256FDCB9, 0x29C401B26A16E94D, 0xD4CECECB1B27B796, 0x449EBA38DA5E4068, 0x9A787B21E75CD79D,
        0x61648CF5822EA802,
    ),
    "phash2": (0x0D12E65, 0x6B93A8F, 0x3D7E071, 0x78777C8, 0x49D0EC6, 0x71862EF),
    "phash2-32": (0x08D12E65, 0x5EB93A8F, 0x4BD7E071, 0xE78777C8, 0x0C9D0EC6, 0x071862EF),
}  # fmt: skip
PUBLISHED = (
    ("crc32", b"123456789", 0xCBF43926),
    ("string-hash-code", b"hello world", 1794106052),
    ("string-hash-code", "Zoë".encode(), 90 * 31 * 31 + 111 * 31 + 235),
    ("string-hash-code", b"\xff\xfe", 255 * 31 + 254),  # not UTF-8, so Latin-1
    ("arrays-hash-code", b"\xff", 30),
    ("long-hash-code", (1 << 32 | 5).to_bytes(8, "big"), 4),
    ("long-hash-code", b"short", None),
    ("fnv-1", b"foobar", 0x31F0B262),
    ("fnv-1a", b"foobar", 0xBF9CF968),
    ("fnv-1-64", b"foobar", 0x340D8765A4DDA9C2),
    ("fnv-1a-64", b"a", 0xAF63DC4C8601EC8C),
    ("xxhash", b"Nobody inspects the spammish repetition", 0xE2293B2F),
    ("seahash", b"to be or not to be", 1988685042348123509),
    ("djb2", b"a", 5381 * 33 + 97),
    ("md5-32", b"", 0xD41D8CD9),
    ("md5-32-little", b"", 0xD98C1DD4),
    ("md5-64", b"", 0xD41D8CD98F00B204),
    ("sha-1-32", b"abc", 0xA9993E36),
    ("sha-1-64", b"abc", 0xA9993E364706816A),
    ("kafka-node", b"", 1),
    ("text-integer", b"42", 42),
    ("text-integer", "٤".encode(), None),
    ("text-integer", b"1" * 19, None),
    ("int32-big-endian", b"\xff\xff\xff\xfe", 2**64 - 2),
    ("int64-little-endian", b"\x07" + bytes(7), 7),
    ("first-byte", b"", None),
    ("last-byte", b"ab", 98),
)


@pytest.mark.parametrize("name", PACKAGES)
def test_hash_is_that_of_the_package_that_producers_use(name: str) -> None:
    assert tuple(map(HASHES[name].function, KEYS)) == PACKAGES[name]


@pytest.mark.parametrize(("name", "key", "number"), PUBLISHED)
def test_hash_has_the_published_value_for_a_key(name: str, key: bytes, number: int | None) -> None:
    assert HASHES[name].function(key) == number


@pytest.mark.parametrize("length", range(40))
def test_murmur3_equals_mmh3_for_keys_of_every_length(length: int) -> None:
    key = random.Random(length).randbytes(length)
    assert HASHES["murmur3-no-seed"].function(key) == mmh3.hash(key, 0, signed=False)
    assert HASHES["murmur3-25342"].function(key) == mmh3.hash(key, 25342, signed=False)
    assert HASHES["murmur3-128"].function(key) == mmh3.hash64(key, 0, x64arch=True, signed=False)[0]


def test_every_number_is_within_the_bits_that_the_hash_states() -> None:
    draws = random.Random(11)
    keys = [draws.randbytes(draws.randrange(40)) for _ in range(300)] + [draws.randbytes(8) for _ in range(50)]
    for name, one in HASHES.items():
        numbers = [number for key in keys if (number := one.function(key)) is not None]
        assert all(0 <= number < 1 << one.bits for number in numbers), name


def test_digests_as_one_number_are_of_all_their_bytes() -> None:
    assert HASHES["md5"].function(b"k") == int(hashlib.md5(b"k", usedforsecurity=False).hexdigest(), 16)
    assert HASHES["sha-1"].function(b"k") == int(hashlib.sha1(b"k", usedforsecurity=False).hexdigest(), 16)
