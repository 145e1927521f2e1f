"""pykafka's partitioners, called as its Producer calls them: with a list of all partitions, and the key.
default: RandomPartitioner, which ignores the key and takes the partitions in turn: one for all keyed questions, as one
producer has it; hashing: HashingPartitioner, which is SHA-1.
"""

import json
import sys
from importlib.metadata import version
from types import SimpleNamespace

from pykafka.partitioners import HashingPartitioner, RandomPartitioner

PARTITIONER = HashingPartitioner() if "hashing" in sys.argv else RandomPartitioner()
ROUND_ROBIN = [] if "hashing" in sys.argv else ["round-robin-partitioner"]


class Partition(SimpleNamespace):
    """A partition, compared by its number as pykafka's is."""

    def __lt__(self, other):
        return self.id < other.id


def choose(partitioner, ids, key):
    return partitioner([Partition(id=one) for one in ids], key).id


def answer(rule, q):
    cluster = q.get("cluster", {"partitions": [{"id": one} for one in range(min(q.get("partitions", 0), 10_000))]})
    if rule == "round-robin-partitioner":
        partitioners, done = {}, []
        for step in q["steps"]:
            cluster = step.get("cluster", cluster)
            partitioner = partitioners.setdefault(step.get("topic"), RandomPartitioner())  # a producer has one topic
            ids = [one["id"] for one in cluster["partitions"]]
            done.append({"partition": choose(partitioner, ids, None)} if step["op"] == "partition" else {})
        return {"answer": {"steps": done}}
    if not 0 <= q.get("partitions", 0) <= 10_000:
        return {"unsupported": "it sorts all partitions for each record: 0 to 10,000 of them"}
    record, config = q.get("record", {"partition": None, "key": q.get("key")}), q.get("config", {})
    if record["partition"] is not None or config.get("ignore_keys") or config.get("partitioner"):
        return {"unsupported": "produce takes no partition; a custom partitioner returns one of pykafka's own"}
    ids = [one["id"] for one in cluster["partitions"]]
    if record["key"] is None:
        return {"unsupported": "without a key: in turn, or refused by HashingPartitioner"}
    return {"answer": {"partition": choose(PARTITIONER, ids, bytes.fromhex(record["key"]))}}


HELLO = {"protocol": 1, "name": "pykafka", "version": version("pykafka"), "language": "python"}
HELLO["rules"] = ["partition-for-key", "producer-partition", *ROUND_ROBIN]
for line in map(json.loads, sys.stdin):
    try:
        response = {"hello": HELLO} if "hello" in line else {"id": line["id"], **answer(line["rule"], line["question"])}
    except ZeroDivisionError:  # Java's name for it
        response = {"id": line["id"], "answer": {"raises": "ArithmeticException"}}
    except Exception as error:
        response = {"id": line["id"], "failed": f"{type(error).__name__}: {error}"}
    print(json.dumps(response), flush=True)
