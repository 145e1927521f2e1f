"""The finite spaces of ``offset-index``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from kafka_conformance.rules.common.index_spaces import BASES, IndexSpaces
from kafka_conformance.rules.offset_index.question import AppendStep, OffsetIndexQuestion, UpperBoundStep
from kafka_reference.log_files.entries import OFFSET_ENTRY_BYTES, write_offset_index

__all__ = ["ARTICLE", "SPACES", "every_file", "every_short_form", "every_upper_bound", "every_warm_section"]

ARTICLE = OffsetIndexQuestion(0, ((12, 4423), (24, 8773)), (60,))
"""Find offset 60: the last entry up to it is offset 24 at position 8773, from where the segment is read."""

_MOST = 2**31 - 1
SPACES = IndexSpaces(
    OffsetIndexQuestion, write_offset_index, lambda key, offset: AppendStep(offset, key), OFFSET_ENTRY_BYTES
)


def every_file() -> Iterator[OffsetIndexQuestion]:
    """Yield all files of up to 5 entries, with lookups by offset and by position."""
    return SPACES.every_file([UpperBoundStep(position, size) for position in range(-1, 4) for size in (0, 1)])


def every_warm_section() -> Iterator[OffsetIndexQuestion]:
    """Yield long files, with lookups by offset and by position."""
    return SPACES.every_warm_section(lambda target: UpperBoundStep(target, 0))


def every_short_form() -> Iterator[OffsetIndexQuestion]:
    """Yield entries and lookups at 5 base offsets, up to 3 entries in any order, and the example of an article."""
    yield ARTICLE
    for base in BASES:
        lookups = tuple(base + offset for offset in range(-2, 12))
        for count in range(4):
            for offsets in product((0, 5, 9), repeat=count):
                entries = tuple((base + offset, 4096 * number) for number, offset in enumerate(offsets))
                yield OffsetIndexQuestion(base, entries, lookups)
                yield OffsetIndexQuestion(base, entries, lookups, max_index_size=20)


def every_upper_bound() -> Iterator[OffsetIndexQuestion]:
    """Yield fetches whose end overflows an int32, in files with positions at the ends of an int32."""
    ends = (-(_MOST + 1), -1, 0, 1, _MOST)
    for positions in product(ends, repeat=2):
        file = write_offset_index([(1, positions[0]), (2, positions[1])]).hex()
        steps: tuple[Any, ...] = tuple(UpperBoundStep(position, size) for position, size in product(ends, repeat=2))
        yield OffsetIndexQuestion(0, steps=steps, file=file)
