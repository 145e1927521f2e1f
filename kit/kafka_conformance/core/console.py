"""The console: tables and styled text for people, of which no character is one that a terminal obeys.

Names of topics, files and settings, answers and words of an implementation under test come from anywhere. Here each is
shown as Python would write it (``\\x1b``), wherever in a table or a line it stands, so that no caller has to think of it;
nothing is read as rich's markup either.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from kafka_conformance.core.sanitize import harmless

__all__ = ["console", "error_console", "styled"]

_WIDTH = 140


class _Console(Console):
    def render_str(self, text: str, **given: Any) -> Text:
        """Return a text; rich's own drops some of the characters that a terminal obeys."""
        return super().render_str(harmless(text, keep="\n"), **given)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Yield the segments of ``renderable``; rich calls it for every cell and line, too."""
        if isinstance(renderable, Text) and not _is_harmless(renderable.plain):
            renderable = _spelled(renderable, self)  # before it is wrapped: what is spelled out is wider
        for segment in super().render(renderable, options):
            if segment.control or _is_harmless(segment.text):
                yield segment
            else:
                yield Segment(harmless(segment.text, keep="\n"), segment.style)


def console(file: TextIO | None = None, width: int | None = None) -> Console:
    """Return a console: standard output, as wide as the terminal, or 140 columns if it is none; or ``file``."""
    out = _Console(file=file, width=width, highlight=False, emoji=False, markup=False, soft_wrap=False)
    if out.is_terminal or width is not None:
        return out
    return _Console(file=file, width=_WIDTH, highlight=False, emoji=False, markup=False, soft_wrap=False)


def styled(text: str, style: str = "", keep: str = "") -> Text:
    """Return a text from anywhere in a style; rich's own drops some of the characters that a terminal obeys."""
    return Text(harmless(text, keep), style)


def error_console() -> Console:
    """Return standard error as a console."""
    return _Console(stderr=True, highlight=False, emoji=False, markup=False)


def _is_harmless(text: str) -> bool:
    return text.isprintable() or text.replace("\n", "").isprintable()


def _spelled(text: Text, console: Console) -> Text:
    made = text.blank_copy()
    for offset, character in enumerate(text.plain):
        made.append(harmless(character, keep="\n"), text.get_style_at_offset(console, offset))
    return made
