"""What is in a topic, and what a group has committed, read by the kit's own client."""

from __future__ import annotations

import time
from dataclasses import dataclass

from kafka_conformance.core.errors import KitError
from kafka_conformance.wire.client import Connection
from kafka_conformance.wire.recording.addresses import Address
from kafka_reference.errors import JavaException
from kafka_reference.record_batch import DefaultBatch, decode_batches

__all__ = ["LogRecord", "committed_offsets", "read_log"]

_FETCH, _OFFSET_FETCH = 11, 5
_MOST = 8 * 2**20
_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class LogRecord:
    """A record of a partition. Transaction markers are left out."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None


def read_log(address: Address, topic: str, partitions: int, limit_s: float) -> list[LogRecord]:
    """Return all records of a topic, those of aborted transactions too. Raises KitError."""
    until = time.monotonic() + limit_s
    with Connection(*address, limit_s) as connection:
        return [one for at in range(partitions) for one in _read(connection, topic, at, until)]


def _read(connection: Connection, topic: str, partition: int, until: float) -> list[LogRecord]:
    found: list[LogRecord] = []
    position, end = 0, 1
    while position < end:
        asked = {"partition": partition, "fetchOffset": position, "partitionMaxBytes": _MOST}
        answer = connection.ask("Fetch", _FETCH, {
            "replicaId": -1, "maxWaitMs": 100, "minBytes": 1, "maxBytes": _MOST, "sessionEpoch": -1,
            "topics": [{"topic": topic, "partitions": [asked]}],
        }, until=until)  # fmt: skip
        one = answer["responses"][0]["partitions"][0]
        if one["errorCode"]:
            raise KitError(f"{topic}-{partition} cannot be read: Fetch is answered with error {one['errorCode']}")
        end = one["highWatermark"]
        try:
            for batch in decode_batches(one["records"] or b""):
                position = max(position, batch.last_offset + 1)
                if isinstance(batch, DefaultBatch) and batch.control:
                    continue
                records = (each for each in batch.records() if each is not None)
                found += [LogRecord(partition, each.offset, each.key, each.value) for each in records]
        except JavaException as error:
            raise KitError(f"{topic}-{partition} cannot be read at offset {position:,}: {error}") from error
    return found


def committed_offsets(address: Address, group: str, topic: str, partitions: int, limit_s: float) -> dict[int, int]:
    """Return the committed offset of each partition, -1 for none. Raises KitError."""
    until = time.monotonic() + limit_s
    asked = {"groupId": group, "topics": [{"name": topic, "partitionIndexes": list(range(partitions))}]}
    with Connection(*address, limit_s) as connection:
        while (answer := connection.ask("OffsetFetch", _OFFSET_FETCH, asked, until=until))["errorCode"]:
            if time.monotonic() >= until:
                raise KitError(f"offsets of group {group} cannot be read: error {answer['errorCode']}")
            time.sleep(_POLL_S)
    return {each["partitionIndex"]: each["committedOffset"] for one in answer["topics"] for each in one["partitions"]}
