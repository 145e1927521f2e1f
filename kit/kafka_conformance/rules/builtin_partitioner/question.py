"""The question of ``builtin-partitioner``, how such questions are made, and the small spaces that are asked whole.

A draw matters by where it falls in the table that a load makes, so the strategy makes the same tables and draws from
both sides of each of their boundaries, with and without the sign bit; from 0, -1 and both ends of the ints; and from
anywhere. Bytes matter by how near they come to the batch size and to twice that, so they are spelled as a multiple of
it and an offset.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, cycle, islice, product
from typing import Any

from hypothesis import strategies as st

from kafka_conformance.core.protocol import Int32, Question
from kafka_conformance.rules.common.clusters import AskedCluster, AskedNode, AskedPartition, clusters
from kafka_conformance.rules.common.scripts import SMALL_CLUSTERS, ClusterStep, every_script, spelled
from kafka_reference.java.thread_local_random import mix32

__all__ = [
    "AppendStep", "BuiltInPartitionerQuestion", "LoadStep", "PeekStep", "every_kind_of_load",
    "every_size", "every_small_script", "every_small_table",
    "every_table_of_racks", "int32", "questions",
]  # fmt: skip

_MAX, _MIN = 2**31 - 1, -(2**31)


class PeekStep(Question, frozen=True, tag_field="op", tag="peek"):
    """Which partition is it now?"""


class AppendStep(Question, frozen=True, tag_field="op", tag="append"):
    """So many bytes were appended to the current partition; whether it may be left already at one batch size."""

    bytes: Int32
    enable_switch: bool


class LoadStep(Question, frozen=True, tag_field="op", tag="load", omit_defaults=True):
    """How many batches wait for each partition, of which the first ``length`` count. None: nobody knows."""

    queue_sizes: tuple[Int32, ...] | None
    partition_ids: tuple[Int32, ...] = ()
    racks: tuple[str | None, ...] | None = None
    length: Int32 = 0


class BuiltInPartitionerQuestion(Question, frozen=True):
    """A configuration, a cluster, a script, and its draws, one for each choice of a partition."""

    batch_size: Int32
    cluster: AskedCluster
    draws: tuple[Int32, ...]
    steps: tuple[PeekStep | AppendStep | LoadStep | ClusterStep, ...]
    rack_aware: bool = False
    rack: str = ""


def int32(number: int) -> int:
    """``number`` as a Java int, wrapped."""
    return ((number + 0x80000000) & 0xFFFFFFFF) - 0x80000000


# Loads. Ids and racks go by the place, so that a load is made from its sizes, a length and a turn.
_RACKS = ("a", "b", None, "a", "")
_SIZES: tuple[tuple[int, ...], ...] = (
    (0, 3, 1), (5, 0, 3, 0, 1), (0, 1), (1, 0, 0, 0), (0, 0, 0), (4, 4), (7,), (), tuple(range(200)), (1,) * 200,
    (_MAX, 0), (_MAX, _MAX, 0), (_MAX, 0, 0, 0, 0), (-1, -1, 0), (-5, -7), (_MIN, _MAX), (_MIN, 0, 0), (0, _MIN, 1),
    (2**30, 0, 2**30, 0), (_MAX, 1, 1), (_MAX - 1, 0),
)  # fmt: skip
_NO_LOAD = LoadStep(None)


def _load(sizes: Sequence[int], length: int, turn: int) -> LoadStep:
    count = len(sizes)
    ids = (range(count), range(10, 10 + 2 * count, 2), range(count)[::-1])[turn % 3]
    racks = None if turn % 11 == 5 else tuple(islice(cycle(_RACKS), turn, turn + count))
    return LoadStep(tuple(sizes), tuple(ids), racks, length)


def _lengths(count: int) -> tuple[int, ...]:
    return (count, count, count - 1, 1, 0, -1, count + 1)


_LOADS = tuple(
    _load(sizes, length, turn + 1)
    for turn, (sizes, which) in enumerate((sizes, which) for sizes in _SIZES for which in range(7))
    for length in [_lengths(len(sizes))[which]]
)
_QUEUES = (0, 1, 2, 3, 5, 9, 0, 1, 2, 100, -1, _MAX, _MIN, 2**30, _MAX - 1)


def _spelled_load(letters: bytes) -> LoadStep:
    """The first letter says which length and which turn, each other one a queue size."""
    sizes = [_QUEUES[letter % len(_QUEUES)] for letter in letters[1:]]
    return _load(sizes, _lengths(len(sizes))[letters[0] % 7], letters[0] // 7)


_ANY_LOAD = st.one_of(st.sampled_from(_LOADS), st.binary(min_size=1, max_size=9).map(_spelled_load))


@dataclass(frozen=True, slots=True)
class _Append:
    """So many times the batch size, and some bytes more."""

    times: int
    more: int
    enable_switch: bool = True

    def of(self, batch_size: int) -> AppendStep:
        return AppendStep(min(max(self.times * batch_size + self.more, _MIN), _MAX), self.enable_switch)


# A byte names one of these; the first are the simplest. Repeats are weights, and 0 stands for a load.
_ALPHABET: tuple[Any, ...] = (
    PeekStep(), _Append(1, 0), _Append(1, 0, False), 0, _Append(1, -1), _Append(0, 1), _Append(2, 0, False), 0,
    _Append(1, 0), _Append(1, -1, False), _Append(0, 1, False), _Append(0, 0), _Append(2, -1, False), 0,
    _Append(1, 1), _Append(2, -1), _Append(2, 0), _Append(1, 0), 0, _Append(1, 1, False), _Append(1, 0),
    _Append(0, _MAX), _Append(0, _MAX, False), _Append(0, -1), _Append(0, _MIN, False), 0, _NO_LOAD, 0,
    "leaderless", "one led", "half led", "all led", "empty", "reversed", "grown", "any",
)  # fmt: skip
_SIZES_OF_BATCHES = (1, 16384, 2, 3, 16384, 2**30, 2**30 - 1, 2**30 + 1, _MAX, 16384, 1, 100, 16384, 2, 7, 0, -1, _MIN)
_BATCH_SIZES = st.sampled_from(_SIZES_OF_BATCHES)
_RACK = st.sampled_from(
    ((False, ""), (False, ""), (True, "a"), (False, "a"), (True, "b"), (True, ""), (True, "nowhere"), (True, "a"))
)
_LETTERS = st.binary(min_size=1, max_size=12)
_CLUSTERS = clusters()


@st.composite
def questions(draw: st.DrawFn) -> BuiltInPartitionerQuestion:
    """Scripts, with as many draws as they can need."""
    cluster, batch_size, (rack_aware, rack) = draw(_CLUSTERS), draw(_BATCH_SIZES), draw(_RACK)
    steps = tuple(_step(draw, step, batch_size) for step in spelled(draw, cluster, _ALPHABET, _LETTERS))
    places = _places(steps, rack)
    draws = tuple(_drawn(letter, places) for letter in draw(_letters_of(_needed(steps))))
    return BuiltInPartitionerQuestion(batch_size, cluster, draws, steps, rack_aware, rack)


def _step(draw: st.DrawFn, step: Any, batch_size: int) -> Any:
    if isinstance(step, _Append):
        return step.of(batch_size)
    return draw(_ANY_LOAD) if step == 0 else step


def _needed(steps: Sequence[Any]) -> int:
    """Draws that suffice: one for each peek and report, and one more for the peek that the first report begins with."""
    reports = sum(isinstance(step, AppendStep) for step in steps)
    return reports + bool(reports) + sum(isinstance(step, PeekStep) for step in steps)


@lru_cache
def _letters_of(count: int) -> st.SearchStrategy[bytes]:
    return st.binary(min_size=count, max_size=count)


def _drawn(letter: int, places: Sequence[int]) -> int:
    return places[letter % len(places)] if letter < 208 else mix32(letter * 97)


def _places(steps: Sequence[Any], rack: str) -> list[int]:
    """Draws on both sides of every boundary of every table, but for the middle of long ones; and the ends of the ints."""
    found = [0]
    for step in steps:
        if isinstance(step, LoadStep) and step.queue_sizes and step.length > 0:
            sizes = step.queue_sizes[: step.length]
            mine = [size for size, of in zip(sizes, step.racks or (), strict=False) if of == rack]
            for table in (_ends(sizes), _ends(mine)):
                for end in (*table[:4], *table[-4:]):
                    found += (int32(end - 1), end, int32(end - 1 + _MIN))
    return [*found, -1, _MAX, _MIN]


def _ends(sizes: Sequence[int]) -> list[int]:
    return [int32(total) for total in accumulate(max(sizes) + 1 - size for size in sizes)] if sizes else []


def every_small_script() -> Iterator[BuiltInPartitionerQuestion]:
    """With a batch size of 2: every script of up to 3 of 9 steps."""
    alphabet: tuple[Any, ...] = (
        PeekStep(),
        *(AppendStep(size, enable) for size, enable in ((1, True), (2, True), (2, False), (3, False), (4, False))),
        LoadStep((0, 3, 1), (0, 1, 2), ("a", "a", "b"), 3),
        _NO_LOAD,
        ClusterStep(SMALL_CLUSTERS[3]),
    )
    draws = (7, -1, 4, _MIN)
    for cluster, steps in product((*SMALL_CLUSTERS[:2], SMALL_CLUSTERS[4]), every_script(alphabet, 3)):
        yield BuiltInPartitionerQuestion(2, cluster, draws, steps)


def every_size() -> Iterator[BuiltInPartitionerQuestion]:
    """Edge batch sizes, two appends of edge sizes, each with the switch allowed or not."""
    appends = [symbol for symbol in dict.fromkeys(_ALPHABET) if isinstance(symbol, _Append)]
    for batch_size, first, second in product(sorted(set(_SIZES_OF_BATCHES)), appends, appends[:6]):
        steps = (first.of(batch_size), second.of(batch_size), PeekStep())
        yield BuiltInPartitionerQuestion(batch_size, SMALL_CLUSTERS[4], (0, 1, 2), steps)


def every_kind_of_load() -> Iterator[BuiltInPartitionerQuestion]:
    """Edge queue sizes, counted to every edge length, with edge draws; for a client in a rack and for one in none."""
    draws = (0, -1, _MIN, _MAX, 1)
    for load, rack_aware in product(_LOADS, (False, True)):
        steps: tuple[Any, ...] = (AppendStep(1, True), load, *[AppendStep(1, True)] * 3)
        yield BuiltInPartitionerQuestion(1, SMALL_CLUSTERS[2], draws, steps, rack_aware, "a")


def every_small_table() -> Iterator[BuiltInPartitionerQuestion]:
    """Every table of up to 3 sizes from 0 to 3, of every length; every number of it is drawn, and the one after."""
    for count in (1, 2, 3):
        for sizes, length in product(product(range(4), repeat=count), range(1, count + 1)):
            draws = tuple(range(_ends(sizes[:length])[-1] + 1))
            load = LoadStep(sizes, tuple(range(5, 5 + count)), None, length)
            steps: tuple[Any, ...] = (load, *(AppendStep(1, True) for _ in draws[1:]))
            yield BuiltInPartitionerQuestion(1, SMALL_CLUSTERS[4], draws, steps)


def every_table_of_racks() -> Iterator[BuiltInPartitionerQuestion]:
    """Three partitions led from racks a, b, none and "", in every way, as the cluster says and as a load says."""
    draws = (0, 1, 2, 3, 4, 5, 6, 7, 8)
    racks = ("a", "b", None, "")
    nodes = tuple(AskedNode(number, rack) for number, rack in enumerate(racks))
    for led_from, rack in product(product(range(4), repeat=3), ("a", "", "nowhere")):
        cluster = AskedCluster(nodes, tuple(AskedPartition(place, at) for place, at in enumerate(led_from)))
        load = LoadStep((0, 3, 1), (0, 1, 2), tuple(racks[at] for at in led_from), 3)
        steps: tuple[Any, ...] = (*[AppendStep(1, True)] * 3, load, *[AppendStep(1, True)] * 5)
        yield BuiltInPartitionerQuestion(1, cluster, draws, steps, True, rack)
