"""The clusters of questions of ``record-accumulator``."""

from __future__ import annotations

from kafka_conformance.rules.common.clusters import AskedCluster, AskedNode, AskedPartition

__all__ = ["CLUSTERS", "NODES", "cluster_of"]

NODES = (AskedNode(0, "a"), AskedNode(1, "b"), AskedNode(2))
_FROM_1, _WITH_A_GAP = (AskedNode(1, "a"), AskedNode(2, "b")), (AskedNode(2), AskedNode(5, "a"))


def cluster_of(*layout: tuple[int, int | None], nodes: tuple[AskedNode, ...] = NODES) -> AskedCluster:
    """Return a cluster of partitions and their leaders."""
    return AskedCluster(nodes, tuple(AskedPartition(number, leader) for number, leader in layout))


# For each setting, five clusters that it may become: unchanged, leaders moved, some lost, a node gone, partitions new.
CLUSTERS: tuple[tuple[AskedCluster, ...], ...] = (
    (
        cluster_of((0, 0), (1, 1), (2, 0)),
        cluster_of((0, 1), (1, 0), (2, 0)),
        cluster_of((0, None), (1, 1), (2, None)),
        cluster_of((0, 0), (1, 0), (2, 0), nodes=NODES[:2]),
        cluster_of((0, 0), (1, 1), (2, 0), (3, 2), (4, 1)),
    ),
    (
        cluster_of((0, 0), (1, 0), (2, 0), (3, 0)),
        cluster_of((0, 1), (1, 1), (2, 0), (3, 0)),
        cluster_of((0, 0), (1, 0), (2, None), (3, None)),
        cluster_of((0, None), (1, None), (2, None), (3, None)),
        cluster_of((3, 0), (2, 0), (1, 0), (0, 0)),
    ),
    (
        cluster_of((4, 0), (1, 1), (8, 2), (5, 0), (0, 1), (12, 0), (2, 2), (3, 1)),
        cluster_of((4, 1), (1, 2), (8, 0), (5, 0), (0, 1), (12, 0), (2, 2), (3, 1)),
        cluster_of((4, None), (1, 1), (8, 2), (5, None), (0, 1), (12, 0), (2, None), (3, 1)),
        cluster_of((4, 0), (1, 1), (8, 1), (5, 0), (0, 1), nodes=NODES[:2]),
        cluster_of((4, 0), (1, 1), (8, 2), (5, 0), (0, 1), (12, 0), (2, 2), (3, 1), (16, 0), (20, 1)),
    ),
    (
        cluster_of((0, 0)),
        cluster_of((0, 1)),
        cluster_of((0, None)),
        cluster_of(),
        cluster_of((0, 0), (1, 0)),
    ),
    (
        cluster_of((0, 1), (1, 2), (2, 1), nodes=_FROM_1),
        cluster_of((0, 2), (1, 1), (2, 1), nodes=_FROM_1),
        cluster_of((0, None), (1, 2), (2, 1), nodes=_FROM_1),
        cluster_of((0, 1), (1, 1), nodes=_FROM_1[:1]),
        cluster_of((0, 1), (1, 2), (2, 0), nodes=(*_FROM_1, NODES[0])),
    ),
    (
        cluster_of((0, 5), (1, 2), (2, 5), (3, 5), nodes=_WITH_A_GAP),
        cluster_of((0, 2), (1, 5), (2, 2), (3, 5), nodes=_WITH_A_GAP),
        cluster_of((0, 5), (1, None), (2, 2), (3, None), nodes=_WITH_A_GAP),
        cluster_of((0, 5), (1, 5), (2, 5), (3, 5), nodes=_WITH_A_GAP[1:]),
        cluster_of((0, 7), (1, 2), (2, 5), (3, 7), nodes=(*_WITH_A_GAP, AskedNode(7, "b"))),
    ),
)  # fmt: skip
