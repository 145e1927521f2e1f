"""Which measures grow from round to round, and which only vary.

A leak grows by about the same amount in every round, and does not stop. So a measure grows if three things hold after the
warm-up: its slope (Theil-Sen: the median of the slopes of all pairs of rounds, which outliers do not move) is above 0 with a
confidence of 99 %; over all rounds it adds more than the measure's tolerance; and the second half grows still, since a
cache that fills slows down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["LEAST_ROUNDS", "MEASURES", "Growth", "Measure", "find_growth", "warm_up"]

LEAST_ROUNDS = 8
"""Rounds after the warm-up without which nothing is judged."""

_CONFIDENCE = 0.99
_WARM_UP_SHARE, _LEAST_WARM_UP = 0.2, 3
# The second half of a leak grows as fast as the first, of a cache that is nearly full much slower.
_STILL_GROWS = 1 / 3
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Measure:
    """What is measured after each round: its name, its unit, and the growth over all rounds that is tolerated."""

    name: str
    unit: str
    tolerance: float


MEASURES = tuple(
    Measure(name, unit, tolerance)
    for name, unit, tolerance in (
        ("JVM heap", "MiB", 2),
        ("JVM metaspace", "MiB", 2),
        ("JVM resident memory", "MiB", 48),
        ("JVM threads", "", 2),
        ("JVM loaded classes", "", 200),
        ("JVM class loaders of releases", "", 1),
        ("JVM shutdown hooks", "", 1),
        ("JVM MBeans", "", 2),
        ("JVM direct buffers", "", 3),
        ("JVM mapped buffers", "", 3),
        ("JVM descriptors", "", 3),
        ("py4j bindings", "", 3),
        ("Python resident memory", "MiB", 24),
        ("Python memory blocks", "", 20_000),
        ("Python threads", "", 2),
        ("Python descriptors", "", 3),
        ("child processes", "", 1),
        ("temporary files", "", 2),
        ("temporary bytes", "MiB", 1),
    )
)  # fmt: skip
"""Every measure that decides. Memory is in MiB, the others are counts."""


@dataclass(frozen=True, slots=True)
class Growth:
    """A judged measure: its first and last value, the slope per round and its 99 % interval, and whether it grows."""

    measure: Measure
    first: float
    last: float
    slope: float
    low: float
    high: float
    grows: bool


def warm_up(rounds: int) -> int:
    """Return how many of the first rounds are left out: a fifth, and at least three."""
    return max(_LEAST_WARM_UP, round(rounds * _WARM_UP_SHARE))


def find_growth(measure: Measure, values: Sequence[float]) -> Growth:
    """Judge the values of a measure, one for each round after the warm-up. Raises ValueError if there are too few."""
    if len(values) < LEAST_ROUNDS:
        raise ValueError(f"{len(values)} rounds of {measure.name}: at least {LEAST_ROUNDS} are needed")
    # Imported only here: it takes two seconds of every process that collects the tests.
    from scipy.stats import theilslopes

    slope, _, low, high = (float(number) for number in theilslopes(values, alpha=_CONFIDENCE))
    late = float(theilslopes(values[len(values) // 2 :])[0])
    grows = low * (len(values) - 1) > measure.tolerance and late >= slope * _STILL_GROWS
    return Growth(measure, values[0], values[-1], slope, low, high, grows)
