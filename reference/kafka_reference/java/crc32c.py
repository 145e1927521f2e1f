"""CRC-32C (Castagnoli), as ``java.util.zip.CRC32C`` computes it: the checksum of record batches and of snapshots.

The polynomial is 0x1EDC6F41 with its bits reversed; the register starts with all ones and is inverted at the end.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
"""

from __future__ import annotations

__all__ = ["crc32c"]


def _table() -> tuple[int, ...]:
    entries = []
    for byte in range(256):
        rest = byte
        for _ in range(8):
            rest = rest >> 1 ^ (0x82F63B78 if rest & 1 else 0)
        entries.append(rest)
    return tuple(entries)


_TABLE = _table()


def crc32c(data: bytes) -> int:
    """Return the checksum of ``data``, 0 to 2^32-1."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF
