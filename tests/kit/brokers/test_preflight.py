"""What cannot work is named within seconds, and what Java's client might do is left to it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import listeners
import pytest

from kafka_conformance.brokers import listener, preflight
from kafka_conformance.brokers.client_settings import ClientSettings
from kafka_conformance.core.errors import BadInput

JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="s3cret";'
LOGIN = {"sasl.mechanism": "PLAIN", "sasl.jaas.config": JAAS}


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[ClientSettings]:
    """What librdkafka is given; the topics are described, and readable."""
    given: list[ClientSettings] = []
    monkeypatch.setattr(preflight, "check_readable", lambda settings, *_: given.append(settings))
    monkeypatch.setattr(listener, "LIMIT_S", 0.3)
    return given


def refused(address: str, **settings: str) -> str:
    java = {"bootstrap.servers": address, **{name.replace("_", "."): value for name, value in settings.items()}}
    with pytest.raises(BadInput) as raised:
        preflight.check_topics(java, ["t"])
    line = str(raised.value).replace(address, "ADDRESS")
    assert "\n" not in line
    assert "s3cret" not in line
    return line


def test_unreachable_bootstrap_servers_are_refused_and_listed_with_reasons() -> None:
    line = refused("127.0.0.1:9,b,localhost:x")
    assert line == (
        "no broker accepts connections at 127.0.0.1:9 (Connection refused), b (HOST:PORT expected),"
        " localhost:x (HOST:PORT expected): check --bootstrap-server, or start the broker"
    )


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SASL_PLAINTEXT"])
def test_plaintext_client_on_a_tls_port_is_refused_with_security_protocol_hint(protocol: str, tmp_path: Path) -> None:
    with listeners.kafka(pem=listeners.pem_file(tmp_path)) as address:
        line = refused(address, security_protocol=protocol, **LOGIN)
    assert line.startswith(
        f"plaintext sent to a TLS port: ADDRESS expects TLS, and security.protocol is {protocol}: set"
    )
    assert f"set security.protocol={protocol.replace('PLAINTEXT', 'SSL')}," in line


@pytest.mark.parametrize("protocol", ["SSL", "SASL_SSL"])
def test_tls_client_on_a_plaintext_port_is_refused_with_security_protocol_hint(protocol: str) -> None:
    with listeners.kafka() as address:
        line = refused(address, security_protocol=protocol, **LOGIN)
    assert line.startswith(
        f"TLS sent to a plaintext port: ADDRESS expects plaintext, and security.protocol is {protocol}"
    )
    assert f"set security.protocol={protocol.replace('SSL', 'PLAINTEXT')}," in line


def test_tls_client_without_keystore_on_a_port_that_requires_a_client_certificate_is_refused(tmp_path: Path) -> None:
    with listeners.kafka(pem=listeners.pem_file(tmp_path), client_certificate=True) as address:
        assert refused(address).startswith("plaintext sent to a TLS port")
        assert refused(address, security_protocol="SSL").startswith(
            "the listener at ADDRESS requires a client certificate"
        )
        own = tmp_path / "me.pem"
        own.write_text("librdkafka reads it later", encoding="utf-8")
        preflight.check_topics({"bootstrap.servers": address, "security.protocol": "SSL", "ssl.keystore.type": "PEM",
                                "ssl.keystore.location": str(own)}, ["t"])  # fmt: skip


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL"])
def test_http_server_as_bootstrap_server_is_refused_as_not_kafka(protocol: str) -> None:
    with listeners.http() as address:
        line = refused(address, security_protocol=protocol)
    assert line == "ADDRESS accepts connections, but is not a Kafka broker: check host and port of --bootstrap-server"


def test_silent_port_as_bootstrap_server_is_refused_after_the_timeout() -> None:
    with listeners.silent() as address:
        line = refused(address)
    assert line.startswith(
        "ADDRESS accepts connections, but answers nothing within 0.3 s, with TLS or without: check host"
    )


def test_sasl_client_on_a_listener_without_sasl_is_refused_with_security_protocol_hint() -> None:
    with listeners.kafka() as address:
        line = refused(address, security_protocol="SASL_PLAINTEXT", **LOGIN)
    assert line.startswith("the listener at ADDRESS has no SASL, and security.protocol is SASL_PLAINTEXT: set sec")
    assert "set security.protocol=PLAINTEXT," in line


def test_sasl_mechanism_not_enabled_on_the_listener_is_refused_with_enabled_mechanisms() -> None:
    with listeners.kafka(mechanisms=["SCRAM-SHA-512", "GSSAPI"]) as address:
        line = refused(address, security_protocol="SASL_PLAINTEXT", **LOGIN)
    assert line == "sasl.mechanism PLAIN is not enabled at ADDRESS: it enables GSSAPI, SCRAM-SHA-512"


def test_plaintext_client_unanswered_by_a_sasl_listener_is_refused_with_the_enabled_mechanisms(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(preflight, "check_readable", lambda _, __, explain: explain())
    with listeners.kafka(mechanisms=["PLAIN"]) as address:
        line = refused(address)
    assert line.startswith("the listener at ADDRESS expects SASL (PLAIN), and security.protocol is PLAINTEXT: set")
    with listeners.kafka() as address:  # a slow broker, perhaps
        preflight.check_topics({"bootstrap.servers": address}, ["t"])


def test_broker_certificate_is_refused_if_truststore_is_empty_or_missing_or_checked_host_mismatches(
    tmp_path: Path, asked: list[ClientSettings]
) -> None:
    pem, other = listeners.pem_file(tmp_path), tmp_path / "other.pem"
    other.write_text("nothing\n")
    given = {"security.protocol": "SSL", "ssl.truststore.type": "PEM", "ssl.truststore.location": pem}
    with listeners.kafka(pem=pem) as address:
        preflight.check_topics({"bootstrap.servers": address, **given}, ["t"])
        assert asked[0].settings["ssl.ca.location"] == pem
        line = refused(address, **given | {"ssl.truststore.location": str(other)})
        assert line == (
            f"the certificate of ADDRESS is not trusted: {other} has no certificate as PEM; check ssl.truststore.* and"
            " --bootstrap-server"
        )
        line = refused(address, **given | {"ssl.truststore.location": "/no/such"})
        assert line == "ssl.truststore.location /no/such cannot be read: No such file or directory"
        port = int(address.rpartition(":")[2])
        assert listener.find_distrust("127.0.0.1", port, pem=listeners.PEM) == ""
    with listeners.kafka(pem=pem, host="127.0.0.2") as address:
        port = int(address.rpartition(":")[2])
        assert "mismatch" in listener.find_distrust("127.0.0.2", port, pem=listeners.PEM)
        assert listener.find_distrust("127.0.0.2", port, pem=listeners.PEM, named=False) == ""


def test_jks_truststore_skips_the_librdkafka_preflight(asked: list[ClientSettings], tmp_path: Path) -> None:
    with listeners.kafka(pem=listeners.pem_file(tmp_path)) as address:
        jks = {"security.protocol": "SSL", "ssl.truststore.location": "/trust.jks"}
        preflight.check_topics({"bootstrap.servers": address, **jks}, ["t"])
    assert not asked, "librdkafka has no JKS"


@pytest.mark.parametrize("name", ["check_readable", "listener.probe"])
def test_preflight_without_an_installed_client_accepts_a_sasl_listener_for_a_plaintext_client(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: Any, **__: Any) -> bool:
        raise ImportError("no confluent_kafka, or no kafka")

    monkeypatch.setattr(f"kafka_conformance.brokers.preflight.{name}", missing)
    with listeners.kafka(mechanisms=["PLAIN"]) as address:
        preflight.check_topics({"bootstrap.servers": address}, ["t"])


def test_preflight_passes_if_only_the_second_bootstrap_server_answers(asked: list[ClientSettings]) -> None:
    with listeners.kafka() as address:
        preflight.check_topics({"bootstrap.servers": f"127.0.0.1:9,PLAINTEXT://{address}"}, ["t"])
    assert re.search(r"127\.0\.0\.1:9,", asked[0].settings["bootstrap.servers"])
