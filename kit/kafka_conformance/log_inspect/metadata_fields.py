"""Fields of the records in ``__cluster_metadata-0``."""

from __future__ import annotations

import struct

__all__ = ["MetadataFields"]


class MetadataFields:
    """The fields of a record in Kafka's flexible format, read from the front."""

    def __init__(self, data: bytes) -> None:
        self._data, self._position = data, 0

    def take(self, size: int) -> bytes:
        """Return the next ``size`` bytes."""
        self._position += size
        return self._data[self._position - size : self._position]

    def text(self) -> str:
        """Return a compact string."""
        return self.take(self.unsigned() - 1).decode()

    def skip(self, size: int) -> None:
        """Skip the next ``size`` bytes."""
        self._position += max(0, size)

    def int32(self) -> int:
        """Return an int32."""
        number: int = struct.unpack(">i", self.take(4))[0]
        return number

    def int32s(self) -> frozenset[int]:
        """Return an array; of null, none."""
        return frozenset(self.int32() for _ in range(self.unsigned() - 1))

    def unsigned(self) -> int:
        """Return a variable-length integer without a sign."""
        number = shift = 0
        while (byte := self._data[self._position]) & 0x80:
            number |= (byte & 0x7F) << shift
            shift += 7
            self._position += 1
        self._position += 1
        return number | byte << shift

    def tagged(self) -> dict[int, bytes]:
        """Return the bytes of each tagged field, by tag."""
        found = {}
        for _ in range(self.unsigned()):
            tag, size = self.unsigned(), self.unsigned()
            found[tag] = self.take(size)
        return found
