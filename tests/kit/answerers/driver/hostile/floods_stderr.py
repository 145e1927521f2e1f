"""Writes 5,000 lines to standard error for every question, and ends at one."""

import json
import sys

HELLO = {"hello": {"protocol": 1, "name": "hostile", "version": "1", "language": "python", "rules": ["murmur2"]}}


def say(line: object) -> None:
    print(json.dumps(line), flush=True)


for text in sys.stdin:
    asked = json.loads(text)
    if "hello" in asked:
        say(HELLO)
    else:
        sys.stderr.write("still here\n" * 5000)
        if asked["question"]["key"] == "bad1":
            raise IndexError("no such table")
        say({"id": asked["id"], "answer": {"hash": len(asked["question"]["key"])}})
