"""A trace file: every frame that passed a recording proxy, in the order in which the proxy had it.

A JSON line each: first :class:`Head`, then :class:`Frame` and :class:`ConnectionChange`. A frame has its bytes as they came
from the client or the broker, in base64, without the size in front. What may hold a secret is left out (:data:`SECRET`):
its frame says so and has no bytes.

A recording may be cut off at any byte, by a full disk or a kill: a last line without an end is left out.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final, Literal, TypeAlias

import msgspec

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import open_regular, open_stream, reading
from kafka_conformance.core.notices import warn
from kafka_conformance.core.version import kit_version

__all__ = [
    "FORMAT",
    "LONGEST_FRAME",
    "SECRET",
    "ConnectionChange",
    "Frame",
    "Head",
    "Line",
    "create_trace",
    "encoded_line",
    "read_trace",
]

FORMAT: Final = 1
LONGEST_FRAME: Final = 128 * 2**20
"""Bytes of the longest frame that passes: more than ``socket.request.max.bytes`` and ``fetch.max.bytes`` by default."""

SECRET: Final = frozenset({
    "AlterConfigs", "AlterUserScramCredentials", "CreateDelegationToken", "DescribeDelegationToken", "ExpireDelegationToken",
    "IncrementalAlterConfigs", "RenewDelegationToken", "SaslAuthenticate",
})  # fmt: skip
"""APIs whose requests and responses are never written: passwords, tokens, and settings that may be passwords."""

_LONGEST_LINE = 2 * LONGEST_FRAME
_SMALL = 2**12
_NO_DATA = b'"data":""'
"""How a line without data says so, and nothing else in it: in a text, a quote has a backslash before it."""


class Head(msgspec.Struct, frozen=True, tag_field="line", tag="head"):
    """The first line: its format, the kit that wrote it, the broker, and when the recording began (UTC)."""

    format: int
    kit: str
    to: str
    started: str


class Frame(msgspec.Struct, frozen=True, tag_field="line", tag="frame"):
    """A request or a response.

    ``sender`` is who sent it; ``broker`` the address behind the connection. ``at_ms`` counts from the start. ``data`` is
    empty if it was left out; ``size`` is that of the frame in any case. ``fate`` says what a script did to it.
    """

    at_ms: float
    connection: int
    broker: str
    sender: Literal["client", "broker"]
    api: str
    version: int
    correlation: int
    size: int
    client: str = ""
    data: bytes = b""
    fate: str = ""


class ConnectionChange(msgspec.Struct, frozen=True, tag_field="line", tag="connection"):
    """A connection that was opened or closed, by whom, and why."""

    at_ms: float
    connection: int
    broker: str
    what: Literal["opened", "closed"]
    why: str = ""


Line: TypeAlias = Frame | ConnectionChange


def create_trace(path: Path, to: str) -> BinaryIO:
    """Open a trace file of what passes to the broker at this address, and write its head. Raises KitError."""
    file = io.BufferedWriter(open_stream(path))
    head = Head(FORMAT, kit_version(), to, datetime.now(UTC).isoformat())
    file.write(msgspec.json.encode(head) + b"\n")
    return file


def encoded_line(line: Line) -> bytes:
    """Return a line as it is written. For a MiB of data that takes 0.2 ms; msgspec's own base64 takes 1.2."""
    if not isinstance(line, Frame) or len(line.data) < _SMALL:
        return msgspec.json.encode(line) + b"\n"
    import pybase64  # here, since help and the reading of a trace do without the extra

    before, after = msgspec.json.encode(msgspec.structs.replace(line, data=b"")).split(_NO_DATA)
    return b"".join((before, _NO_DATA[:-1], pybase64.b64encode(line.data), b'"', after, b"\n"))


def read_trace(path: Path) -> tuple[Head, Iterator[Line]]:
    """Return the head of a trace file, and its lines as they are read. Raises BadInput, also while the lines are read."""
    lines = _lines(path)
    first = next(lines, None)
    if not isinstance(first, Head):
        raise BadInput(f"{path} is not a trace: expected a file that kafka-conformance record has written")
    if first.format != FORMAT:
        raise BadInput(f"{path} has format {first.format} and not {FORMAT}: it was written by kit {first.kit}")
    return first, _frames(path, lines)


def _frames(path: Path, lines: Iterator[Head | Frame | ConnectionChange]) -> Iterator[Line]:
    for line in lines:
        if isinstance(line, Head):
            raise BadInput(f"{path} has a second head: it is more than one trace")
        yield line


def _lines(path: Path) -> Iterator[Head | Frame | ConnectionChange]:
    decoder = msgspec.json.Decoder(Head | Frame | ConnectionChange)
    with open_regular(path) as file, reading(path):
        for number in range(1, 2**62):
            line = file.readline(_LONGEST_LINE)
            if not line.endswith(b"\n"):  # the end, or a line that was being written
                if len(line) == _LONGEST_LINE:
                    raise BadInput(f"{path} line {number} has more than {_LONGEST_LINE:,} bytes")
                if line:
                    warn(f"{path} is cut off: its last line, {number:,}, has no end and is left out")
                return
            try:
                yield decoder.decode(line)
            except msgspec.DecodeError as error:
                raise BadInput(f"{path} line {number} is not a line of a trace: {error}") from error
