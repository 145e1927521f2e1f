"""A listener that sends a byte now and then does not hold the caller: the limit is that of a whole answer."""

from __future__ import annotations

import struct
import time
from typing import Self

import pytest

from kafka_conformance.brokers import listener
from kafka_conformance.brokers.listener import Answer, read_exactly


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

    def sendall(self, _: bytes) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...


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
