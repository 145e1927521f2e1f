"""Clusters, as questions carry them, and a strategy that makes the ones real clusters pass through."""

from __future__ import annotations

from hypothesis import strategies as st

from kafka_conformance.protocol import Int32, Question
from kafka_reference.cluster import Cluster, Node, Partition

__all__ = ["AskedCluster", "AskedNode", "AskedPartition", "clusters", "to_reference"]


class AskedNode(Question, frozen=True, omit_defaults=True):
    """A broker: its id and its rack."""

    id: Int32
    rack: str | None = None


class AskedPartition(Question, frozen=True):
    """A partition: its id, and the id of its leader or null."""

    id: Int32
    leader: Int32 | None = None


class AskedCluster(Question, frozen=True):
    """Nodes and partitions; the order of the lists is the order Java gets."""

    nodes: tuple[AskedNode, ...]
    partitions: tuple[AskedPartition, ...]


def to_reference(cluster: AskedCluster) -> Cluster:
    """The same cluster, as the reference takes it."""
    return Cluster(
        tuple(Node(node.id, node.rack) for node in cluster.nodes),
        tuple(Partition(partition.id, partition.leader) for partition in cluster.partitions),
    )


@st.composite
def clusters(draw: st.DrawFn, *, most: int = 200) -> AskedCluster:
    """0 to ``most`` partitions, any leaders missing, ids with gaps and out of order, nodes with and without racks."""
    racks = draw(st.lists(st.sampled_from([None, "a", "b", "c", ""]), min_size=1, max_size=4))
    nodes = tuple(AskedNode(number, rack) for number, rack in enumerate(racks))
    leaders = st.one_of(st.integers(0, len(nodes) - 1), st.none())
    count = draw(st.one_of(st.integers(0, 5), st.integers(0, most)))
    if count > 12:  # a big cluster differs from a small one by its size, not by each partition's own story
        pattern = draw(st.lists(leaders, min_size=1, max_size=7))
        led = [pattern[at % len(pattern)] for at in range(count)]
    else:
        led = draw(st.lists(leaders, min_size=count, max_size=count))
    ids = list(range(count))
    if count and draw(st.integers(0, 3)) == 0:
        gap = draw(st.integers(0, 3))
        ids = [at * (gap + 1) + gap for at in ids]
        if draw(st.booleans()):
            ids.reverse()
    return AskedCluster(nodes, tuple(map(AskedPartition, ids, led)))
