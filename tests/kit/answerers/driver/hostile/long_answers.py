"""Answers each question with a list of a million zeros, or as many as the environment names."""

import json
import os
import sys

HELLO = {"hello": {"protocol": 1, "name": "hostile", "version": "1", "language": "python", "rules": ["murmur2"]}}
ZEROS = [0] * int(os.environ.get("HOSTILE_ZEROS", "4000000"))


def say(line: object) -> None:
    print(json.dumps(line), flush=True)


for text in sys.stdin:
    asked = json.loads(text)
    say(HELLO if "hello" in asked else {"id": asked["id"], "answer": {"hash": ZEROS}})
