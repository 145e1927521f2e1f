"""Stream the batches of a ``.log`` file: the header and the checksum of each, in constant memory.

The file is read through one buffer. It is not mapped: pages of a mapped file count as memory of the process. A batch
that is larger than the buffer is checked piece by piece.

Where bytes are not a batch, the scan looks for the next position at which a valid batch begins: at the positions that the
offset index names, which are ``anchors``. Without one, the rest of the file is not judged.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

from crc32c import crc32c

from kafka_conformance.log_inspect.directory import LARGEST_FILE, open_file
from kafka_conformance.log_inspect.header import (
    CONTROL,
    HEADER,
    MAGIC_AT,
    OVERHEAD,
    SMALLEST,
    BatchHeader,
    header_in,
)

__all__ = ["Damage", "Scanned", "Segment", "scan"]

BUFFER = 4 * 2**20
_CRC_AT, _LEGACY_CRC_AT = 21, 16
_DELTA_END = 27
_OFFSET, _DELTA = struct.Struct(">q"), struct.Struct(">i")
_LARGEST_KEPT = 64 * 2**20


class Scanned(NamedTuple):
    """A batch in a file: where it begins, its header, whether its checksum is right, and its records' bytes if wanted.

    ``payload`` is valid until the next batch is taken.
    """

    position: int
    header: BatchHeader
    valid: bool
    payload: memoryview | None


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes that are not a batch: ``kind`` is that of a finding; the scan goes on at ``resumed``, or ends if it is None.

    ``last_offset`` is that in the header of a batch that is cut off, -1 if it is not there.
    """

    position: int
    kind: str
    what: str
    resumed: int | None
    last_offset: int = -1


class Segment:
    """A ``.log`` file that is open for reading, judged as of its ``size`` in bytes when it was opened.

    ``keep`` tells whether the bytes of every batch's records are wanted; those of control batches always are.
    ``read`` is called with the number of bytes that were read.
    """

    def __init__(self, path: Path, *, keep: bool = False, read: Callable[[int], object] = lambda _: None) -> None:
        self.path, self._keep, self._count_read = path, keep, read
        self._file = open_file(path)
        self.size = os.fstat(self._file.fileno()).st_size
        self._buffer = bytearray(min(BUFFER, max(self.size, HEADER.size)))
        self._start = self._filled = 0
        self.search_left = 2 * self.size + BUFFER
        """The bytes that are left to read in search of a batch that follows damaged bytes."""

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def size_now(self) -> int:
        """Return the size in bytes by now: a broker may be writing."""
        return os.fstat(self._file.fileno()).st_size

    def at(self, position: int, wanted: int) -> int:
        """Return where ``position`` is in the buffer, with ``wanted`` bytes after it as far as the file has them."""
        place = position - self._start
        if place >= 0 and place + wanted <= self._filled:
            return place
        if wanted > len(self._buffer):
            self._buffer = bytearray(wanted)
        self._start, self._filled = position, 0
        self._file.seek(position)
        most = min(len(self._buffer), self.size - position)
        view = memoryview(self._buffer)
        while self._filled < most:
            count = self._file.readinto(view[self._filled : most])
            if not count:  # the file became shorter
                self.size = position + self._filled
                break
            self._filled += count
        self._count_read(self._filled)
        return 0

    @property
    def buffer(self) -> bytearray:
        """The bytes that were read; places in it are those that :meth:`at` returns."""
        return self._buffer

    def bytes_at(self, position: int, count: int) -> bytes:
        """Return bytes of the file, fewer at its end."""
        count = max(0, min(count, self.size - position))
        place = self.at(position, count)
        return bytes(self._buffer[place : place + min(count, self._filled - place)])

    def header_at(self, position: int) -> tuple[BatchHeader, int] | None:
        """Return the header of the batch that begins here and its place in the buffer; None if none can begin here."""
        left = self.size - position
        if left < SMALLEST[0]:
            return None
        place = self.at(position, min(HEADER.size, left))
        header = header_in(self._buffer, place, left)
        return None if header is None else (header, place)

    def checked(self, position: int, header: BatchHeader) -> tuple[bool, int | None]:
        """Return whether the checksum is right, and the place of the batch in the buffer; None if it is too large."""
        size = header.length + OVERHEAD
        start = _CRC_AT if header.magic == 2 else _LEGACY_CRC_AT
        checksum = crc32c if header.magic == 2 else zlib.crc32
        if size <= len(self._buffer) or (self._keep and size <= _LARGEST_KEPT):
            place = self.at(position, size)
            with memoryview(self._buffer) as view, view[place + start : place + size] as part:
                return checksum(part) == header.crc, place
        crc, done = 0, start
        while done < size:
            part_size = min(len(self._buffer), size - done)
            place = self.at(position + done, part_size)
            with memoryview(self._buffer) as view, view[place : place + part_size] as part:
                crc = checksum(part, crc)
            done += part_size
        return crc == header.crc, None


def scan(segment: Segment, anchors: Callable[[int], Iterable[int]] = lambda _: ()) -> Iterator[Scanned | Damage]:
    """Yield the batches of a segment and what is not a batch, in the order of the file.

    ``anchors(position)`` names positions after this one at which a batch may begin, ascending.
    """
    if segment.size > LARGEST_FILE:
        what = f"{segment.size:,} bytes are more than {LARGEST_FILE:,}"
        yield Damage(0, "segment-too-large", what, None)
        return
    position, expected = 0, -1
    keep, unpack, overhead = segment._keep, HEADER.unpack_from, OVERHEAD  # noqa: SLF001
    make = tuple.__new__  # the constructor of a named tuple without the call of its function
    while position < segment.size:
        # The usual case without a call: the whole batch is in the buffer and has magic 2.
        place, buffer, filled = position - segment._start, segment._buffer, segment._filled  # noqa: SLF001
        if place >= 0 and place + 61 <= filled and buffer[place + 16] == 2:
            header = make(BatchHeader, unpack(buffer, place))
            size = header[1] + overhead
            if 61 <= size <= filled - place and header[0] >= 0:
                view = memoryview(buffer)
                valid = crc32c(view[place + 21 : place + size]) == header[4]
                wanted = keep or header[5] & CONTROL
                payload = view[place + 61 : place + size] if wanted else None
                yield make(Scanned, (position, header, valid, payload))
                expected = header[0] + header[6] + 1
                position += size
                continue
        found = segment.header_at(position)
        if found is None:
            damage = _damage(segment, position, expected, anchors)
            yield damage
            if damage.resumed is None:
                return
            position, expected = damage.resumed, -1
            continue
        header = found[0]
        valid, whole = segment.checked(position, header)
        payload = None
        if whole is not None and (keep or header.control):
            payload = memoryview(segment.buffer)[whole + SMALLEST[header.magic] : whole + header.size]
        yield Scanned(position, header, valid, payload)
        expected = header.last_offset + 1
        position += header.size


def _damage(segment: Segment, position: int, expected: int, anchors: Callable[[int], Iterable[int]]) -> Damage:
    left = segment.size - position
    if _only_zeros(segment, position) and not (left < MAGIC_AT and _begins_a_batch(bytes(left), expected, left)):
        return Damage(position, "zero-tail", f"{left:,} bytes of zeros to the end of the file", None)
    for anchor in anchors(position):
        found = segment.header_at(anchor) if anchor < segment.size else None
        segment.search_left -= HEADER.size
        if found is None or found[0].base_offset < expected:
            continue
        # Bytes that look like headers may each declare the rest of the file: all of them together cost no more than two
        # readings of it.
        if found[0].size > segment.search_left:
            what = f"{left:,} bytes to the end of the file are not a batch, as far as they were searched"
            return Damage(position, "foreign-bytes", what, None)
        segment.search_left -= found[0].size
        if segment.checked(anchor, found[0])[0]:
            what = (
                f"{anchor - position:,} bytes are not a batch; the next one that the index names begins at {anchor:,}"
            )
            return Damage(position, "foreign-bytes", what, anchor)
    head = segment.bytes_at(position, HEADER.size)
    if _begins_a_batch(head, expected, left):
        length = int.from_bytes(head[8:12], "big") + OVERHEAD if len(head) >= OVERHEAD else None
        of = f" of {length:,}" if length is not None else ""
        last = -1
        if len(head) >= _DELTA_END and head[MAGIC_AT] == 2:
            last = _OFFSET.unpack_from(head)[0] + _DELTA.unpack_from(head, _DELTA_END - 4)[0]
        return Damage(position, "cut-batch", f"the file ends {left:,} bytes{of} into a batch", None, last)
    return Damage(position, "foreign-bytes", f"{left:,} bytes to the end of the file are not a batch", None)


def _begins_a_batch(head: bytes, expected: int, left: int) -> bool:
    """Can these be the first bytes of a batch that is longer than the file?"""
    if len(head) < 8:
        return expected >= 0 and expected.to_bytes(8, "big").startswith(head)
    offset = int.from_bytes(head[:8], "big", signed=True)
    if offset < max(expected, 0) or (expected >= 0 and offset - expected > 0x7FFFFFFF):
        return False
    if len(head) < OVERHEAD:
        return True
    length = int.from_bytes(head[8:12], "big", signed=True)
    if len(head) <= MAGIC_AT:
        return length + OVERHEAD >= SMALLEST[0]
    magic = head[MAGIC_AT]
    return magic <= 2 and length + OVERHEAD >= SMALLEST[magic] and length + OVERHEAD > left


def _only_zeros(segment: Segment, position: int) -> bool:
    size = HEADER.size  # most damage shows in its first bytes
    while position < segment.size:
        part = segment.bytes_at(position, size)
        if part.count(0) != len(part):
            return False
        position, size = position + len(part), 2**16
    return True
