"""kafka-python, asked through its own producer. `default`: DefaultPartitioner; `java`: StickyPartitioner (KIP-480)."""

import json
import sys

import kafka
from kafka.cluster import ClusterMetadata
from kafka.partitioner import DefaultPartitioner, Partitioner, StickyPartitioner, murmur2
from kafka.producer.transaction_manager import TransactionManager
from kafka.protocol.metadata import MetadataResponse

Partition = MetadataResponse.MetadataResponseTopic.MetadataResponsePartition
PARTITIONER = StickyPartitioner if "java" in sys.argv else DefaultPartitioner


def choose(leaders, partition, key, partitioner):
    producer = kafka.KafkaProducer.__new__(kafka.KafkaProducer)  # to choose takes metadata, and no connection
    producer.config, producer._metadata = {"partitioner": partitioner}, ClusterMetadata()
    producer._metadata._partitions = {"t": {p: Partition(partition_index=p, leader_id=at) for p, at in leaders.items()}}
    try:
        return {"answer": {"partition": producer._partition("t", partition, key, b"", key, b"")}}
    except ValueError as refused:
        return {"unsupported": f"refused: {refused}"}


def answer(rule, q):
    if rule == "murmur2":
        key = q["key"]
        return {"unsupported": "it takes bytes"} if key is None else {"answer": {"hash": murmur2(bytes.fromhex(key))}}
    if rule == "sequence-increment":
        manager, tp = TransactionManager(), kafka.TopicPartition("t", 0)
        manager.set_sequence_number(tp, q["sequence"])
        manager.increment_sequence_number(tp, q["by"])
        return {"answer": {"sequence": manager.sequence_number(tp)}}
    record, config = q.get("record", {"partition": None, "key": q.get("key")}), q.get("config", {})
    key, plugged = None if record["key"] is None else bytes.fromhex(record["key"]), config.get("partitioner")
    if record["partition"] is plugged is None and (key is None or config.get("ignore_keys")):
        return {"unsupported": "drawn by random.choice, at once; there is no partitioner.ignore.keys"}
    if rule == "producer-partition":
        if {p["id"] for p in q["cluster"]["partitions"]} != set(range(len(q["cluster"]["partitions"]))):
            return {"unsupported": "it answers with a partition's number, Java with its place: no topic has gaps"}
        leaders = {p["id"]: -1 if p["leader"] is None else p["leader"] for p in q["cluster"]["partitions"]}
        plug = type("Plugged", (Partitioner,), {"partition": lambda *_: plugged["returns"]}) if plugged else PARTITIONER
        return choose(leaders, record["partition"], key, plug())
    if not 0 <= q["partitions"] <= 10_000:
        return {"unsupported": f"a list of {q['partitions']} partitions, sorted for each record"}
    return choose(dict.fromkeys(range(q["partitions"]), 0), None, key, PARTITIONER())


HELLO = {"protocol": 1, "name": "kafka-python", "version": kafka.__version__, "language": "python"}
HELLO["rules"] = ["murmur2", "partition-for-key", "producer-partition", "sequence-increment"]
for line in map(json.loads, sys.stdin):
    try:
        said = {"hello": HELLO} if "hello" in line else {"id": line["id"], **answer(line["rule"], line["question"])}
    except ZeroDivisionError:  # Java's name for it
        said = {"id": line["id"], "answer": {"raises": "ArithmeticException"}}
    except Exception as error:
        said = {"id": line["id"], "failed": f"{type(error).__name__}: {error}"}
    print(json.dumps(said), flush=True)
