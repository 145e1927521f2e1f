"""How the audit has loops compiled: by Numba, for stated types, without the interpreter's lock.

The machine code is kept beside the file or in the user's cache folder. Numba looks at the date of the file with the
outermost function alone, so a compiled function never calls one of another file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numba import njit, types

__all__ = ["DATA", "OFFSETS", "Int", "compiled", "inlined", "read"]

F = TypeVar("F", bound=Callable[..., Any])
Int: TypeAlias = int | np.signedinteger[Any]
"""What a number without a stated width is to mypy; to Numba it is an int64."""


def read(element: Any, dimensions: int = 1) -> Any:
    """The type of a contiguous array that is read only, whether it may be written or not."""
    return types.Array(element, dimensions, "C", readonly=True)


DATA = read(types.uint8)
OFFSETS = read(types.int32), read(types.int64)


def inlined(function: F) -> F:
    """``function`` for the compiler to build into its callers, which are in the same file."""
    built: F = njit(function)
    return built


def compiled(function: F, *signatures: Any) -> F:
    """``function`` as machine code for ``signatures``."""
    build: Any = njit(list(signatures), nogil=True, cache=True)
    built: F
    try:
        built = build(function)
    except (RuntimeError, OSError):  # no folder to keep the machine code in, or it is full
        build = njit(list(signatures), nogil=True)
        built = build(function)
    return built
