"""Compute the ticks of an axis: positions as percentages of its length, with labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from kafka_conformance.audit.reports.formatting import since_1970

__all__ = ["count_ticks", "partition_ticks", "short", "time_ticks"]

_MARKS = 6
_SECOND, _DAY = 1_000, 86_400_000
# Customary steps of time.
_STEPS_MS = [
    *(1, 10, 100),
    *(_SECOND * step for step in (1, 5, 15, 30, 60, 300, 900, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600)),
    *(_DAY * step for step in (1, 2, 7, 14, 28, 91, 182, 364)),
]


def time_ticks(begin_ms: int, length_ms: int) -> list[tuple[float, str]]:
    """Return ticks at whole seconds, hours or days of UTC, labelled as precisely as the step needs."""
    longest = _STEPS_MS[-1]
    step = next((step for step in _STEPS_MS if length_ms <= step * _MARKS), longest)
    if step == longest:
        step *= -(-length_ms // (longest * _MARKS))
    form = "%Y-%m-%d" if step >= _DAY else "%m-%d %H:%M" if step >= 60 * _SECOND else "%H:%M:%S"
    marks = []
    for at_ms in range(-(-begin_ms // step) * step, begin_ms + length_ms + 1, step):
        when = since_1970(at_ms)
        text = f"{at_ms:,} ms" if when is None else when.strftime(form)
        marks.append((100 * (at_ms - begin_ms) / length_ms, text + (f".{at_ms % 1000:03}" if step < _SECOND else "")))
    return marks


def count_ticks(begin: int, length: int) -> list[tuple[float, str]]:
    """Return ticks at round numbers."""
    step = next(step for step in _round() if length <= step * _MARKS)
    marks = range(-(-begin // step) * step, begin + length + 1, step)
    return [(100 * (mark - begin) / length, short(mark) if step >= 100_000 else f"{mark:,}") for mark in marks]


def _round() -> Iterator[int]:
    """Yield 1, 2, 5, 10, 20, 50 and so on."""
    return (digit * 10**zeros for zeros in count() for digit in (1, 2, 5))


def partition_ticks(firsts: Sequence[int]) -> list[tuple[float, str]]:
    """Return ticks in the middle of columns, labelled with the first partition of each."""
    every = max(1, -(-len(firsts) // (2 * _MARKS)))
    width = 100 / max(1, len(firsts))
    return [(width * (number + 0.45), f"{firsts[number]:,}") for number in range(0, len(firsts), every)]


def short(number: int) -> str:
    """Return a number in few characters: from 100,000 on in thousands or millions."""
    if number < 100_000:
        return f"{number:,}"
    return f"{number / 1000:,.0f} k" if number < 10_000_000 else f"{number / 1_000_000:,.1f} M".replace(".0 M", " M")
