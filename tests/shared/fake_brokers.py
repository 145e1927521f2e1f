"""A server on 127.0.0.1 that speaks Kafka's protocol with answers that a test gives it."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias

from kafka_conformance.wire.codec.messages import shipped_codec

__all__ = ["CLOSE", "SILENCE", "FakeBroker", "fake_broker"]

CLOSE = "close"
SILENCE = "silence"
Answer: TypeAlias = Mapping[str, Any] | bytes | str | None
"""Fields of a response, bytes behind its header, CLOSE, SILENCE, or None for the answer of :class:`FakeBroker`."""


class FakeBroker:
    """Answers what a gate needs to set its cases up; ``answer(api, version, request)`` is asked first.

    ``requests`` has the API and the fields of every request; ``topics`` are those that exist.
    """

    def __init__(self, answer: Callable[[str, int, dict[str, Any]], Answer] = lambda *_: None) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.topics: set[str] = set()
        self.versions: dict[str, tuple[int, int]] = {}
        self.brokers = 1
        self.address = ""
        self._answer = answer

    def answer(self, api: str, version: int, request: dict[str, Any]) -> Answer:
        """Return the answer to a request."""
        self.requests.append((api, request))
        found = self._answer(api, version, request)
        return self._usual(api, request) if found is None else found

    def _usual(self, api: str, request: dict[str, Any]) -> Answer:
        match api:
            case "ApiVersions":
                names = {each.removesuffix("Request") for each in shipped_codec().schemas if each.endswith("Request")}
                keys = [
                    {"apiKey": shipped_codec().api_key(name), "minVersion": low, "maxVersion": high}
                    for name in sorted(names)
                    for low, high in [self.versions.get(name, _versions(name))]
                    if "apiKey" in shipped_codec().schemas[f"{name}Request"] and high >= 0
                ]
                return {"apiKeys": keys}
            case "Metadata":
                named = None if request["topics"] is None else [each["name"] for each in request["topics"]]
                if request.get("allowAutoTopicCreation") and named:
                    self.topics.update(named)
                topics = [{"name": each} for each in sorted(self.topics) if named is None or each in named]
                return {"brokers": [{"nodeId": each} for each in range(self.brokers)], "topics": topics}
            case "CreateTopics":
                self.topics.update(each["name"] for each in request["topics"])
                return {"topics": [{"name": each["name"]} for each in request["topics"]]}
            case "DeleteTopics":
                self.topics.difference_update(request["topicNames"])
        return {}

    def serve(self, connection: socket.socket) -> None:
        """Answer requests until the connection ends."""
        with connection, suppress(OSError, struct.error):
            while True:
                (size,) = struct.unpack(">i", _read(connection, 4))
                data = _read(connection, size)
                key, version, correlation = struct.unpack_from(">hhi", data)
                api = next(
                    name.removesuffix("Request") for name, schema in shipped_codec().schemas.items()
                    if name.endswith("Request") and schema.get("apiKey") == key
                )  # fmt: skip
                message = shipped_codec().message(f"{api}Request")
                header = shipped_codec().message("RequestHeader")
                _, body = header.decode_first(data, 2 if message.is_flexible(version) else 1)
                answer = self.answer(api, version, message.decode(body, version))
                if answer == CLOSE:
                    return
                if answer == SILENCE:
                    continue
                response = shipped_codec().message(f"{api}Response")
                sent = answer if isinstance(answer, bytes) else response.encode(answer, version)  # type: ignore[arg-type]
                tags = b"\0" if response.is_flexible(version) and api != "ApiVersions" else b""
                connection.sendall(struct.pack(">ii", 4 + len(tags + sent), correlation) + tags + sent)


@contextmanager
def fake_broker(answer: Callable[[str, int, dict[str, Any]], Answer] = lambda *_: None) -> Iterator[FakeBroker]:
    """Serve as long as the block lasts."""
    broker = FakeBroker(answer)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        broker.address = f"127.0.0.1:{listener.getsockname()[1]}"
        open_connections: list[socket.socket] = []

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    open_connections.append(connection)
                    threads.append(threading.Thread(target=broker.serve, args=(connection,)))
                    threads[-1].start()

        threads = [threading.Thread(target=accept)]
        threads[0].start()
        try:
            yield broker
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            for connection in open_connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join(10)


def _versions(api: str) -> tuple[int, int]:
    found = shipped_codec().message(f"{api}Request").versions
    return (found[0], found[-1]) if found else (0, -1)


def _read(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        if not (more := connection.recv(size - len(data))):
            raise OSError("the connection has ended")
        data += more
    return data
