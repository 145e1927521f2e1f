"""Closes its standard output at one question."""

import json
import os
import sys
import time

HELLO = {"hello": {"protocol": 1, "name": "hostile", "version": "1", "language": "python", "rules": ["murmur2"]}}


def say(line: object) -> None:
    print(json.dumps(line), flush=True)


for text in sys.stdin:
    asked = json.loads(text)
    if "hello" in asked:
        say(HELLO)
    else:
        if asked["question"]["key"] == "bad1":
            os.close(1)
            time.sleep(60)
        say({"id": asked["id"], "answer": {"hash": len(asked["question"]["key"])}})
