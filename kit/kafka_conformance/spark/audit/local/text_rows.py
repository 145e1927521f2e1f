"""Read the rows of an export that is text: JSON lines, CSV, and what Kafka's console consumer prints.

======================  =================================================================================================
form                    a row
======================  =================================================================================================
``json``                an object on each line: also what ``kcat -J`` prints
``csv``                 the first line of each file has the names of the columns; an empty key is none
``console-consumer``    what ``kafka-console-consumer`` prints with the properties ``print.timestamp``, ``print.partition``,
                        ``print.offset`` and ``print.key``, and the default separator: fields up to a tab, of which the
                        first ones have names. The next one is the key; ``null`` is none
======================  =================================================================================================

Bytes that are not UTF-8 end the audit in the first two. The console consumer has already replaced them in its output, or
printed them as they are; so its keys are taken as bytes.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pyarrow as pa

from kafka_conformance.core.decoding import UNREADABLE
from kafka_conformance.core.errors import BadInput

__all__ = ["LONGEST_LINE", "TEXT_FORMS", "text_rows"]

LONGEST_LINE = 128 * 2**20
"""The most bytes of a line, a record with its key and perhaps its value."""
_DECODER = msgspec.json.Decoder(dict[str, Any])
_TIMES = b"CreateTime:", b"LogAppendTime:"
_NUMBERS = {b"Partition:": "partition", b"Offset:": "offset"}
_UNUSED = b"Delivery:", b"Epoch:"
_NONE = b"NO_TIMESTAMP", b"NO_HEADERS"
_NULL = b"null"
_DIGITS = 19

Row = dict[str, Any]


def text_rows(name: str, form: str, key: str) -> Iterator[Row]:
    """Yield the rows of a file, which may be compressed. ``key`` is the column of the key.

    Raises BadInput with the number of a line that is of another form.
    """
    with pa.input_stream(name, compression="detect") as stream:
        yield from TEXT_FORMS[form](_numbered(stream, name), name, key)


def _json(lines: Iterator[tuple[int, bytes]], name: str, _: str) -> Iterator[Row]:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            yield _DECODER.decode(line)
        except UNREADABLE as error:
            raise BadInput(f"line {number} of {name} is no JSON object: {error}") from error


def _csv(lines: Iterator[tuple[int, bytes]], name: str, key: str) -> Iterator[Row]:
    at = 0

    def texts() -> Iterator[str]:
        nonlocal at
        for at, line in lines:  # noqa: B007  it names the line of an error
            yield line.decode() + "\n"

    try:
        for row in csv.DictReader(texts(), strict=True):
            if None in row or None in row.values():
                raise BadInput(f"line {at} of {name} has another number of fields than the first line")
            yield {
                column: text or None if column == key or not text.lstrip("-").isdecimal() or len(text) > _DIGITS
                else int(text) for column, text in row.items()
            }  # fmt: skip
    except (csv.Error, UnicodeDecodeError) as error:
        raise BadInput(f"line {at} of {name} is no CSV: {error}") from error


def _console(lines: Iterator[tuple[int, bytes]], name: str, key: str) -> Iterator[Row]:
    behind = None
    for number, line in lines:
        if not line:
            continue
        row, others = _console_row(line, key)
        behind = others if behind is None else behind
        if not {"partition", "offset", key} <= row.keys() or others != behind or others > 1:
            raise BadInput(
                f"line {number} of {name} is not what kafka-console-consumer prints with print.partition, print.offset and"
                f" print.key: {line[:40]!r}; use print.value=false, and another export for keys with a tab or a line break"
            )
        yield row


def _console_row(line: bytes, key: str) -> tuple[Row, int]:
    """Return what a line has, without the key if it is of another form, and the number of fields behind the key."""
    row: Row = {}
    fields = line.split(b"\t")
    for at, field in enumerate(fields):
        prefix = field[: field.find(b":") + 1]
        column = "timestamp_ms" if prefix in _TIMES else _NUMBERS.get(prefix, "")
        number = field[len(prefix) :]
        if column and column not in row and number.isdigit() and len(number) <= _DIGITS:
            row[column] = int(number)
        elif prefix not in _UNUSED and field not in _NONE:
            row[key] = None if field == _NULL else field
            return row, len(fields) - 1 - at
    return row, 0


TEXT_FORMS: dict[str, Callable[[Iterator[tuple[int, bytes]], str, str], Iterator[Row]]] = {
    "json": _json, "csv": _csv, "console-consumer": _console,
}  # fmt: skip


def _numbered(stream: Any, name: str) -> Iterator[tuple[int, bytes]]:
    """Yield the lines by number, an empty one behind the last line break.

    Raises BadInput for one of more than LONGEST_LINE bytes.
    """
    begun, length, number = [], 0, 1
    while piece := stream.read(1 << 20):
        first, *others = piece.split(b"\n")
        begun.append(first)
        length += len(first)
        if others:
            yield from enumerate((b"".join(begun), *others[:-1]), number)
            number += len(others)
            begun, length = [others[-1]], len(others[-1])
        if length > LONGEST_LINE:
            raise BadInput(f"{name} has a line of more than {LONGEST_LINE:,} bytes: expected a record on each line")
    yield number, b"".join(begun)
