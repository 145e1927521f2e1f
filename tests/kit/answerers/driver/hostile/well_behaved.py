"""Does everything right."""

import json
import sys

HELLO = {"hello": {"protocol": 1, "name": "hostile", "version": "1", "language": "python", "rules": ["murmur2"]}}


def say(line: object) -> None:
    print(json.dumps(line), flush=True)


for text in sys.stdin:
    asked = json.loads(text)
    say(HELLO if "hello" in asked else {"id": asked["id"], "answer": {"hash": len(asked["question"]["key"])}})
