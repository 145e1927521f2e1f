"""An extension of Griffe: docstrings are written in reStructuredText; the site's pages are Markdown."""

from __future__ import annotations

import re
from textwrap import dedent
from typing import Any

import griffe

__all__ = ["ToMarkdown"]

_EXAMPLE = re.compile(r"^ *>>> .*?(?=\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)
_ROLE = re.compile(r":[a-z]+:`~?(?:[^`<]*<)?([^`>]+)>?`")


class ToMarkdown(griffe.Extension):
    """Turns roles into code, examples into blocks of code, and the two colons before an indented block into one."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of one object."""
        if obj.docstring is not None:
            text = re.sub(r"::$", ":", obj.docstring.value, flags=re.MULTILINE)
            obj.docstring.value = _EXAMPLE.sub(_fenced, _ROLE.sub(r"`\1`", text))


def _fenced(example: re.Match[str]) -> str:
    return f"```pycon\n{dedent(example[0])}\n```"
