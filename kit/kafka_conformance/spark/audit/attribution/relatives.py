"""Further rules: every hash that producers use, with every way to make a partition of it.

The rules of :mod:`.placements` are computed for every record, so they are few. These *relatives* are tried on a sample only,
where the others leave records unexplained; those that fit are then judged as a user's partitioner is (:mod:`.candidates`).

A hash of 32 bits is a signed integer to Java, an unsigned one to C, Go and Rust. Its partition of n is, by *fold*:

==============  =====================================================================================================
fold            partition
==============  =====================================================================================================
``masked``      the number without its sign bit, modulo n
``abs``         its absolute value modulo n; Java's ``Math.abs(h % n)`` is the same
``abs-or-zero`` the same, but 0 for the lowest number, whose absolute value is not an int
``floor-mod``   the signed number modulo n, never negative: Java's ``Math.floorMod``, Python's ``%``
``unsigned``    the unsigned number modulo n
==============  =====================================================================================================

Where the products were looked up: Spring Cloud Stream, ``PartitionHandler``; Maxwell, ``MaxwellKafkaPartitioner``;
kafka-rust, ``producer.rs``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial

import mmh3
import numpy as np
from numpy.typing import NDArray

from kafka_conformance.spark.audit.attribution.hash_columns import HASH_NAMES, hash_column
from kafka_reference.bulk import Data, Offsets

__all__ = ["RELATIVES", "Relative", "relative_partitions"]

Hash = Callable[[bytes], int | None]
_MAXWELL_SEED = 25342


@dataclass(frozen=True, slots=True)
class Relative:
    """A rule: ``hash`` returns the unsigned number of a key, of ``bits`` bits, or None for a key that it does not place."""

    slug: str
    story: str
    hash_name: str
    hash: Hash
    bits: int
    fold: str


def _java_string(key: bytes) -> int:
    units = key.decode(errors="replace").encode("utf-16-be")
    value = 0
    for at in range(0, len(units), 2):
        value = value * 31 + (units[at] << 8 | units[at + 1]) & 0xFFFFFFFF
    return value


def _java_long(key: bytes) -> int | None:
    return int.from_bytes(key[:4], "big") ^ int.from_bytes(key[4:], "big") if len(key) == 8 else None


def _fnv(key: bytes, *, bits: int, first_xor: bool) -> int:
    prime, value = (0x01000193, 0x811C9DC5) if bits == 32 else (0x100000001B3, 0xCBF29CE484222325)
    for byte in key:
        value = (value ^ byte) * prime if first_xor else (value * prime) ^ byte
        value &= (1 << bits) - 1
    return value


def _djb2(key: bytes) -> int:
    value = 5381
    for byte in key:
        value = value * 33 + byte & 0xFFFFFFFF
    return value


def _xxh32(key: bytes) -> int:
    """Compute xxHash of 32 bits with the seed 0."""
    mask, (p1, p2, p3, p4, p5) = 0xFFFFFFFF, _XXH32
    end = len(key) - len(key) % 16
    lanes = [p1 + p2 & mask, p2, 0, -p1 & mask]
    for at in range(0, end, 4):
        lane = lanes[at // 4 % 4] + int.from_bytes(key[at : at + 4], "little") * p2
        lanes[at // 4 % 4] = _turned(lane & mask, 13) * p1 & mask
    value = sum(map(_turned, lanes, (1, 7, 12, 18))) if end else p5
    value += len(key)
    words = len(key) - len(key) % 4
    for at in range(end, words, 4):
        value = _turned(value + int.from_bytes(key[at : at + 4], "little") * p3 & mask, 17) * p4
    for byte in key[words:]:
        value = _turned(value + byte * p5 & mask, 11) * p1
    value &= mask
    value = (value ^ value >> 15) * p2 & mask
    value = (value ^ value >> 13) * p3 & mask
    return value ^ value >> 16


_XXH32 = 2654435761, 2246822519, 3266489917, 668265263, 374761393


def _turned(value: int, left: int) -> int:
    return (value << left | value >> 32 - left) & 0xFFFFFFFF


def _digest(key: bytes, *, name: str, size: int, order: str) -> int:
    found = hashlib.new(name, key, usedforsecurity=False).digest()
    return int.from_bytes(found[:size] if size else found, "big" if order == "big" else "little")


_HASHES: dict[str, tuple[str, Hash, int]] = {
    "string-hash-code": ("Java's String.hashCode", _java_string, 32),
    "long-hash-code": ("Java's Long.hashCode of a key of eight bytes", _java_long, 32),
    "arrays-hash-code": ("Java's Arrays.hashCode of the bytes", lambda _: None, 32),
    "murmur2": ("murmur2", lambda _: None, 32),
    "crc32": ("CRC32", lambda _: None, 32),
    "fnv-1a": ("FNV-1a of 32 bits", lambda _: None, 32),
    "fnv-1": ("FNV-1 of 32 bits", partial(_fnv, bits=32, first_xor=False), 32),
    "fnv-1a-64": ("FNV-1a of 64 bits", partial(_fnv, bits=64, first_xor=True), 64),
    "fnv-1-64": ("FNV-1 of 64 bits", partial(_fnv, bits=64, first_xor=False), 64),
    "murmur3-no-seed": ("murmur3 of 32 bits", lambda key: mmh3.hash(key, 0, signed=False), 32),
    "murmur3-25342": (
        "murmur3 of 32 bits with the seed 25342", lambda key: mmh3.hash(key, _MAXWELL_SEED, signed=False), 32,
    ),
    "murmur3-128": (
        "the first half of murmur3 of 128 bits", lambda key: mmh3.hash64(key, 0, x64arch=True, signed=False)[0], 64,
    ),
    "xxhash": ("xxHash of 32 bits", _xxh32, 32),
    "djb2": ("djb2", _djb2, 32),
    "md5-32": ("the first four bytes of MD5", partial(_digest, name="md5", size=4, order="big"), 32),
    "md5-32-little": (
        "the first four bytes of MD5, least byte first", partial(_digest, name="md5", size=4, order="little"), 32,
    ),
    "md5-64": ("the first eight bytes of MD5", partial(_digest, name="md5", size=8, order="big"), 64),
    "md5": ("MD5 as one number", partial(_digest, name="md5", size=0, order="big"), 128),
    "sha-1-32": ("the first four bytes of SHA-1", partial(_digest, name="sha1", size=4, order="big"), 32),
    "sha-1-64": ("the first eight bytes of SHA-1", partial(_digest, name="sha1", size=8, order="big"), 64),
    "sha-1": ("SHA-1 as one number", partial(_digest, name="sha1", size=0, order="big"), 160),
}  # fmt: skip
"""By name: words, the hash of a key (or that of :mod:`.hash_columns`, where it has the name), and its bits."""

_FOLDS = {
    "abs-or-zero": "its absolute value, of the lowest number 0",
    "abs": "its absolute value",
    "masked": "its sign masked",
    "floor-mod": "as Math.floorMod",
    "unsigned": "unsigned",
}
_IN_COLUMNS = frozenset({"arrays-hash-code", "murmur2", "crc32", "fnv-1a", "murmur3-no-seed"})
_PRODUCTS = {
    ("string-hash-code", "abs-or-zero"): "Spring Cloud Stream's default for a key of text",
    ("string-hash-code", "abs"): "Maxwell's default",
    ("long-hash-code", "abs-or-zero"): "Spring Cloud Stream's default for a Long",
    ("murmur3-25342", "abs"): "Maxwell with murmur3",
    ("xxhash", "unsigned"): "kafka-rust's default",
}
_KNOWN = frozenset({
    ("murmur2", "masked"), ("murmur2", "abs"), ("murmur2", "unsigned"), ("crc32", "unsigned"), ("crc32", "abs"),
    ("crc32", "masked"), ("fnv-1a", "abs"), ("fnv-1a", "masked"), ("fnv-1a", "unsigned"), ("arrays-hash-code", "masked"),
    ("arrays-hash-code", "abs-or-zero"), ("murmur3-no-seed", "masked"), ("string-hash-code", "masked"),
})  # fmt: skip
"""Rules that :mod:`.placements` has."""


def _relatives() -> Iterator[Relative]:
    for name, (words, hash_, bits) in _HASHES.items():
        for fold, how in _FOLDS.items():
            if (name, fold) in _KNOWN or (bits > 64 and fold != "unsigned"):
                continue
            product = _PRODUCTS.get((name, fold))
            story = f"{f'{product}: ' if product else ''}{words}, {how}"
            yield Relative(f"{name}-{fold}", story, name, hash_, bits, fold)


RELATIVES = {
    each.slug: each
    for each in sorted(_relatives(), key=lambda one: (one.hash_name, one.fold) not in _PRODUCTS)  # products first
}
"""The rules by slug, those of a known product first: of several that place all keys of a topic alike, the first is named."""


def relative_partitions(slug: str, offsets: Offsets, data: Data, count: int) -> NDArray[np.int64]:
    """Return the partition of each key by this rule; -1 for a key that it does not place."""
    rule = RELATIVES[slug]
    if rule.hash_name in _IN_COLUMNS:
        return _folded(rule, hash_column(rule.hash_name, offsets, data).astype(np.uint64), count)
    first = int(offsets[0])
    part = data[first : int(offsets[-1])]
    if rule.hash_name in HASH_NAMES and bool((part < 0x80).all()):
        return _folded(rule, hash_column(rule.hash_name, offsets, data).astype(np.uint64), count)
    content, ends = part.tobytes(), (np.asarray(offsets, np.int64) - first).tolist()
    numbers = [_number(rule.hash_name, content[ends[at] : ends[at + 1]]) for at in range(len(ends) - 1)]
    known = np.array([number is not None for number in numbers], np.bool_)
    if rule.bits > 64:
        return np.array([-1 if number is None else number % count for number in numbers], np.int64)
    return np.where(known, _folded(rule, np.array([number or 0 for number in numbers], np.uint64), count), -1)


@lru_cache(maxsize=1 << 16)
def _number(hash_name: str, key: bytes) -> int | None:
    return _HASHES[hash_name][1](key)


def _folded(rule: Relative, numbers: NDArray[np.uint64], count: int) -> NDArray[np.int64]:
    bits = np.uint64(rule.bits - 1)
    lowest, n = np.uint64(1) << bits, np.uint64(count)
    negative = numbers >= lowest
    size = np.where(negative, (~numbers + np.uint64(1)) & (lowest - np.uint64(1) | lowest), numbers)
    if rule.fold == "masked":
        found = (numbers & (lowest - np.uint64(1))) % n
    elif rule.fold == "abs":
        found = size % n
    elif rule.fold == "abs-or-zero":
        found = np.where(numbers == lowest, np.uint64(0), size) % n
    elif rule.fold == "floor-mod":
        found = np.where(negative, (n - size % n) % n, numbers % n)
    else:
        found = numbers % n
    return np.asarray(found, np.int64)
