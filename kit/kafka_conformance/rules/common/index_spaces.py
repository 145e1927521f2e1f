"""Finite sets of questions that both indexes of a segment are asked: files, sizes, ends of ranges, life cycles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from kafka_conformance.rules.common.index_steps import (
    BytesStep,
    CanAppendStep,
    CloseHandlerStep,
    CloseStep,
    DeleteStep,
    EntriesStep,
    EntryStep,
    FilledFile,
    FlushStep,
    LookStep,
    LookupStep,
    NameStep,
    RelativeStep,
    RenameStep,
    ReopenStep,
    ResetStep,
    ResizeStep,
    SanityCheckStep,
    TrimStep,
    TruncateStep,
    TruncateToStep,
)
from kafka_conformance.rules.common.scripts import every_script

__all__ = ["BASES", "LOOK", "IndexSpaces"]

LOOK = LookStep()
BASES = (0, 50, 2**31 - 1, 2**40, -3)
_DELTAS = (-(2**31) - 1, -1, 0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32 + 5)
_KEYS = (0, 1, 2, 3)


class IndexSpaces:
    """The spaces of one index: ``ask`` makes its question, ``write`` a file, ``append`` a step with a key and an offset."""

    def __init__(
        self,
        ask: Callable[..., Any],
        write: Callable[[Sequence[tuple[int, int]]], bytes],
        append: Callable[[int, int], Any],
        entry_bytes: int,
    ) -> None:
        self._ask, self._write, self._append, self._entry_bytes = ask, write, append, entry_bytes

    def every_file(self, own: Sequence[Any] = ()) -> Iterator[Any]:
        """Yield all files of up to 5 entries with 4 keys in any order, each with all lookups and all entries."""
        steps = (
            *map(LookupStep, range(-1, 5)),
            *own,
            *map(EntryStep, range(-1, 6)),
            EntriesStep(),
            SanityCheckStep(),
            LOOK,
            ReopenStep(),
            LOOK,
        )
        for length in range(6):
            for keys in product(_KEYS, repeat=length):
                file = self._write([(key, key) for key in keys]).hex()
                yield self._ask(0, file=file, steps=steps)

    def every_truncation(self) -> Iterator[Any]:
        """Yield all files of up to 4 entries with 4 keys in any order, truncated to each of 6 offsets, at two bases."""
        for length in range(5):
            for keys in product(_KEYS, repeat=length):
                file = self._write([(3 - key if self._entry_bytes == 12 else key, key) for key in keys]).hex()
                for offset, base in product(range(-1, 5), (0, 7)):
                    steps = (
                        TruncateToStep(base + offset),
                        LOOK,
                        self._append(base + 4, base + 4),
                        BytesStep(),
                        SanityCheckStep(),
                    )
                    yield self._ask(base, file=file, steps=steps)

    def every_offset(self) -> Iterator[Any]:
        """Yield two appended offsets at the ends of 32 bits above 5 base offsets."""
        for base, first, second in product(BASES, _DELTAS, _DELTAS):
            steps = (
                CanAppendStep(base + first),
                RelativeStep(base + first),
                self._append(10, base + first),
                LOOK,
                self._append(20, base + second),
                LOOK,
                SanityCheckStep(),
                LookupStep(base + second),
                LookupStep(15),
                EntryStep(0),
                EntriesStep(),
                NameStep(base + first),
                BytesStep(),
                ReopenStep(),
                LOOK,
                SanityCheckStep(),
            )
            yield self._ask(base, steps=steps, max_index_size=4 * self._entry_bytes)

    def every_size(self) -> Iterator[Any]:
        """Yield up to 4 entries in files of each size up to 40 bytes, then a second opening with another size."""
        for size, count, again in product(range(-1, 41), range(5), (4, 30)):
            appended = tuple(self._append(number, number) for number in range(1, count + 1))
            steps = (
                LOOK,
                *appended,
                LOOK,
                BytesStep(),
                CloseStep(),
                BytesStep(),
                ReopenStep(again),
                LOOK,
                TrimStep(),
                BytesStep(),
            )
            yield self._ask(0, steps=steps, max_index_size=size)
        for size, resized in product((0, 8, 12, 24, 36), range(41)):
            steps = (
                *(self._append(number, number) for number in range(1, 4)),
                ResizeStep(resized), LOOK, LookupStep(2), EntryStep(2), EntriesStep(), BytesStep(), self._append(9, 9), LOOK,
                ResizeStep(60), self._append(9, 9), LOOK, BytesStep(), SanityCheckStep(), ResizeStep(60), TruncateToStep(2),
                LOOK,
            )  # fmt: skip
            yield self._ask(0, file=bytes(size).hex(), steps=(ResizeStep(36), TruncateStep(), *steps))

    def every_length(self) -> Iterator[Any]:
        """Yield files of each length up to 40 bytes, with and without the right to write, and what may be done with them."""
        whole = self._write([(number, number) for number in range(1, 6)])
        for length, writable in product(range(41), (True, False)):
            for steps in (
                (
                    LOOK,
                    SanityCheckStep(),
                    LookupStep(3),
                    self._append(9, 9),
                    BytesStep(),
                    TrimStep(),
                    SanityCheckStep(),
                    BytesStep(),
                ),
                (TruncateStep(), self._append(8, 8), self._append(9, 9), LOOK, BytesStep(), CloseStep(), BytesStep()),
                (ResizeStep(40), LOOK, SanityCheckStep(), self._append(9, 9), BytesStep(), ResetStep(), LOOK),
            ):
                yield self._ask(0, file=whole[:length].hex(), steps=steps, writable=writable)
        for size, writable in product((-1, 7, 12), (True, False)):
            yield self._ask(0, max_index_size=size, writable=writable, steps=(LOOK, BytesStep()))
            yield self._ask(0, max_index_size=size, writable=writable, lookups=(0,))

    def every_life(self) -> Iterator[Any]:
        """Yield every history of up to 3 of 14 steps on an index with two entries and room for two more."""
        base = 7
        alphabet: tuple[Any, ...] = (
            self._append(base + 9, base + 9),
            TruncateToStep(base + 4),
            TruncateStep(),
            ResetStep(),
            ResizeStep(self._entry_bytes),
            ResizeStep(5 * self._entry_bytes),
            TrimStep(),
            FlushStep(),
            CloseStep(),
            CloseHandlerStep(),
            RenameStep(".deleted"),
            DeleteStep(),
            ReopenStep(3 * self._entry_bytes),
            ReopenStep(2),
        )
        before = (self._append(base + 2, base + 2), self._append(base + 4, base + 4))
        after = (
            LOOK, BytesStep(), LookupStep(base + 3), EntryStep(1), EntriesStep(), SanityCheckStep(),
            self._append(base + 20, base + 20), LOOK, BytesStep(),
        )  # fmt: skip
        for steps in every_script(alphabet, 3):
            yield self._ask(base, steps=(*before, *steps, *after), max_index_size=4 * self._entry_bytes)

    def every_warm_section(self, own: Callable[[int], Any] | None = None) -> Iterator[Any]:
        """Yield files around the length of the section that is searched first, sound and with an entry out of order."""
        warm = 8192 // self._entry_bytes
        for count in (warm - 1, warm, warm + 1, warm + 2, 2 * warm, 2 * warm + 1, 3 * warm):
            first = max(count - 1 - warm, 0)
            slots = sorted({0, 1, first - 1, first, first + 1, count // 2, count - 2, count - 1} & set(range(count)))
            targets = sorted({target for slot in slots for target in range(2 * slot, 2 * slot + 5)} | {-1, 3 * count})
            steps: list[Any] = [LOOK, *map(LookupStep, targets)]
            if own is not None:
                steps += map(own, targets)
            patches = [(), *(((slot, key, key),) for slot in slots for key in (0, 2 * first + 1, 2 * count + 2))]
            for patch in patches:
                for truncated in (2 * first + 1, 2 * first + 2, count):
                    script = (*steps, TruncateToStep(truncated), LOOK)
                    yield self._ask(0, file=FilledFile(count, (2, 2), patch), steps=script)
