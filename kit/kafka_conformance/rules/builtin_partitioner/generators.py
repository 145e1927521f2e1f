"""Questions for ``builtin-partitioner``.

A draw matters by where it falls in the table that a load makes, so the strategy computes the same tables and draws from
both sides of each of their boundaries, with and without the sign bit; from 0, -1 and both ends of the ints; and from
anywhere. Appended bytes matter relative to the batch size and twice the batch size, so they are written as a multiple
of it and an offset.

One script in four has records alone, most of them as a producer without racks and load statistics sends them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, cycle, islice
from typing import Any

from hypothesis import strategies as st

from kafka_conformance.rules.builtin_partitioner.question import (
    AppendStep,
    BuiltInPartitionerQuestion,
    LoadStep,
    PeekStep,
    SendBytesStep,
)
from kafka_conformance.rules.common.clusters import clusters
from kafka_conformance.rules.common.scripts import spelled
from kafka_reference.java.int32 import INT_MAX, INT_MIN, int32
from kafka_reference.java.thread_local_random import mix32

__all__ = ["ALPHABET", "BATCH_SIZES", "LOADS", "NO_LOAD", "Appended", "Sent", "questions", "range_ends"]


# Loads. Ids and racks go by the place, so that a load is made from its sizes, a length and a turn.
_RACKS = ("a", "b", None, "a", "")
_SIZES: tuple[tuple[int, ...], ...] = (
    (0, 3, 1), (5, 0, 3, 0, 1), (0, 1), (1, 0, 0, 0), (0, 0, 0), (4, 4), (7,), (), tuple(range(200)), (1,) * 200,
    (INT_MAX, 0), (INT_MAX, INT_MAX, 0), (INT_MAX, 0, 0, 0, 0), (-1, -1, 0), (-5, -7), (INT_MIN, INT_MAX),
    (INT_MIN, 0, 0), (0, INT_MIN, 1), (2**30, 0, 2**30, 0), (INT_MAX, 1, 1), (INT_MAX - 1, 0),
    (INT_MAX - 1, INT_MIN), (INT_MAX - 1, 0, 0, INT_MAX - 1),
)  # fmt: skip
NO_LOAD = LoadStep(None)


def _load(sizes: Sequence[int], length: int, turn: int) -> LoadStep:
    count = len(sizes)
    ids = (range(count), range(10, 10 + 2 * count, 2), range(count)[::-1])[turn % 3]
    racks = None if turn % 11 == 5 else tuple(islice(cycle(_RACKS), turn, turn + count))
    return LoadStep(tuple(sizes), tuple(ids), racks, length)


def _lengths(count: int) -> tuple[int, ...]:
    return (count, count, count - 1, 1, 0, -1, count + 1)


LOADS = tuple(
    _load(sizes, length, turn + 1)
    for turn, (sizes, which) in enumerate((sizes, which) for sizes in _SIZES for which in range(7))
    for length in [_lengths(len(sizes))[which]]
)
_QUEUES = (0, 1, 2, 3, 5, 9, 0, 1, 2, 100, -1, INT_MAX, INT_MIN, 2**30, INT_MAX - 1)


def _spelled_load(letters: bytes) -> LoadStep:
    """Return the load that these bytes select: the first one its length and turn, each other one a queue size."""
    sizes = [_QUEUES[letter % len(_QUEUES)] for letter in letters[1:]]
    return _load(sizes, _lengths(len(sizes))[letters[0] % 7], letters[0] // 7)


_ANY_LOAD = st.one_of(st.sampled_from(LOADS), st.binary(min_size=1, max_size=9).map(_spelled_load))


@dataclass(frozen=True, slots=True)
class Appended:
    """An append of ``times``, which need not be whole, times the batch size and ``more`` bytes."""

    times: float
    more: int
    enable_switch: bool = True

    def step(self, batch_size: int) -> AppendStep | SendBytesStep:
        """Return the step for this batch size, in bytes."""
        return AppendStep(_bytes(self.times * batch_size + self.more), self.enable_switch)


@dataclass(frozen=True, slots=True)
class Sent(Appended):
    """A record of ``times`` times the batch size and ``more`` bytes."""

    def step(self, batch_size: int) -> AppendStep | SendBytesStep:
        """Return the step for this batch size, in bytes."""
        return SendBytesStep(_bytes(self.times * batch_size + self.more), self.enable_switch)


def _bytes(number: float) -> int:
    return min(max(int(number), INT_MIN), INT_MAX)


# A byte names one of these; the first are the simplest. Repeats are weights, and 0 stands for a load.
ALPHABET: tuple[Any, ...] = (
    PeekStep(), Appended(1, 0), Appended(1, 0, False), 0, Appended(1, -1), Appended(0, 1), Appended(2, 0, False), 0,
    Appended(1, 0), Appended(1, -1, False), Appended(0, 1, False), Appended(0, 0), Appended(2, -1, False), 0,
    Appended(1, 1), Appended(2, -1), Appended(2, 0), Appended(1, 0), 0, Appended(1, 1, False), Appended(1, 0),
    Appended(0, INT_MAX), Appended(0, INT_MAX, False), Appended(0, -1), Appended(0, INT_MIN, False), 0, NO_LOAD, 0,
    "leaderless", "one led", "half led", "all led", "empty", "reversed", "grown", "any",
    Sent(0.5, 1), Sent(1, 0), 0, Sent(1, -1), Sent(0, 1), 0, Sent(0.5, 1, False), Sent(2, 0, False), 0, Sent(0, 0), 0,
    Sent(2, 1), Sent(0, INT_MAX), 0, Sent(0, -1),
)  # fmt: skip
# Most are records that a client sends without a say in the switch. A letter means much the same as in ALPHABET.
RECORDS: tuple[Any, ...] = (
    Sent(0.5, 1), Sent(1, 0), Sent(0.6, 0), Sent(0.4, 1), Sent(1, -1), Sent(0, 1), Sent(2, 0), Sent(0.5, 1), Sent(1, 0),
    Sent(0.5, 0), Sent(0.25, 1), Sent(0.6, 0), Sent(0.9, 0), Sent(0.5, 1, False), Sent(1, 1), Sent(2.5, 0),
)  # fmt: skip
BATCH_SIZES = (1, 16384, 2, 3, 16384, 2**30, 2**30 - 1, 2**30 + 1, INT_MAX, 16384, 1, 100, 16384, 2, 7, 0, -1, INT_MIN)
_BATCH_SIZE = st.sampled_from(BATCH_SIZES)
_RACK = st.sampled_from(
    ((False, ""), (False, ""), (True, "a"), (False, "a"), (True, "b"), (True, ""), (True, "nowhere"), (True, "a"))
)
_ALPHABETS = st.sampled_from((ALPHABET, ALPHABET, ALPHABET, RECORDS))
_LETTERS = st.binary(min_size=1, max_size=12)
_CLUSTERS = clusters()


@st.composite
def questions(draw: st.DrawFn) -> BuiltInPartitionerQuestion:
    """Scripts, with as many draws as they can need."""
    cluster, batch_size, (rack_aware, rack) = draw(_CLUSTERS), draw(_BATCH_SIZE), draw(_RACK)
    alphabet = draw(_ALPHABETS)
    if alphabet is RECORDS:
        batch_size, rack_aware, rack = max(batch_size, 100), False, ""
    steps = tuple(_step(draw, step, batch_size) for step in spelled(draw, cluster, alphabet, _LETTERS))
    places = _places(steps, rack)
    draws = tuple(_drawn(letter, places) for letter in draw(_letters_of(_needed(steps))))
    return BuiltInPartitionerQuestion(batch_size, cluster, draws, steps, rack_aware, rack)


def _step(draw: st.DrawFn, step: Any, batch_size: int) -> Any:
    if isinstance(step, Appended):
        return step.step(batch_size)
    return draw(_ANY_LOAD) if step == 0 else step


def _needed(steps: Sequence[Any]) -> int:
    """Return a sufficient number of draws: one for each peek and report, one more for the peek of the first report."""
    reports = sum(isinstance(step, AppendStep | SendBytesStep) for step in steps)
    return reports + bool(reports) + sum(isinstance(step, PeekStep) for step in steps)


@lru_cache
def _letters_of(count: int) -> st.SearchStrategy[bytes]:
    return st.binary(min_size=count, max_size=count)


def _drawn(letter: int, places: Sequence[int]) -> int:
    return places[letter % len(places)] if letter < 208 else mix32(letter * 97)


def _places(steps: Sequence[Any], rack: str) -> list[int]:
    """Return draws on both sides of every boundary of every table, except the middle of long ones; and edge ints."""
    found = [0]
    for step in steps:
        if isinstance(step, LoadStep) and step.queue_sizes and step.length > 0:
            sizes = step.queue_sizes[: step.length]
            mine = [size for size, its_rack in zip(sizes, step.racks or (), strict=False) if its_rack == rack]
            for table in (range_ends(sizes), range_ends(mine)):
                for end in (*table[:4], *table[-4:]):
                    found += (int32(end - 1), end, int32(end - 1 + INT_MIN))
    return [*found, -1, INT_MAX, INT_MIN]


def range_ends(sizes: Sequence[int]) -> list[int]:
    """Return the cumulative table that a load of these queue sizes makes."""
    return [int32(total) for total in accumulate(max(sizes) + 1 - size for size in sizes)] if sizes else []
