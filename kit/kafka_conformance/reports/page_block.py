"""The part of a documentation page that a command makes, between two marks."""

from __future__ import annotations

from pathlib import Path

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import exists, read_text, write_whole

__all__ = ["block_of", "read_page", "write_block"]

_END = "<!-- /table -->"


def read_page(path: Path) -> str:
    """Return the text of a page. Raises BadInput."""
    return read_text(path)


def block_of(page: str, command: str) -> str:
    """Return the text between the marks of ``command``."""
    return page.partition(_begin(command))[2].partition(_END)[0].strip("\n")


def write_block(path: Path, command: str, text: str) -> None:
    """Write ``text`` between the marks of ``command``; a page that does not exist is made. Raises BadInput, KitError."""
    page = read_page(path) if exists(path) else f"{_begin(command)}\n{_END}\n"
    head, begin, rest = page.partition(_begin(command))
    if not begin:
        raise BadInput(f"{path} has no line {_begin(command)}: add it, and {_END} after it, where the table belongs")
    _, _, tail = rest.partition(_END)
    write_whole(path, f"{head}{begin}\n{text}{_END}{tail}".encode())


def _begin(command: str) -> str:
    return f"<!-- table: made by {command} -->"
