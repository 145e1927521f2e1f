"""Find out what listens at an address: Kafka with or without TLS, with or without SASL, or no Kafka at all.

A client whose ``security.protocol`` does not fit its listener fails with a timeout or a lost connection, without the cause.
Two requests that a listener of Kafka answers before any login show the cause: ApiVersions, and SaslHandshake, whose answer
lists the mechanisms. No secret is sent.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import time
from enum import Enum

import msgspec

from kafka_conformance.wire.frames import read_exactly

__all__ = ["LIMIT_S", "Answer", "Sasl", "ask_mechanisms", "find_distrust", "probe"]

LIMIT_S = 5.0
"""Limit for each connection and each answer, in seconds."""

_SASL_HANDSHAKE, _API_VERSIONS = 17, 18
_NO_SASL, _ENABLED, _NOT_ENABLED = 34, 0, 33
_LARGEST = 1 << 20
_CLIENT = b"kafka-conformance"


class Answer(Enum):
    """What a listener does with a connection.

    KAFKA: it answers as Kafka. WANTS_CERTIFICATE: it refuses a client without one. OTHER: its answer is none of Kafka's.
    CLOSED: it ends the connection. SILENT: no whole answer comes within the limit.
    """

    KAFKA = "kafka"
    WANTS_CERTIFICATE = "wants a certificate"
    OTHER = "other"
    CLOSED = "closed"
    SILENT = "silent"


class Sasl(msgspec.Struct, frozen=True):
    """A listener's SASL: whether it has any, and the mechanisms it enables."""

    required: bool
    mechanisms: tuple[str, ...] = ()


def probe(host: str, port: int, *, tls: bool) -> Answer:
    """Send ApiVersions with or without TLS, and return what comes back. Raises OSError if no connection is accepted."""
    with socket.create_connection((host, port), LIMIT_S) as connection:
        try:
            with _secured(connection, host) if tls else contextlib.nullcontext(connection) as stream:
                return Answer.KAFKA if _is_kafka(_asked(stream, _API_VERSIONS, 0)) else Answer.OTHER
        except _NotKafka:
            return Answer.OTHER
        except TimeoutError:
            return Answer.SILENT
        except OSError:
            return Answer.WANTS_CERTIFICATE if tls and _wants_certificate(host, port) else Answer.CLOSED


def _wants_certificate(host: str, port: int) -> bool:
    """Return whether a TLS connection is refused for want of a certificate. With TLS 1.3 that comes after the handshake.

    Nothing is sent: the listener would answer unread bytes with a reset, which may overtake its alert.
    """
    try:
        with socket.create_connection((host, port), LIMIT_S) as connection, _secured(connection, host) as stream:
            stream.recv(1)
    except ssl.SSLError as error:
        return "CERTIFICATE" in str(error.reason)
    except OSError:
        return False
    return False


def ask_mechanisms(host: str, port: int, mechanism: str, *, tls: bool) -> Sasl | None:
    """Send SaslHandshake for ``mechanism``, and return the listener's SASL; None if its answer does not show it."""
    name = mechanism.encode()
    try:
        with (
            socket.create_connection((host, port), LIMIT_S) as connection,
            _secured(connection, host) if tls else contextlib.nullcontext(connection) as stream,
        ):
            answer = _asked(stream, _SASL_HANDSHAKE, 1, struct.pack(">h", len(name)) + name)
        return _sasl(answer)
    except (OSError, _NotKafka, struct.error):
        return None


def find_distrust(host: str, port: int, *, location: str = "", pem: str = "", named: bool = True) -> str:
    """Return why the listener's certificate is not trusted, or nothing.

    Trusted certificates are in the PEM file ``location``, or in ``pem``; each may be an intermediate or the listener's own,
    as for Java. ``named``: the certificate is for ``host``. Raises OSError if ``location`` cannot be read.
    """
    try:
        context = ssl.create_default_context(cafile=location or None, cadata=pem or None)
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # Java does not ask for the newest extensions either
    except ssl.SSLError:
        return f"{location or 'ssl.truststore.certificates'} has no certificate as PEM"
    context.check_hostname = named
    try:
        with (
            socket.create_connection((host, port), LIMIT_S) as connection,
            context.wrap_socket(connection, server_hostname=host),
        ):
            return ""
    except ssl.SSLCertVerificationError as error:
        return error.verify_message
    except OSError:
        return ""


class _NotKafka(Exception):
    """The first bytes are none of Kafka's."""


def _secured(connection: socket.socket, host: str) -> ssl.SSLSocket:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # no secret is sent: the client that follows verifies
    return context.wrap_socket(connection, server_hostname=host)


def _asked(stream: socket.socket, request: int, version: int, body: bytes = b"") -> bytes:
    """Return the answer to one request, without its length. Raises OSError, _NotKafka."""
    until = time.monotonic() + LIMIT_S
    sent = struct.pack(">hhih", request, version, request, len(_CLIENT)) + _CLIENT + body
    stream.sendall(struct.pack(">i", len(sent)) + sent)
    (length,) = struct.unpack(">i", read_exactly(stream, 4, until))
    if not 4 <= length <= _LARGEST:
        raise _NotKafka
    answer = read_exactly(stream, length, until)
    if struct.unpack_from(">i", answer) != (request,):
        raise _NotKafka
    return answer


def _is_kafka(answer: bytes) -> bool:
    """Return whether ApiVersions was answered: an error code, then the requests in order of their numbers."""
    if len(answer) < 10:
        return False
    error, count = struct.unpack_from(">hi", answer, 4)
    return bool(0 <= error < 200 and 0 <= count < 1000)


def _sasl(answer: bytes) -> Sasl | None:
    (error,) = struct.unpack_from(">h", answer, 4)
    if error == _NO_SASL:
        return Sasl(required=False)
    if error not in {_ENABLED, _NOT_ENABLED}:
        return None
    (count,) = struct.unpack_from(">i", answer, 6)
    names, place = [], 10
    for _ in range(min(count, 50)):
        (length,) = struct.unpack_from(">h", answer, place)
        names.append(answer[place + 2 : place + 2 + length].decode(errors="replace"))
        place += 2 + length
    return Sasl(required=True, mechanisms=tuple(sorted(names)))
