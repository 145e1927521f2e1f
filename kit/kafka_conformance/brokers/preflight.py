"""Check, within seconds and before Spark starts, that a broker, a login and topics can be used.

Java's client needs up to a minute to fail, and its error names the request, not the cause. Here each address is connected
to, then the listener is compared with ``security.protocol``, then librdkafka logs in, describes the topics and fetches from
one partition of each. Only what Java's client cannot do either is refused. Where this check cannot decide, it returns, and
Java's client decides: settings that librdkafka does not have, a listener that answers like none of Kafka's, a slow broker,
a package that is not installed.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from kafka_conformance.brokers import listener
from kafka_conformance.brokers.client_settings import ClientSettings, librdkafka_settings
from kafka_conformance.brokers.listener import Answer
from kafka_conformance.brokers.setting_names import check_names
from kafka_conformance.brokers.topic_check import check_readable
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import open_regular
from kafka_conformance.core.java_text import parse_int

__all__ = ["check_topics"]

_log = logging.getLogger(__name__)


def check_topics(java: Mapping[str, str], topics: Sequence[str]) -> None:
    """Check that a client with Java's settings ``java`` can read these topics. Raises BadInput, one line with the cause."""
    check_names(java)
    translated = librdkafka_settings(java)
    host, port = _reachable(java.get("bootstrap.servers", ""))
    protocol = java.get("security.protocol", "PLAINTEXT").upper()
    try:
        _check_transport(host, port, protocol, keystore=any(name.startswith("ssl.keystore.") for name in java))
        if protocol.endswith("SSL"):
            _check_trust(host, port, translated)
        if protocol.startswith("SASL"):
            _check_mechanism(host, port, protocol, java.get("sasl.mechanism", "GSSAPI"))
        if translated.untranslated:
            _log.debug("no check of login and topics before Spark starts: %s", "; ".join(translated.untranslated))
            return
        check_readable(translated, topics, lambda: _check_no_sasl(host, port, protocol))
    except ImportError as missing:  # on a cluster's driver, perhaps
        _log.debug("no check of listener, login and topics before Spark starts: %s", missing)


def _reachable(bootstrap: str) -> tuple[str, int]:
    """Return the first address that accepts a connection. Raises BadInput if none does."""
    reasons = []
    for address in bootstrap.split(","):
        host, _, port = address.strip().rpartition(":")
        host = host.rpartition("://")[2].strip("[]")
        try:
            with socket.create_connection((host, parse_int(port)), listener.LIMIT_S):
                return host, parse_int(port)
        except (OSError, ValueError, OverflowError) as error:
            reason = error.strerror or error if isinstance(error, OSError) else "HOST:PORT expected"
            reasons.append(f"{address.strip()} ({reason})")
    raise BadInput(
        f"no broker accepts connections at {', '.join(reasons)}: check --bootstrap-server, or start the broker"
    )


def _check_transport(host: str, port: int, protocol: str, *, keystore: bool) -> None:
    """Check that the listener has TLS if, and only if, the client uses it. Raises BadInput."""
    tls, where = protocol.endswith("SSL"), f"{host}:{port}"
    answer = listener.probe(host, port, tls=tls)
    if answer is Answer.WANTS_CERTIFICATE and not keystore:
        raise BadInput(
            f"the listener at {where} requires a client certificate: set ssl.keystore.location and its type and password"
        )
    if answer in {Answer.KAFKA, Answer.WANTS_CERTIFICATE}:
        return
    other = listener.probe(host, port, tls=not tls)
    if other in {Answer.KAFKA, Answer.WANTS_CERTIFICATE}:
        sent, expected = ("plaintext", "TLS") if not tls else ("TLS", "plaintext")
        instead = protocol.replace("PLAINTEXT", "SSL") if not tls else protocol.replace("SSL", "PLAINTEXT")
        raise BadInput(
            f"{sent} sent to a {expected} port: {where} expects {expected}, and security.protocol is {protocol}:"
            f" set security.protocol={instead}, or name the port of another listener"
        )
    if Answer.OTHER in {answer, other}:
        raise BadInput(
            f"{where} accepts connections, but is not a Kafka broker: check host and port of --bootstrap-server"
        )
    if answer is other is Answer.SILENT:
        raise BadInput(
            f"{where} accepts connections, but answers nothing within {listener.LIMIT_S:g} s, with TLS or without: check"
            " host and port of --bootstrap-server"
        )
    _log.debug("%s answered neither with TLS nor without", where)


def _check_trust(host: str, port: int, translated: ClientSettings) -> None:
    """Check that the given truststore, if it is PEM, trusts the listener's certificate. Raises BadInput."""
    location, pem = (translated.settings.get(name, "") for name in ("ssl.ca.location", "ssl.ca.pem"))
    own = translated.settings.get("ssl.key.location", "")
    for name, path in (("truststore", "" if translated.default_trust else location), ("keystore", own)):
        try:
            if path:  # OpenSSL and librdkafka would wait for ever for a FIFO
                open_regular(Path(path)).close()
        except BadInput as error:
            raise BadInput(f"ssl.{name}.location {error}") from error
    if translated.default_trust or not (location or pem):
        return
    named = translated.settings.get("ssl.endpoint.identification.algorithm") != "none"
    try:
        why = listener.find_distrust(host, port, location=location, pem=pem, named=named)
    except OSError as error:
        raise BadInput(f"ssl.truststore.location {location} cannot be read: {error.strerror}") from error
    if why:
        raise BadInput(
            f"the certificate of {host}:{port} is not trusted: {why}; check ssl.truststore.* and --bootstrap-server"
        )


def _check_mechanism(host: str, port: int, protocol: str, mechanism: str) -> None:
    """Check that the listener has SASL and enables this mechanism. Raises BadInput."""
    found = listener.ask_mechanisms(host, port, mechanism, tls=protocol.endswith("SSL"))
    if found is None:
        return
    if not found.required:
        instead = "SSL" if protocol.endswith("SSL") else "PLAINTEXT"
        raise BadInput(
            f"the listener at {host}:{port} has no SASL, and security.protocol is {protocol}:"
            f" set security.protocol={instead}, or name the port of another listener"
        )
    if mechanism not in found.mechanisms:
        raise BadInput(
            f"sasl.mechanism {mechanism} is not enabled at {host}:{port}: it enables {', '.join(found.mechanisms) or 'none'}"
        )


def _check_no_sasl(host: str, port: int, protocol: str) -> None:
    """Explain why a client without SASL was not served. Raises BadInput if the listener has SASL."""
    if protocol.startswith("SASL"):
        return
    found = listener.ask_mechanisms(host, port, "PLAIN", tls=protocol.endswith("SSL"))
    if found is not None and found.required:
        raise BadInput(
            f"the listener at {host}:{port} expects SASL ({', '.join(found.mechanisms)}), and security.protocol is"
            f" {protocol}: set security.protocol=SASL_{protocol}, sasl.mechanism and sasl.jaas.config"
        )
