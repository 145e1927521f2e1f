"""A script for StickyPartitioner, kafka-python's answer to KIP-480: records, new batches, and clusters that change."""

from kafka.cluster import ClusterMetadata
from kafka.partitioner import StickyPartitioner
from kafka.protocol.metadata import MetadataResponse

Partition = MetadataResponse.MetadataResponseTopic.MetadataResponsePartition


def leaders(cluster):
    return {p["id"]: -1 if p["leader"] is None else p["leader"] for p in cluster["partitions"]}


def partitions(led):
    return {p: Partition(partition_index=p, leader_id=leader) for p, leader in led.items()}


def answer(q):
    clusters = [q["cluster"], *(step["cluster"] for step in q["steps"] if step["op"] == "cluster")]
    if any(set(leaders(one)) != set(range(len(one["partitions"]))) for one in clusters):
        return {"unsupported": "it answers with a partition's number, Java with its place: no topic has gaps"}
    if not all(one["partitions"] for one in clusters):
        return {"unsupported": "of no partitions it chooses None, which send refuses"}
    partitioner, metadata, done = StickyPartitioner(), ClusterMetadata(), []
    topics = {step["topic"] for step in q["steps"] if step["op"] != "cluster"}
    for step in [{"op": "cluster", "cluster": q["cluster"]}, *q["steps"]]:
        response = {}
        if step["op"] == "cluster":
            metadata._partitions = dict.fromkeys(topics, partitions(leaders(step["cluster"])))
        elif step["op"] == "new_batch":
            partitioner.on_new_batch(step["topic"], metadata, step["previous"])
        else:
            key = None if step["key"] is None else bytes.fromhex(step["key"])
            response = {"partition": partitioner.partition(step["topic"], key, key, b"", b"", metadata)}
        done.append(response)
    return {"answer": {"steps": done[1:]}}
