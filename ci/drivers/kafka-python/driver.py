"""kafka-python, asked through its own producer. `default`: DefaultPartitioner; `java`: StickyPartitioner (KIP-480)."""

import json
import sys

import fetches
import kafka
import sticky
from assignors import ASSIGNORS, cluster
from kafka.partitioner import DefaultPartitioner, StickyPartitioner, murmur2
from kafka.producer.transaction_manager import TransactionManager

PARTITIONER = StickyPartitioner if "java" in sys.argv else DefaultPartitioner
RULES = {"default-partitioner": sticky.answer} if "java" in sys.argv else ASSIGNORS | {"consumer-fetch": fetches.answer}


def choose(leaders, partition, key, partitioner):
    producer = kafka.KafkaProducer.__new__(kafka.KafkaProducer)  # to choose takes metadata, and no connection
    producer.config, producer._metadata = {"partitioner": partitioner}, cluster({"t": sticky.partitions(leaders)})
    try:
        return {"answer": {"partition": producer._partition("t", partition, key, b"", key, b"")}}
    except ValueError as refused:
        return {"unsupported": f"refused: {refused}"}


def answer(rule, q):
    if rule in RULES:
        return RULES[rule](q)
    if rule == "murmur2" and q["key"] is not None:
        return {"answer": {"hash": murmur2(bytes.fromhex(q["key"]))}}
    if rule == "sequence-increment":
        manager, tp = TransactionManager(), kafka.TopicPartition("t", 0)
        manager.set_sequence_number(tp, q["sequence"])
        manager.increment_sequence_number(tp, q["by"])
        return {"answer": {"sequence": manager.sequence_number(tp)}}
    record, config = q.get("record", {"partition": None, "key": q.get("key")}), q.get("config", {})
    key, plugged = None if record["key"] is None else bytes.fromhex(record["key"]), config.get("partitioner")
    if not 0 <= q.get("partitions", 0) <= 10_000:
        return {"unsupported": "it sorts all partitions for each record: 0 to 10,000 of them"}
    if record["partition"] is plugged is None and (key is None or config.get("ignore_keys")):
        return {"unsupported": "no key: drawn by random.choice, at once; there is no partitioner.ignore.keys"}
    if rule == "producer-partition":
        if set(leaders := sticky.leaders(q["cluster"])) != set(range(len(leaders))):
            return {"unsupported": "it answers with a partition's number, Java with its place: no topic has gaps"}
        plug = {"partition": lambda *_: plugged["returns"]} if plugged else {}
        return choose(leaders, record["partition"], key, type("CustomPartitioner", (PARTITIONER,), plug)())
    return choose(dict.fromkeys(range(q["partitions"]), 0), None, key, PARTITIONER())


HELLO = {"protocol": 1, "name": "kafka-python", "version": kafka.__version__, "language": "python"}
HELLO["grades"] = {rule: "admissible" for rule in RULES if "sticky" in rule or "default" in rule}
HELLO["rules"] = [*RULES, "murmur2", "partition-for-key", "producer-partition", "sequence-increment"]
for line in map(json.loads, sys.stdin):
    try:
        response = {"hello": HELLO} if "hello" in line else {"id": line["id"], **answer(line["rule"], line["question"])}
    except Exception as error:  # Java has a name for one of them
        divided = {"answer": {"raises": "ArithmeticException"}} if isinstance(error, ZeroDivisionError) else {}
        response = {"id": line["id"], **(divided or {"failed": f"{type(error).__name__}: {error}"})}
    print(json.dumps(response), flush=True)
