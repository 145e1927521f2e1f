"""Hashes of keys are those of the packages that producers use: published values, and what the packages returned."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path

import mmh3
import pytest

from kafka_reference.partitioning.key_hashes import HASHES

PACKAGES = json.loads(Path(__file__).with_name("package_hashes.json").read_text(encoding="utf-8"))
"""What packages and programs returned for ``keys``, each with its ``origin``; null for a key that they do not take."""

UNCOMPARED = {"murmur2", "murmur3-25342", "murmur3-128", "crc32", "md5", "sha-1"}
"""Proven by Java as a rule of Kafka; compared with mmh3 below; computed by zlib and hashlib."""

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


@pytest.mark.parametrize("name", PACKAGES["hashes"])
def test_key_hash_equals_recorded_results_of_hash_packages_that_producers_use(name: str) -> None:
    expected = zip(map(bytes.fromhex, PACKAGES["keys"]), PACKAGES["hashes"][name]["numbers"], strict=True)
    known = {key: number for key, number in expected if number is not None}
    assert {key: HASHES[name].function(key) for key in known} == known
    assert len(known) > 20 or name == "long-hash-code"


def test_every_key_hash_has_recorded_package_results_or_is_exempt() -> None:
    numbers_in_keys = {*list(HASHES)[-7:]}
    digests = {name for name in HASHES if name.startswith(("md5", "sha-1"))}
    assert HASHES.keys() == PACKAGES["hashes"].keys() | UNCOMPARED | digests | numbers_in_keys


@pytest.mark.parametrize(("name", "key", "number"), PUBLISHED)
def test_key_hash_equals_published_value_or_is_none_for_inapplicable_key(
    name: str, key: bytes, number: int | None
) -> None:
    assert HASHES[name].function(key) == number


@pytest.mark.parametrize("length", range(40))
def test_murmur3_equals_mmh3_for_keys_of_every_length(length: int) -> None:
    key = random.Random(length).randbytes(length)
    assert HASHES["murmur3-no-seed"].function(key) == mmh3.hash(key, 0, signed=False)
    assert HASHES["murmur3-25342"].function(key) == mmh3.hash(key, 25342, signed=False)
    assert HASHES["murmur3-128"].function(key) == mmh3.hash64(key, 0, x64arch=True, signed=False)[0]


def test_every_key_hash_value_fits_in_the_declared_number_of_bits() -> None:
    draws = random.Random(11)
    keys = [draws.randbytes(draws.randrange(40)) for _ in range(300)] + [draws.randbytes(8) for _ in range(50)]
    for name, one in HASHES.items():
        numbers = [number for key in keys if (number := one.function(key)) is not None]
        assert all(0 <= number < 1 << one.bits for number in numbers), name


def test_md5_and_sha_1_key_hashes_are_the_whole_digest_as_one_integer() -> None:
    assert HASHES["md5"].function(b"k") == int(hashlib.md5(b"k", usedforsecurity=False).hexdigest(), 16)
    assert HASHES["sha-1"].function(b"k") == int(hashlib.sha1(b"k", usedforsecurity=False).hexdigest(), 16)
