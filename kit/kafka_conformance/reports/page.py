"""An HTML page that needs nothing else: no network, no script.

Jinja2 escapes whatever is put into the page, and before that everything unprintable is spelled out, changes of writing
direction among them. The page's own policy lets nothing run and nothing be loaded, and one style sheet, by its hash: were
text to become markup anyway, it could do nothing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import BaseLoader, Environment, StrictUndefined, Template
from markupsafe import Markup

from kafka_conformance.core.sanitize import clipped, harmless

__all__ = ["render"]

_LIMIT = 10_000


def render(
    template: str, styles: Sequence[str], filters: Mapping[str, Callable[..., Any]], given: Mapping[str, Any]
) -> str:
    """Render a template of the package with ``style``, ``policy`` and the values ``given``."""
    style = "".join(map(_packaged, styles))
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return _compiled(_packaged(template), tuple(filters.items())).render(
        given,
        style=Markup(style),  # noqa: S704  a file of ours
        # The hash of a style sheet holds + and =, which are not markup.
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
    )


@cache
def _compiled(text: str, filters: tuple[tuple[str, Callable[..., Any]], ...]) -> Template:
    # The template is given as text: it loads no other.
    environment = Environment(
        loader=BaseLoader(),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finished,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(filters)
    return environment.from_string(text)


def _finished(value: Any) -> Any:
    """Every expression of the template comes by here, before Jinja2 escapes it."""
    return value if hasattr(value, "__html__") or not isinstance(value, str) else harmless(clipped(value, _LIMIT), "\n")


@cache
def _packaged(name: str) -> str:
    return (resources.files("kafka_conformance") / name).read_text(encoding="utf-8")
