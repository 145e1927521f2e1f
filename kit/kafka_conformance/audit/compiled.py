"""How the audit has loops compiled: by Numba, for stated types, without the interpreter's lock.

The machine code is kept beside the file or in the user's cache folder. Numba looks at the date of the file with the
outermost function alone, so a compiled function never calls one of another file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit, types

__all__ = ["DATA", "OFFSETS", "compiled", "inlined", "read"]

F = TypeVar("F", bound=Callable[..., Any])


def read(element: Any) -> Any:
    """The type of a contiguous array that is read only, whether it may be written or not."""
    return types.Array(element, 1, "C", readonly=True)


DATA = read(types.uint8)
OFFSETS = read(types.int32), read(types.int64)


def inlined(function: F) -> F:
    """``function`` for the compiler to build into its callers, which are in the same file."""
    built: F = njit(function)
    return built


def compiled(function: F, *signatures: Any) -> F:
    """``function`` as machine code for ``signatures``."""
    try:
        built: F = njit(list(signatures), nogil=True, cache=True)(function)
    except (RuntimeError, OSError):  # no folder to keep the machine code in, or it is full
        built = njit(list(signatures), nogil=True)(function)
    return built
