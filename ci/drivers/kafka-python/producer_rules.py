"""kafka-python's port of Java's producer, or aiokafka's batches: `producer` asks these rules, and no others."""

import json
import logging
import sys
from functools import partial
from importlib.metadata import version

import records

LIBRARY, PACKAGE = ("aiokafka", "aiokafka") if "aiokafka" in sys.argv else ("kafka", "kafka-python")
RULES = {"record-batch": partial(records.answer, LIBRARY)}
if LIBRARY == "kafka":
    import accumulator_steps
    import sequence_steps

    RULES |= {"record-accumulator": accumulator_steps.answer, "producer-sequences": sequence_steps.answer}
HELLO = {"protocol": 1, "name": PACKAGE, "version": version(PACKAGE), "language": "python", "rules": list(RULES)}
logging.disable()  # each refused batch is a warning

for line in map(json.loads, sys.stdin):
    try:
        answer = {"hello": HELLO} if "hello" in line else {"id": line["id"], **RULES[line["rule"]](line["question"])}
    except Exception as error:
        answer = {"id": line["id"], "failed": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
