"""Starts a child that outlives it, holding its pipes."""

import json
import subprocess
import sys

HELLO = {"hello": {"protocol": 1, "name": "hostile", "version": "1", "language": "python", "rules": ["murmur2"]}}


def say(line: object) -> None:
    print(json.dumps(line), flush=True)


say(HELLO)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, file=sys.stderr, flush=True)
for text in sys.stdin:
    if "hello" not in text:
        sys.exit(4)
