"""Breaks before it says hello."""

import json
import sys

HELLO = {"hello": {"protocol": 1, "name": "hostile", "version": "1", "language": "python", "rules": ["murmur2"]}}


def say(line: object) -> None:
    print(json.dumps(line), flush=True)


print("about to import", file=sys.stderr)
sys.exit("ModuleNotFoundError: No module named 'kafka'\x1b]0;owned\x07")
