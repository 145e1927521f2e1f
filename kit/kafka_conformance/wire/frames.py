"""Read bytes of a connection, all of them within one limit."""

from __future__ import annotations

import socket
import time

__all__ = ["read_exactly"]

_PIECE = 1 << 16


def read_exactly(stream: socket.socket, length: int, until: float) -> bytes:
    """Return as many bytes, all of them before ``until`` (``time.monotonic()``). Raises TimeoutError, ConnectionError."""
    read = bytearray()
    while len(read) < length:
        # The limit of a socket is for each call: a listener that sends a byte now and then would never reach it.
        if (left := until - time.monotonic()) <= 0:
            raise TimeoutError(f"{len(read):,} of {length:,} bytes of an answer came in time")
        stream.settimeout(left)
        if not (more := stream.recv(min(length - len(read), _PIECE))):
            raise ConnectionError("it closed the connection")
        read += more
    return bytes(read)
