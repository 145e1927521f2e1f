"""The JSON Schema of types, the same with every msgspec: up to 0.22 descriptions keep the indent of a docstring's lines."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import cleandoc
from typing import Any

import msgspec

__all__ = ["REFERENCE", "schema_parts"]

REFERENCE = "#/$defs/{name}"
"""How a schema refers to the schema of a named type."""


def schema_parts(types: Iterable[Any]) -> tuple[tuple[dict[str, Any], ...], dict[str, Any]]:
    """Return the schema of each type, which may refer to named ones, and the named ones for ``$defs``."""
    schemas, named = msgspec.json.schema_components(types, ref_template=REFERENCE)
    return tuple(_plain(one) for one in schemas), _plain(named)


def _plain(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            name: cleandoc(value) if name == "description" and isinstance(value, str) else _plain(value)
            for name, value in schema.items()
        }
    return [_plain(one) for one in schema] if isinstance(schema, list) else schema
