"""Listeners of a port, as brokers and others have them: Kafka's with or without TLS and SASL, HTTP, one that is silent."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

__all__ = ["PEM", "http", "kafka", "pem_file", "silent"]

PEM = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgh1ihSuPoWrzUWx8w
ZkFVbIElpMZAwOOZrZXC9iX4zNyhRANCAAS5CCcmK4FaCht6KfqlkLzDayT6+Xfh
4FSo6JbWK+kzPB5EyJ7Idjs2gGy3R16Lx9ZRiiV75nExqg5bz2vnFXLZ
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBZzCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwIBcNMjQwMTAxMDAwMDAwWhgPMjEyNDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABLkIJyYrgVoKG3op
+qWQvMNrJPr5d+HgVKjoltYr6TM8HkTInsh2OzaAbLdHXovH1lGKJXvmcTGqDlvP
a+cVctmjTjBMMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAPBgNVHRMBAf8E
BTADAQH/MB0GA1UdDgQWBBRCL1BEKq7qQzjiT1wdyvDbYSW8oTAKBggqhkjOPQQD
AgNIADBFAiEAl7Er43aQQu5KeS3sGwLrZ+G25eNKwkrUm/ehd7a7VbICICJr2Vmn
FfLEgcJLEAzdvaashS+Ew7p202nj6vtoFWME
-----END CERTIFICATE-----
"""
"""A key and its certificate for localhost and 127.0.0.1, valid from 2024 to 2124."""

_LIMIT_S = 10


def pem_file(folder: Path) -> str:
    """Write the key and certificate to a file, and return its path."""
    path = folder / "listener.pem"
    path.write_text(PEM)
    return str(path)


@contextlib.contextmanager
def kafka(
    *, pem: str = "", mechanisms: Sequence[str] | None = None, client_certificate: bool = False, host: str = "127.0.0.1"
) -> Iterator[str]:
    """Answer ApiVersions and SaslHandshake, with TLS if ``pem`` names a file; without ``mechanisms`` there is no SASL."""
    context = None
    if pem:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
        if client_certificate:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(pem)

    def serve(connection: socket.socket) -> None:
        stream = context.wrap_socket(connection, server_side=True) if context else connection
        with stream:
            while head := stream.recv(4):
                (length,) = struct.unpack(">i", head)
                if not 0 < length < 100_000:  # a ClientHello, read as Kafka reads it
                    return
                request, _, number = struct.unpack_from(">hhi", body := stream.recv(length))
                assert body
                answer = struct.pack(">i", number) + (_versions() if request == 18 else _handshake(mechanisms))
                stream.sendall(struct.pack(">i", len(answer)) + answer)

    with _listening(serve, host) as address:
        yield address


@contextlib.contextmanager
def http() -> Iterator[str]:
    """Answer anything with an error of HTTP."""

    def serve(connection: socket.socket) -> None:
        connection.recv(1)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with _listening(serve) as address:
        yield address


@contextlib.contextmanager
def silent() -> Iterator[str]:
    """Accept connections and answer nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def _versions() -> bytes:
    return struct.pack(">hihhh", 0, 1, 18, 0, 4)


def _handshake(mechanisms: Sequence[str] | None) -> bytes:
    if mechanisms is None:
        return struct.pack(">hi", 34, 0)
    names = b"".join(struct.pack(">h", len(name)) + name.encode() for name in mechanisms)
    return struct.pack(">hi", 33, len(mechanisms)) + names


@contextlib.contextmanager
def _listening(serve: object, host: str = "127.0.0.1") -> Iterator[str]:
    """Serve each connection in a thread until the block ends."""
    threads: list[threading.Thread] = []

    def handle(connection: socket.socket) -> None:
        connection.settimeout(_LIMIT_S)
        with connection, contextlib.suppress(OSError):
            serve(connection)  # type: ignore[operator]

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = server.accept()
                threads.append(threading.Thread(target=handle, args=(connection,), daemon=True))
                threads[-1].start()

    with socket.create_server((host, 0)) as server:
        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        try:
            yield f"{host}:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            for thread in [accepting, *threads]:
                thread.join(_LIMIT_S)
