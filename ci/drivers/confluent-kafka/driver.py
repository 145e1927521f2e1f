"""librdkafka's own partitioners, by ctypes, in the library that confluent-kafka's wheel brings.

The argument is the partitioner's name; consistent_random, which is CRC32, is the default. Keys are asked at a whole word's
address and beside it, since librdkafka hashes the two by different code.
"""

import ctypes
import json
import sys
from importlib.metadata import distribution

sys.path.insert(0, "lib")  # where a wheel for another Python is installed
WHEEL, NAME = distribution("confluent-kafka"), sys.argv[1]
LIBRARY = next(f for f in WHEEL.files if f.name.startswith("librdkafka") and ".so" in f.name)
LIBRDKAFKA = ctypes.CDLL(str(LIBRARY.locate()))
LIBRDKAFKA.rd_kafka_version_str.restype = ctypes.c_char_p
PARTITIONER = getattr(LIBRDKAFKA, f"rd_kafka_msg_partitioner_{NAME}")
PARTITIONER.restype = ctypes.c_int32
_POINTER = ctypes.c_void_p
PARTITIONER.argtypes = [_POINTER, _POINTER, ctypes.c_size_t, ctypes.c_int32, _POINTER, _POINTER]
LIBRDKAFKA.rd_kafka_new.restype = LIBRDKAFKA.rd_kafka_topic_new.restype = _POINTER
LIBRDKAFKA.rd_kafka_topic_new.argtypes = [_POINTER, ctypes.c_char_p, _POINTER]
TOPIC = LIBRDKAFKA.rd_kafka_topic_new(LIBRDKAFKA.rd_kafka_new(0, None, None, 0), b"t", None)  # to draw takes one


def choose(key, count):
    if count < 1 or (NAME.endswith("_random") and key is None):
        return {"unsupported": "at least 1 partition; a record without a key is drawn, at once"}
    if not key and NAME == "consistent_random":  # an empty key is drawn, as none is
        return {"answer": {"partition": PARTITIONER(TOPIC, None, 0, count, None, None)}}
    found, key = [], key or b""
    for offset in (0, 1, 3):
        memory = (ctypes.c_uint64 * (len(key) // 8 + 2))()
        address = ctypes.addressof(memory) + offset
        ctypes.memmove(address, key, len(key))
        found.append(PARTITIONER(None, address, len(key), count, None, None))
    wrong = {"failed": f"at the offsets 0, 1, 3 of a word: {found}"}
    return wrong if len(set(found)) > 1 else {"answer": {"partition": found[0]}}


def answer(rule, q):
    if rule == "partition-for-key":
        return choose(None if q["key"] is None else bytes.fromhex(q["key"]), q["partitions"])
    record, config = q["record"], q["config"]
    if record["partition"] is not None or config["partitioner"] or config["ignore_keys"]:
        return {"unsupported": "partitions that are named, and plugged partitioners, are librdkafka's inside"}
    return choose(None if record["key"] is None else bytes.fromhex(record["key"]), len(q["cluster"]["partitions"]))


VERSION = f"{LIBRDKAFKA.rd_kafka_version_str().decode()} (confluent-kafka {WHEEL.version})"
HELLO = {"protocol": 1, "name": "librdkafka", "version": VERSION, "language": "c"}
HELLO["rules"] = ["partition-for-key", "producer-partition"]
for line in map(json.loads, sys.stdin):
    try:
        response = {"hello": HELLO} if "hello" in line else {"id": line["id"], **answer(line["rule"], line["question"])}
    except Exception as error:
        response = {"id": line["id"], "failed": f"{type(error).__name__}: {error}"}
    print(json.dumps(response), flush=True)
