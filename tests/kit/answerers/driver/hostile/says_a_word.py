"""Writes JSON that is not an object."""

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
        if asked["question"]["key"] == "bad1":
            say("ready")
        say({"id": asked["id"], "answer": {"hash": len(asked["question"]["key"])}})
