from __future__ import annotations

from typing import Any

import pytest

from kafka_conformance.rules.common.clusters import AskedCluster, AskedNode, AskedPartition
from kafka_conformance.rules.common.partitioner_steps import NewBatchStep, PartitionStep
from kafka_conformance.rules.common.scripts import (
    CHANGES,
    SMALL_CLUSTERS,
    ClusterStep,
    cluster_labels,
    every_script,
    play,
    renamed,
    stages,
)  # fmt: skip
from kafka_reference.errors import ArithmeticException, DrawsExhausted, IllegalArgumentException
from kafka_reference.partitioning.cluster import Cluster

EMPTY = AskedCluster((AskedNode(0),), ())
FOUR = AskedCluster(
    (AskedNode(0), AskedNode(1)),
    (AskedPartition(5, 1), AskedPartition(3), AskedPartition(2, 0), AskedPartition(0, 1)),
)
PLACE = PartitionStep("t")


def layout(cluster: AskedCluster) -> list[tuple[int, int | None]]:
    return [(partition.id, partition.leader) for partition in cluster.partitions]


def test_partitioner_script_applies_cluster_changes_and_returns_java_exceptions_as_answers() -> None:
    def take(step: Any, cluster: Cluster) -> dict[str, Any]:
        if not cluster.partitions:
            raise ArithmeticException
        if step.topic == "u":
            raise IllegalArgumentException("no u")
        return {"partition": cluster.partitions[0].id}

    steps = (PLACE, PartitionStep("u"), ClusterStep(EMPTY), PLACE, ClusterStep(FOUR), PLACE)
    assert play(FOUR, steps, take) == {
        "steps": [
            {"partition": 5},
            {"raises": "IllegalArgumentException", "message": "no u"},
            {},
            {"raises": "ArithmeticException"},
            {},
            {"partition": 5},
        ]
    }


def test_partitioner_script_that_exhausts_supplied_random_draws_raises_draws_exhausted() -> None:
    def take(*_: Any) -> dict[str, Any]:
        raise DrawsExhausted("add draws")

    with pytest.raises(DrawsExhausted):
        play(FOUR, (PLACE,), take)


def test_partitioner_script_steps_are_paired_with_the_cluster_left_by_changes_so_far() -> None:
    stage = [len(cluster.partitions) for _, cluster in stages(FOUR, (PLACE, ClusterStep(EMPTY), PLACE))]
    assert stage == [4, 0, 0]


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("leaderless", [(5, None), (3, None), (2, None), (0, None)]),
        ("one led", [(5, 0), (3, None), (2, None), (0, None)]),
        ("half led", [(5, None), (3, 0), (2, None), (0, 0)]),
        ("all led", [(5, 1), (3, 0), (2, 0), (0, 1)]),
        ("empty", []),
        ("reversed", [(0, 1), (2, 0), (3, None), (5, 1)]),
        ("grown", [(5, 1), (3, None), (2, 0), (0, 1), (6, 0)]),
    ],
)
def test_cluster_metadata_change_gives_expected_partitions_and_leaders(
    name: str, changed: list[tuple[int, int | None]]
) -> None:
    assert layout(CHANGES[name](FOUR)) == changed


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("cluster", [EMPTY, FOUR, *SMALL_CLUSTERS])
def test_cluster_metadata_change_keeps_partition_ids_distinct_and_leaders_among_nodes(
    name: str, cluster: AskedCluster
) -> None:
    """Java's sticky cache draws for ever if every available entry has one id, and a leader has to be a node."""
    changed = CHANGES[name](cluster)
    ids = [partition.id for partition in changed.partitions]
    assert len(set(ids)) == len(ids)
    assert {partition.leader for partition in changed.partitions} - {None} <= {node.id for node in changed.nodes}


def test_partitioner_script_labels_describe_available_leaders_and_cluster_changes() -> None:
    assert list(cluster_labels(FOUR, (PLACE,))) == ["some led"]
    changes = [ClusterStep(CHANGES[name](FOUR)) for name in ("empty", "leaderless", "all led")]
    assert list(cluster_labels(FOUR, changes)) == [
        "some led", "no partitions", "no leader", "all led", "the cluster changes",
    ]  # fmt: skip


def test_partitioner_script_topics_are_renamed_alphabetically_in_order_of_first_appearance() -> None:
    steps = (NewBatchStep("v", 1), PartitionStep("t"), ClusterStep(EMPTY), PartitionStep("v"), PartitionStep("u"))
    assert [getattr(step, "topic", None) for step in renamed(steps)] == ["t", "u", None, "t", "v"]


def test_script_enumeration_yields_all_step_sequences_up_to_maximum_length() -> None:
    assert ["".join(script) for script in every_script("ab", 2)] == ["a", "b", "aa", "ab", "ba", "bb"]
