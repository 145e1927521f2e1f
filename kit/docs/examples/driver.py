"""A driver for kafka-conformance: the hash of a key, and its partition."""

import json
import sys

RULES = ["murmur2", "partition-for-key"]
M, MASK = 0x5BD1E995, 0xFFFFFFFF


def murmur2(key):
    h, whole = 0x9747B28C ^ len(key), len(key) & ~3
    for i in range(0, whole, 4):
        k = int.from_bytes(key[i : i + 4], "little") * M & MASK
        h = (h * M ^ (k ^ k >> 24) * M) & MASK
    if key[whole:]:
        h = (h ^ int.from_bytes(key[whole:], "little")) * M & MASK
    h = (h ^ h >> 13) * M & MASK
    h ^= h >> 15
    return h - 2**32 if h >= 2**31 else h  # a Java int


def answer(rule, question):
    if question["key"] is None:
        return {"raises": "NullPointerException"}
    hashed = murmur2(bytes.fromhex(question["key"]))
    if rule == "murmur2":
        return {"hash": hashed}
    if question["partitions"] == 0:
        return {"raises": "ArithmeticException"}
    return {"partition": (hashed & 0x7FFFFFFF) % abs(question["partitions"])}


for line in sys.stdin:
    asked = json.loads(line)
    if "hello" in asked:
        response = {"hello": {"protocol": 1, "name": "example", "version": "1", "language": "python", "rules": RULES}}
    else:
        response = {"id": asked["id"], "answer": answer(asked["rule"], asked["question"])}
    print(json.dumps(response), flush=True)
