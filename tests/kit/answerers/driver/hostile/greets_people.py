"""Has words for people on standard output."""

import json
import sys

HELLO = {"hello": {"protocol": 1, "name": "hostile", "version": "1", "language": "python", "rules": ["murmur2"]}}


def say(line: object) -> None:
    print(json.dumps(line), flush=True)


print("Welcome to my \x1b[31mdriver\x1b[0m!", flush=True)
for _ in sys.stdin:
    say(HELLO)
