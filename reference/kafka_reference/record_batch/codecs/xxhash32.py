"""XXH32 with seed 0, the checksum of LZ4 frames.

Java source mirrored: ``net.jpountz.xxhash.XXHash32`` of lz4-java.
"""

from __future__ import annotations

from kafka_reference.java.int32 import uint32

__all__ = ["xxhash32"]

_P1, _P2, _P3, _P4, _P5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393


def xxhash32(data: bytes) -> int:
    """Return the checksum of ``data``, 0 to 2^32-1."""
    position = 0
    if len(data) >= 16:
        lanes = [uint32(_P1 + _P2), _P2, 0, uint32(-_P1)]
        while position + 16 <= len(data):
            for lane in range(4):
                word = int.from_bytes(data[position : position + 4], "little")
                lanes[lane] = uint32(_rotated(uint32(lanes[lane] + word * _P2), 13) * _P1)
                position += 4
        mixed = sum(map(_rotated, lanes, (1, 7, 12, 18)))
    else:
        mixed = _P5
    mixed = uint32(mixed + len(data))
    while position + 4 <= len(data):
        word = int.from_bytes(data[position : position + 4], "little")
        mixed = uint32(_rotated(uint32(mixed + word * _P3), 17) * _P4)
        position += 4
    for byte in data[position:]:
        mixed = uint32(_rotated(uint32(mixed + byte * _P5), 11) * _P1)
    mixed = uint32((mixed ^ mixed >> 15) * _P2)
    mixed = uint32((mixed ^ mixed >> 13) * _P3)
    return mixed ^ mixed >> 16


def _rotated(word: int, bits: int) -> int:
    return uint32(word << bits) | word >> (32 - bits)
