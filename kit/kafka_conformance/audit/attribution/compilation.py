"""Compile loops with Numba, for stated types, without the interpreter's lock.

The machine code is cached beside the file or in the user's cache folder. Numba checks only the date of the file with the
outermost function, so a compiled function never calls one of another file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numba import njit, types

__all__ = ["DATA", "OFFSETS", "Int", "compiled", "inlined", "read"]

F = TypeVar("F", bound=Callable[..., Any])
Int: TypeAlias = int | np.signedinteger[Any]
"""The type of an integer without a stated width for mypy; Numba uses an int64."""


def read(element: Any, dimensions: int = 1) -> Any:
    """Return the type of a contiguous array parameter that is only read."""
    return types.Array(element, dimensions, "C", readonly=True)


DATA = read(types.uint8)
OFFSETS = read(types.int32), read(types.int64)


def inlined(function: F) -> F:
    """Compile ``function`` into its callers, which are in the same file."""
    built: F = njit(function)
    return built


def compiled(function: F, *signatures: Any) -> F:
    """Compile ``function`` to machine code for ``signatures``."""
    build: Any = njit(list(signatures), nogil=True, cache=True)
    built: F
    try:
        built = build(function)
    except (RuntimeError, OSError):  # there is no cache folder, or it is full
        build = njit(list(signatures), nogil=True)
        built = build(function)
    return built
