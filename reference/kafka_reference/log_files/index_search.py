"""The search of an index: the slot of the largest entry up to a key, or of the smallest one above it.

While keys ascend, every release finds the same. In a damaged file they do not, and what is found depends on the entries
that the search compares: up to 2.0.x a binary search of all entries; since 2.1.0 (KAFKA-6432) of the last 8,192 bytes if
the entry before them is smaller than the key, else of the entries up to that one.

Java source mirrored: ``AbstractIndex.indexSlotRangeFor`` and ``binarySearch``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

__all__ = ["WARM_BYTES", "ReadKey", "find_slots"]

WARM_BYTES = 8192

ReadKey: TypeAlias = Callable[[int], int]
"""Returns the key of a slot. Raises IndexOutOfBoundsException."""


def find_slots(read_key: ReadKey, entries: int, target: int, warm_entries: int | None) -> tuple[int, int]:
    """Return the slots of the lower and of the upper bound of ``target``, -1 where there is none.

    ``warm_entries`` is the length of the section that is searched first; None searches the whole index, as up to 2.0.x.
    An entry whose key equals the target is both bounds, unless the search ends at it without comparing it.

        >>> find_slots([12, 24].__getitem__, 2, 60, 1024)
        (1, -1)
        >>> find_slots([12, 24].__getitem__, 2, 12, 1024)
        (0, 1)
    """
    if entries == 0:
        return -1, -1
    first_warm = entries - 1 if warm_entries is None else max(0, entries - 1 - warm_entries)
    if warm_entries is not None and read_key(first_warm) < target:
        return _search(read_key, entries, target, first_warm, entries - 1)
    if read_key(0) > target:
        return -1, 0
    return _search(read_key, entries, target, 0, first_warm)


def _search(read_key: ReadKey, entries: int, target: int, low: int, high: int) -> tuple[int, int]:
    while low < high:
        middle = (low + high + 1) >> 1
        key = read_key(middle)
        if key == target:
            return middle, middle
        if key > target:
            high = middle - 1
        else:
            low = middle
    return low, -1 if low == entries - 1 else low + 1
