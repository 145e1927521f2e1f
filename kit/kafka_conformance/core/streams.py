"""Standard input, output and error: the one place that reads and prints them, and what they may be.

A standard stream may be closed (``>&-``), full (``> /dev/full``), or without a reader (``| head``), and a run must not end
with another exit code for that. :func:`install` puts streams in place that drop everything after the first write that
failed; :func:`output_lost` returns why. A closed stream stays closed, but its number is taken, so that no file is opened
under it.

Text may come from anywhere: a topic's name, a file's name, an answer of an implementation. :func:`say` spells out every
character that a terminal would obey, :func:`say_json` writes it as JSON does, ``\\u001b``. Tables are printed by
``core.console``, which does the same.
"""

from __future__ import annotations

import contextlib
import io
import os
import select
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.sanitize import encodable, harmless, harmless_json

__all__ = [
    "LONGEST_LINE", "input_lines", "install", "json_bytes", "output_lost", "raw_output", "read_input", "say", "say_error",
    "say_json",
]  # fmt: skip

_PIECE: Final = 2**20
_LARGEST: Final = 256 * _PIECE
LONGEST_LINE: Final = 16 * _PIECE
"""Bytes of the longest line of standard input, with its end."""


class _Lenient(io.FileIO):
    """Standard output or error. After the first write that failed, the rest is dropped: ``lost`` is the error."""

    lost: OSError | None = None

    def write(self, data: Any) -> int:
        """Write, or drop, and return the number of bytes."""
        try:
            while self.lost is None:
                if (written := super().write(data)) is not None:
                    return written
                # The stream does not wait, as a terminal that another program has set so, and is full for now.
                select.select([], [self], [])
        except OSError as error:
            self.lost = error
        return len(data)


def install() -> None:
    """Put the streams in place, for a process that ends with a verdict."""
    for number, flags in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_RDONLY)):
        try:
            os.fstat(number)
        except OSError:  # it was closed: take its number, so that no file gets it; to read or write stays an error
            os.dup2(opened := os.open(os.devnull, flags), number)
            if opened != number:
                os.close(opened)
    sys.stdout, sys.stderr = _text(1, sys.stdout), _text(2, sys.stderr)


def _text(number: int, found: Any) -> Any:
    """Return the stream of this number as text; one that is already something else stays."""
    if found is not None and not _writes_to(found, number):
        return found
    raw = _Lenient(number, "wb", closefd=False)
    # A console whose encoding lacks a character shows its code instead; so it does for half a surrogate pair.
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=getattr(found, "encoding", "utf-8"), errors="backslashreplace",
        line_buffering=number == 2 or raw.isatty(), write_through=getattr(found, "write_through", False),
    )  # fmt: skip


def _writes_to(stream: Any, number: int) -> bool:
    try:
        return isinstance(stream, io.TextIOWrapper) and stream.fileno() == number
    except (OSError, ValueError):
        return False


def output_lost() -> OSError | None:
    """Return why standard output could not be written to the end; None if all that was flushed is written."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stdout.flush()
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return raw.lost if isinstance(raw, _Lenient) else None


def say(text: str, end: str = "\n", *, flush: bool = False) -> None:
    """Print text to standard output; of what is not printable, lines alone keep their ends."""
    sys.stdout.write(harmless(text, keep="\n") + end)
    if flush:
        sys.stdout.flush()


def say_error(text: str, keep: str = "") -> None:
    """Print a line to standard error; it is lost if that cannot be written."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stderr.write(harmless(text, keep) + "\n")
        sys.stderr.flush()


def say_json(document: Any) -> None:
    """Print a document, or bytes that are one, as a line of JSON that a terminal can show."""
    data = document if isinstance(document, bytes) else json_bytes(document)
    sys.stdout.write(harmless_json(data.decode()) + "\n")


def json_bytes(document: Any) -> bytes:
    """Return a document as JSON. A file's name that is not UTF-8 has halves of surrogate pairs, which JSON cannot hold."""
    import msgspec  # not at the top: `--help` and `--version` print no JSON

    try:
        return msgspec.json.encode(document)
    except UnicodeEncodeError:
        return msgspec.json.encode(encodable(msgspec.to_builtins(document)))


def raw_output() -> BinaryIO:
    """Return standard output for bytes, of a program that reads them."""
    sys.stdout.flush()
    return sys.stdout.buffer


def input_lines() -> Iterator[bytes]:
    """Yield the lines of standard input, of one above LONGEST_LINE one byte more. Raises BadInput if it is closed."""
    with _reading_input():
        lines = _input()
        while line := lines.readline(LONGEST_LINE + 1):
            yield line
            rest = line
            while len(line) > LONGEST_LINE and rest and not rest.endswith(b"\n"):
                rest = lines.readline(_PIECE)


def read_input(limit: int = _LARGEST) -> bytes:
    """Return all of standard input. Raises BadInput if it is closed, or longer than ``limit`` bytes."""
    pieces, left = [], limit + 1
    with _reading_input():
        while left and (piece := _input().read(min(left, _PIECE))):
            pieces.append(piece)
            left -= len(piece)
    if not left:
        raise BadInput(f"standard input cannot be read: it has more than {limit:,} bytes")
    return b"".join(pieces)


def _input() -> BinaryIO:
    if sys.stdin is None:
        raise BadInput("standard input is closed")
    return sys.stdin.buffer


@contextlib.contextmanager
def _reading_input() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput(f"standard input cannot be read: {error.strerror or error}") from error
