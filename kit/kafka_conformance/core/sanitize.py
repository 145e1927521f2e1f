"""Text from anywhere, made harmless: what a terminal would obey, and what XML does not allow, is spelled out.

A topic's name in a question is whatever somebody wrote there. Every character that is not printable, escape sequences and
changes of writing direction among them, is shown as Python would write it: ``\\x1b``.
"""

from __future__ import annotations

__all__ = ["clipped", "harmless"]


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
