"""Questions about the sticky cache: a strategy, and a finite space that is asked whole.

A new batch matters most when ``previous`` is the partition that the topic sticks to, and next when it is another one that
exists. Neither can be drawn at random, but both can be computed: the strategy runs a separate sticky cache along the
script and fills them in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from hypothesis import strategies as st

from kafka_conformance.rules.common.clusters import AskedCluster, clusters
from kafka_conformance.rules.common.partitioner_steps import SEEDS, NewBatchStep, PartitionStep, StickyQuestion
from kafka_conformance.rules.common.scripts import SMALL_CLUSTERS, ClusterStep, every_script, renamed, spelled, stages
from kafka_conformance.rules.common.watched_cache import WatchedCache
from kafka_reference.java.thread_local_random import SeededDraws
from kafka_reference.partitioning.sticky_cache import NO_PARTITION

__all__ = ["sticky_questions", "sticky_scripts"]


@dataclass(frozen=True, slots=True)
class _Batch:
    """A new batch whose previous partition is the sticky one, plus ``off``."""

    topic: str
    off: int = 0


# A byte names one of these; the first are the simplest. Repeats are weights.
_T, _U = PartitionStep("t"), PartitionStep("u")
_ALPHABET: tuple[PartitionStep | NewBatchStep | _Batch | str, ...] = (
    _T, _Batch("t"), _U, _Batch("u"), _T, _Batch("t"), _T, _Batch("t"), PartitionStep("t", ""),
    PartitionStep("t", "666f6f"), PartitionStep("u", "80ff"), _Batch("t", 1), _Batch("u", -1), _Batch("v"),
    NewBatchStep("t", -1), NewBatchStep("u", 2**31 - 1), NewBatchStep("t", -(2**31)),
    "leaderless", "one led", "half led", "all led", "empty", "reversed", "grown", "any",
)  # fmt: skip

_LETTERS = st.binary(min_size=1, max_size=14)
_CLUSTERS = clusters()


@st.composite
def sticky_questions(draw: st.DrawFn) -> StickyQuestion:
    """Return scripts in which full batches are of the sticky partition, of another one, and of one that does not exist."""
    cluster, seed = draw(_CLUSTERS), draw(SEEDS)
    steps = _filled_in(seed, cluster, spelled(draw, cluster, _ALPHABET, _LETTERS))
    return StickyQuestion(seed, cluster, tuple(renamed(steps)))


def _filled_in(seed: int, cluster: AskedCluster, steps: Sequence[Any]) -> Iterator[Any]:
    watched = WatchedCache(SeededDraws(seed))
    for step, now in stages(cluster, steps):
        if isinstance(step, PartitionStep) and step.key is None:
            watched.place(step.topic, now)
        elif isinstance(step, _Batch):
            previous = watched.held.get(step.topic, NO_PARTITION) + step.off
            watched.new_batch(step.topic, now, previous)
            yield NewBatchStep(step.topic, previous)
            continue
        yield step


def sticky_scripts() -> Iterator[StickyQuestion]:
    """Return every script of up to 3 of 7 steps, on five clusters."""
    alphabet: tuple[Any, ...] = (
        _T,
        _U,
        NewBatchStep("t", 0),
        NewBatchStep("t", 5),
        PartitionStep("t", ""),
        *map(ClusterStep, (SMALL_CLUSTERS[0], SMALL_CLUSTERS[3])),
    )
    for cluster, steps in product(SMALL_CLUSTERS, every_script(alphabet, 3)):
        yield StickyQuestion(0, cluster, steps)
