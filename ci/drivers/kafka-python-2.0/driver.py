"""kafka-python 1.4 to 2.x, through its own producer. default: DefaultPartitioner; 1.4 has two more.

murmur2: Murmur2Partitioner, over the partitions that have a leader; round-robin: RoundRobinPartitioner.
"""

import json
import sys

import kafka
from kafka.cluster import ClusterMetadata
from kafka.partitioner import default
from kafka.structs import PartitionMetadata

SETTING, FIELDS = sys.argv[1], len(PartitionMetadata._fields)
MAKE = {"default": default.DefaultPartitioner}
if SETTING != "default":
    MAKE = {"murmur2": kafka.partitioner.Murmur2Partitioner, "round-robin": kafka.partitioner.RoundRobinPartitioner}


def choose(partitions, partition, key, partitioner):
    producer = kafka.KafkaProducer.__new__(kafka.KafkaProducer)  # to choose takes metadata, and no connection
    producer._closed, producer.config, producer._metadata = True, {"partitioner": partitioner}, ClusterMetadata()
    led = {p["id"]: -1 if p["leader"] is None else p["leader"] for p in partitions}
    metadata = {p: PartitionMetadata("t", p, leader, *[[]] * (FIELDS - 3)) for p, leader in led.items()}
    producer._metadata._partitions = {"t": metadata}
    try:
        return {"answer": {"partition": producer._partition("t", partition, key, b"", key, b"")}}
    except AssertionError as refused:
        return {"unsupported": f"refused, unless asserts are off: {refused or 'partition >= 0'}"}


def answer(rule, q):
    if rule == "murmur2":
        return {"answer": {"hash": default.murmur2(bytes.fromhex(q["key"]))}}
    record, config = q.get("record", {"partition": None, "key": q.get("key")}), q.get("config", {})
    key, plugged = None if record["key"] is None else bytes.fromhex(record["key"]), config.get("partitioner")
    if not 0 <= q.get("partitions", 0) <= 10_000:
        return {"unsupported": "it sorts all partitions for each record: 0 to 10,000 of them"}
    if record["partition"] is plugged is None and (key is None or config.get("ignore_keys")):
        return {"unsupported": "no key: drawn by random.choice, at once; there is no partitioner.ignore.keys"}
    partitioner = (lambda *_: plugged["returns"]) if plugged else MAKE[SETTING]()
    partitions = [{"id": p, "leader": 0} for p in range(q.get("partitions", 0))]
    return choose(q.get("cluster", {"partitions": partitions})["partitions"], record["partition"], key, partitioner)


HELLO = {"protocol": 1, "name": "kafka-python", "version": kafka.__version__, "language": "python"}
HELLO["rules"] = ["murmur2", "partition-for-key", "producer-partition"]
for line in map(json.loads, sys.stdin):
    try:
        response = {"hello": HELLO} if "hello" in line else {"id": line["id"], **answer(line["rule"], line["question"])}
    except Exception as error:
        divided = {"answer": {"raises": "ArithmeticException"}} if isinstance(error, ZeroDivisionError) else {}
        response = {"id": line["id"], **(divided or {"failed": f"{type(error).__name__}: {error}"})}
    print(json.dumps(response), flush=True)
