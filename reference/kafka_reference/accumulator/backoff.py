"""How long a batch waits before it is sent again, after an attempt that failed.

Since 3.7.0 (KIP-580) the back-off doubles with every further attempt, up to ``retry.backoff.max.ms``, and has a random
jitter of 80 % to 120 %::

    initial = min(max, first)          exponent = min(attempts, log2(max / first))
    back-off = min(max, int(initial * 2 ** exponent * uniform(0.8, 1.2)))

With ``max <= first`` it is ``initial``, and nothing is drawn. Otherwise every call draws again. For a batch that backs off,
``ready`` makes two calls: one decides whether it backs off, the other for how long.

Up to 3.6.x the back-off is ``retry.backoff.ms``.

A ``nextDouble`` of ThreadLocalRandom is two int32 draws, of which the first gives 26 bits and the second 27.

Java source mirrored: ``ExponentialBackoff.backoff``, since 3.7.0; ``ThreadLocalRandom.nextDouble``, JDK 17 and 21.
"""

from __future__ import annotations

import math

from kafka_reference.java.thread_local_random import GAMMA, DrawSource, ListedDraws, mix32, next_double, seed_for

__all__ = ["Backoff", "StepDraws"]

_BASE, _JITTER = 2, 0.2


class StepDraws:
    """The random draws of a script: the first draw of each step is listed, and the rest of the step follows from it.

    That is what a ThreadLocalRandom draws if it is seeded before every step so that the listed draw comes next. ``used``
    counts the draws.
    """

    def __init__(self, draws: tuple[int, ...] = ()) -> None:
        self._listed = ListedDraws(draws)
        self._state: int | None = None
        self.used = 0

    def begin_step(self) -> None:
        """Make the next draw a listed one."""
        self._state = None

    def next(self) -> int:
        """Return the next draw, an int32. Raises DrawsExhausted."""
        self.used += 1
        if self._state is None:
            draw = self._listed.next()
            self._state = seed_for(draw) + GAMMA
            return draw
        self._state += GAMMA
        return mix32(self._state)


class Backoff:
    """The back-off of a configuration, in ms; ``draws`` gives the jitter of an ``exponential`` one."""

    def __init__(self, first_ms: int, max_ms: int, draws: DrawSource, *, exponential: bool) -> None:
        self._initial = min(first_ms, max_ms) if exponential else first_ms
        self._max_ms, self._draws = max_ms, draws
        grows = exponential and max_ms > first_ms
        self._most = math.log(max_ms / max(first_ms, 1)) / math.log(_BASE) if grows else 0.0

    def after(self, attempts: int) -> int:
        """Return the ms to wait after this number of further attempts, from 0. Mirrors ``ExponentialBackoff.backoff``."""
        if self._most == 0:
            return self._initial
        term = self._initial * math.pow(_BASE, min(attempts, self._most))
        low, high = 1 - _JITTER, 1 + _JITTER
        factor = next_double(self._draws) * (high - low) + low
        factor = math.nextafter(high, 0.0) if factor >= high else factor
        return min(int(factor * term), self._max_ms)
