"""Gzip, as ``java.util.zip.GZIPInputStream`` reads and ``GZIPOutputStream`` writes it."""

from __future__ import annotations

import zlib

from kafka_reference.record_batch.behaviour import RecordBatchBehaviour
from kafka_reference.record_batch.codecs.stream import Buffer, EndOfInput, InputFault, Read, Stream

__all__ = ["gunzip", "gzip"]

_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_HEADER_CRC, _EXTRA, _NAME, _COMMENT = 2, 4, 8, 16
_TRAILER = 8
_BUFFER = 16 * 1024


def gzip(data: bytes, level: int | None) -> bytes:
    """Return ``data`` as one gzip member; ``level`` 1 to 9, None or -1 for zlib's default."""
    deflater = zlib.compressobj(-1 if level is None else level, zlib.DEFLATED, -15)
    body = deflater.compress(data) + deflater.flush()
    return _HEADER + body + zlib.crc32(data).to_bytes(4, "little") + (len(data) & 0xFFFFFFFF).to_bytes(4, "little")


def gunzip(data: bytes, behaviour: RecordBatchBehaviour) -> Stream:
    """Return the content of all members in ``data``. Raises InputFault if the first header is malformed."""
    chunk = 512 if behaviour.gzip_unbuffered else 8 * 1024
    position = loaded = _skip_header(data, 0)
    content = bytearray()
    while True:
        inflater = zlib.decompressobj(-15)
        try:
            member = inflater.decompress(data[position:])
        except zlib.error:
            member, start = _Member(data[position:], chunk), len(content)  # type: ignore[assignment]  # no bytes here
            buffer = None if behaviour.gzip_unbuffered else Buffer(_BUFFER, start, member.reader)  # type: ignore[attr-defined]
            return Stream(bytes(content) + member.before_fault(), InputFault(), buffer)  # type: ignore[attr-defined]
        content += member
        if not inflater.eof:
            return Stream(bytes(content), EndOfInput())
        end = len(data) - len(inflater.unused_data)
        fault = _check_trailer(data[end : end + _TRAILER], member)
        if fault is not None:
            return Stream(bytes(content), fault)
        while loaded < end:
            loaded += chunk
        loaded = min(loaded, len(data))
        next_member = _next_member(data, end, loaded, behaviour)
        if next_member is None:
            return Stream(bytes(content))
        position = next_member
        loaded = max(loaded, position)


def _next_member(data: bytes, end: int, loaded: int, behaviour: RecordBatchBehaviour) -> int | None:
    # Where the deflated bytes of the member start that follows a trailer at ``end``, or None: what follows is ignored.
    # ``loaded`` is where the bytes end that the inflater has been given.
    rest = len(data) - max(loaded, end + _TRAILER) if behaviour.gzip_sees_rest_of_input else 0
    if rest <= 0 and loaded - end <= 26:
        return None
    try:
        return _skip_header(data, end + _TRAILER)
    except InputFault:
        return None


def _check_trailer(trailer: bytes, member: bytes) -> InputFault | None:
    if len(trailer) < 4:
        return EndOfInput()
    if trailer[:4] != zlib.crc32(member).to_bytes(4, "little"):
        return InputFault()
    if len(trailer) < _TRAILER:
        return EndOfInput()
    return None if trailer[4:] == (len(member) & 0xFFFFFFFF).to_bytes(4, "little") else InputFault()


class _Member:
    """The deflated bytes of a member with a fault. The inflater is given ``chunk`` bytes at a time."""

    def __init__(self, deflated: bytes, chunk: int) -> None:
        self._deflated, self._chunk = deflated, chunk
        self._inflater, self._position, self._pending = zlib.decompressobj(-15), 0, b""

    def copy(self) -> _Member:
        """Return a member that has read as much."""
        copied = _Member(self._deflated, self._chunk)
        copied._inflater, copied._position, copied._pending = self._inflater.copy(), self._position, self._pending
        return copied

    def read(self, size: int) -> bytes:
        """Return at most ``size`` bytes, or none: a read that meets the fault loses what it has inflated."""
        inflated = b""
        while not inflated:
            try:
                inflated = self._inflater.decompress(self._pending, size)
                self._pending = self._inflater.unconsumed_tail
                if not inflated and not self._pending:
                    self._pending = self._deflated[self._position : self._position + self._chunk]
                    self._position += self._chunk
            except zlib.error:
                return b""
        return inflated

    def reader(self) -> Read:
        """Return what reads the member from here on, as its own copy."""
        member = self.copy()
        return lambda size: len(member.read(size))

    def before_fault(self) -> bytes:
        """Return the bytes before the fault: those that reads of one byte get."""
        content, read = bytearray(), self
        for size in (_BUFFER, 256, 1):
            while inflated := (tried := read.copy()).read(size):
                content += inflated
                read = tried
        return bytes(content)


def _skip_header(data: bytes, start: int) -> int:
    # Where the deflated bytes start behind the header at ``start``. A header of ten bytes, and the fields of its flags.
    header = data[start : start + 10]
    for known in (_HEADER[:2], _HEADER[:3]):
        if len(header) < len(known):
            raise EndOfInput
        if not header.startswith(known):
            raise InputFault
    if len(header) < len(_HEADER):
        raise EndOfInput
    flags, position = header[3], start + len(header)
    if flags & _EXTRA:
        position += 2 + int.from_bytes(_exactly(data, position, 2), "little")
    for flag in (_NAME, _COMMENT):
        if flags & flag:
            position = data.find(b"\0", position) + 1 or len(data) + 1
    if position > len(data):
        raise EndOfInput
    return _check_header(data, start, position) if flags & _HEADER_CRC else position


def _check_header(data: bytes, start: int, end: int) -> int:
    if int.from_bytes(_exactly(data, end, 2), "little") != zlib.crc32(data[start:end]) & 0xFFFF:
        raise InputFault
    return end + 2


def _exactly(data: bytes, position: int, size: int) -> bytes:
    if position + size > len(data):
        raise EndOfInput
    return data[position : position + size]
