"""Find out what listens at an address: Kafka with or without TLS, with or without SASL, or no Kafka at all.

A client whose ``security.protocol`` does not fit its listener fails with a timeout or a lost connection, without the cause.
Two requests (extra ``wire``) that a listener of Kafka answers before any login show the cause: ApiVersions, and
SaslHandshake, whose answer lists the mechanisms. No secret is sent.
"""

from __future__ import annotations

import socket
import ssl
from enum import Enum

import msgspec

from kafka_conformance.core.errors import ConnectionClosed, KitError, MalformedMessage, NoResponse
from kafka_conformance.wire.client import Connection

__all__ = ["LIMIT_S", "Answer", "Sasl", "ask_mechanisms", "find_distrust", "probe"]

LIMIT_S = 5.0
"""Limit for each connection and each answer, in seconds."""

_NO_SASL, _ENABLED, _NOT_ENABLED = 34, 0, 33
_MOST_MECHANISMS = 50  # they are named in one line, and a listener that is not Kafka may send any number


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
    """Send ApiVersions with or without TLS, and return what comes back; CLOSED also if no connection is accepted."""
    try:
        with _connection(host, port, tls=tls) as connection:
            connection.ask("ApiVersions", 0, {}, exact=False)
            return Answer.KAFKA
    except MalformedMessage:
        return Answer.OTHER
    except NoResponse:
        return Answer.SILENT
    except ConnectionClosed:
        return Answer.WANTS_CERTIFICATE if tls and _wants_certificate(host, port) else Answer.CLOSED


def _wants_certificate(host: str, port: int) -> bool:
    """Return whether a TLS connection is refused for want of a certificate. With TLS 1.3 that comes after the handshake.

    Nothing is sent: the listener would answer unread bytes with a reset, which may overtake its alert.
    """
    try:
        with (
            socket.create_connection((host, port), LIMIT_S) as connection,
            _unverified().wrap_socket(connection, server_hostname=host) as stream,
        ):
            stream.recv(1)
    except ssl.SSLError as error:
        return "CERTIFICATE" in str(error.reason)
    except OSError:
        return False
    return False


def ask_mechanisms(host: str, port: int, mechanism: str, *, tls: bool) -> Sasl | None:
    """Send SaslHandshake for ``mechanism``, and return the listener's SASL; None if its answer does not show it."""
    try:
        with _connection(host, port, tls=tls) as connection:
            answer = connection.ask("SaslHandshake", 1, {"mechanism": mechanism}, exact=False)
    except KitError:
        return None
    if (error := answer["errorCode"]) == _NO_SASL:
        return Sasl(required=False)
    if error not in {_ENABLED, _NOT_ENABLED}:
        return None
    return Sasl(required=True, mechanisms=tuple(sorted(answer["mechanisms"] or ())[:_MOST_MECHANISMS]))


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


def _connection(host: str, port: int, *, tls: bool) -> Connection:
    return Connection(host, port, LIMIT_S, tls=_unverified() if tls else None)


def _unverified() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # no secret is sent: the client that follows verifies
    return context
