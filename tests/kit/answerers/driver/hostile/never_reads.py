"""Says hello, and never reads."""

import json
import time

HELLO = {"hello": {"protocol": 1, "name": "hostile", "version": "1", "language": "python", "rules": ["murmur2"]}}


def say(line: object) -> None:
    print(json.dumps(line), flush=True)


say(HELLO)
time.sleep(600)
