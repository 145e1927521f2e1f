"""Find misspelled names of security settings, which Kafka's clients ignore: they would connect without them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from kafka_conformance.core.errors import BadInput

__all__ = ["check_names"]

# Java's names, up to Kafka 4.4.0. Those of OAuth change with the releases, and are not checked.
_JAVA = frozenset({
    "sasl.client.callback.handler.class", "sasl.jaas.config", "sasl.kerberos.kinit.cmd",
    "sasl.kerberos.min.time.before.relogin", "sasl.kerberos.service.name", "sasl.kerberos.ticket.renew.jitter",
    "sasl.kerberos.ticket.renew.window.factor", "sasl.login.callback.handler.class", "sasl.login.class",
    "sasl.login.connect.timeout.ms", "sasl.login.read.timeout.ms", "sasl.login.refresh.buffer.seconds",
    "sasl.login.refresh.min.period.seconds", "sasl.login.refresh.window.factor", "sasl.login.refresh.window.jitter",
    "sasl.login.retry.backoff.max.ms", "sasl.login.retry.backoff.ms", "sasl.mechanism", "security.protocol",
    "security.providers", "ssl.cipher.suites", "ssl.enabled.protocols", "ssl.endpoint.identification.algorithm",
    "ssl.engine.factory.class", "ssl.key.password", "ssl.keymanager.algorithm", "ssl.keystore.certificate.chain",
    "ssl.keystore.key", "ssl.keystore.location", "ssl.keystore.password", "ssl.keystore.type", "ssl.protocol",
    "ssl.provider", "ssl.secure.random.implementation", "ssl.trustmanager.algorithm", "ssl.truststore.certificates",
    "ssl.truststore.location", "ssl.truststore.password", "ssl.truststore.type",
})  # fmt: skip
_OF_LIBRDKAFKA = {
    "sasl.mechanisms": "sasl.mechanism",
    "sasl.username": "sasl.jaas.config, with username and password",
    "sasl.password": "sasl.jaas.config, with username and password",
    "ssl.ca.location": "ssl.truststore.location, with ssl.truststore.type=PEM",
    "ssl.certificate.location": "ssl.keystore.location, with ssl.keystore.type=PEM",
    "ssl.key.location": "ssl.keystore.location, with ssl.keystore.type=PEM",
}
_ALIKE = 0.85


def check_names(names: Iterable[str]) -> None:
    """Check the names of client settings. Raises BadInput for one of librdkafka's, and for one that is almost Java's."""
    for name in names:
        if name in _OF_LIBRDKAFKA:
            raise BadInput(f"{name} is librdkafka's name, and Java's client ignores it: use {_OF_LIBRDKAFKA[name]}")
        if name in _JAVA or name.startswith("sasl.oauthbearer."):
            continue
        if close := get_close_matches(name, _JAVA, n=1, cutoff=_ALIKE):
            raise BadInput(f"Kafka's clients have no setting {name}, and would ignore it: did you mean {close[0]}?")
