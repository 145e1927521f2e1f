"""What the rules of the sticky era share: their question, its steps, and how scripts are made for them.

::

    {"seed": 7, "cluster": C, "steps": [
        {"op": "partition", "topic": "t", "key": null},          a record is to be placed: {"partition": n}
        {"op": "new_batch", "topic": "t", "previous": 2},        it needs a new batch of that partition: {}
        {"op": "cluster", "cluster": C}]}                        the cluster is another one: {}

Draw k is ``mix32(seed + k·0x9e3779b97f4a7c15)``; where Kafka has no draws the seed is not looked at. A seed is an int64,
as a string where it is beyond ±2^53. ``onNewBatch`` exists from 2.4.0 to 3.9.x: in the other releases no producer says
that it starts a batch, and the step is taken by doing nothing.

A new batch matters most when ``previous`` is the very partition the topic sticks to, and next when it is another one
that exists. Neither can be drawn, both can be known: the strategy keeps a sticky cache of its own while it spells the
script out, and fills them in. The same cache, watched, says which branches of the rule a script takes. That rule was
the same from 2.4.0 to its end, so this depends on no release.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Annotated, Any, TypeAlias

import msgspec
from hypothesis import strategies as st

from kafka_conformance.core.protocol import Hex, Int32, Question
from kafka_conformance.rules.common.clusters import AskedCluster, clusters
from kafka_conformance.rules.common.scripts import (
    SMALL_CLUSTERS,
    ClusterStep,
    cluster_labels,
    every_script,
    renamed,
    spelled,
    stages,
)
from kafka_reference.errors import ArithmeticException
from kafka_reference.java.thread_local_random import SeededDraws
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.partitioning.sticky_cache import NO_PARTITION, StickyPartitionCache

__all__ = [
    "EXTREME_SEEDS",
    "REQUIRED_LABELS",
    "NewBatchStep",
    "PartitionStep",
    "StickyQuestion",
    "sticky_labels",
    "sticky_questions",
    "sticky_scripts",
]  # fmt: skip

_EXACT = 2**53
Seed: TypeAlias = (
    Annotated[int, msgspec.Meta(ge=-_EXACT, le=_EXACT)] | Annotated[str, msgspec.Meta(pattern=r"^-?[0-9]{1,19}$")]
)


class PartitionStep(Question, frozen=True, tag_field="op", tag="partition"):
    """A record is to be placed: its topic, and its serialized key or null."""

    topic: str
    key: Hex | None = None


class NewBatchStep(Question, frozen=True, tag_field="op", tag="new_batch"):
    """A record needs a new batch: its topic, and the partition it was given."""

    topic: str
    previous: Int32


class StickyQuestion(Question, frozen=True):
    """A script, and the seed of its draws."""

    seed: Seed
    cluster: AskedCluster
    steps: tuple[PartitionStep | NewBatchStep | ClusterStep, ...]

    def __post_init__(self) -> None:
        if not -(2**63) <= int(self.seed) < 2**63:
            raise ValueError("the seed is no int64")

    def draws(self) -> SeededDraws:
        """The draws, from the first one on."""
        return SeededDraws(int(self.seed))


@dataclass(slots=True)
class _Watched:
    """The sticky cache, watched: each call says which branch of the rule it took."""

    draws: SeededDraws
    cache: StickyPartitionCache = field(init=False)
    held: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.cache = StickyPartitionCache(self.draws)

    def place(self, topic: str, cluster: Cluster) -> str:
        return "sticks" if topic in self.held else self._choose(topic, cluster, NO_PARTITION, "first choice")

    def new_batch(self, topic: str, cluster: Cluster, previous: int) -> str:
        if topic not in self.held:
            return self._choose(topic, cluster, previous, "first choice at a new batch")
        if self.held[topic] != previous:
            return "a batch of another partition"
        return self._choose(topic, cluster, previous, "switch")

    def _choose(self, topic: str, cluster: Cluster, previous: int, why: str) -> str:
        used = self.draws.used
        try:
            self.held[topic] = self.cache.next_partition(topic, cluster, previous)
        except ArithmeticException:
            return f"{why}, no partitions"
        if self.draws.used > used + 1:
            return f"{why}, drawn again"
        many = min(len(cluster.available), 2)
        return f"{why}, {('none', 'one', 'several')[many]} available"


def sticky_labels(question: StickyQuestion, *, keys_matter: bool) -> Iterator[str]:
    """The branches a script takes, and what kinds of cluster it meets."""
    yield from cluster_labels(question.cluster, question.steps)
    watched = _Watched(question.draws())
    for step, now in stages(question.cluster, question.steps):
        if isinstance(step, NewBatchStep):
            yield watched.new_batch(step.topic, now, step.previous)
        elif isinstance(step, PartitionStep):
            if step.key is not None:
                yield "keyed"
                if not step.key:
                    yield "empty key"
            if step.key is None or not keys_matter:
                yield watched.place(step.topic, now)
    if len(watched.held) > 1:
        yield "several topics"


REQUIRED_LABELS = frozenset(
    {"no partitions", "no leader", "some led", "all led", "the cluster changes", "several topics", "keyed", "empty key"}
    | {"sticks", "a batch of another partition", "switch, drawn again"}
    | {
        f"{why}, {what}"
        for why in ("first choice", "first choice at a new batch", "switch")
        for what in ("no partitions", "none available", "one available", "several available")
    }
)


@dataclass(frozen=True, slots=True)
class _Batch:
    """A new batch whose previous partition is the one held, plus ``off``."""

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

# Seeds whose first draw is 0, -1, the first and the last int, and the neighbours at which a counter wraps.
EXTREME_SEEDS = {
    0: -510622338715393,
    -1: -628403242811931,
    -2: 850240863368935,
    2**31 - 1: 132900124522911,
    2**31 - 2: 836918901299229,
    -(2**31): -298329892583440,
}

_SEEDS = st.one_of(st.integers(-_EXACT, _EXACT), st.sampled_from(tuple(EXTREME_SEEDS.values())))
_LETTERS = st.binary(min_size=1, max_size=14)
_CLUSTERS = clusters()


@st.composite
def sticky_questions(draw: st.DrawFn) -> StickyQuestion:
    """Scripts in which batches of the right partition are full, of another one, and of one that never was."""
    cluster, seed = draw(_CLUSTERS), draw(_SEEDS)
    steps = _filled_in(seed, cluster, spelled(draw, cluster, _ALPHABET, _LETTERS))
    return StickyQuestion(seed, cluster, tuple(renamed(steps)))


def _filled_in(seed: int, cluster: AskedCluster, steps: Sequence[Any]) -> Iterator[Any]:
    watched = _Watched(SeededDraws(seed))
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
    """Every script of up to 3 of 7 steps, on five clusters."""
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
