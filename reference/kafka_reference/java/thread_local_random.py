"""Randomness as data: the question carries the random draws that a rule uses, one after the other.

Every random choice of Kafka's producer is a ``ThreadLocalRandom.current().nextInt()``, an int32. A question holds its
draws in one of two forms:

- a list of int32: draw 1, draw 2, … A draw beyond the end of the list raises DrawsExhausted, so that no rule falls back on
  other randomness;
- a seed: draw k, counted from 1, is ``mix32(seed + k * GAMMA)`` modulo 2^64. That is what an unchanged
  ``ThreadLocalRandom`` draws on a thread whose id is 0 and whose seed was set.

A caller that gives no draws gets those of a random seed (:func:`draw_source`).

``mix32`` can be inverted: :func:`seed_for` returns a seed with a given first draw.

Java source mirrored: ``java.util.concurrent.ThreadLocalRandom.nextInt()`` and ``mix32``, JDK 17 and 21.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Protocol, TypeAlias

from kafka_reference.arguments import INT32, SEED, checked
from kafka_reference.errors import DrawsExhausted
from kafka_reference.java.int32 import int32

__all__ = [
    "GAMMA",
    "DrawSource",
    "Draws",
    "ListedDraws",
    "SeededDraws",
    "draw_source",
    "mix32",
    "next_double",
    "seed_for",
]

GAMMA = 0x9E3779B97F4A7C15
MASK64 = 0xFFFFFFFFFFFFFFFF
_MIX1 = 0xFF51AFD7ED558CCD
_MIX2 = 0xC4CEB9FE1A85EC53
_UNMIX1 = pow(_MIX1, -1, 1 << 64)
_UNMIX2 = pow(_MIX2, -1, 1 << 64)


class DrawSource(Protocol):
    """A source of draws; ``used`` counts those taken so far."""

    used: int

    def next(self) -> int:
        """Return the next draw, an int32."""
        ...


Draws: TypeAlias = "DrawSource | Iterable[int] | None"
"""A source of draws, or a list of int32 to draw one after the other, or None for random ones."""


@checked(draws=INT32)
class ListedDraws:
    """Draws from a list of int32. Raises DrawsExhausted when the list is used up."""

    def __init__(self, draws: Iterable[int] = ()) -> None:
        self._draws = tuple(draws)
        self.used = 0

    def next(self) -> int:
        """Return the next draw, an int32."""
        if self.used == len(self._draws):
            raise DrawsExhausted(
                f"the question holds {self.used} draws and the rule asks for one more: add draws to it"
            )
        self.used += 1
        return self._draws[self.used - 1]


@checked(seed=SEED)
class SeededDraws:
    """Draws from a seed, an int64: draw k is ``mix32(seed + k * GAMMA)``."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.used = 0

    def next(self) -> int:
        """Return the next draw, an int32."""
        self.used += 1
        return mix32(self._seed + self.used * GAMMA)


def draw_source(draws: Draws) -> DrawSource:
    """Return the source that ``draws`` stands for; None is a random seed, taken from Python's ``random``.

    >>> draw_source([7, -1]).next()
    7
    """
    if draws is None:  # unreached: questions have their draws
        return SeededDraws(random.getrandbits(64))
    return ListedDraws(draws) if isinstance(draws, Iterable) else draws


def next_double(draws: DrawSource) -> float:
    """Return the next draw as a double, 0 included, 1 excluded: 26 bits of one int32 and 27 bits of another."""
    high, low = (draws.next() & 0xFFFFFFFF) >> 6, (draws.next() & 0xFFFFFFFF) >> 5
    return ((high << 27) + low) * 2.0**-53


def mix32(z: int) -> int:
    """Return the int32 that ``ThreadLocalRandom.mix32`` makes of 64 bits of state; ``z`` is taken modulo 2^64."""
    z &= MASK64
    z = (z ^ z >> 33) * _MIX1 & MASK64
    z = ((z ^ z >> 33) * _MIX2 & MASK64) >> 32
    return int32(z)


def seed_for(draw: int) -> int:
    """Return a seed, an int64, whose first draw is ``draw``, an int32."""
    z = (draw & 0xFFFFFFFF) << 32
    z = z * _UNMIX2 & MASK64
    z = (z ^ z >> 33) * _UNMIX1 & MASK64
    z = (z ^ z >> 33) - GAMMA & MASK64
    return z - (1 << 64) if z >> 63 else z
