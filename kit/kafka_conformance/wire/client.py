"""One connection to a broker: each request is sent once, without retries.

The limit of a request covers all of it: writing, waiting, and every byte of the response::

    with Connection("127.0.0.1", 9092, limit_s=5) as connection:
        connection.ask("ApiVersions", 0, {})["apiKeys"]

A request whose response may take long is sent, and its response is polled::

    pending = connection.send("Produce", 9, fields)
    while (response := pending.poll(0.01)) is None: ...
"""

from __future__ import annotations

import contextlib
import re
import socket
import ssl
import struct
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from kafka_conformance.core.errors import BadInput, ConnectionClosed, MalformedMessage, NoResponse
from kafka_conformance.core.java_text import parse_int
from kafka_conformance.wire.codec.messages import Codec, Fields, shipped_codec
from kafka_conformance.wire.frames import read_exactly

__all__ = ["CLIENT_ID", "Connection", "PendingResponse", "parse_address"]

CLIENT_ID: Final = "kafka-conformance"

_LARGEST = 64 * 2**20
_OLDEST = 0
_HOST = re.compile(r"\[[0-9a-fA-F:.]+\]|[^:\s\[\]]+")


class Connection:
    """A connection, with TLS if a context is given. Requests may be sent while earlier ones have no response yet.

    Raises ConnectionClosed if none can be made, NoResponse if the TLS handshake takes longer than the limit; see
    :meth:`ask` for what else goes wrong.
    """

    def __init__(self, host: str, port: int, limit_s: float, codec: Codec | None = None, *,
                 tls: ssl.SSLContext | None = None) -> None:  # fmt: skip
        self.address, self.limit_s, self.codec = f"{host}:{port}", limit_s, codec or shipped_codec()
        self._correlation = 0
        try:
            self._socket = socket.create_connection((host, port), timeout=limit_s)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            raise ConnectionClosed(f"no connection to {self.address}: {error}") from error
        if tls is not None:
            with self._until("the TLS handshake", time.monotonic() + limit_s):
                self._socket = tls.wrap_socket(self._socket, server_hostname=host)

    def ask(self, api: str, version: int, fields: Mapping[str, Any], *, until: float | None = None,
            is_answered: bool = True, exact: bool = True) -> Fields:  # fmt: skip
        """Send a request and return the response; an empty one if the request has none, as Produce with acks 0.

        ``until`` (``time.monotonic()``) is the deadline, in place of the limit of the connection. With ``exact`` false,
        bytes behind the response are ignored, as Java's clients do.

        Raises BadInput for fields that cannot be sent, NoResponse, ConnectionClosed, and MalformedMessage for a response
        that is not one of this version. After these the connection is of no more use.
        """
        until = until or time.monotonic() + self.limit_s
        pending = self.send(api, version, fields, until=until)
        return pending.wait(until - time.monotonic(), exact=exact) if is_answered else {}

    def send(self, api: str, version: int, fields: Mapping[str, Any], *, until: float | None = None) -> PendingResponse:
        """Send a request and return its response to come. Raises BadInput, NoResponse, ConnectionClosed."""
        self._correlation += 1
        data = self.codec.encode_request(api, version, fields, self._correlation, CLIENT_ID)
        self.send_bytes(api, data, until or time.monotonic() + self.limit_s)
        return PendingResponse(self, api, version, self._correlation)

    def versions(self) -> dict[int, range]:
        """Return the versions of each API by its number, as ApiVersions has them. Raises as :meth:`ask`."""
        found = self.ask("ApiVersions", _OLDEST, {})
        if code := found["errorCode"]:
            raise MalformedMessage(f"{self.address} answers ApiVersions with error {code}")
        return {each["apiKey"]: range(each["minVersion"], each["maxVersion"] + 1) for each in found["apiKeys"]}

    def send_bytes(self, api: str, data: bytes, until: float) -> None:
        """Send a request that has its header and no size in front. Raises NoResponse, ConnectionClosed."""
        with self._until(api, until):
            self._socket.sendall(struct.pack(">i", len(data)) + data)

    def receive_bytes(self, api: str, until: float) -> bytes:
        """Return the next response, without its size. Raises NoResponse, ConnectionClosed, MalformedMessage."""
        with self._until(api, until):
            (size,) = struct.unpack(">i", read_exactly(self._socket, 4, until))
            if not 4 <= size <= _LARGEST:
                raise MalformedMessage(f"{self.address} answers {api} with a message of {size:,} bytes")
            return read_exactly(self._socket, size, until)

    def has_bytes(self, api: str, limit_s: float) -> bool:
        """Return whether a response begins within ``limit_s``; without TLS only. Raises ConnectionClosed."""
        try:
            with self._until(api, time.monotonic() + limit_s):
                self._socket.recv(1, socket.MSG_PEEK)
        except NoResponse:
            return False
        return True

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    @contextlib.contextmanager
    def _until(self, api: str, until: float) -> Iterator[None]:
        """Limit each call of the socket to the time that is left, and name its errors."""
        limit_s = max(until - time.monotonic(), 0.001)  # 0 would not wait for any byte
        try:
            self._socket.settimeout(limit_s)
            yield
        except TimeoutError as error:
            raise NoResponse(f"no answer to {api} from {self.address} in {limit_s:.1f} s") from error
        except OSError as error:
            raise ConnectionClosed(f"{self.address} closed the connection on {api}: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class PendingResponse:
    """The response to a request that was sent. A broker responds to the requests of a connection in their order."""

    connection: Connection
    """The connection of the request."""
    api: str
    """The name of the request."""
    version: int
    """The version of the request."""
    correlation: int
    """The correlation id of the request."""

    def wait(self, limit_s: float, *, exact: bool = True) -> Fields:
        """Return the response, all of which has to come within ``limit_s``. Raises as :meth:`Connection.ask`."""
        data = self.connection.receive_bytes(self.api, time.monotonic() + limit_s)
        correlation, found = self.connection.codec.decode_response(self.api, self.version, data, exact=exact)
        if correlation != self.correlation:
            raise MalformedMessage(f"{self.api} was answered with correlation id {correlation}, not {self.correlation}")
        return found

    def poll(self, limit_s: float) -> Fields | None:
        """Return the response, None if it does not begin within ``limit_s``; without TLS only. Raises as :meth:`wait`."""
        began = self.connection.has_bytes(self.api, limit_s)
        return self.wait(self.connection.limit_s) if began else None


def parse_address(address: str) -> tuple[str, int]:
    """Return host and port of ``HOST:PORT``. Raises BadInput."""
    host, _, port = address.strip().rpartition(":")
    try:
        number = parse_int(port)
    except ValueError:
        number = 0
    if not _HOST.fullmatch(host) or not 0 < number < 65_536:
        raise BadInput(f"{address!r} is not an address: expected HOST:PORT, such as 127.0.0.1:9092")
    return host.strip("[]"), number
