"""Randomness as data: the draws a rule consumes, one after another, given by whoever asks.

Every random choice of Kafka's producer is a ``ThreadLocalRandom.current().nextInt()``, an int32. A question holds its
draws in one of two forms:

- a list of int32: draw 1, draw 2, … Asking for one more than there is raises, so that no rule ever falls back on a
  randomness of its own;
- a seed: draw k, counted from 1, is ``mix32(seed + k * GAMMA)`` modulo 2^64. That is what a ``ThreadLocalRandom`` draws
  on a thread whose id is 0 and whose seed was set, so Java draws the same without being changed.

``mix32`` inverts: :func:`seed_for` gives a seed whose first draw is the one wanted.

Java source mirrored: ``java.util.concurrent.ThreadLocalRandom.nextInt()`` and ``mix32``, JDK 17 and 21.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from kafka_reference.errors import DrawsExhausted

__all__ = ["GAMMA", "DrawSource", "ListedDraws", "SeededDraws", "mix32", "seed_for"]

GAMMA = 0x9E3779B97F4A7C15
MASK64 = 0xFFFFFFFFFFFFFFFF
_MIX1 = 0xFF51AFD7ED558CCD
_MIX2 = 0xC4CEB9FE1A85EC53
_UNMIX1 = pow(_MIX1, -1, 1 << 64)
_UNMIX2 = pow(_MIX2, -1, 1 << 64)


class DrawSource(Protocol):
    """Where draws come from. ``used`` counts those taken so far."""

    used: int

    def next(self) -> int:
        """The next draw, an int32."""
        ...


class ListedDraws:
    """Draws given one by one, each an int32; raises DrawsExhausted when one more is asked for."""

    def __init__(self, draws: Iterable[int] = ()) -> None:
        self._draws = tuple(draws)
        self.used = 0

    def next(self) -> int:
        """The next draw, an int32."""
        if self.used == len(self._draws):
            raise DrawsExhausted(
                f"the question holds {self.used} draws and the rule asks for one more: add draws to it"
            )
        self.used += 1
        return self._draws[self.used - 1]


class SeededDraws:
    """Draws from a seed, an int64: draw k is ``mix32(seed + k * GAMMA)``."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.used = 0

    def next(self) -> int:
        """The next draw, an int32."""
        self.used += 1
        return mix32(self._seed + self.used * GAMMA)


def mix32(z: int) -> int:
    """``ThreadLocalRandom.mix32``: 64 bits of state to one int32. ``z`` is taken modulo 2^64."""
    z &= MASK64
    z = (z ^ z >> 33) * _MIX1 & MASK64
    z = ((z ^ z >> 33) * _MIX2 & MASK64) >> 32
    return z - (1 << 32) if z >> 31 else z


def seed_for(draw: int) -> int:
    """A seed, as an int64, whose first draw is ``draw``, an int32."""
    z = (draw & 0xFFFFFFFF) << 32
    z = z * _UNMIX2 & MASK64
    z = (z ^ z >> 33) * _UNMIX1 & MASK64
    z = (z ^ z >> 33) - GAMMA & MASK64
    return z - (1 << 64) if z >> 63 else z
