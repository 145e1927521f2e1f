"""Writes one line in Latin-1."""

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
            sys.stdout.flush()
            sys.stdout.buffer.write(f'{{"id": "{asked["id"]}", "failed": "na\xefve"}}\n'.encode("latin-1"))
            sys.stdout.buffer.flush()
            continue
        say({"id": asked["id"], "answer": {"hash": len(asked["question"]["key"])}})
