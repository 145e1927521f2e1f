"""Contestants take turns, so that what else the machine does falls on all of them alike; medians of several rounds."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping

__all__ = ["in_turns"]


def in_turns(contestants: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The median of each over the rounds; a round before the first is thrown away."""
    seen: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds + 1):
        for name, run in contestants.items():
            measured = run()
            if number:
                seen[name].append(measured)
    return {name: statistics.median(values) for name, values in seen.items()}
