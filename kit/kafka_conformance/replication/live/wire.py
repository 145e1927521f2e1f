"""The requests of histories to partition 0 of a topic, each sent once to one broker.

All of them raise BrokerLost if the broker does not respond, and MalformedMessage if its response cannot be decoded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kafka_conformance.brokers.settings import HOST
from kafka_conformance.core.errors import BadInput
from kafka_conformance.wire.client import Connection, PendingResponse
from kafka_conformance.wire.codec.messages import Fields, error_name

__all__ = [
    "DEBUGGING", "READ_COMMITTED", "READ_UNCOMMITTED", "BrokerMetadata", "FetchedLog", "alter_topic", "await_true",
    "connect", "create_topic", "described_setting", "elect", "fetch", "list_end_offset", "metadata",
    "metadata_without_elr", "produce", "produced",
]  # fmt: skip

READ_UNCOMMITTED, READ_COMMITTED = 0, 1
"""Isolation levels of a fetch."""

DEBUGGING = -2
"""The replica id that reads up to the log end offset."""

_LIMIT_S = 20.0
_LIMIT_MS = int(_LIMIT_S * 1000)
_MOST_BYTES = 16 * 2**20
_TOPIC_RESOURCE, _SET = 2, 0
_PREFERRED, _UNCLEAN = 0, 1
_LATEST = -1


@dataclass(frozen=True, slots=True)
class BrokerMetadata:
    """What one broker returns about partition 0 of a topic."""

    error: str
    """The partition's error, ``LEADER_NOT_AVAILABLE`` without a leader."""
    leader: int
    """The leader, -1 without one."""
    leader_epoch: int
    """The leader epoch."""
    isr: frozenset[int]
    """The in-sync replicas."""
    elr: frozenset[int]
    """The eligible leader replicas."""


@dataclass(frozen=True, slots=True)
class FetchedLog:
    """A response to a fetch."""

    error: str
    """The error, ``NONE`` without one."""
    high_watermark: int
    """The replica's high watermark."""
    records: bytes
    """The batches."""


def connect(port: int) -> Connection:
    """Return a connection to a broker on this machine. Raises BrokerLost."""
    return Connection(HOST, port, _LIMIT_S)


def produce(connection: Connection, topic: str, batch: bytes, *, acks: int, timeout_ms: int) -> PendingResponse:
    """Send one batch for partition 0."""
    data = [{"name": topic, "partitionData": [{"index": 0, "records": batch}]}]
    return connection.send("Produce", 9, {"acks": acks, "timeoutMs": timeout_ms, "topicData": data})


def produced(response: Fields) -> tuple[str, int]:
    """Return error and base offset of a response to a produce request."""
    partition = response["responses"][0]["partitionResponses"][0]
    return error_name(partition["errorCode"]), partition["baseOffset"]


def fetch(
    connection: Connection, topic: str, *, isolation: int = READ_UNCOMMITTED, offset: int = 0, leader_epoch: int = -1
) -> FetchedLog:
    """Fetch partition 0 from a replica as a consumer, without waiting; version 11 reads from followers as well."""
    wanted = {
        "partition": 0, "currentLeaderEpoch": leader_epoch, "fetchOffset": offset, "partitionMaxBytes": _MOST_BYTES,
    }  # fmt: skip
    response = connection.ask("Fetch", 11, {
        "maxWaitMs": 0, "minBytes": 0, "maxBytes": _MOST_BYTES, "isolationLevel": isolation,
        "topics": [{"topic": topic, "partitions": [wanted]}],
    })  # fmt: skip
    if response["errorCode"] or not response["responses"]:
        return FetchedLog(error_name(response["errorCode"]), -1, b"")
    one = response["responses"][0]["partitions"][0]
    return FetchedLog(error_name(one["errorCode"]), one["highWatermark"], one["records"] or b"")


def list_end_offset(connection: Connection, topic: str) -> tuple[str, int]:
    """Return error and log end offset of partition 0 from its leader."""
    wanted = [{"name": topic, "partitions": [{"partitionIndex": 0, "timestamp": _LATEST}]}]
    response = connection.ask("ListOffsets", 5, {"replicaId": DEBUGGING, "topics": wanted})
    one = response["topics"][0]["partitions"][0]
    return error_name(one["errorCode"]), one["offset"]


def metadata(connection: Connection, topic: str) -> BrokerMetadata:
    """Return a broker's metadata of partition 0 of a topic."""
    wanted = {"topics": [{"name": topic}], "responsePartitionLimit": 1}
    return _broker_metadata(connection.ask("DescribeTopicPartitions", 0, wanted)["topics"][0])


def metadata_without_elr(connection: Connection, topic: str) -> BrokerMetadata:
    """Return the same metadata by an older request, which brokers with ZooKeeper answer too: without eligible replicas."""
    wanted = {"topics": [{"name": topic}], "allowAutoTopicCreation": False}
    return _broker_metadata(connection.ask("Metadata", 8, wanted)["topics"][0])


def _broker_metadata(found: Fields) -> BrokerMetadata:
    """Return what the response has of a topic; its error alone if it has no partition."""
    if not found["partitions"]:
        return BrokerMetadata(error_name(found["errorCode"]), -1, -1, frozenset(), frozenset())
    one = found["partitions"][0]
    return BrokerMetadata(
        error_name(one["errorCode"]), one["leaderId"], one["leaderEpoch"], frozenset(one["isrNodes"]),
        frozenset(one.get("eligibleLeaderReplicas") or ()),
    )  # fmt: skip


def create_topic(connection: Connection, topic: str, replicas: tuple[int, ...], settings: Mapping[str, str]) -> None:
    """Create a topic of one partition with these replicas. Raises BadInput if Kafka refuses."""
    new = {
        "name": topic, "numPartitions": -1, "replicationFactor": -1,
        "assignments": [{"partitionIndex": 0, "brokerIds": replicas}],
        "configs": [{"name": name, "value": value} for name, value in settings.items()],
    }  # fmt: skip
    one = connection.ask("CreateTopics", 4, {"topics": [new], "timeoutMs": _LIMIT_MS})["topics"][0]
    if code := one["errorCode"]:
        raise BadInput(f"topic {topic} cannot be created: {one['errorMessage'] or error_name(code)}")


def alter_topic(connection: Connection, topic: str, name: str, value: str) -> str:
    """Set a setting of a topic and return the error."""
    change = {"name": name, "configOperation": _SET, "value": value}
    resource = {"resourceType": _TOPIC_RESOURCE, "resourceName": topic, "configs": [change]}
    response = connection.ask("IncrementalAlterConfigs", 0, {"resources": [resource]})
    return error_name(response["responses"][0]["errorCode"])


def described_setting(connection: Connection, topic: str, name: str) -> str | None:
    """Return the value of a topic's setting as one broker has it."""
    resource = {"resourceType": _TOPIC_RESOURCE, "resourceName": topic, "configurationKeys": [name]}
    response = connection.ask("DescribeConfigs", 3, {"resources": [resource]})
    return next((one["value"] for one in response["results"][0]["configs"] if one["name"] == name), None)


def elect(connection: Connection, topic: str, *, unclean: bool) -> str:
    """Ask for an election of partition 0 and return the error."""
    response = connection.ask("ElectLeaders", 1, {
        "electionType": _UNCLEAN if unclean else _PREFERRED,
        "topicPartitions": [{"topic": topic, "partitions": [0]}],
        "timeoutMs": _LIMIT_MS,
    })  # fmt: skip
    if code := response["errorCode"]:
        return error_name(code)
    return error_name(response["replicaElectionResults"][0]["partitionResult"][0]["errorCode"])


def await_true(check: Callable[[], bool], limit_s: float, poll_s: float = 0.02) -> bool:
    """Return whether ``check`` becomes true within ``limit_s``."""
    limit = time.monotonic() + limit_s
    while not (found := check()) and time.monotonic() < limit:
        time.sleep(poll_s)
    return found
