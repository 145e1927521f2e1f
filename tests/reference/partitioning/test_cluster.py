from __future__ import annotations

import dataclasses

import pytest

from kafka_reference.partitioning.cluster import Cluster, Node, Partition


def test_available_partitions_keep_the_cluster_order() -> None:
    cluster = Cluster((Node(0), Node(7, "a")), (Partition(5, 7), Partition(2), Partition(9, 0), Partition(1)))
    assert cluster.available == (Partition(5, 7), Partition(9, 0))
    assert Cluster((), ()).available == ()


def test_partition_led_by_node_0_is_available() -> None:
    assert Cluster((Node(0),), (Partition(0, 0),)).available == (Partition(0, 0),)


def test_empty_rack_string_differs_from_no_rack() -> None:
    assert Cluster((Node(0), Node(7, "a"), Node(8, "")), ()).racks == {0: None, 7: "a", 8: ""}


def test_assigning_a_cluster_field_raises_frozen_instance_error() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Cluster((), ()).nodes = (Node(1),)  # type: ignore[misc]
