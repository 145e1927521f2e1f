"""The hashes that producers place keys by, other than Java's murmur2: each of a key's bytes, as an unsigned number.

    >>> from kafka_reference.partitioning.key_hashes import HASHES
    >>> HASHES["crc32"].function(b"123456789") == 0xCBF43926
    True

None of them is a rule of Kafka. Each is the algorithm as its author published it; tests hold them to the packages that
producers use, or to vectors that were computed with them. A hash returns None for a key that it does not take:
``Long.hashCode`` takes eight bytes. Java and JavaScript hash characters, so these read a key as UTF-8: Java's takes a key
that is not UTF-8 as Latin-1, in JavaScript's a piece that is not becomes U+FFFD.
"""

# unreached file: hashes of producers that are not Java's, which tests compare with published values
from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

from kafka_reference.java.int32 import int32, uint32
from kafka_reference.partitioning.murmur2 import SEED, M
from kafka_reference.partitioning.murmur2_fast import murmur2
from kafka_reference.partitioning.partitioner import fnv1a

__all__ = ["HASHES", "KeyHash"]

Hash: TypeAlias = Callable[[bytes], int | None]
_32, _64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
_MAXWELL_SEED = 25342
_MOST_DIGITS = 18  # an int64 holds them all


@dataclass(frozen=True, slots=True)
class KeyHash:
    """A hash: ``function`` returns the unsigned number of a key, of ``bits`` bits, or None for a key that it does not take.

    ``fold`` is the only way in which its number is made a partition, empty if there are several (:mod:`.places`).
    """

    description: str
    function: Hash
    bits: int
    fold: str = ""


def _java_murmur2(key: bytes) -> int:
    return uint32(murmur2(key))


def _utf16(key: bytes, errors: str = "replace") -> list[int]:
    units = key.decode(errors=errors).encode("utf-16-be")
    return [units[at] << 8 | units[at + 1] for at in range(0, len(units), 2)]


def _java_string(key: bytes) -> int:
    try:
        units = _utf16(key, errors="strict")
    except UnicodeDecodeError:
        units = [*key]  # text of Latin-1
    return _times_31(units)


def _times_31(units: Iterable[int]) -> int:
    value = 0
    for unit in units:
        value = value * 31 + unit & _32
    return value


def _java_bytes(key: bytes) -> int:
    value = 1
    for byte in key:
        value = value * 31 + (byte - 256 if byte > 127 else byte) & _32
    return value


def _java_long(key: bytes) -> int | None:
    return int.from_bytes(key[:4], "big") ^ int.from_bytes(key[4:], "big") if len(key) == 8 else None


def _kafka_node(key: bytes) -> int:
    """Compute String.hashCode without its sign, and 1 in place of 0."""
    return max(_times_31(_utf16(key)) & 0x7FFFFFFF, 1)


def _fnv_1a(key: bytes) -> int:
    return uint32(fnv1a(key))


def _fnv(key: bytes, *, bits: int, first_xor: bool) -> int:
    prime, value = (0x01000193, 0x811C9DC5) if bits == 32 else (0x100000001B3, 0xCBF29CE484222325)
    for byte in key:
        value = (value ^ byte) * prime if first_xor else (value * prime) ^ byte
        value &= (1 << bits) - 1
    return value


def _djb2(key: bytes) -> int:
    value = 5381
    for byte in key:
        value = value * 33 + byte & _32
    return value


def _rotate_left(value: int, left: int, mask: int = _32) -> int:
    """Return a number of 32 or 64 bits, rotated to the left."""
    return (value << left | value >> mask.bit_length() - left) & mask


def _multiply_as_double(value: int) -> int:
    """Multiply by murmur2's constant as JavaScript does: a product of doubles loses its lowest bits."""
    return int(float(int32(value)) * float(M)) & _32


def _murmur2_in_doubles(key: bytes) -> int:
    """Compute KafkaJS's murmur2 up to 1.x, which takes a partial word as a word and once more as left-over bytes."""
    value = (SEED ^ len(key)) & _32
    for at in range(0, len(key), 4):
        word = _multiply_as_double(int.from_bytes(key[at : at + 4], "little"))
        value = _multiply_as_double(value) ^ _multiply_as_double(word ^ word >> 24)
    if tail := key[len(key) & ~3 :]:
        value = _multiply_as_double(value ^ int.from_bytes(tail, "little"))
    value = _multiply_as_double(value ^ value >> 13)
    return value ^ value >> 15


def _murmur3(key: bytes, *, seed: int) -> int:
    value = seed
    end = len(key) - len(key) % 4
    for at in range(0, end, 4):
        value = _rotate_left(value ^ _scrambled(int.from_bytes(key[at : at + 4], "little")), 13) * 5 + 0xE6546B64 & _32
    value ^= _scrambled(int.from_bytes(key[end:], "little")) ^ len(key)
    value = (value ^ value >> 16) * 0x85EBCA6B & _32
    value = (value ^ value >> 13) * 0xC2B2AE35 & _32
    return value ^ value >> 16


def _scrambled(word: int) -> int:
    return _rotate_left(word * 0xCC9E2D51 & _32, 15) * 0x1B873593 & _32


def _murmur3_of_low_bytes(key: bytes) -> int:
    """Compute murmur3 without a seed over the low byte of each character, as JavaScript ports do."""
    return _murmur3(bytes(unit & 0xFF for unit in _utf16(key)), seed=0)


def _murmur3_128(key: bytes) -> int:
    """Compute the first half of murmur3 of 128 bits."""
    c1, c2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
    h1 = h2 = 0
    end = len(key) - len(key) % 16
    for at in range(0, end, 16):
        k1, k2 = (int.from_bytes(key[i : i + 8], "little") for i in (at, at + 8))
        h1 ^= _rotate_left(k1 * c1 & _64, 31, _64) * c2 & _64
        h1 = (_rotate_left(h1, 27, _64) + h2) * 5 + 0x52DCE729 & _64
        h2 ^= _rotate_left(k2 * c2 & _64, 33, _64) * c1 & _64
        h2 = (_rotate_left(h2, 31, _64) + h1) * 5 + 0x38495AB5 & _64
    h2 ^= _rotate_left(int.from_bytes(key[end + 8 :], "little") * c2 & _64, 33, _64) * c1 & _64 ^ len(key)
    h1 ^= _rotate_left(int.from_bytes(key[end : end + 8], "little") * c1 & _64, 31, _64) * c2 & _64 ^ len(key)
    h1 = h1 + h2 & _64
    h2 = h2 + h1 & _64
    return _finalize64(h1) + _finalize64(h2) & _64


def _finalize64(value: int) -> int:
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = (value ^ value >> 33) * factor & _64
    return value ^ value >> 33


def _xxh32(key: bytes, *, seed: int) -> int:
    p1, p2, p3, p4, p5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
    end = len(key) - len(key) % 16
    lanes = [seed + p1 + p2 & _32, seed + p2 & _32, seed, seed - p1 & _32]
    for at in range(0, end, 4):
        lane = lanes[at // 4 % 4] + int.from_bytes(key[at : at + 4], "little") * p2
        lanes[at // 4 % 4] = _rotate_left(lane & _32, 13) * p1 & _32
    value = sum(map(_rotate_left, lanes, (1, 7, 12, 18))) if end else seed + p5
    value += len(key)
    words = len(key) - len(key) % 4
    for at in range(end, words, 4):
        value = _rotate_left(value + int.from_bytes(key[at : at + 4], "little") * p3 & _32, 17) * p4
    for byte in key[words:]:
        value = _rotate_left(value + byte * p5 & _32, 11) * p1
    value &= _32
    value = (value ^ value >> 15) * p2 & _32
    value = (value ^ value >> 13) * p3 & _32
    return value ^ value >> 16


_XXH64 = (
    0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5,
)  # fmt: skip


def _xxh64(key: bytes) -> int:
    p1, p2, p3, p4, p5 = _XXH64
    end = len(key) - len(key) % 32
    lanes = [p1 + p2 & _64, p2, 0, -p1 & _64]
    for at in range(0, end, 8):
        lanes[at // 8 % 4] = _xxh64_round(lanes[at // 8 % 4], int.from_bytes(key[at : at + 8], "little"))
    value = p5
    if end:
        value = sum(_rotate_left(lane, left, _64) for lane, left in zip(lanes, (1, 7, 12, 18), strict=True)) & _64
        for lane in lanes:
            value = (value ^ _xxh64_round(0, lane)) * p1 + p4 & _64
    value = value + len(key) & _64
    while len(key) - end >= 8:
        value = (
            _rotate_left(value ^ _xxh64_round(0, int.from_bytes(key[end : end + 8], "little")), 27, _64) * p1 + p4 & _64
        )
        end += 8
    if len(key) - end >= 4:
        value = _rotate_left(value ^ int.from_bytes(key[end : end + 4], "little") * p1 & _64, 23, _64) * p2 + p3 & _64
        end += 4
    for byte in key[end:]:
        value = _rotate_left(value ^ byte * p5 & _64, 11, _64) * p1 & _64
    value = (value ^ value >> 33) * p2 & _64
    value = (value ^ value >> 29) * p3 & _64
    return value ^ value >> 32


def _xxh64_round(lane: int, word: int) -> int:
    return _rotate_left(lane + word * _XXH64[1] & _64, 31, _64) * _XXH64[0] & _64


def _seahash(key: bytes) -> int:
    a, b, c, d = 0x16F11FE89B0D677C, 0xB480A793D8E6C86C, 0x6FE2E5AAF078EBC9, 0x14F994A4C5259381
    for at in range(0, len(key), 8):
        a, b, c, d = b, c, d, _sea_diffused(a ^ int.from_bytes(key[at : at + 8], "little"))
    return _sea_diffused(a ^ b ^ c ^ d ^ len(key))


def _sea_diffused(value: int) -> int:
    value = value * 0x6EED0E9DA4D94A4F & _64
    value ^= value >> 32 >> (value >> 60)
    return value * 0x6EED0E9DA4D94A4F & _64


def _phash2(key: bytes) -> int:
    """Compute Erlang's ``phash2/2`` of a binary, before its remainder: Jenkins's hash of 1996 with Erlang's constants."""
    golden = 0x9E3779B9
    a, b, c = golden, golden, golden * 13 & _32  # a binary's constant is 13 times the golden ratio's
    if not key:
        return c
    end = len(key) - len(key) % 12
    for at in range(0, end, 12):
        words = (int.from_bytes(key[i : i + 4], "little") for i in range(at, at + 12, 4))
        a, b, c = _jenkins_mixed(*(x + word & _32 for x, word in zip((a, b, c), words, strict=True)))
    rest = key[end:]
    a += int.from_bytes(rest[:4], "little")
    b += int.from_bytes(rest[4:8], "little")
    c += len(key) + (int.from_bytes(rest[8:], "little") << 8)  # the lowest byte is the length's
    return _jenkins_mixed(a & _32, b & _32, c & _32)[2]


def _jenkins_mixed(a: int, b: int, c: int) -> tuple[int, int, int]:
    for first, second, third in ((13, 8, 13), (12, 16, 5), (3, 10, 15)):
        a = (a - b - c & _32) ^ c >> first
        b = (b - c - a & _32) ^ a << second & _32
        c = (c - a - b & _32) ^ b >> third
    return a, b, c


def _digest(key: bytes, *, name: str, size: int, order: Literal["big", "little"]) -> int:
    found = hashlib.new(name, key, usedforsecurity=False).digest()
    return int.from_bytes(found[: size or None], order)


def _text_integer(key: bytes) -> int | None:
    return int(key) if key.isdigit() and len(key) <= _MOST_DIGITS else None


def _integer(key: bytes, *, size: int, order: Literal["big", "little"]) -> int | None:
    """Return the signed integer of a key, as an unsigned number of 64 bits."""
    return int.from_bytes(key, order, signed=True) & _64 if len(key) == size else None


def _byte(key: bytes, *, at: int) -> int | None:
    return key[at] if key else None


HASHES: dict[str, KeyHash] = {
    "murmur2": KeyHash("murmur2", _java_murmur2, 32),
    "crc32": KeyHash("CRC32", zlib.crc32, 32),
    "fnv-1a": KeyHash("FNV-1a of 32 bits", _fnv_1a, 32),
    "string-hash-code": KeyHash("String.hashCode", _java_string, 32),
    "long-hash-code": KeyHash("Long.hashCode of eight bytes", _java_long, 32),
    "arrays-hash-code": KeyHash("Arrays.hashCode", _java_bytes, 32),
    "fnv-1a-64": KeyHash("FNV-1a of 64 bits", partial(_fnv, bits=64, first_xor=True), 64),
    "fnv-1": KeyHash("FNV-1 of 32 bits", partial(_fnv, bits=32, first_xor=False), 32),
    "fnv-1-64": KeyHash("FNV-1 of 64 bits", partial(_fnv, bits=64, first_xor=False), 64),
    "murmur3-no-seed": KeyHash("murmur3 of 32 bits", partial(_murmur3, seed=0), 32),
    "murmur3-25342": KeyHash("murmur3 of 32 bits with the seed 25342", partial(_murmur3, seed=_MAXWELL_SEED), 32),
    "murmur3-128": KeyHash("the first half of murmur3 of 128 bits", _murmur3_128, 64),
    "xxhash": KeyHash("xxHash of 32 bits", partial(_xxh32, seed=0), 32),
    "xxhash-murmur2-seed": KeyHash("xxHash of 32 bits with murmur2's seed", partial(_xxh32, seed=SEED & _32), 32),
    "xxhash-64": KeyHash("xxHash of 64 bits", _xxh64, 64),
    "seahash": KeyHash("SeaHash", _seahash, 64),
    "phash2": KeyHash("Erlang's phash2/1", lambda key: _phash2(key) & 0x7FFFFFF, 32, "unsigned"),  # 27 bits
    "phash2-32": KeyHash("Erlang's phash2/2", _phash2, 32, "unsigned"),
    "djb2": KeyHash("djb2", _djb2, 32),
    "md5-32": KeyHash("the first four bytes of MD5", partial(_digest, name="md5", size=4, order="big"), 32),
    "md5-32-little": KeyHash(
        "the first four bytes of MD5, least byte first", partial(_digest, name="md5", size=4, order="little"), 32
    ),
    "md5-64": KeyHash("the first eight bytes of MD5", partial(_digest, name="md5", size=8, order="big"), 64),
    "md5": KeyHash("MD5 as one number", partial(_digest, name="md5", size=0, order="big"), 128, "unsigned"),
    "sha-1-32": KeyHash("the first four bytes of SHA-1", partial(_digest, name="sha1", size=4, order="big"), 32),
    "sha-1-64": KeyHash("the first eight bytes of SHA-1", partial(_digest, name="sha1", size=8, order="big"), 64),
    "sha-1": KeyHash("SHA-1 as one number", partial(_digest, name="sha1", size=0, order="big"), 160, "unsigned"),
    "murmur2-by-doubles": KeyHash("murmur2 in JavaScript's doubles", _murmur2_in_doubles, 32, "masked"),
    "kafka-node": KeyHash("kafka-node's sum of characters", _kafka_node, 32, "masked"),
    "murmur3-of-low-bytes": KeyHash(
        "murmur3 of the low bytes of the characters", _murmur3_of_low_bytes, 32, "unsigned"
    ),
    "text-integer": KeyHash("the integer in ASCII digits", _text_integer, 64, "floor-mod"),
    "int32-big-endian": KeyHash("the integer of four bytes", partial(_integer, size=4, order="big"), 64, "floor-mod"),
    "int32-little-endian": KeyHash(
        "the integer of four bytes, least byte first", partial(_integer, size=4, order="little"), 64, "floor-mod"
    ),
    "int64-big-endian": KeyHash("the integer of eight bytes", partial(_integer, size=8, order="big"), 64, "floor-mod"),
    "int64-little-endian": KeyHash(
        "the integer of eight bytes, least byte first", partial(_integer, size=8, order="little"), 64, "floor-mod"
    ),
    "first-byte": KeyHash("the first byte", partial(_byte, at=0), 64, "floor-mod"),
    "last-byte": KeyHash("the last byte", partial(_byte, at=-1), 64, "floor-mod"),
}
"""By name. The last seven are the number that a key is."""
