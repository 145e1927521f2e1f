"""Signatures of the reference's functions as their source has them: import lines, parameters, types and defaults."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from typing import Any

from kafka_conformance.rules.summaries import function_named
from kafka_reference.releases import Release

__all__ = ["import_lines", "signature"]

_WIDTH = 110


class _Source:
    """A text that :mod:`inspect` shows as it stands in the source, without quotes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def import_lines(names: Iterable[str]) -> Iterator[str]:
    """Yield an import for each module of these functions, ``module:name``."""
    by_module: dict[str, list[str]] = {}
    for name in names:
        module, _, path = name.partition(":")
        found = by_module.setdefault(module, [])
        if (root := path.partition(".")[0]) not in found:
            found.append(root)
    for module, roots in by_module.items():
        yield f"from {module} import {', '.join(roots)}"


def signature(name: str) -> str:
    """Return the call of ``module:name`` with its types; a method without self. Raises ImportError, AttributeError."""
    function, path = function_named(name), name.partition(":")[2]
    found = inspect.signature(function)
    parameters = list(found.parameters.values())
    if "." in path and parameters and parameters[0].name == "self":
        parameters = parameters[1:]
    shown = [one.replace(annotation=_annotation(one.annotation), default=_default(one.default)) for one in parameters]
    returned = inspect.Signature.empty if isinstance(function, type) else _annotation(found.return_annotation)
    whole = f"{path}{inspect.Signature(shown, return_annotation=returned)}"
    if len(whole) <= _WIDTH:
        return whole
    end = "" if returned is inspect.Signature.empty else f" -> {returned}"
    lines = [f"    {text}," for text in _listed(shown)]
    return "\n".join([f"{path}(", *lines, f"){end}"])


def _listed(parameters: list[inspect.Parameter]) -> Iterator[str]:
    """Yield each parameter, and the bare star before those that are given by name alone."""
    starred = any(one.kind is inspect.Parameter.VAR_POSITIONAL for one in parameters)
    for one in parameters:
        if one.kind is inspect.Parameter.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        yield str(one)


def _annotation(annotation: Any) -> Any:
    return _Source(annotation) if isinstance(annotation, str) else annotation


def _default(default: Any) -> Any:
    """Return a default as a caller writes it: a release as text, a class by its name; ``...`` for what has no such form."""
    if default is inspect.Parameter.empty:
        return default
    if isinstance(default, Release):
        return str(default)
    if isinstance(default, type) or inspect.isfunction(default):
        return _Source(default.__name__)
    return _Source("...") if repr(default).startswith("<") else default
