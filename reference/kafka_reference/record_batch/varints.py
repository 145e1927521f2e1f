"""Variable-length integers, as ``org.apache.kafka.common.utils.ByteUtils`` reads and writes them.

Seven bits a byte, the lowest first; the high bit is set if another byte follows. Signed numbers are zigzag: 0, -1, 1, -2 are
0, 1, 2, 3. An int32 has at most 5 bytes, an int64 10; bits beyond the 32nd or 64th are dropped.
"""

from __future__ import annotations

from kafka_reference.errors import IllegalArgumentException
from kafka_reference.java.int32 import int32
from kafka_reference.java.int64 import int64

__all__ = ["read_varint", "read_varlong", "size_of_varint", "write_varint", "write_varlong"]


def read_varint(data: bytes | memoryview, position: int) -> tuple[int, int]:
    """Return the int32 at ``position`` and the position behind it.

    Raises IndexError where ``data`` ends before it, and IllegalArgumentException if its fifth byte is not the last.
    """
    raw = shift = 0
    while True:
        byte = data[position]
        position += 1
        raw |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 28:
            raise IllegalArgumentException(
                "Varint is too long, the most significant bit in the 5th byte is set, converted value: "
                f"{raw & 0xFFFFFFFF:x}"
            )
    raw &= 0xFFFFFFFF
    return int32((raw >> 1) ^ -(raw & 1)), position


def read_varlong(data: bytes | memoryview, position: int) -> tuple[int, int]:
    """Return the int64 at ``position`` and the position behind it; raises as read_varint, for the tenth byte."""
    raw = shift = 0
    while True:
        byte = data[position]
        position += 1
        raw |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 63:
            raise IllegalArgumentException(
                "Varlong is too long, most significant bit in the 10th byte is set, converted value: "
                f"{raw & 0xFFFFFFFFFFFFFFFF:x}"
            )
    raw &= 0xFFFFFFFFFFFFFFFF
    return int64((raw >> 1) ^ -(raw & 1)), position


def write_varint(number: int) -> bytes:
    """Return the bytes of an int32."""
    return _unsigned(((number << 1) ^ (number >> 31)) & 0xFFFFFFFF)


def write_varlong(number: int) -> bytes:
    """Return the bytes of an int64."""
    return _unsigned(((number << 1) ^ (number >> 63)) & 0xFFFFFFFFFFFFFFFF)


def size_of_varint(number: int) -> int:
    """Return how many bytes an int32 takes."""
    return max(1, -(-(((number << 1) ^ (number >> 31)) & 0xFFFFFFFF).bit_length() // 7))


def _unsigned(raw: int) -> bytes:
    written = bytearray()
    while raw > 0x7F:
        written.append(raw & 0x7F | 0x80)
        raw >>= 7
    written.append(raw)
    return bytes(written)
