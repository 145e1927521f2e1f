"""The four requests, to brokers with answers of the test's own. How Kafka answers them: tests/pipeline."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from fake_brokers import CLOSE, FakeBroker, fake_broker

from kafka_conformance.brokers import admin
from kafka_conformance.brokers.admin import await_broker, create_topic, delete_topic, grow_topic, partitions_of
from kafka_conformance.core.errors import BadInput, BrokerLost

CREATED = {"topics": [{"name": "t"}]}


def metadata(*leaders: int, error: int = 0) -> dict[str, Any]:
    """An answer about the topic ``t``: its partitions by their leaders."""
    partitions = [{"partitionIndex": at, "leaderId": leader} for at, leader in enumerate(leaders)]
    return {"topics": [{"name": "t", "errorCode": error, "partitions": partitions}]}


@contextmanager
def answering(*answers: dict[str, Any] | str) -> Iterator[FakeBroker]:
    """A broker that gives these answers in turn."""
    left = list(answers)
    with fake_broker(lambda *_: left.pop(0)) as broker:
        yield broker


def refusing_address() -> str:
    """An address at which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as unused:
        return f"127.0.0.1:{unused.getsockname()[1]}"


def test_topic_creation_waits_for_leaders_of_all_partitions() -> None:
    with answering(CREATED, metadata(error=3), metadata(1, -1), metadata(1, 1)) as broker:
        create_topic(broker.address, "t", 2, replicas=1, settings={"a": "b"})
    assert [api for api, _ in broker.requests] == ["CreateTopics", "Metadata", "Metadata", "Metadata"]
    assert broker.requests[0][1] == {
        "topics": [{"name": "t", "numPartitions": 2, "replicationFactor": 1, "assignments": [],
                    "configs": [{"name": "a", "value": "b"}]}],
        "timeoutMs": 30_000, "validateOnly": False,
    }  # fmt: skip
    assert broker.requests[1][1] == {"topics": [{"name": "t"}], "allowAutoTopicCreation": False}


@pytest.mark.parametrize(
    ("error", "message", "cause"),
    [
        (36, None, "the topic exists already"),
        (37, "Number of partitions was 0", "Number of partitions was 0"),
        (44, None, "POLICY_VIOLATION"),
    ],
)
def test_refused_topic_creation_raises_one_line_bad_input_with_the_cause(
    error: int, message: str | None, cause: str
) -> None:
    refused = {"topics": [{"name": "t", "errorCode": error, "errorMessage": message}]}
    with (
        answering(refused) as broker,
        pytest.raises(BadInput, match=rf"^topic t of 2 partitions cannot be made: {cause}$"),
    ):
        create_topic(broker.address, "t", 2)


def test_partition_count_beyond_int32_raises_bad_input_without_a_request() -> None:
    with answering() as broker, pytest.raises(BadInput, match=r"^CreateTopicsRequest version 4 cannot be encoded"):
        create_topic(broker.address, "t", 2**31)
    assert broker.requests == []


def test_increasing_the_partition_count_sends_a_create_partitions_request() -> None:
    with answering({"results": [{"name": "t"}]}, metadata(1, 1, 1)) as broker:
        grow_topic(broker.address, "t", 3)
    assert broker.requests[0] == (
        "CreatePartitions",
        {"topics": [{"name": "t", "count": 3, "assignments": None}], "timeoutMs": 30_000, "validateOnly": False},
    )


def test_delete_topic_waits_until_metadata_lacks_the_topic_and_raises_bad_input_for_unknown_topic() -> None:
    with answering({"responses": [{"name": "t"}]}, metadata(1), metadata(error=3)) as broker:
        delete_topic(broker.address, "t")
    assert [api for api, _ in broker.requests] == ["DeleteTopics", "Metadata", "Metadata"], "until it is gone"
    with (
        answering({"responses": [{"name": "t", "errorCode": 3}]}) as broker,
        pytest.raises(BadInput, match=r"^topic t cannot be deleted: the topic does not exist$"),
    ):
        delete_topic(broker.address, "t")


def test_partition_leaders_are_empty_for_unknown_topic_and_other_metadata_errors_raise_broker_lost() -> None:
    with answering(metadata(2, -1, 3), metadata(error=3), metadata(error=29)) as broker:
        assert partitions_of(broker.address, "t") == {0: 2, 1: -1, 2: 3}
        assert partitions_of(broker.address, "t") == {}
        with pytest.raises(BrokerLost, match="answers a request for topic t with TOPIC_AUTHORIZATION_FAILED"):
            partitions_of(broker.address, "t")


def test_create_topic_raises_broker_lost_if_no_leader_is_elected_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin, "_LIMIT_S", 0.2)
    monkeypatch.setattr(admin, "_POLL_S", 0.3)
    with (
        answering(CREATED, metadata(-1)) as broker,
        pytest.raises(BrokerLost, match=r"^topic t has no leader for each of its 1 partitions after 0.2 s$"),
    ):
        create_topic(broker.address, "t", 1)


def test_create_topic_waits_until_every_reachable_broker_lists_the_topic() -> None:
    with answering(CREATED, metadata(1), metadata(1)) as first, answering(metadata(error=3), metadata(1)) as late:
        create_topic(f"{first.address},{refusing_address()},{late.address}", "t", 1)
    assert len(late.requests) == 2


def test_admin_request_uses_second_bootstrap_server_if_the_first_refuses() -> None:
    with answering(metadata(1)) as broker:
        assert partitions_of(f"{refusing_address()},{broker.address}", "t") == {0: 1}


@pytest.mark.parametrize("address", ["", "nowhere", "127.0.0.1:1", "127.0.0.1:x"])
def test_admin_request_to_absent_or_malformed_broker_address_raises_broker_lost_with_the_address(address: str) -> None:
    with pytest.raises(BrokerLost, match=rf"^no broker answers at {address}: "):
        partitions_of(address, "t")


@pytest.mark.parametrize(
    ("answer", "cause"),
    [(CLOSE, "it closed the connection"), (b"\x00", "MetadataResponse version 5 cannot be decoded")],
)
def test_broker_that_closes_the_connection_or_sends_other_bytes_raises_broker_lost(answer: Any, cause: str) -> None:
    with answering(answer) as broker, pytest.raises(BrokerLost, match=cause):
        partitions_of(broker.address, "t")


def test_await_broker_asks_for_metadata_until_the_broker_is_listed() -> None:
    listed = {"brokers": [{"nodeId": 1, "host": "127.0.0.1", "port": 9092}]}
    with answering({"brokers": []}, listed) as broker:
        await_broker(broker.address)
    assert broker.requests == [("Metadata", {"topics": [], "allowAutoTopicCreation": False})] * 2


def test_await_broker_raises_broker_lost_if_the_broker_is_not_listed_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin, "_LIMIT_S", 0.0)
    monkeypatch.setattr(admin, "_ask", lambda *_: {"brokers": []})
    with pytest.raises(BrokerLost, match=r"is not registered with the controller after 0 s$"):
        await_broker("127.0.0.1:1")
