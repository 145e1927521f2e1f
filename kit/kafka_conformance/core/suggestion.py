"""Hints for a name that is unknown: the names that resemble it, or all of them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["did_you_mean"]


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return up to three known names that resemble ``name``; without any, ``otherwise``, by default all known names."""
    names = list(known)
    close = get_close_matches(name, names, n=3, cutoff=0.5)
    if close:
        *others, last = (repr(each) if " " in each else each for each in close)
        return f"did you mean {', '.join(others)}{' or ' if others else ''}{last}?"
    return otherwise or f"expected one of {', '.join(names)}"
