"""A proxy in front of a broker that changes one answer: what a gate of brokers has to find."""

from __future__ import annotations

import random
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias

from kafka_conformance.wire.broker_gate.variables import DROPPED
from kafka_conformance.wire.codec.messages import shipped_codec

__all__ = ["ChangingProxy", "changing_proxy"]

Path: TypeAlias = tuple[str | int, ...]
Change: TypeAlias = tuple[str, Callable[[dict[str, Any]], None]]

_PASSING = {14, 15, 16, 51}  # a gate asks again
_OWN = {"producerId"}  # any id will do
_TIMES = 10**12  # the broker's own times in ms
_WITH_ERROR = {"baseOffset", "logStartOffset", "highWatermark", "lastStableOffset", "logAppendTimeMs"}


class ChangingProxy:
    """Passes requests and answers on. After :meth:`plant`, answers to one request are changed, always in the same way."""

    def __init__(self, upstream: tuple[str, int]) -> None:
        self._upstream = upstream
        self._number, self._draw = -1, random.Random()
        self._seen: list[bytes] = []
        self._chosen: bytes | None = None
        self._apply: Callable[[dict[str, Any]], None] | None = None
        self.planted = ""
        self.address = ("127.0.0.1", 0)

    def plant(self, number: int, draw: random.Random) -> None:
        """Change the answer to the request of this number, from now on and from 0, counting equal ones once."""
        self._number, self._draw, self._seen, self._chosen, self._apply, self.planted = number, draw, [], None, None, ""

    def serve(self, client: socket.socket) -> None:
        """Pass on what comes until an end closes."""
        with client, socket.create_connection(self._upstream, 30) as broker, suppress(OSError, struct.error):
            while True:
                request = _frame(client)
                broker.sendall(struct.pack(">i", len(request)) + request)
                key, version, _ = struct.unpack_from(">hhi", request)
                if (key, _acks(request, key, version)) == (0, 0):
                    continue
                answer = self._changed(request, _frame(broker))
                client.sendall(struct.pack(">i", len(answer)) + answer)

    def _changed(self, request: bytes, answer: bytes) -> bytes:
        key, version, _ = struct.unpack_from(">hhi", request)
        body = request[:4] + request[8:]  # without the correlation id
        if self._number < 0:
            return answer
        if body not in self._seen:
            self._seen.append(body)
            if len(self._seen) == self._number + 1:
                self._chosen = body
        if body != self._chosen:
            return answer
        api = next(
            name.removesuffix("Response") for name, schema in shipped_codec().schemas.items()
            if name.endswith("Response") and schema.get("apiKey") == key
        )  # fmt: skip
        response = shipped_codec().message(f"{api}Response")
        head = 5 if response.is_flexible(version) and api != "ApiVersions" else 4
        fields = response.decode(answer[head:], version)
        if self._apply is None:
            if not (found := list(changes(fields))):
                return answer
            what, self._apply = self._draw.choice(found)
            self.planted = f"{api} {version}: {what}"
        self._apply(fields)
        return answer[:head] + response.encode(fields, version)


def changes(fields: dict[str, Any]) -> Iterator[Change]:
    """Yield what can be changed of an answer so that a user of the broker may notice."""
    for path, value, failed in _leaves(fields, (), failed=False):
        name = str(next(each for each in reversed(path) if isinstance(each, str)))
        where = ".".join(map(str, path))
        if name in _OWN or (failed and name in _WITH_ERROR) or (isinstance(value, int) and value > _TIMES):
            continue
        if isinstance(value, bool):
            yield f"{where} is not {value}", _setting(path, not value)
        elif isinstance(value, int):
            if name.lower().endswith("errorcode"):
                other = 3 if value == 45 else 45
                yield f"{where} is {other}, not {value}", _setting(path, other)
                if value and value not in _PASSING:
                    yield f"{where} is 0, not {value}", _setting(path, 0)
            else:
                yield f"{where} is one more than {value}", _setting(path, value + 1 if value < 2**31 - 1 else value - 1)
        elif isinstance(value, bytes) and value:
            yield f"{where} is empty", _setting(path, b"")
            if name == "records":
                yield f"{where} is there twice", _setting(path, value * 2)
        elif isinstance(value, list) and value:
            yield f"{where} is empty", _setting(path, [])
            yield f"{where} has an element twice", _setting(path, [*value, value[-1]])


def _leaves(value: Any, path: Path, *, failed: bool) -> Iterator[tuple[Path, Any, bool]]:
    if isinstance(value, dict):
        failed = bool(value.get("errorCode"))
        for name, each in value.items():
            if name not in DROPPED:
                yield from _leaves(each, (*path, name), failed=failed)
        return
    if path:
        yield path, value, failed
    if isinstance(value, list):
        for at, each in enumerate(value):
            if isinstance(each, dict):
                yield from _leaves(each, (*path, at), failed=failed)


def _setting(path: Path, value: Any) -> Callable[[dict[str, Any]], None]:
    def apply(fields: dict[str, Any]) -> None:
        owner: Any = fields
        with suppress(IndexError, KeyError, TypeError):  # a later answer to the same request may have fewer elements
            for part in path[:-1]:
                owner = owner[part]
            owner[path[-1]] = value

    return apply


@contextmanager
def changing_proxy(upstream: tuple[str, int]) -> Iterator[ChangingProxy]:
    """Serve as long as the block lasts."""
    proxy = ChangingProxy(upstream)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy.address = ("127.0.0.1", listener.getsockname()[1])

        def accept() -> None:
            with suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    threading.Thread(target=proxy.serve, args=(client,), daemon=True).start()

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield proxy
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(10)


def _acks(request: bytes, key: int, version: int) -> int | None:
    """Return the acks of a Produce request, which is not answered if they are 0."""
    if key != 0:
        return None
    message = shipped_codec().message("ProduceRequest")
    _, body = shipped_codec().message("RequestHeader").decode_first(request, 2 if message.is_flexible(version) else 1)
    return int(message.decode(body, version)["acks"])


def _frame(stream: socket.socket) -> bytes:
    (size,) = struct.unpack(">i", _exactly(stream, 4))
    return _exactly(stream, size)


def _exactly(stream: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        if not (more := stream.recv(size - len(data))):
            raise OSError("the connection has ended")
        data += more
    return bytes(data)
