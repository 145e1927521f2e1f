"""Read a file of Java properties, as ``java.util.Properties.load`` reads it and Kafka's own tools do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import read_text
from kafka_conformance.core.java_text import LINE_END

__all__ = ["parse_properties", "read_properties"]

_BLANKS = " \t\f"
_PAIR = re.compile(r"((?:\\.|[^\\=: \t\f]+)*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
_ESCAPED = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_NAMED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def read_properties(option: str, path: str) -> dict[str, str]:
    """Read the file that ``option`` names; its encoding is ISO 8859-1, as Java's. Raises BadInput, which quotes no value."""
    try:
        text = read_text(Path(path), encoding="latin-1")
    except BadInput as error:
        raise BadInput(f"{option} {error}") from error
    try:
        return parse_properties(text)
    except ValueError as error:
        raise BadInput(f"{option} {path} is not a file of Java properties: {error}") from error


def parse_properties(text: str) -> dict[str, str]:
    r"""Return the properties in ``text``; the last of a name counts. Raises ValueError for a malformed ``\uXXXX``."""
    properties = {}
    for number, line in _logical_lines(text):
        name, value = _PAIR.fullmatch(line).groups()  # type: ignore[union-attr]  # it matches any line
        try:
            properties[_plain(name)] = _plain(value)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error
    return properties


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line with its number, joined with those that continue it, without comments, blank lines and indents."""
    begun, first, continues = "", 0, False
    for number, natural in enumerate(LINE_END.split(text), 1):
        line = natural.lstrip(_BLANKS)
        if not begun and (not line or line[0] in "#!"):  # also after a line that is a backslash alone
            first, continues = 0, False
            continue
        first = first or number
        begun += line
        continues = (len(line) - len(line.rstrip("\\"))) % 2 == 1
        if continues:
            begun = begun[:-1]
        else:
            yield first, begun
            begun, first = "", 0
    if continues:
        yield first, begun


def _plain(text: str) -> str:
    def replaced(found: re.Match[str]) -> str:
        if found[1]:
            return chr(int(found[1], 16))
        if found[2] == "u":
            raise ValueError(r"\u is not followed by four hexadecimal digits")
        return _NAMED.get(found[2], found[2])

    return _ESCAPED.sub(replaced, text)
