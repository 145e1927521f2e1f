"""aiokafka, asked through its own producer. It has one partitioner, which is meant to be Java's: both settings are one."""

import asyncio
import json
import sys

import aiokafka
from aiokafka.cluster import ClusterMetadata
from aiokafka.partitioner import DefaultPartitioner, murmur2
from aiokafka.producer.transaction_manager import TransactionManager
from aiokafka.structs import PartitionMetadata


def choose(partitions, partition, key, partitioner):
    producer = aiokafka.AIOKafkaProducer.__new__(aiokafka.AIOKafkaProducer)  # to choose takes no connection
    producer._closed = True
    producer._partitioner, producer._metadata = partitioner, ClusterMetadata()
    known = {p: PartitionMetadata("t", p, leader, [], [], None) for p, leader in partitions.items()}
    producer._metadata._partitions = {"t": known}
    try:
        return {"answer": {"partition": producer._partition("t", partition, key, b"", key, b"")}}
    except AssertionError as refused:
        return {"unsupported": f"refused, unless asserts are off: {refused or 'partition >= 0'}"}


def answer(rule, q):
    if rule == "murmur2":
        return {"answer": {"hash": murmur2(None if q["key"] is None else bytes.fromhex(q["key"]))}}
    if rule == "sequence-increment":
        manager, tp = TransactionManager(None, 0), aiokafka.TopicPartition("t", 0)
        manager._sequence_numbers[tp] = q["sequence"]
        manager.increment_sequence_number(tp, q["by"])
        return {"answer": {"sequence": manager.sequence_number(tp)}}
    record, config = q.get("record", {"partition": None, "key": q.get("key")}), q.get("config", {})
    key = None if record["key"] is None else bytes.fromhex(record["key"])
    plugged = config.get("partitioner")
    if record["partition"] is None and not plugged and (key is None or config.get("ignore_keys")):
        return {"unsupported": "drawn by random.choice, at once; there is no partitioner.ignore.keys"}
    if rule == "producer-partition":
        leaders = {p["id"]: -1 if p["leader"] is None else p["leader"] for p in q["cluster"]["partitions"]}
        partitioner = (lambda *_: plugged["returns"]) if plugged else DefaultPartitioner()
        return choose(leaders, record["partition"], key, partitioner)
    if q["partitions"] < 0:
        return {"unsupported": "a list cannot be shorter than empty"}
    return {"answer": {"partition": DefaultPartitioner()(key, range(q["partitions"]), ())}}


async def main():  # the transaction manager makes futures, so there has to be a loop
    rules = ["murmur2", "partition-for-key", "producer-partition", "sequence-increment"]
    hello = {"protocol": 1, "name": "aiokafka", "version": aiokafka.__version__, "language": "python", "rules": rules}
    for line in map(json.loads, sys.stdin):
        try:
            said = {"hello": hello} if "hello" in line else {"id": line["id"], **answer(line["rule"], line["question"])}
        except Exception as error:
            said = {"id": line["id"], "failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(said), flush=True)


asyncio.run(main())
