"""aiokafka, by its own producer and consumer. Its one partitioner is meant to be Java's: both settings are one."""

import json
import sys

import aiokafka
import fetches
from aiokafka.partitioner import DefaultPartitioner, murmur2
from aiokafka.producer.transaction_manager import TransactionManager
from aiokafka.structs import PartitionMetadata
from assignors import ASSIGNORS, GRADES, cluster


def choose(partitions, partition, key, partitioner):
    producer = aiokafka.AIOKafkaProducer.__new__(aiokafka.AIOKafkaProducer)  # to choose takes no connection
    producer._closed, producer._partitioner, producer._metadata = True, partitioner, cluster({"t": partitions})
    try:
        return {"answer": {"partition": producer._partition("t", partition, key, b"", key, b"")}}
    except AssertionError as refused:
        return {"unsupported": f"refused, unless asserts are off: {refused or 'partition >= 0'}"}


def answer(rule, q):
    if rule in RULES:
        return RULES[rule](q)
    if rule == "murmur2":
        asked = q["key"] is not None
        return {"answer": {"hash": murmur2(bytes.fromhex(q["key"]))}} if asked else {"unsupported": "it takes bytes"}
    if rule == "sequence-increment":
        manager = TransactionManager.__new__(TransactionManager)  # its futures would want a loop
        manager._sequence_numbers = {"t-0": q["sequence"]}
        manager.increment_sequence_number("t-0", q["by"])
        return {"answer": {"sequence": manager.sequence_number("t-0")}}
    record, config = q.get("record", {"partition": None, "key": q.get("key")}), q.get("config", {})
    key, plugged = None if record["key"] is None else bytes.fromhex(record["key"]), config.get("partitioner")
    if q.get("partitions", 0) < 0:
        return {"unsupported": "a list cannot be shorter than empty"}
    if record["partition"] is plugged is None and (key is None or config.get("ignore_keys")):
        return {"unsupported": "drawn by random.choice, at once; there is no partitioner.ignore.keys"}
    if rule == "producer-partition":
        if {p["id"] for p in q["cluster"]["partitions"]} != set(range(len(q["cluster"]["partitions"]))):
            return {"unsupported": "it answers with a partition's number, Java with its place: no topic has gaps"}
        known = [(p["id"], -1 if p["leader"] is None else p["leader"]) for p in q["cluster"]["partitions"]]
        partitions = {p: PartitionMetadata("t", p, leader, [], [], None) for p, leader in known}
        plug = (lambda *_: plugged["returns"]) if plugged else DefaultPartitioner()
        return choose(partitions, record["partition"], key, plug)
    return {"answer": {"partition": DefaultPartitioner()(key, range(q["partitions"]), ())}}


RULES = {**ASSIGNORS, "consumer-fetch": fetches.answer}
HELLO = {"protocol": 1, "name": "aiokafka", "version": aiokafka.__version__, "language": "python", "grades": GRADES}
HELLO["rules"] = [*RULES, "murmur2", "partition-for-key", "producer-partition", "sequence-increment"]
for line in map(json.loads, sys.stdin):
    try:
        response = {"hello": HELLO} if "hello" in line else {"id": line["id"], **answer(line["rule"], line["question"])}
    except Exception as error:  # Java has a name for one of them
        divided = {"answer": {"raises": "ArithmeticException"}} if isinstance(error, ZeroDivisionError) else {}
        response = {"id": line["id"], **(divided or {"failed": f"{type(error).__name__}: {error}"})}
    print(json.dumps(response), flush=True)
