"""Moving the ends of a span of releases: ``since("2.1.0", until="2.2.x")`` begins or ends one release earlier or later."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafka_reference.releases import Release, Spans, since

__all__ = ["Move", "moves_of"]


@dataclass(frozen=True, slots=True)
class Move:
    """A new text of an end of a span."""

    node: ast.Constant
    """The end."""
    text: str
    """Its new release."""
    moved: Release
    """The one release that enters the span or leaves it."""


def moves_of(node: ast.AST, releases: Sequence[Release]) -> Iterator[Move]:
    """Yield the moves of a call of ``since``. ``releases`` are all that are known, in order."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "since" and node.args):
        return
    first = node.args[0]
    last = next((word.value for word in node.keywords if word.arg == "until"), None)
    if not _is_text(first) or not (last is None or _is_text(last)):
        return
    spans: Spans = since(first.value, until=None if last is None else last.value)  # type: ignore[attr-defined]
    inside = [release for release in releases if release in spans]
    if not inside:
        return
    begin, end = releases.index(inside[0]), releases.index(inside[-1])
    if begin:
        yield Move(first, str(releases[begin - 1]), releases[begin - 1])  # type: ignore[arg-type]
    if begin < end:
        yield Move(first, str(releases[begin + 1]), releases[begin])  # type: ignore[arg-type]
    if last is not None:
        if end + 1 < len(releases):
            yield Move(last, str(releases[end + 1]), releases[end + 1])  # type: ignore[arg-type]
        if begin < end:
            yield Move(last, str(releases[end - 1]), releases[end])  # type: ignore[arg-type]


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
