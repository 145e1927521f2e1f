"""Names a rule that there is not."""

import json
import sys

HELLO = {"hello": {"protocol": 1, "name": "hostile", "version": "1", "language": "python", "rules": ["murmur2"]}}


def say(line: object) -> None:
    print(json.dumps(line), flush=True)


sys.stdin.readline()
HELLO["hello"]["rules"] = ["murmur-2"]
say(HELLO)
sys.stdin.read()
