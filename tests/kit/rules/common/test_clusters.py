from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from questions import generated

from kafka_conformance.core.protocol import to_json
from kafka_conformance.rules.common.clusters import AskedCluster, AskedNode, AskedPartition, clusters, to_reference
from kafka_reference.partitioning.cluster import Cluster, Node, Partition


def test_cluster_of_a_question_converts_to_reference_cluster_in_the_same_order() -> None:
    asked = AskedCluster((AskedNode(1, "a"), AskedNode(0)), (AskedPartition(7, 1), AskedPartition(3)))
    assert to_reference(asked) == Cluster((Node(1, "a"), Node(0, None)), (Partition(7, 1), Partition(3, None)))


def test_cluster_encodes_to_published_json() -> None:
    asked = AskedCluster((AskedNode(0, "a"), AskedNode(1)), (AskedPartition(0, 0), AskedPartition(1)))
    assert to_json(asked) == (
        b'{"nodes":[{"id":0,"rack":"a"},{"id":1}],"partitions":[{"id":0,"leader":0},{"id":1,"leader":null}]}'
    )


@settings(max_examples=200, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(clusters(most=12))
def test_generated_cluster_has_distinct_partition_ids_and_leaders_among_nodes(cluster: AskedCluster) -> None:
    ids = [partition.id for partition in cluster.partitions]
    assert len(set(ids)) == len(ids) <= 12
    assert all(partition_id >= 0 for partition_id in ids)
    nodes = {node.id for node in cluster.nodes}
    assert nodes
    assert all(partition.leader is None or partition.leader in nodes for partition in cluster.partitions)


def test_generated_clusters_vary_in_partition_count_leaders_racks_id_gaps_and_id_order() -> None:
    made: list[AskedCluster] = [q.cluster for q in generated("producer-partition", 300)]
    leaders = [[partition.leader is not None for partition in cluster.partitions] for cluster in made]
    ids = [[partition.id for partition in cluster.partitions] for cluster in made]
    assert any(not each for each in ids), "no partitions"
    assert any(each and not any(each) for each in leaders), "no leader"
    assert any(any(each) and not all(each) for each in leaders), "some leaders"
    assert any(len(each) > 2 and all(each) for each in leaders), "all leaders"
    assert any(sorted(each) != list(range(len(each))) for each in ids), "ids with gaps"
    assert any(sorted(each) != each for each in ids), "ids out of order"
    assert max(map(len, ids)) > 100
    racks = [{node.rack for node in cluster.nodes} for cluster in made]
    assert {None} in racks
    assert {"a", "b"} in racks
    assert {"", "a", None} in racks
