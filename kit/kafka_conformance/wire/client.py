"""One connection to a broker: one request, one response, no retries.

The limit of a request covers all of it: writing, waiting, and every byte of the response::

    with Connection("127.0.0.1", 9092, limit_s=5) as connection:
        connection.ask("ApiVersions", 0, {})["apiKeys"]
"""

from __future__ import annotations

import re
import socket
import struct
import time
from collections.abc import Mapping
from typing import Any, Final, Self

from kafka_conformance.core.errors import BadInput, ConnectionClosed, MalformedMessage, NoResponse
from kafka_conformance.core.java_text import parse_int
from kafka_conformance.wire.codec.messages import Codec, Fields, shipped_codec
from kafka_conformance.wire.frames import read_exactly

__all__ = ["CLIENT_ID", "Connection", "parse_address"]

CLIENT_ID: Final = "kafka-conformance"

_LARGEST = 64 * 2**20
_OLDEST = 0
_HOST = re.compile(r"\[[0-9a-fA-F:.]+\]|[^:\s\[\]]+")


class Connection:
    """A connection. Raises ConnectionClosed if none can be made; see :meth:`ask` for what else goes wrong."""

    def __init__(self, host: str, port: int, limit_s: float, codec: Codec | None = None) -> None:
        self._address, self._limit_s = f"{host}:{port}", limit_s
        self._codec, self._correlation = codec or shipped_codec(), 0
        try:
            self._socket = socket.create_connection((host, port), timeout=limit_s)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            raise ConnectionClosed(f"no connection to {self._address}: {error}") from error

    def ask(self, api: str, version: int, fields: Mapping[str, Any], *, until: float | None = None,
            is_answered: bool = True) -> Fields:  # fmt: skip
        """Send a request and return the response; an empty one if the request has none, as Produce with acks 0.

        ``until`` (``time.monotonic()``) is the deadline, in place of the limit of the connection.

        Raises BadInput for fields that cannot be sent, NoResponse, ConnectionClosed, and MalformedMessage for a response
        that is not one of this version. After these the connection is of no more use.
        """
        self._correlation += 1
        sent = self._codec.encode_request(api, version, fields, self._correlation, CLIENT_ID)
        data = self._exchanged(api, sent, until or time.monotonic() + self._limit_s, is_answered=is_answered)
        if data is None:
            return {}
        correlation, found = self._codec.decode_response(api, version, data)
        if correlation != self._correlation:
            raise MalformedMessage(f"{api} was answered with correlation id {correlation}, not {self._correlation}")
        return found

    def versions(self) -> dict[int, range]:
        """Return the versions of each API by its number, as ApiVersions has them. Raises as :meth:`ask`."""
        found = self.ask("ApiVersions", _OLDEST, {})
        if code := found["errorCode"]:
            raise MalformedMessage(f"{self._address} answers ApiVersions with error {code}")
        return {each["apiKey"]: range(each["minVersion"], each["maxVersion"] + 1) for each in found["apiKeys"]}

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _exchanged(self, api: str, sent: bytes, until: float, *, is_answered: bool) -> bytes | None:
        limit_s = max(until - time.monotonic(), 0.001)  # 0 would not wait for any byte
        try:
            self._socket.settimeout(limit_s)
            self._socket.sendall(struct.pack(">i", len(sent)) + sent)
            if not is_answered:
                return None
            (size,) = struct.unpack(">i", read_exactly(self._socket, 4, until))
            if not 4 <= size <= _LARGEST:
                raise MalformedMessage(f"{self._address} answers {api} with a message of {size:,} bytes")
            return read_exactly(self._socket, size, until)
        except TimeoutError as error:
            raise NoResponse(f"no answer to {api} from {self._address} in {limit_s:.1f} s") from error
        except OSError as error:
            raise ConnectionClosed(f"{self._address} closed the connection on {api}: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


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
