"""The fields that histories send to a broker, and what they take from its responses."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from fake_brokers import SILENCE, fake_broker

from kafka_conformance.core.errors import BadInput, BrokerLost
from kafka_conformance.replication.live import wire
from kafka_conformance.replication.live.wire import (
    READ_COMMITTED,
    BrokerMetadata,
    FetchedLog,
    await_true,
    connect,
    metadata_without_elr,
    produce,
    produced,
)
from kafka_conformance.wire.client import Connection, parse_address
from kafka_conformance.wire.codec.messages import error_name

UNKNOWN = BrokerMetadata("UNKNOWN_TOPIC_OR_PARTITION", -1, -1, frozenset(), frozenset())
ISR = {"leaderId": -1, "leaderEpoch": 3, "isrNodes": [2], "errorCode": 5}


def called(name: str, answer: dict[str, Any], *args: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Call a function of the module against a broker with this answer; return its result and the request."""
    with fake_broker(lambda *_: answer) as broker, Connection(*parse_address(broker.address), 5) as connection:
        found = getattr(wire, name)(connection, "t", *args, **options)
    return found, broker.requests[0][1]


@pytest.mark.parametrize(("code", "name"), [(0, "NONE"), (7, "REQUEST_TIMED_OUT"), (6, "NOT_LEADER_OR_FOLLOWER")])
def test_produce_response_is_returned_as_error_name_and_base_offset(code: int, name: str) -> None:
    partition = {"errorCode": code, "baseOffset": 5}
    answer = {"responses": [{"name": "t", "partitionResponses": [partition]}]}
    with fake_broker(lambda *_: answer) as broker, Connection(*parse_address(broker.address), 5) as connection:
        assert produced(produce(connection, "t", b"batch", acks=-1, timeout_ms=100).wait(5)) == (name, 5)
    assert broker.requests[0][1] == {
        "transactionalId": None, "acks": -1, "timeoutMs": 100,
        "topicData": [{"name": "t", "partitionData": [{"index": 0, "records": b"batch"}]}],
    }  # fmt: skip


@pytest.mark.parametrize(("name", "elr"), [("metadata", {3}), ("metadata_without_elr", set())])
def test_metadata_of_partition_without_leader_and_of_unknown_topic_is_read(name: str, elr: set[int]) -> None:
    partition = {**ISR, "eligibleLeaderReplicas": [3]} if elr else ISR
    found, request = called(name, {"topics": [{"name": "t", "partitions": [partition]}]})
    assert found == BrokerMetadata("LEADER_NOT_AVAILABLE", -1, 3, frozenset({2}), frozenset(elr))
    assert request["topics"] == [{"name": "t"}]
    assert request.get("allowAutoTopicCreation", False) is False
    assert called(name, {"topics": [{"name": "t", "errorCode": 3}]})[0] == UNKNOWN


def test_fetch_reads_batches_and_high_watermark_or_the_error_of_the_response() -> None:
    partition = {"highWatermark": 4, "records": b"batches"}
    found, request = called(
        "fetch", {"responses": [{"topic": "t", "partitions": [partition]}]}, isolation=READ_COMMITTED, leader_epoch=7
    )
    assert found == FetchedLog("NONE", 4, b"batches")
    assert (request["replicaId"], request["isolationLevel"], request["sessionEpoch"]) == (-1, READ_COMMITTED, -1)
    assert request["topics"][0]["partitions"][0]["currentLeaderEpoch"] == 7
    assert called("fetch", {"errorCode": 6})[0] == FetchedLog("NOT_LEADER_OR_FOLLOWER", -1, b"")


def test_log_end_offset_is_asked_with_the_replica_id_of_debugging_consumers() -> None:
    found, request = called("list_end_offset", {"topics": [{"name": "t", "partitions": [{"offset": 9}]}]})
    assert found == ("NONE", 9)
    assert request["replicaId"] == wire.DEBUGGING
    assert request["topics"][0]["partitions"] == [{"partitionIndex": 0, "currentLeaderEpoch": -1, "timestamp": -1}]


def test_create_topic_sends_replicas_and_settings_and_raises_bad_input_if_refused() -> None:
    _, request = called("create_topic", {"topics": [{"name": "t"}]}, (3, 1), {"a": "b"})
    assert request["topics"][0] == {
        "name": "t", "numPartitions": -1, "replicationFactor": -1,
        "assignments": [{"partitionIndex": 0, "brokerIds": [3, 1]}], "configs": [{"name": "a", "value": "b"}],
    }  # fmt: skip
    with pytest.raises(BadInput, match=r"^topic t cannot be created: TOPIC_ALREADY_EXISTS$"):
        called("create_topic", {"topics": [{"name": "t", "errorCode": 36, "errorMessage": None}]}, (3, 1), {})


def test_topic_setting_is_set_and_described_by_name() -> None:
    error, request = called("alter_topic", {"responses": [{"errorCode": 40}]}, "a", "b")
    assert error == "INVALID_CONFIG"
    assert request["resources"] == [
        {"resourceType": 2, "resourceName": "t", "configs": [{"name": "a", "configOperation": 0, "value": "b"}]}
    ]
    configs = [{"name": "other", "value": "c"}, {"name": "a", "value": "b"}]
    assert called("described_setting", {"results": [{"configs": configs}]}, "a")[0] == "b"
    assert called("described_setting", {"results": [{}]}, "a")[0] is None


def test_election_returns_error_of_the_partition_or_else_of_the_whole_response() -> None:
    results = [{"topic": "t", "partitionResult": [{"errorCode": 84}]}]
    error, request = called("elect", {"replicaElectionResults": results}, unclean=True)
    assert (error, request["electionType"]) == ("ELECTION_NOT_NEEDED", 1)
    assert called("elect", {"errorCode": 41}, unclean=False)[0] == "NOT_CONTROLLER"


def test_connection_to_stopped_broker_raises_one_line_broker_lost() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(BrokerLost, match=rf"^no connection to 127\.0\.0\.1:{port}: "):
        connect(port)


def test_response_to_acks_0_produce_is_not_expected_by_the_request_that_follows() -> None:
    topics = {"topics": [{"name": "t", "partitions": [ISR]}]}
    with (
        fake_broker(lambda api, *_: SILENCE if api == "Produce" else topics) as broker,
        Connection(*parse_address(broker.address), 5) as connection,
    ):
        produce(connection, "t", b"batch", acks=0, timeout_ms=100)
        assert metadata_without_elr(connection, "t").leader_epoch == 3


def test_error_codes_map_to_kafkas_error_names() -> None:
    assert [error_name(code) for code in (19, 21, 84)] == [
        "NOT_ENOUGH_REPLICAS",
        "INVALID_REQUIRED_ACKS",
        "ELECTION_NOT_NEEDED",
    ]


def test_await_true_returns_false_after_the_limit() -> None:
    assert await_true(lambda: True, 0.0)
    assert not await_true(lambda: False, 0.05)
