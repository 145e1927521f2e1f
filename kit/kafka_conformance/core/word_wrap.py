"""Wrap styled text between words: rich would break a word that is longer than the line, or crop it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

__all__ = ["has_longer_word", "wrapped"]

_WORD = re.compile(r"\s*\S+")


def has_longer_word(text: Text, width: int) -> bool:
    """Whether a word is wider than ``width``, with the spaces before it: rich would break it."""
    return any(cell_len(word[0].lstrip("\n")) > width for word in _WORD.finditer(text.plain))


def wrapped(text: Text, width: int) -> Iterator[Text]:
    """Yield the lines of a text, none wider than ``width`` unless a single word is; spaces at their ends are dropped."""
    for line in text.split("\n", allow_blank=True):
        breaks, begun, end = [], 0, 0
        for word in _WORD.finditer(line.plain):
            if end > begun and cell_len(line.plain[begun : word.end()]) > width:
                begun = word.end() - len(word[0].lstrip())
                breaks.append(begun)
            end = word.end()
        for part in line.divide(breaks):
            part.rstrip()
            yield part
