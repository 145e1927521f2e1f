"""Clusters as questions carry them, and a strategy for the states that real clusters go through."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from hypothesis import strategies as st

from kafka_conformance.core.protocol import Int32, Question
from kafka_reference.partitioning.cluster import Cluster, Node, Partition

__all__ = ["AskedCluster", "AskedNode", "AskedPartition", "clusters", "to_reference"]


class AskedNode(Question, frozen=True, omit_defaults=True):
    """A broker: its id and its rack."""

    id: Int32
    """The id of the broker."""
    rack: str | None = None
    """The rack of the broker; null: none."""


class AskedPartition(Question, frozen=True):
    """A partition: its id, and the id of its leader or null."""

    id: Int32
    """The id of the partition."""
    leader: Int32 | None = None
    """The id of the leader; null: none, so that the partition is not available."""


class AskedCluster(Question, frozen=True):
    """The brokers and partitions that a client knows."""

    nodes: tuple[AskedNode, ...]
    """The brokers."""
    partitions: tuple[AskedPartition, ...]
    """The partitions of the topic, in the order in which Java's ``Cluster`` lists them. Ids may have gaps."""


def to_reference(cluster: AskedCluster) -> Cluster:
    """Return the same cluster in the reference's form."""
    return Cluster(
        tuple(Node(node.id, node.rack) for node in cluster.nodes),
        tuple(Partition(partition.id, partition.leader) for partition in cluster.partitions),
    )


# Nodes by their racks: none, one for all, several, and the empty text, which Java treats as a rack.
_RACKS: tuple[tuple[str | None, ...], ...] = (
    (None,), (None, None), ("a",), ("a", "b"), ("a", None), ("a", "a", "b"), ("a", "b", "c", None), ("", "a", None),
)  # fmt: skip


_NODES = st.sampled_from([tuple(AskedNode(number, rack) for number, rack in enumerate(racks)) for racks in _RACKS])
_FEW = st.integers(0, 5)
_TURN = st.integers(0, 3)
_IDS = st.sampled_from(("0 1 2", "0 1 2", "7 8 9", "0 3 6", "1 3 5", "2 1 0", "4 2 0"))


@lru_cache
def _counts(most: int) -> st.SearchStrategy[int]:
    return st.one_of(_FEW, st.integers(0, most))


@lru_cache
def _leaderless(count: int) -> st.SearchStrategy[int]:
    """Return which partitions have no leader, as bits: none of them, any, all."""
    return st.one_of(st.just(0), st.integers(0, 2**count - 1), st.just(2**count - 1))


def _ids(kind: str, count: int) -> Iterable[int]:
    first, second = map(int, kind.split()[:2])
    stride = second - first
    return range(first, first + stride * count, stride) if stride > 0 else range(-stride * (count - 1), stride, stride)


@st.composite
def clusters(draw: st.DrawFn, *, most: int = 200) -> AskedCluster:
    """Return 0 to ``most`` partitions, any leaders missing, ids with gaps and out of order, nodes with and without racks.

    A cluster is made from five draws, each of which stands for many choices, because drawing each partition's leader
    separately would make generating the slowest part of a run.
    """
    nodes, count = draw(_NODES), draw(_counts(most))
    leaderless, turn, kind = draw(_leaderless(count)), draw(_TURN), draw(_IDS)
    leaders = (None if leaderless >> at & 1 else (at + turn) % len(nodes) for at in range(count))
    return AskedCluster(nodes, tuple(map(AskedPartition, _ids(kind, count), leaders)))
