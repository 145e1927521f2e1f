"""Breaks at its first question of all, and never again."""

import json
import os
import sys
from pathlib import Path

HELLO = {"hello": {"protocol": 1, "name": "hostile", "version": "1", "language": "python", "rules": ["murmur2"]}}


def say(line: object) -> None:
    print(json.dumps(line), flush=True)


for text in sys.stdin:
    asked = json.loads(text)
    if "hello" in asked:
        say(HELLO)
        continue
    mark = Path(os.environ["HOSTILE_MARK"])
    if not mark.exists():
        mark.touch()
        sys.exit(5)
    say({"id": asked["id"], "answer": {"hash": len(asked["question"]["key"])}})
