"""Read the rows of an export that is not Parquet: JSON lines, CSV, Avro, and what Kafka's console consumer prints.

======================  =================================================================================================
form                    a row
======================  =================================================================================================
``json``                an object on each line: also what ``kcat -J`` prints
``csv``                 the first line of each file has the names of the columns; an empty key is none
``avro``                a record of an Avro object container file, which fastavro reads
``console-consumer``    what ``kafka-console-consumer`` prints with the properties ``print.timestamp``, ``print.partition``,
                        ``print.offset`` and ``print.key``, and the default separator: fields up to a tab, of which the
                        first ones have names. Behind them come the headers if they are printed, the key, and the value
                        if it is; a key ``null`` is none
======================  =================================================================================================

Bytes that are not UTF-8 end the audit in the first two. The console consumer has already replaced them in its output, or
printed them as they are; so its keys are taken as bytes. The headers have no name in it: the first lines of a file tell
whether there are any.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from kafka_conformance.core.decoding import UNREADABLE
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import open_regular

__all__ = ["AVRO", "LONGEST_LINE", "TEXT_FORMS", "text_rows"]

LONGEST_LINE = 128 * 2**20
"""The most bytes of a line, a record with its key and perhaps its value."""
_DECODER = msgspec.json.Decoder(dict[str, Any])
_TIMES = b"CreateTime:", b"LogAppendTime:"
_NUMBERS = {b"Partition:": "partition", b"Offset:": "offset"}
_UNUSED = b"Delivery:", b"Epoch:"
_NO_TIMESTAMP, _NO_HEADERS, _NULL = b"NO_TIMESTAMP", b"NO_HEADERS", b"null"
_HEADERS = re.compile(rb"[^:,]+:")
_PLACE = {"partition", "offset"}
_FIRST_LINES = 1_000
"""Lines read to decide whether headers are printed; in a shorter sample, keys such as ``user:7`` can look like headers."""
_DIGITS = 19

AVRO = "avro"
TextRow = dict[str, Any]


def text_rows(name: str, form: str, key: str) -> Iterator[TextRow]:
    """Yield the rows of a file, which may be compressed. ``key`` is the column of the key.

    Raises BadInput with the number of a line that is of another form.
    """
    if form == AVRO:
        yield from _avro(name)
        return
    with pa.input_stream(name, compression="detect") as stream:
        yield from TEXT_FORMS[form](_numbered(stream, name), name, key)


def _json(lines: Iterator[tuple[int, bytes]], name: str, _: str) -> Iterator[TextRow]:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            yield _DECODER.decode(line)
        except UNREADABLE as error:
            raise BadInput(f"line {number} of {name} is not a JSON object: {error}") from error


def _csv(lines: Iterator[tuple[int, bytes]], name: str, key: str) -> Iterator[TextRow]:
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
        raise BadInput(f"line {at} of {name} is not CSV: {error}") from error


def _console(lines: Iterator[tuple[int, bytes]], name: str, key: str) -> Iterator[TextRow]:
    filled = (each for each in lines if each[1])
    first = list(islice(filled, _FIRST_LINES))
    if not first:
        return
    split = [_console_row(line) for _, line in first]
    size = len(split[0][1])
    headed = split[0][0].keys() >= _PLACE and _begins_with_headers([texts for _, texts in split], name)
    for number, line in chain(first, filled):
        row, others = _console_row(line)
        has_none = bool(others) and others[0] == _NO_HEADERS
        expected = size == len(others) and 1 + headed <= size <= 2 + headed
        if not row.keys() >= _PLACE or not expected or (has_none and not headed):
            raise BadInput(
                f"line {number} of {name} is not what kafka-console-consumer prints with print.partition, print.offset and"
                f" print.key: {line[:40]!r}; use print.value=false, and another export for keys with a tab or a line break"
            )
        yield {**row, key: None if others[headed] == _NULL else others[headed]}


def _begins_with_headers(texts: Sequence[Sequence[bytes]], name: str) -> bool:
    """Return whether the fields without a name begin with a record's headers. Raises BadInput where both may be."""
    if any(each[:1] == [_NO_HEADERS] for each in texts) or len(texts[0]) > 2:
        return True
    if len(texts[0]) == 2 and all(each and _HEADERS.match(each[0]) for each in texts):
        raise BadInput(
            f"{name}: cannot tell whether {texts[0][0][:40]!r} after the offset is headers or a key: print with"
            " print.headers=false and print.value=false"
        )
    return False


def _console_row(line: bytes) -> tuple[TextRow, list[bytes]]:
    """Return the numbers of a line by name, and the fields behind them, which have no name."""
    row: TextRow = {}
    fields = line.split(b"\t")
    for at, field in enumerate(fields):
        prefix = field[: field.find(b":") + 1]
        column = "timestamp_ms" if prefix in _TIMES else _NUMBERS.get(prefix, "")
        number = field[len(prefix) :]
        if column and column not in row and number.isdigit() and len(number) <= _DIGITS:
            row[column] = int(number)
        elif prefix not in _UNUSED and field != _NO_TIMESTAMP:
            return row, fields[at:]
    return row, []


def _avro(name: str) -> Iterator[TextRow]:
    import fastavro

    try:
        with open_regular(Path(name)) as stream:
            if not stream.read(1):
                return
            stream.seek(0)
            for number, row in enumerate(fastavro.reader(stream), 1):
                if not isinstance(row, dict):
                    raise BadInput(
                        f"record {number} of {name} is not an Avro record: expected fields partition, offset and key"
                    )
                yield row
    except (ValueError, EOFError, LookupError, OSError) as error:
        raise BadInput(f"{name} is not a readable Avro file: {str(error) or type(error).__name__}") from error


TEXT_FORMS: dict[str, Callable[[Iterator[tuple[int, bytes]], str, str], Iterator[TextRow]]] = {
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
