"""What the recording proxy of ``record`` and ``gate client`` costs, beside a direct connection to the same broker side.

The broker side and the proxy are processes, as a broker is one. The first answers every Produce request at once, so that
what is measured is the way of the bytes alone: encoded, written to a trace and passed on.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import socket
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from rich.console import Console
from rich.table import Table
from turns import in_turns

from kafka_conformance.wire.codec.messages import shipped_codec
from kafka_conformance.wire.frames import read_exactly
from kafka_conformance.wire.recording.proxy import Proxy
from kafka_conformance.wire.recording.trace import create_trace
from kafka_reference.record_batch import NewBatch, NewRecord, encode_batch

VERSION, MIB, LIMIT_S = 9, 2**20, 60.0
IN_FLIGHT = 5
SMALL = 300
"""Requests of one record: their median is what one costs."""


def proxied(mib: int, rounds: int) -> None:
    """Print the median of a request with one record, and the rate of requests of 1 MiB, ``mib`` of them a round."""
    small, large = _request(100), _request(MIB)
    with (
        tempfile.TemporaryDirectory(prefix="kafka-conformance-") as room,
        _child(_answer) as broker,
        _child(_record, broker, str(Path(room) / "trace")) as proxy,
    ):
        ports = {"direct": broker, "through the proxy": proxy}
        took_ms = in_turns({name: _requests(port, small) for name, port in ports.items()}, rounds)
        rates = in_turns({name: _stream(port, large, mib) for name, port in ports.items()}, rounds)
    table = Table("connection", "ms a request of one record", "MB/s", box=None, title_justify="left",
                  title="the recording proxy; aims: less than 1 ms more, and 200 MB/s")  # fmt: skip
    for name in ports:
        table.add_row(name, f"{took_ms[name]:.2f}", f"{rates[name]:,.0f}")
    Console(width=110).print(table)


def _request(value: int) -> bytes:
    batch = encode_batch(NewBatch(records=[NewRecord(1_700_000_000_000, None, b"v" * value)]))
    topics = [{"name": "bench", "partitionData": [{"index": 0, "records": batch}]}]
    fields = {"acks": -1, "timeoutMs": 1_000, "topicData": topics}
    data = shipped_codec().encode_request("Produce", VERSION, fields, 1, "bench")
    return len(data).to_bytes(4) + data


def _requests(port: int, request: bytes) -> Callable[[], float]:
    """Return what sends one request after another, and returns the median in ms."""

    def run() -> float:
        took = []
        with _connected(port) as connection:
            for _ in range(SMALL):
                begun = time.perf_counter()
                connection.sendall(request)
                _read_response(connection)
                took.append(time.perf_counter() - begun)
        return statistics.median(took) * 1_000

    return run


def _stream(port: int, request: bytes, count: int) -> Callable[[], float]:
    """Return what sends requests, five of them in flight, and returns MB a second."""

    def run() -> float:
        with _connected(port) as connection:
            begun = time.perf_counter()
            for number in range(count):
                connection.sendall(request)
                if number >= IN_FLIGHT - 1:
                    _read_response(connection)
            for _ in range(min(count, IN_FLIGHT - 1)):
                _read_response(connection)
            return count * len(request) / (time.perf_counter() - begun) / 1e6

    return run


def _connected(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), LIMIT_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _read_response(connection: socket.socket) -> bytes:
    until = time.monotonic() + LIMIT_S
    return read_exactly(connection, int.from_bytes(read_exactly(connection, 4, until)), until)


@contextmanager
def _child(run: Callable[..., None], *arguments: object) -> Iterator[int]:
    """Run a server in a process, and return its port."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=run, args=(theirs, *arguments), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        process.kill()
        process.join()


def _answer(ready: Connection) -> None:
    """Answer every request with a response of the same correlation id."""
    produced = {"index": 0, "errorCode": 0, "baseOffset": 0}
    fields = {"responses": [{"name": "bench", "partitionResponses": [produced]}]}
    response = shipped_codec().encode_response("Produce", VERSION, fields, 1)
    server = socket.create_server(("127.0.0.1", 0))
    ready.send(server.getsockname()[1])
    while True:
        connection, _ = server.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        room = bytearray(2 * MIB)
        with connection:
            while _read_into(connection, memoryview(room)[:4]):
                _read_into(connection, memoryview(room)[: int.from_bytes(room[:4])])
                connection.sendall(len(response).to_bytes(4) + response)


def _read_into(connection: socket.socket, room: memoryview) -> bool:
    """Fill the memory; return false at the end of the connection."""
    at = 0
    while at < len(room):
        if not (read := connection.recv_into(room[at:])):
            return False
        at += read
    return True


def _record(ready: Connection, broker: int, path: str) -> None:
    """Run the proxy in front of the broker side."""

    async def run() -> None:
        with create_trace(Path(path), f"127.0.0.1:{broker}") as file:
            ready.send(await (proxy := Proxy(("127.0.0.1", broker), file)).listen(0))
            await proxy.failed()

    asyncio.run(run())
