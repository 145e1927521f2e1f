"""Closes its standard output at every question, and stays."""

import json
import os
import sys
import time

HELLO = {"hello": {"protocol": 1, "name": "hostile", "version": "1", "language": "python", "rules": ["murmur2"]}}

print(json.dumps(HELLO), flush=True)
for text in sys.stdin:
    if "hello" not in text:
        os.close(1)
        time.sleep(60)
