"""How long a batch that came back waits before it may be sent again.

To 3.6.x that is ``retry.backoff.ms``. Since 3.7.0 (KIP-580) it doubles with every further attempt, up to
``retry.backoff.max.ms``, and is spread by chance over 80 % to 120 % of itself::

    initial = min(max, first)          exponent = min(attempts, log2(max / first))
    back-off = min(max, int(initial * 2 ** exponent * uniform(0.8, 1.2)))

Without room to grow, ``max <= first``, it is ``initial``, and nothing is drawn. The chance is drawn anew every time the
back-off is asked for: a batch that backs off is asked once whether it does, and once for how long.

A ``nextDouble`` of ThreadLocalRandom is two int32 draws, of which the first gives 26 bits and the second 27.

Java source mirrored: ``ExponentialBackoff``, 3.7.0 to 4.4.0; ``ThreadLocalRandom.nextDouble``, JDK 17 and 21.
"""

from __future__ import annotations

import math

from kafka_reference.java.thread_local_random import GAMMA, ListedDraws, mix32, seed_for
from kafka_reference.releases import Release, parse_release, since

__all__ = ["EXPONENTIAL", "Backoff", "StepDraws"]

EXPONENTIAL = since("3.7.0")
_BASE, _JITTER = 2, 0.2


class StepDraws:
    """Draws for a script: the first of each step is listed, what else a step draws follows from it.

    That is what a ThreadLocalRandom draws if it is set before every step so that the listed draw comes next.
    """

    def __init__(self, draws: tuple[int, ...] = ()) -> None:
        self._listed = ListedDraws(draws)
        self._state: int | None = None
        self.used = 0

    def begin_step(self) -> None:
        """The next draw is a listed one."""
        self._state = None

    def next(self) -> int:
        """The next draw, an int32; raises DrawsExhausted."""
        self.used += 1
        if self._state is None:
            draw = self._listed.next()
            self._state = seed_for(draw) + GAMMA
            return draw
        self._state += GAMMA
        return mix32(self._state)

    def next_double(self) -> float:
        """From 0 up to but not including 1."""
        high, low = (self.next() & 0xFFFFFFFF) >> 6, (self.next() & 0xFFFFFFFF) >> 5
        return ((high << 27) + low) * 2.0**-53


class Backoff:
    """The back-off of a release and a configuration; ``draws`` is where the jitter comes from."""

    def __init__(self, version: str | Release, first_ms: int, max_ms: int, draws: StepDraws) -> None:
        grows = parse_release(version) in EXPONENTIAL
        self._initial = min(first_ms, max_ms) if grows else first_ms
        self._max_ms, self._draws = max_ms, draws
        self._most = math.log(max_ms / max(first_ms, 1)) / math.log(_BASE) if grows and max_ms > first_ms else 0.0

    def after(self, attempts: int) -> int:
        """Milliseconds to wait after so many further attempts, 0 for none. Mirrors ``ExponentialBackoff.backoff``."""
        if self._most == 0:
            return self._initial
        term = self._initial * math.pow(_BASE, min(attempts, self._most))
        low, high = 1 - _JITTER, 1 + _JITTER
        factor = self._draws.next_double() * (high - low) + low
        factor = math.nextafter(high, 0.0) if factor >= high else factor
        return min(int(factor * term), self._max_ms)
