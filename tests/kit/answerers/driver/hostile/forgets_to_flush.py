"""Answers, and leaves the answers in its buffer."""

import json
import sys

HELLO = {"hello": {"protocol": 1, "name": "hostile", "version": "1", "language": "python", "rules": ["murmur2"]}}


def say(line: object) -> None:
    print(json.dumps(line), flush=True)


sys.stdout = open(1, "w", buffering=2**16)  # noqa: SIM115  whatever PYTHONUNBUFFERED says
for text in sys.stdin:
    asked = json.loads(text)
    if "hello" in asked:
        say(HELLO)
    else:
        print(json.dumps({"id": asked["id"], "answer": {"hash": 4}}))
