from __future__ import annotations

import pytest

from kafka_reference.java.crc32c import crc32c


# RFC 3720, B.4, and the check value of the CRC catalogue.
@pytest.mark.parametrize(
    ("data", "crc"),
    [
        (b"", 0),
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
    ],
)
def test_crc32c_gives_the_published_values(data: bytes, crc: int) -> None:
    assert crc32c(data) == crc
