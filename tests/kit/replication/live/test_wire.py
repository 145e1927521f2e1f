"""Requests over a connection: one response for each, waited for in time, and a broker that is gone is one line."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from kafka_conformance.core.errors import BrokerLost
from kafka_conformance.replication.live.wire import (
    BrokerMetadata,
    Connection,
    await_true,
    metadata_without_elr,
    produce,
    produced,
)
from kafka_conformance.wire.codec.messages import error_name

# kafka-python reads its schemas with a function of importlib that Python 3.11 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:.*Use files.. instead:DeprecationWarning")


class Server:
    """Takes one request and sends what a test gives it."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.connection: socket.socket | None = None
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()

    def _accept(self) -> None:
        self.connection, _ = self._listener.accept()
        (size,) = struct.unpack(">i", self.connection.recv(4))
        self.request = self.connection.recv(size)

    def send(self, data: bytes) -> None:
        self._thread.join()
        assert self.connection is not None
        self.connection.sendall(data)

    def close(self) -> None:
        self._thread.join()
        if self.connection is not None:
            self.connection.close()
        self._listener.close()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


def response(error: int, offset: int) -> bytes:
    """A response to the first produce request of a connection, version 9."""
    partition = struct.pack(">ihqqq", 0, error, offset, -1, 0) + b"\1\0\0"
    body = struct.pack(">i", 1) + b"\0" + b"\2\2t\2" + partition + b"\0" + struct.pack(">i", 0) + b"\0"
    return struct.pack(">i", len(body)) + body


@pytest.mark.parametrize(("code", "name"), [(0, "NONE"), (7, "REQUEST_TIMED_OUT"), (6, "NOT_LEADER_OR_FOLLOWER")])
def test_produce_response_received_in_two_pieces_is_parsed(server: Server, code: int, name: str) -> None:
    with Connection(server.port) as connection:
        sent = produce(connection, "t", b"batch", acks=-1, timeout_ms=100)
        assert sent.poll(0.01) is None
        whole = response(code, 5)
        server.send(whole[:2])
        later = threading.Timer(0.1, server.send, [whole[2:]])
        later.start()
        assert produced(sent.wait(5)) == (name, 5)
        later.join()
    assert struct.unpack(">hh", server.request[:4]) == (0, 9)


def test_produce_without_response_in_time_raises_one_line_broker_lost(server: Server) -> None:
    with Connection(server.port) as connection:
        sent = produce(connection, "t", b"batch", acks=-1, timeout_ms=100)
        with pytest.raises(BrokerLost, match=r"^no response to ProduceRequest within 0\.05 s$"):
            sent.wait(0.05)


def test_connection_closed_by_broker_raises_one_line_broker_lost(server: Server) -> None:
    with Connection(server.port) as connection:
        sent = produce(connection, "t", b"batch", acks=-1, timeout_ms=100)
        server.close()
        with pytest.raises(BrokerLost, match=r"^the broker at 127\.0\.0\.1:\d+ does not respond: "):
            sent.wait(5)


def metadata_response(topic_error: int, partitions: bytes) -> bytes:
    """A response to the first metadata request of a connection, version 8, for one topic."""
    brokers, cluster = struct.pack(">i", 0), struct.pack(">hi", -1, 100)
    topic = struct.pack(">hh1s?", topic_error, 1, b"t", False) + partitions + struct.pack(">i", 0)
    body = struct.pack(">ii", 1, 0) + brokers + cluster + struct.pack(">i", 1) + topic + struct.pack(">i", 0)
    return struct.pack(">i", len(body)) + body


@pytest.mark.parametrize(
    ("topic_error", "partitions", "expected"),
    [
        (
            0,
            struct.pack(">ihiii3i2ii", 1, 5, 0, -1, 3, 2, 1, 2, 1, 2, 0),
            BrokerMetadata("LEADER_NOT_AVAILABLE", -1, 3, frozenset({2}), frozenset()),
        ),
        (
            3,
            struct.pack(">i", 0),
            BrokerMetadata("UNKNOWN_TOPIC_OR_PARTITION", -1, -1, frozenset(), frozenset()),
        ),
    ],
)
def test_metadata_version_8_response_parses_without_elr(
    server: Server, topic_error: int, partitions: bytes, expected: BrokerMetadata
) -> None:
    with Connection(server.port) as connection:
        later = threading.Timer(0.0, server.send, [metadata_response(topic_error, partitions)])
        later.start()
        assert metadata_without_elr(connection, "t") == expected
        later.join()
    assert struct.unpack(">hh", server.request[:4]) == (3, 8)


def test_connection_to_stopped_broker_raises_one_line_broker_lost() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(BrokerLost, match=rf"^the broker at 127\.0\.0\.1:{port} does not respond: "):
        Connection(port)


def test_error_codes_map_to_kafkas_error_names() -> None:
    assert [error_name(code) for code in (19, 21, 84)] == [
        "NOT_ENOUGH_REPLICAS",
        "INVALID_REQUIRED_ACKS",
        "ELECTION_NOT_NEEDED",
    ]


def test_await_true_returns_false_after_the_limit() -> None:
    assert await_true(lambda: True, 0.0)
    assert not await_true(lambda: False, 0.05)
