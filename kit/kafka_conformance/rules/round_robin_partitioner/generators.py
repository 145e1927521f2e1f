"""Questions for ``round-robin-partitioner``: a strategy, and a finite space that is asked whole."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from hypothesis import strategies as st

from kafka_conformance.rules.common.clusters import clusters
from kafka_conformance.rules.common.partitioner_steps import NewBatchStep
from kafka_conformance.rules.common.scripts import SMALL_CLUSTERS, ClusterStep, every_script, renamed, spelled
from kafka_conformance.rules.round_robin_partitioner.question import RoundRobinQuestion, RoundRobinStep

__all__ = ["every_small_script", "questions"]


def every_small_script() -> Iterator[RoundRobinQuestion]:
    """Return every script of up to 4 of 5 steps, on five clusters."""
    alphabet: tuple[Any, ...] = (
        RoundRobinStep("t"),
        NewBatchStep("t", 2),
        RoundRobinStep("u", "666f6f"),
        NewBatchStep("u", 0),
        ClusterStep(SMALL_CLUSTERS[3]),
    )
    for cluster, steps in product(SMALL_CLUSTERS, every_script(alphabet, 4)):
        yield RoundRobinQuestion(cluster, steps)


# A byte names one of these; the first are the simplest. Repeats are weights.
_T, _U = RoundRobinStep("t"), RoundRobinStep("u")
_ALPHABET: tuple[RoundRobinStep | NewBatchStep | str, ...] = (
    _T, NewBatchStep("t", 0), _U, _T, NewBatchStep("t", 1), _T, _U, NewBatchStep("u", 0), _T, NewBatchStep("t", 5), _T,
    RoundRobinStep("t", "666f6f"), RoundRobinStep("u", ""), NewBatchStep("t", -1), NewBatchStep("t", 2**31 - 1),
    NewBatchStep("v", 0), "leaderless", "one led", "half led", "all led", "empty", "reversed", "grown", "any",
)  # fmt: skip
_LETTERS = st.binary(min_size=1, max_size=24)
_CLUSTERS = clusters()


@st.composite
def questions(draw: st.DrawFn) -> RoundRobinQuestion:
    """Return scripts in which records and new batches of three topics meet changing clusters."""
    cluster = draw(_CLUSTERS)
    return RoundRobinQuestion(cluster, tuple(renamed(spelled(draw, cluster, _ALPHABET, _LETTERS))))
