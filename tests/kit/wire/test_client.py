"""A connection against a listener on this machine whose bytes a test chooses."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import listeners
import pytest

from kafka_conformance.core.errors import ConnectionClosed, MalformedMessage, NoResponse
from kafka_conformance.wire.client import Connection, parse_address
from kafka_conformance.wire.codec.messages import shipped_codec

FIND = "FindCoordinator"


def response(correlation: int, node: int = 1) -> bytes:
    data = shipped_codec().encode_response(FIND, 2, {"nodeId": node}, correlation)
    return struct.pack(">i", len(data)) + data


@contextmanager
def connected(limit_s: float = 5.0) -> Iterator[tuple[Connection, socket.socket]]:
    """A connection, and the broker's end of it."""
    with socket.create_server(("127.0.0.1", 0)) as listener, Connection(*listener.getsockname(), limit_s) as connection:
        broker, _ = listener.accept()
        with broker:
            yield connection, broker


def test_responses_to_pipelined_requests_are_returned_in_the_order_of_the_requests() -> None:
    with connected() as (connection, broker):
        first, second = (connection.send(FIND, 2, {"key": key}) for key in ("a", "b"))
        broker.sendall(response(1, node=7) + response(2, node=8))
        assert [first.wait(5)["nodeId"], second.wait(5)["nodeId"]] == [7, 8]


def test_response_to_an_earlier_request_than_the_awaited_one_raises_malformed_message() -> None:
    with connected() as (connection, broker):
        connection.send(FIND, 2, {"key": "given up"})
        broker.sendall(response(1))
        with pytest.raises(MalformedMessage, match=r"^FindCoordinator was answered with correlation id 1, not 2$"):
            connection.ask(FIND, 2, {"key": "a"})


def test_poll_returns_none_before_the_response_and_reads_a_response_in_two_pieces() -> None:
    with connected() as (connection, broker):
        sent = connection.send(FIND, 2, {"key": "a"})
        assert sent.poll(0.01) is None
        broker.sendall(response(1, node=7)[:2])
        later = threading.Timer(0.1, broker.sendall, [response(1, node=7)[2:]])
        later.start()
        found = sent.poll(1)
        later.join()
        assert found is not None
        assert found["nodeId"] == 7


def test_wait_without_a_whole_response_in_time_raises_no_response() -> None:
    with connected() as (connection, broker):
        sent = connection.send(FIND, 2, {"key": "a"})
        broker.sendall(response(1)[:-1])
        with pytest.raises(NoResponse, match=r"^no answer to FindCoordinator from 127\.0\.0\.1:\d+ in 0\.1 s$"):
            sent.wait(0.1)


def test_poll_after_the_broker_closes_the_connection_raises_connection_closed() -> None:
    with connected() as (connection, broker):
        sent = connection.send(FIND, 2, {"key": "a"})
        broker.close()
        with pytest.raises(ConnectionClosed, match=r"^127\.0\.0\.1:\d+ closed the connection on FindCoordinator: "):
            sent.poll(5)


@pytest.mark.parametrize("size", [-1, 3, 2**31 - 1])
def test_response_of_an_impossible_size_raises_malformed_message(size: int) -> None:
    with connected() as (connection, broker):
        broker.sendall(struct.pack(">i", size))
        with pytest.raises(MalformedMessage, match=rf"answers FindCoordinator with a message of {size:,} bytes$"):
            connection.ask(FIND, 2, {"key": "a"})


def test_bytes_behind_a_response_are_ignored_only_if_exact_is_false() -> None:
    data = shipped_codec().encode_response(FIND, 2, {"nodeId": 7}, 1) + b"more"
    for exact in (False, True):
        with connected() as (connection, broker):
            broker.sendall(struct.pack(">i", len(data)) + data)
            if exact:
                with pytest.raises(MalformedMessage, match="followed by 4 more bytes"):
                    connection.ask(FIND, 2, {"key": "a"})
            else:
                assert connection.ask(FIND, 2, {"key": "a"}, exact=False)["nodeId"] == 7


def test_connection_to_a_port_without_listener_raises_connection_closed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = free.getsockname()
    with pytest.raises(ConnectionClosed, match=rf"^no connection to 127\.0\.0\.1:{address[1]}: "):
        Connection(*address, 5)


def test_requests_over_tls_are_answered_and_plaintext_listeners_end_the_handshake(tmp_path: Path) -> None:
    context = ssl.create_default_context(cadata=listeners.PEM)
    with (
        listeners.kafka(pem=listeners.pem_file(tmp_path)) as address,
        Connection(*parse_address(address), 5, tls=context) as connection,
    ):
        assert connection.versions() == {18: range(5)}
    with (
        listeners.http() as address,
        pytest.raises(ConnectionClosed, match="closed the connection on the TLS handshake"),
    ):
        Connection(*parse_address(address), 5, tls=context)
    with (
        listeners.silent() as address,
        pytest.raises(NoResponse, match=r"no answer to the TLS handshake .* in 0\.1 s$"),
    ):
        Connection(*parse_address(address), 0.1, tls=context)
