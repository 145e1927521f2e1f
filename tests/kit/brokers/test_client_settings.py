"""Java's settings become librdkafka's, or are listed with the reason; librdkafka itself accepts what is translated."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_conformance.brokers.client_settings import ClientSettings, java_settings, librdkafka_settings
from kafka_conformance.core.errors import BadInput

JAAS = 'org.apache.kafka.common.security.{}LoginModule required username="u" password="p;w";'
PLAIN = {"sasl.mechanism": "PLAIN", "sasl.jaas.config": JAAS.format("plain.Plain")}
LOGGED_IN = {"sasl.mechanism": "PLAIN", "sasl.username": "u", "sasl.password": "p;w"}


def translated(**java: str) -> ClientSettings:
    """Settings given with underscores for dots."""
    return librdkafka_settings({name.replace("_", "."): value for name, value in java.items()})


@pytest.mark.parametrize(
    ("java", "expected"),
    [
        ({}, {"security.protocol": "plaintext"}),
        ({"client.id": "x", "max.poll.records": "9", "default.api.timeout.ms": "1"},
         {"client.id": "x", "security.protocol": "plaintext"}),
        ({"security.protocol": "SASL_PLAINTEXT"} | PLAIN, {"security.protocol": "sasl_plaintext"} | LOGGED_IN),
        ({"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-512",
          "sasl.jaas.config": JAAS.format("scram.Scram")},
         {"security.protocol": "sasl_plaintext"} | LOGGED_IN | {"sasl.mechanism": "SCRAM-SHA-512"}),
        ({"security.protocol": "ssl"}, {"security.protocol": "ssl", "ssl.ca.location": "probe"}),
        ({"security.protocol": "SSL", "ssl.truststore.type": "PEM", "ssl.truststore.location": "/ca.pem",
          "ssl.endpoint.identification.algorithm": ""},
         {"security.protocol": "ssl", "ssl.ca.location": "/ca.pem", "ssl.endpoint.identification.algorithm": "none"}),
        ({"security.protocol": "SSL", "ssl.truststore.type": "PEM", "ssl.truststore.certificates": "CA",
          "ssl.keystore.type": "PEM", "ssl.keystore.key": "K", "ssl.keystore.certificate.chain": "C",
          "ssl.key.password": "p"},
         {"security.protocol": "ssl", "ssl.ca.pem": "CA", "ssl.key.pem": "K", "ssl.certificate.pem": "C",
          "ssl.key.password": "p"}),
        ({"security.protocol": "SSL", "ssl.keystore.type": "PEM", "ssl.keystore.location": "/me.pem"},
         {"security.protocol": "ssl", "ssl.ca.location": "probe", "ssl.key.location": "/me.pem",
          "ssl.certificate.location": "/me.pem"}),
    ],
)  # fmt: skip
def test_java_client_settings_are_translated_to_librdkafka_settings(
    java: dict[str, str], expected: dict[str, str]
) -> None:
    made = librdkafka_settings(java)
    assert made.settings == expected
    assert not made.untranslated
    assert made.default_trust == (expected.get("ssl.ca.location") == "probe")


@pytest.mark.parametrize(
    ("java", "reason"),
    [
        ({"security.protocol": "SSL", "ssl.truststore.location": "/t.jks"}, "ssl.truststore.type=JKS: librdkafka reads PEM"),
        ({"security.protocol": "SSL", "ssl.engine.factory.class": "x.Y"}, "ssl.engine.factory.class is Java's alone"),
        ({"security.protocol": "SASL_SSL", "sasl.jaas.config": PLAIN["sasl.jaas.config"]}, "sasl.mechanism=GSSAPI"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"}, "sasl.jaas.config is not set"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.jaas.config": "x.Own required;"},
         "the login module x.Own"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-256", "sasl.jaas.config":
          JAAS.format("scram.Scram").replace("required", 'required tokenauth="true"')}, "other options"),
    ],
)  # fmt: skip
def test_java_settings_without_librdkafka_equivalent_are_listed_with_reason(java: dict[str, str], reason: str) -> None:
    assert any(each.startswith(reason) or reason in each for each in librdkafka_settings(java).untranslated)


def test_default_type_keystore_is_translated_if_pkcs12_untranslated_if_jks_and_refused_if_missing(
    tmp_path: Path,
) -> None:
    store = tmp_path / "me"
    store.write_bytes(b"\x30\x82")
    java = {"security.protocol": "SSL", "ssl.keystore.location": str(store), "ssl.keystore.password": "pw"}
    made = librdkafka_settings(java)
    assert made.settings["ssl.keystore.location"] == str(store)
    assert made.settings["ssl.keystore.password"] == "pw"
    store.write_bytes(b"\xfe\xed\xfe\xed")
    made = librdkafka_settings(java)
    assert made.untranslated == ("ssl.keystore.type=JKS: librdkafka reads PEM and PKCS12",)
    with pytest.raises(BadInput, match=r"^ssl.keystore.location /no/such cannot be read: No such file"):
        translated(security_protocol="SSL", ssl_keystore_location="/no/such")


def test_unknown_security_protocol_raises_bad_input_with_a_suggestion() -> None:
    with pytest.raises(BadInput, match=r"^unknown security.protocol 'SASLSSL': did you mean SASL_SSL"):
        translated(security_protocol="SASLSSL")


def test_java_client_settings_are_the_kafka_prefixed_spark_options_without_the_prefix() -> None:
    assert java_settings({"kafka.a.b": "1", "failOnDataLoss": "true"}) == {"a.b": "1"}


def test_librdkafka_settings_hide_secrets_in_repr() -> None:
    assert "p;w" not in repr(librdkafka_settings({"security.protocol": "SASL_SSL"} | PLAIN))


@pytest.mark.parametrize(
    "java",
    [
        {"client.dns.lookup": "use_all_dns_ips", "isolation.level": "read_committed"},
        {"security.protocol": "SASL_SSL", "ssl.endpoint.identification.algorithm": ""} | PLAIN,
    ],
)
def test_librdkafka_consumer_accepts_the_translated_settings(java: dict[str, str]) -> None:
    from confluent_kafka import Consumer

    settings = librdkafka_settings({"bootstrap.servers": "127.0.0.1:9", **java}).settings
    Consumer({**settings, "group.id": "none", "log_level": 0}).close()
