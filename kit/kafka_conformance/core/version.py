"""The version of this distribution."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version

__all__ = ["kit_version"]


@cache
def kit_version() -> str:
    """Return the installed version, or "not installed"."""
    try:
        return version("kafka-conformance")
    except PackageNotFoundError:
        return "not installed"
