"""The Hypothesis strategy of ``log-segment``: histories spelled by a string of bytes.

The first bytes choose the settings of the segment, and the first timestamp; every other byte names a step, or none (byte 0),
so that a history shrinks step by step. Steps depend on a model that assumes that every append succeeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from hypothesis import strategies as st

from kafka_conformance.rules.log_segment.question import (
    AppendStep,
    CrashStep,
    DamageStep,
    FindStep,
    InactiveStep,
    LogSegmentQuestion,
    LookStep,
    NewBatch,
    NextOffsetStep,
    ReadStep,
    RecoverStep,
    ReopenStep,
    ResizeStep,
    ShouldRollStep,
    TranslateStep,
    TruncateStep,
)

__all__ = ["log_segments"]

_HEAD = 11
_BASES = (0, 50, 2**31 - 1, 2**40)
_TIMES = (1000, 1_732_787_654_321, 0, 2**31 - 5, 999, 1_000_000_000_007)
_INTERVALS = (100, 0, 200, 70, 4096, 139)
_INDEX_SIZES = (1024, 96, 24, 40, 12, 36)
_LARGE = 512
_LIMITS = ((1000, 1000, 0), (400, 50, 10), (1000, 20, 0), (0, 0, 0), (300, 1000, 999))


@dataclass(slots=True)
class _Model:
    """The segment, assuming that every append succeeds."""

    base: int
    large_index: bool
    next: int = 0
    time: int = 1000
    batches: int = 0
    truncated: bool = False
    """Whether bytes of entries may stand behind those that the indexes count."""
    recoverable: bool = True
    """Whether a recovery succeeds: the offsets ascend, and no step fails halfway."""

    def batch(self, count: int, times: tuple[int, ...], value: int, gap: int = 0) -> NewBatch:
        """Return a batch with ``count`` records, whose timestamps go by these steps in turn."""
        stamps = []
        for number in range(count):
            self.time = max(self.time + times[number % len(times)], -1)
            stamps.append(self.time)
        offset = self.base + self.next + gap
        self.next += gap + count
        self.batches += 1
        return NewBatch(offset, tuple(stamps), value)


_Symbol: TypeAlias = Callable[[_Model], Any]


def _append(*shapes: tuple[int, tuple[int, ...], int, int]) -> _Symbol:
    return lambda model: AppendStep(tuple(model.batch(*shape) for shape in shapes))


def _lead(*shape: Any) -> _Symbol:
    return lambda model: AppendStep((model.batch(*shape),), leader=True)


def _far(offset: int) -> _Symbol:
    def step(model: _Model) -> Any:
        model.recoverable = False
        return AppendStep((NewBatch(max(model.base + offset, 0), (model.time,), 0),))

    return step


def _without_time(model: _Model) -> Any:
    offset = model.base + model.next
    model.next += 1
    return AppendStep((NewBatch(offset, (-1,), 9),))


def _emptied(model: _Model) -> Any:
    """Return steps that empty the segment, and append a record without a timestamp to it."""
    now, model.next, model.truncated = model.time + 7, 1, True
    append = AppendStep((NewBatch(model.base, (-1,), 0),))
    return (
        TruncateStep(0, now),
        append,
        *(ShouldRollStep(0, 0, model.base + 1, now + ms) for ms in (20, 21, 900, 1001)),
    )


def _at(make: Callable[[int], Any], back: int) -> _Symbol:
    return lambda model: make(max(model.base + model.next - back, 0))


def _read(back: int, size: int, position: int | None = None, one: bool = False) -> _Symbol:
    return _at(lambda offset: ReadStep(offset, size, position, one), back)


def _truncate(back: int) -> _Symbol:
    def step(model: _Model) -> Any:
        offset = model.base + model.next - back
        model.next = max(min(model.next, model.next - back), 0)
        model.truncated = True
        return TruncateStep(max(offset, 0), model.time + 7)

    return step


def _roll(size: int, ms: int, offset: int, now: int) -> _Symbol:
    return lambda model: ShouldRollStep(size, max(model.time + ms, -1), model.base + model.next + offset, now)


def _find(ms: int, back: int) -> _Symbol:
    return lambda model: FindStep(max(model.time + ms, -1), max(model.base + model.next - back, 0))


def _resized(model: _Model) -> Any:
    model.recoverable = False
    return ResizeStep(48)


def _crash(cut: int) -> _Symbol:
    """Return a crash; none where the recovery may fail, which leaves a cut batch before those that follow."""
    return lambda model: CrashStep(cut) if model.large_index and model.recoverable else LookStep()


def _damage(back: int) -> _Symbol:
    return lambda model: DamageStep(max(model.batches - back, 0))


def _fixed(*steps: Any) -> _Symbol:
    return lambda _: steps


def _reopen(*then: Any) -> _Symbol:
    """Return steps that reopen the segment: a truncated one is finished first.

    4.4.0 does not trim the indexes of a segment that is only closed, and entries of removed batches would point between
    batches.
    """

    def steps(model: _Model) -> Any:
        finish = (InactiveStep(),) if model.truncated else ()
        model.truncated = False
        return (*finish, ReopenStep(), *then)

    return steps


_ONE, _UP = (1, (10,), 0, 0), (10,)
_APPENDS: tuple[_Symbol, ...] = (
    _append(_ONE), _append((3, (5, -2), 20, 0)), _append((1, (-30,), 0, 0)), _append((2, (0,), 50, 0)),
    _append((1, _UP, 100, 4)), _append(_ONE, _ONE), _append((2, _UP, 5, 0), (1, (-40,), 80, 0), (1, (60,), 0, 3)),
    _append((1, (30,), 90, 0), (4, (-7,), 30, 1)), _append(_ONE, _ONE, _ONE, _ONE, _ONE), _append(), _without_time,
    _lead(3, (5, -2), 20), _lead(4, (-7,), 33, 2), _lead(2, (0,), 50), _lead(5, (3, -1, 1009, -2000, 17), 0),
    _append((3, (86_400_007, -1, -99), 1234, 0)), _append((1, (-1_234_567,), 777, 0)),
)  # fmt: skip
_READS: tuple[_Symbol, ...] = (
    *(_read(back, 2**20) for back in (0, 1, 2, 4, 7, 1000)), _read(2, 0), _read(2, 0, None, True), _read(3, 10),
    _read(3, 10, None, True), _read(5, 150), _read(5, 2**31 - 1, 100), _read(1, 300, 0), _read(1000, 300, 90, True),
    _read(1, -1), _read(1000, 60, 10**6), *(_at(TranslateStep, back) for back in (0, 1, 2, 3, 5, 8, 1000)),
    _find(0, 1000), _find(-10, 1000), _find(-30, 2), _find(-100, 0), _find(1, 1000), _find(-(10**9), 4), _find(-5, 3),
    _fixed(NextOffsetStep()),
)  # fmt: skip
_OTHERS: tuple[_Symbol, ...] = (
    _roll(0, 0, 0, 2000), _roll(600, 10, 1, 990), _roll(100, 40, 2, 2**40), _roll(0, -500, 2**31, 0), _roll(10, 2000, 0, 0),
    _roll(1, 5, -(2**20), 1001),
    *map(_truncate, (0, 1, 2, 4, 1000, -3)), _fixed(RecoverStep(), LookStep()), _fixed(RecoverStep()),
    *map(_crash, (0, 1, 60, 75, 150, 2**20)), *map(_damage, (1, 2, 5)),
    _fixed(InactiveStep()), _fixed(InactiveStep(), ReopenStep()), _reopen(), _reopen(ResizeStep(1024)), _emptied,
    _resized, _fixed(LookStep()), _far(2**31), _far(2**31 - 1), _far(-40), _far(2**32 + 1),
)  # fmt: skip
_ALPHABET: tuple[_Symbol | None, ...] = (None, *_APPENDS, *_READS, *_OTHERS, *_APPENDS * 3)


def log_segments() -> st.SearchStrategy[LogSegmentQuestion]:
    """Return a strategy for histories of up to 40 steps."""
    return st.one_of(
        st.binary(max_size=14), st.binary(min_size=14, max_size=28), st.binary(min_size=26, max_size=44)
    ).map(_spell)


def _spell(spelling: bytes) -> LogSegmentQuestion:
    head = spelling[:_HEAD].ljust(_HEAD, b"\0")
    size = _INDEX_SIZES[head[1] % 8 % len(_INDEX_SIZES)]
    model = _Model(_number(_BASES, head[0], head[5], 51), size >= _LARGE, time=_number(_TIMES, head[6], head[7], 51))
    steps: list[Any] = []
    for byte in spelling[_HEAD:]:
        symbol = _ALPHABET[byte % len(_ALPHABET)]
        made = symbol(model) if symbol is not None else ()
        steps += made if isinstance(made, tuple) else (made,)
    segment_bytes, segment_ms, jitter = _LIMITS[head[3] % len(_LIMITS)]
    return LogSegmentQuestion(
        (*steps, LookStep()),
        base_offset=model.base,
        index_interval_bytes=_number(_INTERVALS, head[2], head[8], 12),
        max_index_size=size,
        segment_bytes=segment_bytes + head[9],
        segment_ms=segment_ms + head[10],
        jitter_ms=jitter,
        created_ms=_number((0, 990, 10**6), head[4], head[9], 45),
    )


def _number(usual: Sequence[int], choice: int, digits: int, bits: int) -> int:
    """Return one of the usual numbers, or in a quarter of the cases any number of up to ``bits`` bits."""
    if choice < 192:
        return usual[choice % len(usual)]
    top = 1 << (choice * 7 + digits) % bits
    return top | digits * 0x9E3779B97F4A7C15 % top
