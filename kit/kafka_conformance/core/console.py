"""The console: tables and styled text for people, without characters that a terminal obeys.

Names of topics, files and settings, answers and words of an implementation under test come from anywhere. Here each is
shown as Python would write it (``\\x1b``), wherever in a table or a line it stands, so that no caller has to think of it;
nothing is read as rich's markup either.

Lines are wrapped between words only. A word that is longer than the line is printed whole, so that a copy of it is right.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from kafka_conformance.core.sanitize import harmless
from kafka_conformance.core.word_wrap import has_longer_word, wrapped

__all__ = ["can_animate", "console", "error_console", "is_terminal", "styled", "terminal_width"]

_WIDTH = 140


class _Console(Console):
    def render_str(self, text: str, **given: Any) -> Text:
        """Return a text; rich's own drops some of the characters that a terminal obeys."""
        return super().render_str(harmless(text, keep="\n"), **given)

    def print(self, *objects: Any, **given: Any) -> None:
        """Print as rich does, without cropping a word that is longer than the line."""
        super().print(*objects, **{"crop": False, **given})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Yield the segments of ``renderable``; rich calls it for every cell and line, too."""
        if isinstance(renderable, Text) and not _is_harmless(renderable.plain):
            renderable = _spelled(renderable, self)  # before it is wrapped: what is spelled out is wider
        settings = options or self.options
        if isinstance(renderable, Text) and not settings.no_wrap and has_longer_word(renderable, settings.max_width):
            renderable = Text("\n", end=renderable.end).join(wrapped(renderable, settings.max_width))
            options = settings.update(no_wrap=True, overflow="ignore")
        for segment in super().render(renderable, options):
            if segment.control or _is_harmless(segment.text):
                yield segment
            else:
                yield Segment(harmless(segment.text, keep="\n"), segment.style)


def console(file: TextIO | None = None, width: int | None = None) -> Console:
    """Return a console: standard output, as wide as the terminal, or 140 columns if it is none; or ``file``.

    A pipe is none, also with FORCE_COLOR.
    """
    if width is None and not is_terminal(file or sys.stdout):
        width = _WIDTH
    return _Console(file=file, width=width, highlight=False, emoji=False, markup=False, soft_wrap=False)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is open and a terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # it is closed
        return False


def terminal_width() -> int | None:
    """Return the columns of standard output, None if it is not a terminal."""
    return console().width if is_terminal(sys.stdout) else None


def can_animate(shown: Console) -> bool:
    """Whether lines of standard error can be drawn over: FORCE_COLOR makes a pipe a terminal for rich alone."""
    return is_terminal(sys.stderr) and shown.is_terminal and not shown.is_dumb_terminal


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
