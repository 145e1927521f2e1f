"""Hypothesis strategies for the indexes of a segment: histories spelled by a string of bytes.

The first bytes choose the base offset, the size of the file, and the file that is opened, if any. Every other byte names a
step, or none (byte 0), so that a history shrinks step by step. A step depends on a model that assumes that every append
succeeds: the last offset and the last key (a position or a timestamp).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from hypothesis import strategies as st

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

__all__ = ["IndexGenerator", "IndexModel", "Symbol"]

_HEAD = 4
_BASES = (0, 50, 2**31 - 1, 2**40, -3, 1)
_SLOTS = (4, 2, 8, 16, 1, 3, 5, 0)
_LOOK, _BYTES = LookStep(), BytesStep()


@dataclass(slots=True)
class IndexModel:
    """The index, assuming that every append succeeds."""

    base: int
    entry_bytes: int
    offset: int = 0
    key: int = 0
    count: int = 0

    def advance(self, offsets: int, keys: int) -> tuple[int, int]:
        """Add to the last offset and the last key; return both, the offset with the base offset."""
        self.offset, self.key, self.count = self.offset + offsets, self.key + keys, self.count + 1
        return self.base + self.offset, self.key


Symbol: TypeAlias = Callable[[IndexModel], Any]
"""Makes a step, a tuple of steps, or None."""


class IndexGenerator:
    """The strategy of one index.

    ``ask`` makes its question and ``write`` a file; ``append`` makes a step from a key and an offset, ``own`` are further
    symbols, and ``looked_up`` returns what is looked up for a key: the offset or the key.
    """

    def __init__(
        self,
        ask: Callable[..., Any],
        write: Callable[[Sequence[tuple[int, int]]], bytes],
        append: Callable[[int, int], Any],
        own: Sequence[Symbol],
        entry_bytes: int,
        *,
        by_offset: bool,
    ) -> None:
        self._ask, self._append, self._entry_bytes, self._by_offset = ask, append, entry_bytes, by_offset
        self._files = _files(write, entry_bytes)
        self._alphabet = (
            None,
            *self._appends(),
            *self._lookups(),
            *self._sizes(),
            *_lives(),
            *own,
            *self._appends() * 2,
        )

    def strategy(self) -> st.SearchStrategy[Any]:
        """Return a strategy for histories of up to 40 steps."""
        return st.one_of(
            st.binary(max_size=14), st.binary(min_size=16, max_size=30), st.binary(min_size=30, max_size=44)
        ).map(self.spell)

    def spell(self, spelling: bytes) -> Any:
        """Return the question that these bytes spell; missing ones count as zeros."""
        head = spelling[:_HEAD].ljust(_HEAD, b"\0")
        model = IndexModel(_BASES[head[0] % len(_BASES)], self._entry_bytes)
        size = _SLOTS[head[1] % len(_SLOTS)] * self._entry_bytes + head[1] // 64
        file = self._files[head[2] % len(self._files)]
        if file is not None:
            model.offset = model.key = 9
        if head[3] % 8 == 7:
            return self._short_form(model, size, spelling[_HEAD:])
        steps: list[Any] = []
        for byte in spelling[_HEAD:]:
            symbol = self._alphabet[byte % len(self._alphabet)]
            made = symbol(model) if symbol is not None else ()
            steps += made if isinstance(made, tuple) else (made,)
        return self._ask(
            model.base, steps=(*steps, _LOOK, _BYTES), max_index_size=size, file=file, writable=head[3] % 8 != 6
        )

    def _short_form(self, model: IndexModel, size: int, spelling: bytes) -> Any:
        entries = [model.advance(byte % 7, byte % 5 * 100) for byte in spelling[::2]]
        lookups = [model.base + byte % 40 if self._by_offset else byte % 16 * 100 - 50 for byte in spelling[1::2]]
        pairs = tuple((offset, key) if self._by_offset else (key, offset) for offset, key in entries)
        return self._ask(model.base, pairs, tuple(lookups), max_index_size=size + 4 * self._entry_bytes)

    def _appends(self) -> tuple[Symbol, ...]:
        def append(offsets: int, keys: int) -> Symbol:
            def step(model: IndexModel) -> Any:
                offset, key = model.advance(offsets, keys)
                return self._append(key, offset)

            return step

        def beside(offset: int, key: int) -> Symbol:
            return lambda model: self._append(model.key + key, model.base + offset)

        return (
            *(append(1, 10), append(2, 1), append(5, 100), append(1, 0), append(0, 5), append(-1, 3), append(3, -2)),
            *(append(0, 0), append(1000, 4096), beside(0, 1), beside(-1, 2), beside(2**31 - 1, 3), beside(2**31, 4)),
            *(beside(2**32 + 1, 5), beside(-(2**33), 6)),
        )

    def _lookups(self) -> tuple[Symbol, ...]:
        def lookup(more: int) -> Symbol:
            def step(model: IndexModel) -> Any:
                return LookupStep(model.base + model.offset + more if self._by_offset else model.key + more)

            return step

        def at_offset(kind: Callable[[int], Any], more: int) -> Symbol:
            return lambda model: kind(model.base + model.offset + more)

        def entry(back: int) -> Symbol:
            return lambda model: EntryStep(model.count - back)

        return (
            *map(lookup, (0, 1, -1, -2, -5, -10, -100, 2**40)),
            *(at_offset(TruncateToStep, more) for more in (0, 1, -1, -2, -7, -1000)),
            *(at_offset(CanAppendStep, more) for more in (0, 2**31, -(2**20))),
            *(at_offset(RelativeStep, more) for more in (0, 2**31, -(2**20))),
            *map(entry, (0, 1, 2, 3)),
            lambda _: EntryStep(-1),
            lambda _: LookupStep(-5),
            at_offset(NameStep, 0),
            _fixed(EntriesStep()),
        )

    def _sizes(self) -> tuple[Symbol, ...]:
        def resize(slots: int, more: int = 0) -> Symbol:
            return lambda model: ResizeStep(max(slots * model.entry_bytes + more, 0))

        def cut(slots: int) -> Symbol:
            return lambda model: ResizeStep(max(model.count - slots, 0) * model.entry_bytes)

        return (
            *(resize(4), resize(5, 3), resize(0), resize(1), resize(2), resize(100), cut(1), cut(0), cut(-1), cut(2)),
            *(
                _fixed(step)
                for step in (TrimStep(), ResetStep(), TruncateStep(), _LOOK, _LOOK, _BYTES, SanityCheckStep())
            ),
        )


def _fixed(*steps: Any) -> Symbol:
    return lambda _: steps


def _lives() -> tuple[Symbol, ...]:
    return (
        _fixed(FlushStep()), _fixed(CloseStep()), _fixed(CloseStep(), _BYTES, ReopenStep()), _fixed(CloseHandlerStep()),
        _fixed(ReopenStep()), _fixed(ReopenStep(), SanityCheckStep()), _fixed(ReopenStep(3)), _fixed(DeleteStep()),
        _fixed(DeleteStep(), ReopenStep(40)), _fixed(DeleteStep(), ReopenStep(5)), _fixed(RenameStep(".deleted")),
        _fixed(RenameStep("")), _fixed(RenameStep(".swap")), _fixed(TrimStep(), ReopenStep(), ResizeStep(64)),
        _fixed(ReopenStep(24), TruncateStep()),
    )  # fmt: skip


def _files(
    write: Callable[[Sequence[tuple[int, int]]], bytes], entry_bytes: int
) -> tuple[str | FilledFile | None, ...]:  # fmt: skip
    """Return files that are sound, then damaged ones; None, in most cases, stands for no file."""
    sound = write([(number, number) for number in (1, 3, 5, 7, 9)])
    small = [
        sound, sound[: 2 * entry_bytes], sound[:-3], sound[: entry_bytes + 5], sound[:1], b"",
        sound + bytes(3 * entry_bytes),
        bytes(2 * entry_bytes), write([(5, 5), (3, 3), (9, 9), (1, 1)]), write([(5, 5), (5, 5), (5, 5)]),
        write([(9, 9), (7, 7), (5, 5)]), write([(-1, -1), (2, 2)]), write([(3, 3), (-2, -2)]),
        write([(1, 9), (2, 7), (3, 8)]),
        write([(2**31 - 1, 2**31 - 1)]), write([(0, 0)]), write([(-(2**31), -(2**31)), (4, 4)]),
    ]  # fmt: skip
    warm = 8192 // entry_bytes
    long = [FilledFile(warm + 3, (2, 2)), FilledFile(warm + 3, (2, 2), ((2, 9000, 9000),))]
    return (*(None,) * 20, *(file.hex() for file in small), *long)
