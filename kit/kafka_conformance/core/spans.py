"""Group things that follow one another: releases of a list, lines of a file."""

from __future__ import annotations

from collections.abc import Container, Iterable
from itertools import groupby
from typing import TypeVar

__all__ = ["runs"]

T = TypeVar("T")


def runs(chosen: Container[T], among: Iterable[T]) -> list[list[T]]:
    """Return the ``chosen`` of ``among``, in its order; each list has those with no other one between them.

    >>> runs({1, 2, 5}, range(9))
    [[1, 2], [5]]
    """
    return [list(run) for is_chosen, run in groupby(among, chosen.__contains__) if is_chosen]
