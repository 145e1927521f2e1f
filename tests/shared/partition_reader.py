"""Read partitions by a consumer of confluent-kafka: a program, since librdkafka aborts at some damaged batches.

``partition_reader.py ADDRESS TIME,TIME... TOPIC-NUMBER...``
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

_CLIENT_LIMIT_S = 20


def main(bootstrap: str, times: list[int], names: list[str]) -> None:
    """Print the offsets, the offsets of times, and the number of records of partitions, each as a line of JSON."""
    for name in names:
        consumer = Consumer({
            "bootstrap.servers": bootstrap, "group.id": "observer", "enable.auto.commit": False, "check.crcs": True,
            "log_level": 0, "auto.offset.reset": "error", "enable.partition.eof": True,
            "isolation.level": "read_uncommitted", "fetch.wait.max.ms": 10,
        })  # fmt: skip
        topic, _, number = name.rpartition("-")
        partition = TopicPartition(topic, int(number))
        try:
            low, high = _offsets(consumer, partition)
            print(json.dumps([name, "range", [low, high]]), flush=True)
            asked = [TopicPartition(topic, int(number), at) for at in times]
            offsets = [consumer.offsets_for_times([each], timeout=_CLIENT_LIMIT_S)[0].offset for each in asked]
            print(json.dumps([name, "times", offsets]), flush=True)
        except KafkaException as error:
            print(json.dumps([name, "read", [0, f"no offsets: {error.args[0].name()}"]]), flush=True)
            continue
        print(json.dumps([name, "read", _consumed(consumer, TopicPartition(topic, int(number), low))]), flush=True)


def _offsets(consumer: Any, partition: Any) -> tuple[int, int]:
    """Return the first offset and the end, once the partition has a leader."""
    limit = time.monotonic() + _CLIENT_LIMIT_S / 2
    while True:
        try:
            low, high = consumer.get_watermark_offsets(partition, timeout=_CLIENT_LIMIT_S)
        except KafkaException:
            if time.monotonic() > limit:
                raise
            time.sleep(0.2)
        else:
            return low, high


def _consumed(consumer: Any, start: Any) -> tuple[int, str]:
    """Count the records that a consumer receives up to the end, or to an error."""
    consumer.assign([start])
    count, limit = 0, time.monotonic() + _CLIENT_LIMIT_S
    try:
        while time.monotonic() < limit:
            message = consumer.poll(3)
            if message is None:
                return count, "nothing more"
            if message.error():
                return count, "" if message.error().code() == KafkaError._PARTITION_EOF else message.error().name()
            count += 1
        return count, "too slow"
    finally:
        consumer.unassign()


if __name__ == "__main__":
    main(sys.argv[1], list(map(int, sys.argv[2].split(","))), sys.argv[3:])
    os._exit(0)  # librdkafka waits for its threads otherwise
