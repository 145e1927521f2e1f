"""The finite spaces of ``time-index``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from kafka_conformance.rules.common.index_spaces import BASES, LOOK, IndexSpaces
from kafka_conformance.rules.common.index_steps import BytesStep, LookupStep, ReopenStep, ResizeStep, SanityCheckStep
from kafka_conformance.rules.time_index.question import MaybeAppendStep, TimeIndexQuestion
from kafka_reference.log_files.entries import TIME_ENTRY_BYTES, write_time_index

__all__ = ["SPACES", "every_last_slot", "every_pair", "every_short_form"]

SPACES = IndexSpaces(
    TimeIndexQuestion, write_time_index, lambda key, offset: MaybeAppendStep(key, offset), TIME_ENTRY_BYTES
)


def every_short_form() -> Iterator[TimeIndexQuestion]:
    """Yield entries and lookups at 5 base offsets, up to 3 entries in any order."""
    lookups = (-2, -1, 0, 4, 5, 6, 9, 10)
    for base, count in product(BASES, range(4)):
        for timestamps in product((-1, 5, 9), repeat=count):
            entries = tuple((timestamp, base + number) for number, timestamp in enumerate(timestamps))
            yield TimeIndexQuestion(base, entries, lookups)
            yield TimeIndexQuestion(base, entries, lookups, max_index_size=30)


def every_pair() -> Iterator[TimeIndexQuestion]:
    """Yield an entry after another one: each order of timestamps and offsets, from a file and appended."""
    pairs = list(product((-2, -1, 0, 1, 5), repeat=2))
    for (first, first_offset), (second, offset), skip in product(pairs, pairs, (False, True)):
        steps = (MaybeAppendStep(second, offset, skip), LOOK, LookupStep(0), SanityCheckStep(), BytesStep())
        size, entry = 2 * TIME_ENTRY_BYTES, (first, first_offset)
        yield TimeIndexQuestion(0, steps=(MaybeAppendStep(*entry, skip), *steps), max_index_size=size)
        yield TimeIndexQuestion(0, steps=(ResizeStep(size), *steps), file=write_time_index([entry]).hex())
        if not skip:
            file = write_time_index([entry, (second, offset)]).hex()
            yield TimeIndexQuestion(0, steps=(LOOK, SanityCheckStep()), file=file)


def every_last_slot() -> Iterator[TimeIndexQuestion]:
    """Yield up to 5 entries in files with up to 5 slots, each with or without the check that keeps the last slot free."""
    for slots, skips in product(range(1, 6), product((False, True), repeat=5)):
        steps = tuple(MaybeAppendStep(number, number, skip) for number, skip in enumerate(skips))
        size = slots * TIME_ENTRY_BYTES + slots % 2
        yield TimeIndexQuestion(0, steps=(*steps, LOOK, BytesStep(), ReopenStep(), LOOK), max_index_size=size)
