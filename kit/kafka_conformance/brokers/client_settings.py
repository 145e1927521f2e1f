"""Translate the settings of Kafka's Java clients to those of librdkafka.

Users give settings by Java's names, because Spark's connector takes those. What librdkafka cannot do as Java does it (a
JKS truststore, Kerberos, a custom login class) is listed in :attr:`ClientSettings.untranslated`: a client with the other
settings might fail where Java's does not. Settings that do not decide whether a client can connect and read are left
out, and so are limits on time and memory, because each client has its own limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from kafka_conformance.brokers.jaas import read_jaas
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import read_bytes
from kafka_conformance.core.suggestion import did_you_mean

__all__ = ["PROTOCOLS", "ClientSettings", "java_settings", "librdkafka_settings"]

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
"""The values of ``security.protocol``."""

_PREFIX = "kafka."
_SAME = ("bootstrap.servers", "client.dns.lookup", "client.id", "client.rack", "isolation.level")
# Kafka's own classes, which librdkafka's mechanisms stand for.
_LOGINS = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
# Code or stores of the user's own, and names that OpenSSL does not have.
_JAVA_ONLY = (
    "config.providers", "sasl.client.callback.handler.class", "sasl.login.callback.handler.class", "sasl.login.class",
    "security.providers", "ssl.cipher.suites", "ssl.engine.factory.class", "ssl.keymanager.algorithm",
    "ssl.trustmanager.algorithm",
)  # fmt: skip
_PROBED = "probe"  # librdkafka looks where systems keep their certificates
_PKCS12 = b"\x30"


class ClientSettings(msgspec.Struct, frozen=True):
    """Settings of librdkafka, which hold secrets.

    ``untranslated`` are the settings without an equivalent there, each with the reason. ``default_trust``: no truststore is
    given, and the client uses the system's; Java uses its own, so a certificate that the client rejects proves nothing.
    """

    settings: dict[str, str]
    untranslated: tuple[str, ...] = ()
    default_trust: bool = False

    def __repr__(self) -> str:
        return f"ClientSettings({', '.join(self.settings)})"


def java_settings(options: Mapping[str, str]) -> dict[str, str]:
    """Return those of the connector's options that are settings of a Kafka client: the ones that begin with ``kafka.``."""
    return {name.removeprefix(_PREFIX): value for name, value in options.items() if name.startswith(_PREFIX)}


def librdkafka_settings(java: Mapping[str, str]) -> ClientSettings:
    """Translate settings by Java's names (``security.protocol``, ``sasl.jaas.config``) to librdkafka's.

    Raises BadInput for what no client accepts: an unknown ``security.protocol``, an unreadable ``sasl.jaas.config``.
    """
    settings = {name: java[name] for name in _SAME if name in java}
    untranslated = [f"{name} is Java's alone" for name in _JAVA_ONLY if java.get(name)]
    protocol = java.get("security.protocol", "PLAINTEXT").upper()
    if protocol not in PROTOCOLS:
        raise BadInput(f"unknown security.protocol {java['security.protocol']!r}: {did_you_mean(protocol, PROTOCOLS)}")
    settings["security.protocol"] = protocol.lower()
    if protocol.startswith("SASL"):
        _add_sasl(java, settings, untranslated)
    if protocol.endswith("SSL"):
        _add_trust(java, settings, untranslated)
        _add_own_certificate(java, settings, untranslated)
    return ClientSettings(settings, tuple(untranslated), settings.get("ssl.ca.location") == _PROBED)


def _add_sasl(java: Mapping[str, str], settings: dict[str, str], untranslated: list[str]) -> None:
    mechanism = java.get("sasl.mechanism", "GSSAPI")
    if "sasl.jaas.config" not in java:
        untranslated.append("sasl.jaas.config is not set: Java may have a file of logins")
        return
    login = read_jaas(java["sasl.jaas.config"])
    if mechanism not in _LOGINS:
        untranslated.append(f"sasl.mechanism={mechanism}: translated are {', '.join(_LOGINS)}")
    elif login.name != _LOGINS[mechanism]:
        untranslated.append(f"the login module {login.name}: expected {_LOGINS[mechanism]} for {mechanism}")
    elif login.options.keys() != {"username", "password"}:
        untranslated.append("the login module has other options than username and password")
    else:
        settings |= {"sasl.mechanism": mechanism, "sasl.username": login.options["username"],
                     "sasl.password": login.options["password"]}  # fmt: skip


def _add_trust(java: Mapping[str, str], settings: dict[str, str], untranslated: list[str]) -> None:
    if java.get("ssl.endpoint.identification.algorithm", "https") == "":
        settings["ssl.endpoint.identification.algorithm"] = "none"
    location, kind = java.get("ssl.truststore.location"), java.get("ssl.truststore.type", "JKS")
    if kind.upper() != "PEM" and location:
        untranslated.append(f"ssl.truststore.type={kind}: librdkafka reads PEM")
    elif "ssl.truststore.certificates" in java:
        settings["ssl.ca.pem"] = java["ssl.truststore.certificates"]
    elif location:
        settings["ssl.ca.location"] = location
    else:
        settings["ssl.ca.location"] = _PROBED


def _add_own_certificate(java: Mapping[str, str], settings: dict[str, str], untranslated: list[str]) -> None:
    """Add the client's certificate and key: PEM, or PKCS12, which Java reads as type JKS as well."""
    location, kind = java.get("ssl.keystore.location"), java.get("ssl.keystore.type", "JKS").upper()
    if password := java.get("ssl.key.password"):
        settings["ssl.key.password"] = password
    if "ssl.keystore.key" in java:
        settings["ssl.key.pem"] = java["ssl.keystore.key"]
        settings["ssl.certificate.pem"] = java.get("ssl.keystore.certificate.chain", "")
    elif location and kind == "PEM":
        settings["ssl.key.location"] = settings["ssl.certificate.location"] = location
    elif location and _is_pkcs12(location):
        settings["ssl.keystore.location"] = location
        settings["ssl.keystore.password"] = java.get("ssl.keystore.password", "")
    elif location:
        untranslated.append(f"ssl.keystore.type={kind}: librdkafka reads PEM and PKCS12")


def _is_pkcs12(location: str) -> bool:
    try:
        return read_bytes(Path(location))[:1] == _PKCS12
    except BadInput as error:
        raise BadInput(f"ssl.keystore.location {error}") from error
