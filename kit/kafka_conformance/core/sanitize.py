"""Text from anywhere, made harmless: what a terminal would obey, and what XML does not allow, is spelled out.

A topic's name in a question can be any text. Every character that is not printable, escape sequences and
changes of writing direction among them, is shown as Python would write it: ``\\x1b``.
"""

from __future__ import annotations

from typing import Any

__all__ = ["clipped", "encodable", "harmless", "harmless_json"]


def harmless(text: str, keep: str = "") -> str:
    """``text`` with everything unprintable spelled out, but for the characters in ``keep``."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in keep else _spelled(one) for one in text)


def _spelled(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def clipped(text: str, limit: int) -> str:
    """At most about ``limit`` characters of ``text``, and how many were left out."""
    return text if len(text) <= limit + 40 else f"{text[:limit]}… ({len(text) - limit:,} more characters)"


def harmless_json(document: str) -> str:
    """Return JSON of the same meaning, in which everything unprintable is written as JSON does: ``\\u009b``."""
    if document.isprintable():
        return document
    return "".join(one if one.isprintable() or one == "\n" else _json_spelled(one) for one in document)


def encodable(value: Any) -> Any:
    """Return lists, dicts and texts without halves of surrogate pairs, which no encoding has: they are spelled out."""
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {encodable(name): encodable(each) for name, each in value.items()}
        case list() | tuple():
            return [encodable(each) for each in value]
    return value


def _json_spelled(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
