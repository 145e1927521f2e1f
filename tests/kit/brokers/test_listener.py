"""Answers that Kafka does not give, and slow ones: the limit is that of a whole answer, not of each byte."""

from __future__ import annotations

import socket
import struct
import threading
import time
from typing import Any

import pytest
from fake_brokers import CLOSE, fake_broker

from kafka_conformance.brokers import listener
from kafka_conformance.brokers.listener import Answer, Sasl
from kafka_conformance.wire.client import parse_address
from kafka_conformance.wire.frames import read_exactly


class Dripping:
    """A socket that sends one byte every half second of a clock that only it moves."""

    def __init__(self, data: bytes) -> None:
        self.data, self.now_s, self.turns, self.timeouts = data, 100.0, 0, list[float]()

    def monotonic(self) -> float:
        return self.now_s

    def settimeout(self, timeout: float) -> None:
        self.timeouts.append(timeout)

    def recv(self, size: int) -> bytes:
        assert 0 < size <= 2**16, "what a listener announces is not allocated"
        self.turns, self.now_s = self.turns + 1, self.now_s + 0.5
        piece, self.data = self.data[:1], self.data[1:]
        return piece

    def setsockopt(self, *_: int) -> None: ...

    def sendall(self, _: bytes) -> None: ...

    def close(self) -> None: ...


@pytest.fixture
def dripping(monkeypatch: pytest.MonkeyPatch) -> Dripping:
    made = Dripping(struct.pack(">i", 100_000) + bytes(100_000))
    monkeypatch.setattr(time, "monotonic", made.monotonic)
    return made


def test_listener_probe_of_byte_by_byte_answer_ends_at_the_time_limit(
    dripping: Dripping, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.create_connection", lambda *_, **__: dripping)
    assert listener.probe("localhost", 9092, tls=False) is Answer.SILENT
    assert dripping.turns == 2 * listener.LIMIT_S
    assert dripping.timeouts == sorted(dripping.timeouts, reverse=True)


def test_sasl_handshake_with_byte_by_byte_answer_ends_at_the_time_limit(
    dripping: Dripping, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.create_connection", lambda *_, **__: dripping)
    assert listener.ask_mechanisms("localhost", 9092, "PLAIN", tls=False) is None
    assert dripping.turns == 2 * listener.LIMIT_S


def test_slow_broker_answer_is_read_whole_or_times_out_at_the_limit(dripping: Dripping) -> None:
    assert read_exactly(dripping, 8, until=105.0) == struct.pack(">i", 100_000) + bytes(4)  # type: ignore[arg-type]
    with pytest.raises(TimeoutError, match="2 of 3 bytes"):
        read_exactly(dripping, 3, until=dripping.now_s + 1)  # type: ignore[arg-type]


def test_announced_answer_length_of_2_gib_is_not_allocated(dripping: Dripping) -> None:
    with pytest.raises(TimeoutError):
        read_exactly(dripping, 2**31 - 1, until=102.0)  # type: ignore[arg-type]


def test_connection_closed_during_an_answer_raises_connection_error(dripping: Dripping) -> None:
    dripping.data = b"ab"
    with pytest.raises(ConnectionError, match="closed"):
        read_exactly(dripping, 3, until=200.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"errorCode": 0, "apiKeys": [{"apiKey": 18, "minVersion": 0, "maxVersion": 4}]}, Answer.KAFKA),
        ({"errorCode": 35}, Answer.KAFKA),
        (struct.pack(">hihhh", 0, 1, 18, 0, 4) + b"more", Answer.KAFKA),
        (struct.pack(">hi", 0, 1_000), Answer.OTHER),
        (b"", Answer.OTHER),
        (CLOSE, Answer.CLOSED),
    ],
)
def test_listener_is_kafka_if_the_answer_begins_with_a_response_to_api_versions(answer: Any, expected: Answer) -> None:
    with fake_broker(lambda *_: answer) as broker:
        assert listener.probe(*parse_address(broker.address), tls=False) is expected


def test_answer_to_another_request_gives_other_and_port_without_listener_gives_closed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        answer = struct.pack(">iihi", 10, 7, 0, 0)  # correlation id 7: the first request of a connection has 1

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(answer)
                connection.recv(4096)

        thread = threading.Thread(target=serve)
        thread.start()
        assert listener.probe(*server.getsockname(), tls=False) is Answer.OTHER
        thread.join(5)
        address = server.getsockname()
    assert listener.probe(*address, tls=False) is Answer.CLOSED


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"errorCode": 0, "mechanisms": ["PLAIN", "GSSAPI"]}, Sasl(required=True, mechanisms=("GSSAPI", "PLAIN"))),
        ({"errorCode": 33, "mechanisms": ["GSSAPI"]}, Sasl(required=True, mechanisms=("GSSAPI",))),
        ({"errorCode": 34}, Sasl(required=False)),
        ({"errorCode": 35}, None),
        (struct.pack(">hi", 0, 1), None),
        (struct.pack(">hi", 0, -1), Sasl(required=True)),
        (CLOSE, None),
    ],
)
def test_sasl_handshake_answer_shows_the_mechanisms_or_the_lack_of_sasl(answer: Any, expected: Sasl | None) -> None:
    with fake_broker(lambda *_: answer) as broker:
        assert listener.ask_mechanisms(*parse_address(broker.address), "PLAIN", tls=False) == expected
    assert broker.requests == [("SaslHandshake", {"mechanism": "PLAIN"})]
