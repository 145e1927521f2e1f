from __future__ import annotations

import dataclasses

import pytest

from kafka_reference.partitioning.cluster import Cluster, Node, Partition


def test_the_available_ones_keep_their_order() -> None:
    cluster = Cluster((Node(0), Node(7, "a")), (Partition(5, 7), Partition(2), Partition(9, 0), Partition(1)))
    assert cluster.available == (Partition(5, 7), Partition(9, 0))
    assert Cluster((), ()).available == ()


def test_node_zero_leads_as_well_as_any() -> None:
    assert Cluster((Node(0),), (Partition(0, 0),)).available == (Partition(0, 0),)


def test_the_empty_rack_is_a_rack() -> None:
    assert Cluster((Node(0), Node(7, "a"), Node(8, "")), ()).racks == {0: None, 7: "a", 8: ""}


def test_a_cluster_does_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Cluster((), ()).nodes = (Node(1),)  # type: ignore[misc]
