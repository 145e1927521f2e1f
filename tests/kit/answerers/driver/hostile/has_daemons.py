"""Starts children that outlive it, in sessions of their own: one directly, one whose parent has ended."""

import json
import os
import subprocess
import sys

HELLO = {"hello": {"protocol": 1, "name": "hostile", "version": "1", "language": "python", "rules": ["murmur2"]}}
SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


def say(line: object) -> None:
    print(json.dumps(line), flush=True)


say(HELLO)
child = subprocess.Popen(SLEEP, start_new_session=True)
print(child.pid, file=sys.stderr, flush=True)
if os.fork() == 0:
    os.setsid()
    print(subprocess.Popen(SLEEP, start_new_session=True).pid, file=sys.stderr, flush=True)
    os._exit(0)
os.wait()
for text in sys.stdin:
    if "hello" not in text:
        sys.exit(4)
