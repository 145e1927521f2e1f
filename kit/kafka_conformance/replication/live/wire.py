"""Single requests to a broker over its own protocol: one request, one response, no retries.

The messages are kafka-python's (extra ``cluster``); its client is not used, since it would retry and cache.
"""

from __future__ import annotations

import importlib
import select
import socket
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

from kafka_conformance.brokers.settings import HOST
from kafka_conformance.core.errors import BadInput, BrokerLost
from kafka_conformance.wire.codec.messages import error_name
from kafka_conformance.wire.frames import read_exactly

__all__ = [
    "DEBUGGING", "READ_COMMITTED", "READ_UNCOMMITTED", "BrokerMetadata", "Connection", "FetchedLog", "PendingResponse",
    "alter_topic", "await_true", "create_topic", "described_setting", "elect", "fetch", "list_end_offset",
    "metadata", "metadata_without_elr", "produce", "produced",
]  # fmt: skip

READ_UNCOMMITTED, READ_COMMITTED = 0, 1
"""Isolation levels of a fetch."""

DEBUGGING = -2
"""The replica id that reads up to the log end offset."""

_LIMIT_S = 20.0
_MOST_BYTES = 16 * 2**20
_TOPIC_RESOURCE, _SET = 2, 0
_PREFERRED, _UNCLEAN = 0, 1
_LATEST = -1

Address: TypeAlias = tuple[str, int]


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


class Connection:
    """A connection to a broker on this machine. Raises BrokerLost if the broker does not respond."""

    def __init__(self, port: int) -> None:
        self._port, self._correlation = port, 0
        try:
            self._socket = socket.create_connection((HOST, port), timeout=_LIMIT_S)
        except OSError as error:
            raise self._lost(error) from error

    def send(self, request: Any) -> PendingResponse:
        """Send a request and return its response to come."""
        self._correlation += 1
        request.with_header(correlation_id=self._correlation, client_id="kafka-conformance")
        try:
            self._socket.settimeout(_LIMIT_S)
            self._socket.sendall(request.encode(header=True, framed=True))
        except OSError as error:
            raise self._lost(error) from error
        return PendingResponse(self, request)

    def receive(self, limit_s: float = _LIMIT_S) -> bytes:
        """Return the next response without its size. Raises BrokerLost, and TimeoutError if none begins in time."""
        begun = select.poll()  # not select(): a run may have more than 1,024 files open
        begun.register(self._socket, select.POLLIN)
        if not begun.poll(limit_s * 1000):
            raise TimeoutError
        try:
            until = time.monotonic() + _LIMIT_S
            (size,) = struct.unpack(">i", read_exactly(self._socket, 4, until))
            return read_exactly(self._socket, size, until)
        except OSError as error:
            raise self._lost(error) from error

    def ask(self, request: Any, limit_s: float = _LIMIT_S) -> Any:
        """Send a request and return its response. Raises BrokerLost."""
        return self.send(request).wait(limit_s)

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _lost(self, error: OSError) -> BrokerLost:
        return BrokerLost(f"the broker at {HOST}:{self._port} does not respond: {error}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class PendingResponse:
    """The response to a request that was sent."""

    def __init__(self, connection: Connection, request: Any) -> None:
        self._connection, self._request = connection, request

    def wait(self, limit_s: float) -> Any:
        """Return the response. Raises BrokerLost if none comes in time."""
        found = self.poll(limit_s)
        if found is None:
            raise BrokerLost(f"no response to {type(self._request).__name__} within {limit_s:g} s")
        return found

    def poll(self, limit_s: float) -> Any:
        """Return the response; None if none has come after ``limit_s``."""
        try:
            data = self._connection.receive(limit_s)
        except TimeoutError:
            return None
        version = self._request.API_VERSION
        response = _message(self._request.name.removesuffix("Request") + "Response")
        return response.decode(data, version=version, header=True)

    def close(self) -> None:
        """Close the connection of the request."""
        self._connection.close()


def produce(connection: Connection, topic: str, batch: bytes, *, acks: int, timeout_ms: int) -> PendingResponse:
    """Send one batch for partition 0."""
    request = _message("ProduceRequest")
    topics, partition = request.TopicProduceData, request.TopicProduceData.PartitionProduceData
    data = [topics(name=topic, partition_data=[partition(index=0, records=batch)])]
    return connection.send(request(version=9, transactional_id=None, acks=acks, timeout_ms=timeout_ms, topic_data=data))


def produced(response: Any) -> tuple[str, int]:
    """Return error and base offset of a response to a produce request."""
    partition = response.responses[0].partition_responses[0]
    return error_name(partition.error_code), partition.base_offset


def fetch(
    connection: Connection, topic: str, *, isolation: int = READ_UNCOMMITTED, offset: int = 0, leader_epoch: int = -1
) -> FetchedLog:
    """Fetch partition 0 from a replica as a consumer, without waiting; version 11 reads from followers as well."""
    request = _message("FetchRequest")
    topics, partition = request.FetchTopic, request.FetchTopic.FetchPartition
    wanted = partition(partition=0, current_leader_epoch=leader_epoch, fetch_offset=offset, last_fetched_epoch=-1,
                       log_start_offset=-1, partition_max_bytes=_MOST_BYTES)  # fmt: skip
    response = connection.ask(
        request(
            version=11,
            replica_id=-1,
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=_MOST_BYTES,
            isolation_level=isolation,
            session_id=0,
            session_epoch=-1,
            topics=[topics(topic=topic, partitions=[wanted])],
            forgotten_topics_data=[],
            rack_id="",
        )
    )
    if response.error_code or not response.responses:
        return FetchedLog(error_name(response.error_code), -1, b"")
    one = response.responses[0].partitions[0]
    return FetchedLog(error_name(one.error_code), one.high_watermark, bytes(one.records or b""))


def list_end_offset(connection: Connection, topic: str) -> tuple[str, int]:
    """Return error and log end offset of partition 0 from its leader."""
    request = _message("ListOffsetsRequest")
    topics, partition = request.ListOffsetsTopic, request.ListOffsetsTopic.ListOffsetsPartition
    wanted = partition(partition_index=0, current_leader_epoch=-1, timestamp=_LATEST)
    response = connection.ask(
        request(
            version=5,
            replica_id=DEBUGGING,
            isolation_level=READ_UNCOMMITTED,
            topics=[topics(name=topic, partitions=[wanted])],
        )
    )
    one = response.topics[0].partitions[0]
    return error_name(one.error_code), one.offset


def metadata(connection: Connection, topic: str) -> BrokerMetadata:
    """Return a broker's metadata of partition 0 of a topic."""
    request = _message("DescribeTopicPartitionsRequest")
    response = connection.ask(
        request(version=0, topics=[request.TopicRequest(name=topic)], response_partition_limit=1, cursor=None)
    )
    found = response.topics[0]
    if not found.partitions:
        return BrokerMetadata(error_name(found.error_code), -1, -1, frozenset(), frozenset())
    one = found.partitions[0]
    isr, elr = frozenset(one.isr_nodes), frozenset(one.eligible_leader_replicas or ())
    return BrokerMetadata(error_name(one.error_code), one.leader_id, one.leader_epoch, isr, elr)


def metadata_without_elr(connection: Connection, topic: str) -> BrokerMetadata:
    """Return the same metadata by an older request, which brokers with ZooKeeper answer too: without eligible replicas."""
    request = _message("MetadataRequest")
    wanted = [request.MetadataRequestTopic(name=topic)]
    response = connection.ask(
        request(
            version=8,
            topics=wanted,
            allow_auto_topic_creation=False,
            include_cluster_authorized_operations=False,
            include_topic_authorized_operations=False,
        )
    )
    found = response.topics[0]
    if not found.partitions:
        return BrokerMetadata(error_name(found.error_code), -1, -1, frozenset(), frozenset())
    one = found.partitions[0]
    return BrokerMetadata(
        error_name(one.error_code), one.leader_id, one.leader_epoch, frozenset(one.isr_nodes), frozenset()
    )


def create_topic(connection: Connection, topic: str, replicas: tuple[int, ...], settings: Mapping[str, str]) -> None:
    """Create a topic of one partition with these replicas. Raises BadInput if Kafka refuses."""
    request = _message("CreateTopicsRequest")
    topics = request.CreatableTopic
    assigned = topics.CreatableReplicaAssignment(partition_index=0, broker_ids=list(replicas))
    configs = [topics.CreatableTopicConfig(name=name, value=value) for name, value in settings.items()]
    new = topics(name=topic, num_partitions=-1, replication_factor=-1, assignments=[assigned], configs=configs)
    response = connection.ask(request(version=4, topics=[new], timeout_ms=int(_LIMIT_S * 1000), validate_only=False))
    if code := response.topics[0].error_code:
        raise BadInput(f"topic {topic} cannot be created: {response.topics[0].error_message or error_name(code)}")


def alter_topic(connection: Connection, topic: str, name: str, value: str) -> str:
    """Set a setting of a topic and return the error."""
    request = _message("IncrementalAlterConfigsRequest")
    resources = request.AlterConfigsResource
    change = resources.AlterableConfig(name=name, config_operation=_SET, value=value)
    resource = resources(resource_type=_TOPIC_RESOURCE, resource_name=topic, configs=[change])
    response = connection.ask(request(version=0, resources=[resource], validate_only=False))
    return error_name(response.responses[0].error_code)


def described_setting(connection: Connection, topic: str, name: str) -> str | None:
    """Return the value of a topic's setting as one broker has it."""
    request = _message("DescribeConfigsRequest")
    resource = request.DescribeConfigsResource(
        resource_type=_TOPIC_RESOURCE, resource_name=topic, configuration_keys=[name]
    )
    response = connection.ask(
        request(version=3, resources=[resource], include_synonyms=False, include_documentation=False)
    )
    return next((one.value for one in response.results[0].configs if one.name == name), None)


def elect(connection: Connection, topic: str, *, unclean: bool) -> str:
    """Ask for an election of partition 0 and return the error."""
    request = _message("ElectLeadersRequest")
    wanted = request.TopicPartitions(topic=topic, partitions=[0])
    response = connection.ask(
        request(
            version=1,
            election_type=_UNCLEAN if unclean else _PREFERRED,
            topic_partitions=[wanted],
            timeout_ms=int(_LIMIT_S * 1000),
        )
    )
    if response.error_code:
        return error_name(response.error_code)
    return error_name(response.replica_election_results[0].partition_result[0].error_code)


def await_true(check: Callable[[], bool], limit_s: float, poll_s: float = 0.02) -> bool:
    """Return whether ``check`` becomes true within ``limit_s``."""
    limit = time.monotonic() + limit_s
    while not (found := check()) and time.monotonic() < limit:
        time.sleep(poll_s)
    return found


def _message(name: str) -> Any:
    """Return a message class of kafka-python, which is imported with the first request. Raises ModuleNotFoundError."""
    for module in ("admin", "consumer", "metadata", "producer"):
        if (found := getattr(importlib.import_module(f"kafka.protocol.{module}"), name, None)) is not None:
            return found
    raise AssertionError(f"kafka-python has no {name}")
