"""The question of the rules about DefaultPartitioner and UniformStickyPartitioner: a seed, a cluster, and steps.

::

    {"seed": 7, "cluster": C, "steps": [
        {"op": "partition", "topic": "t", "key": null},          a record is placed: {"partition": n}
        {"op": "new_batch", "topic": "t", "previous": 2},        it needs a new batch of that partition: {}
        {"op": "cluster", "cluster": C}]}                        from here on, this is the cluster: {}

Draw k is ``mix32(seed + k·0x9e3779b97f4a7c15)``; a release that draws nothing ignores the seed. A seed is an int64, given
as a string where it is beyond ±2^53. ``onNewBatch`` exists from 2.4.0 to 3.9.x; in other releases ``new_batch`` does
nothing.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec
from hypothesis import strategies as st

from kafka_conformance.core.protocol import Hex, Int32, Question
from kafka_conformance.rules.common.clusters import AskedCluster
from kafka_conformance.rules.common.scripts import ClusterStep
from kafka_reference.java.thread_local_random import SeededDraws

__all__ = ["EXTREME_SEEDS", "SEEDS", "NewBatchStep", "PartitionStep", "Seed", "StickyQuestion", "check_seed"]

_EXACT = 2**53
Seed: TypeAlias = (
    Annotated[int, msgspec.Meta(ge=-_EXACT, le=_EXACT)] | Annotated[str, msgspec.Meta(pattern=r"^-?[0-9]{1,19}$")]
)


def check_seed(seed: int | str) -> None:
    """Raise ValueError unless ``seed`` is an int64."""
    if not -(2**63) <= int(seed) < 2**63:
        raise ValueError(f"seed {seed} is out of range: expected an int64")


class PartitionStep(Question, frozen=True, tag_field="op", tag="partition"):
    """Place a record (``Partitioner.partition``)."""

    topic: str
    """The topic of the record."""
    key: Hex | None = None
    """The serialized key; null: none."""


class NewBatchStep(Question, frozen=True, tag_field="op", tag="new_batch"):
    """Announce that a record needs a new batch (``Partitioner.onNewBatch``)."""

    topic: str
    """The topic of the record."""
    previous: Int32
    """The partition that the record was given."""


class StickyQuestion(Question, frozen=True):
    """A script of calls on one partitioner, and the seed of its draws."""

    seed: Seed
    """The seed of the random draws, an int64: a number, or a string beyond ±2^53."""
    cluster: AskedCluster
    """The cluster at the first step."""
    steps: tuple[PartitionStep | NewBatchStep | ClusterStep, ...]
    """The calls, one after another."""

    def __post_init__(self) -> None:
        check_seed(self.seed)

    def draws(self) -> SeededDraws:
        """The draws, from the first one on."""
        return SeededDraws(int(self.seed))


# Seeds whose first draw is 0, -1, the first and the last int, and the neighbours at which a counter wraps.
EXTREME_SEEDS = {
    0: -510622338715393,
    -1: -628403242811931,
    -2: 850240863368935,
    2**31 - 1: 132900124522911,
    2**31 - 2: 836918901299229,
    -(2**31): -298329892583440,
}
SEEDS = st.one_of(st.integers(-_EXACT, _EXACT), st.sampled_from(tuple(EXTREME_SEEDS.values())))
