"""xxHash32 and xxHash64 with seed 0, with which kafka-rust and others place keys: only to recognise them.

Specification: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
"""

from __future__ import annotations

__all__ = ["xxh32", "xxh64"]

_32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1)
_64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
_MASK_32, _MASK_64 = (1 << 32) - 1, (1 << 64) - 1


def _rotated(value: int, places: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value << places & (1 << bits) - 1 | value >> bits - places


def _lanes(key: bytes, first: int, second: int, bits: int, places: int) -> list[int]:
    """Return the four accumulators over the whole stripes of a key."""
    lanes, size = [first + second, second, 0, -first], bits // 8
    for at in range(0, len(key) // (4 * size) * 4 * size, size):
        lane, word = at // size % 4, int.from_bytes(key[at : at + size], "little")
        lanes[lane] = _rotated(lanes[lane] + word * second, places, bits) * first
    return lanes


def xxh32(key: bytes) -> int:
    """Return the 32-bit hash of a key, without a sign."""
    one, two, three, four, five = _32
    h, whole = five, len(key) & ~15
    if whole:
        h = sum(
            _rotated(lane, turn, 32) for lane, turn in zip(_lanes(key, one, two, 32, 13), (1, 7, 12, 18), strict=True)
        )
    h += len(key)
    for at in range(whole, len(key) & ~3, 4):
        h = _rotated(h + int.from_bytes(key[at : at + 4], "little") * three, 17, 32) * four
    for byte in key[len(key) & ~3 :]:
        h = _rotated(h + byte * five, 11, 32) * one
    h &= _MASK_32
    h = (h ^ h >> 15) * two & _MASK_32
    h = (h ^ h >> 13) * three & _MASK_32
    return h ^ h >> 16


def xxh64(key: bytes) -> int:
    """Return the 64-bit hash of a key, without a sign."""
    one, two, three, four, five = _64
    h, whole = five, len(key) & ~31
    if whole:
        lanes = _lanes(key, one, two, 64, 31)
        h = sum(_rotated(lane, turn, 64) for lane, turn in zip(lanes, (1, 7, 12, 18), strict=True))
        for lane in lanes:
            h = (h ^ _rotated(lane * two, 31, 64) * one & _MASK_64) * one + four & _MASK_64
    h += len(key)
    for at in range(whole, len(key) & ~7, 8):
        word = _rotated(int.from_bytes(key[at : at + 8], "little") * two, 31, 64) * one & _MASK_64
        h = _rotated(h & _MASK_64 ^ word, 27, 64) * one + four
    if len(key) & 4:
        at = len(key) & ~7
        h = _rotated(h & _MASK_64 ^ int.from_bytes(key[at : at + 4], "little") * one & _MASK_64, 23, 64) * two + three
    for byte in key[len(key) & ~3 :]:
        h = _rotated(h & _MASK_64 ^ byte * five & _MASK_64, 11, 64) * one
    h &= _MASK_64
    h = (h ^ h >> 33) * two & _MASK_64
    h = (h ^ h >> 29) * three & _MASK_64
    return h ^ h >> 32
