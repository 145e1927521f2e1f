"""Finite spaces of ``builtin-partitioner``, asked whole."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from kafka_conformance.rules.builtin_partitioner.generators import (
    ALPHABET,
    BATCH_SIZES,
    LOADS,
    NO_LOAD,
    Appended,
    range_ends,
)
from kafka_conformance.rules.builtin_partitioner.question import (
    AppendStep,
    BuiltInPartitionerQuestion,
    LoadStep,
    PeekStep,
    SendBytesStep,
)
from kafka_conformance.rules.common.clusters import AskedCluster, AskedNode, AskedPartition
from kafka_conformance.rules.common.scripts import SMALL_CLUSTERS, ClusterStep, every_script
from kafka_reference.java.int32 import INT_MAX, INT_MIN

__all__ = [
    "every_kind_of_load", "every_record", "every_size", "every_small_script", "every_small_table", "every_switch_of_records",
    "every_table_of_racks",
]  # fmt: skip


def every_small_script() -> Iterator[BuiltInPartitionerQuestion]:
    """Return every script of up to 3 of 9 steps, with a batch size of 2."""
    alphabet: tuple[Any, ...] = (
        PeekStep(),
        *(AppendStep(size, enable) for size, enable in ((1, True), (2, True), (2, False), (3, False), (4, False))),
        LoadStep((0, 3, 1), (0, 1, 2), ("a", "a", "b"), 3),
        NO_LOAD,
        ClusterStep(SMALL_CLUSTERS[3]),
    )
    draws = (7, -1, 4, INT_MIN)
    for cluster, steps in product((*SMALL_CLUSTERS[:2], SMALL_CLUSTERS[4]), every_script(alphabet, 3)):
        yield BuiltInPartitionerQuestion(2, cluster, draws, steps)


def every_size() -> Iterator[BuiltInPartitionerQuestion]:
    """Return edge batch sizes with two appends, or a record and an append, of edge sizes; the switch is allowed or not."""
    appends = [symbol for symbol in dict.fromkeys(ALPHABET) if isinstance(symbol, Appended)]
    for batch_size, first, second in product(sorted(set(BATCH_SIZES)), appends, appends[:6]):
        steps = (first.step(batch_size), second.step(batch_size), PeekStep())
        yield BuiltInPartitionerQuestion(batch_size, SMALL_CLUSTERS[4], (0, 1, 2), steps)


def every_record() -> Iterator[BuiltInPartitionerQuestion]:
    """Return every script of up to 4 records of edge sizes, with a batch size of 100."""
    alphabet = tuple(map(SendBytesStep, (1, 40, 60, 100)))
    draws = (0, 1, 2, 3, 4)
    for cluster, steps in product((SMALL_CLUSTERS[3], SMALL_CLUSTERS[4]), every_script(alphabet, 4)):
        yield BuiltInPartitionerQuestion(100, cluster, draws, steps)


def every_switch_of_records() -> Iterator[BuiltInPartitionerQuestion]:
    """Return every script of up to 3 records that may switch or not, with a deferred switch completed between them."""
    alphabet: tuple[Any, ...] = (
        *(
            SendBytesStep(size, enable)
            for size, enable in ((60, True), (60, False), (100, False), (200, False), (0, True))
        ),
        AppendStep(0, True),
        ClusterStep(SMALL_CLUSTERS[0]),
    )
    draws = (0, 1, 2, 3, 4, 5)
    for steps in every_script(alphabet, 3):
        yield BuiltInPartitionerQuestion(100, SMALL_CLUSTERS[4], draws, steps)


def every_kind_of_load() -> Iterator[BuiltInPartitionerQuestion]:
    """Return loads of edge queue sizes and edge lengths, with edge draws, for a client in a rack and for one in none."""
    draws = (0, -1, INT_MIN, INT_MAX, 1)
    for load, rack_aware in product(LOADS, (False, True)):
        steps: tuple[Any, ...] = (AppendStep(1, True), load, *[AppendStep(1, True)] * 3)
        yield BuiltInPartitionerQuestion(1, SMALL_CLUSTERS[2], draws, steps, rack_aware, "a")


def every_small_table() -> Iterator[BuiltInPartitionerQuestion]:
    """Return every table of up to 3 sizes from 0 to 3, of every length, with every number of it drawn, and the next one."""
    for count in (1, 2, 3):
        for sizes, length in product(product(range(4), repeat=count), range(1, count + 1)):
            draws = tuple(range(range_ends(sizes[:length])[-1] + 1))
            load = LoadStep(sizes, tuple(range(5, 5 + count)), None, length)
            steps: tuple[Any, ...] = (load, *(AppendStep(1, True) for _ in draws[1:]))
            yield BuiltInPartitionerQuestion(1, SMALL_CLUSTERS[4], draws, steps)


def every_table_of_racks() -> Iterator[BuiltInPartitionerQuestion]:
    """Return three partitions led from racks a, b, none and "" in every way, by the cluster and by a load."""
    draws = (0, 1, 2, 3, 4, 5, 6, 7, 8)
    racks = ("a", "b", None, "")
    nodes = tuple(AskedNode(number, rack) for number, rack in enumerate(racks))
    for led_from, rack in product(product(range(4), repeat=3), ("a", "", "nowhere")):
        cluster = AskedCluster(nodes, tuple(AskedPartition(place, at) for place, at in enumerate(led_from)))
        load = LoadStep((0, 3, 1), (0, 1, 2), tuple(racks[at] for at in led_from), 3)
        steps: tuple[Any, ...] = (*[AppendStep(1, True)] * 3, load, *[AppendStep(1, True)] * 5)
        yield BuiltInPartitionerQuestion(1, cluster, draws, steps, True, rack)
