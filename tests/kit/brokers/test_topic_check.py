"""Topics and logins are checked by librdkafka, here against the broker that it simulates itself."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace as Of
from typing import Any

import pytest
from confluent_kafka import KafkaError

from kafka_conformance.brokers import topic_check
from kafka_conformance.brokers.client_settings import ClientSettings
from kafka_conformance.brokers.topic_check import check_readable
from kafka_conformance.core.errors import BadInput


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A simulated broker with the topics orders and orders-2."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": "ignored:1", "test.mock.num.brokers": 1, "log_level": 0})
    brokers = producer.list_topics(timeout=10).brokers.values()
    for topic in ("orders", "orders-2"):
        producer.produce(topic, b"v")
    assert producer.flush(10) == 0
    yield ",".join(f"{each.host}:{each.port}" for each in brokers)
    del producer


def test_topic_check_passes_for_existing_topics(address: str) -> None:
    assert check_readable(ClientSettings({"bootstrap.servers": address}), ["orders", "orders-2"])


def test_topic_check_of_missing_topic_raises_bad_input_with_similar_names_if_any(address: str) -> None:
    with pytest.raises(
        BadInput, match=rf"^topic order does not exist at {address}: did you mean orders or orders-2\?$"
    ):
        check_readable(ClientSettings({"bootstrap.servers": address}), ["orders", "order"])
    with pytest.raises(BadInput, match=r"^topic x{9} does not exist at .*: check its name and the broker$"):
        check_readable(ClientSettings({"bootstrap.servers": address}), ["x" * 9])


def test_topic_check_of_unreachable_broker_returns_false(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_check, "LIMIT_S", 0.2)
    monkeypatch.setattr(topic_check, "_STEP_S", 0.1)
    assert not check_readable(ClientSettings({"bootstrap.servers": "127.0.0.1:9"}), ["t"])


def test_topic_check_raises_the_error_of_the_given_diagnosis_if_no_broker_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def explain() -> None:
        raise BadInput("it expects SASL")

    monkeypatch.setattr(topic_check, "_EXPLAIN_S", 0.1)
    monkeypatch.setattr(topic_check, "_STEP_S", 0.1)
    with pytest.raises(BadInput, match=r"^it expects SASL$"):
        check_readable(ClientSettings({"bootstrap.servers": "127.0.0.1:9"}), ["t"], explain)


class Faulty:
    """A consumer whose callback reports an error when it is polled; requests fail."""

    def __init__(
        self, settings: dict[str, Any], errors: list[KafkaError], topic: Any = None, event: Any = None
    ) -> None:
        self._callback, self._errors, self._topic, self._event = settings["error_cb"], errors, topic, event

    def list_topics(self, *_: Any, **__: Any) -> Any:
        from confluent_kafka import KafkaException

        if self._topic is None:
            raise KafkaException(KafkaError(KafkaError._TRANSPORT))
        return Of(topics={"t": self._topic})

    def poll(self, _: float) -> Any:
        for error in self._errors:
            self._callback(error)
        return self._event

    def assign(self, _: Any) -> None: ...

    def close(self) -> None: ...


def refused(monkeypatch: pytest.MonkeyPatch, *errors: KafkaError, topic: Any = None, event: Any = None) -> str:
    monkeypatch.setattr(topic_check, "LIMIT_S", 0.1)
    monkeypatch.setattr("confluent_kafka.Consumer", lambda settings: Faulty(settings, list(errors), topic, event))
    with pytest.raises(BadInput) as raised:
        check_readable(ClientSettings({"bootstrap.servers": "b:1"}), ["t"])
    return str(raised.value)


def test_wrong_sasl_password_is_reported_as_refused_login(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "sasl_plaintext://b:1/bootstrap: SASL authentication error: Authentication failed: Invalid username or password"
        " (after 305ms in state AUTH_REQ)"
    )
    line = refused(monkeypatch, KafkaError(KafkaError._AUTHENTICATION, text))
    assert line == (
        "the broker at b:1 refused the login: SASL authentication error: Authentication failed: Invalid username or"
        " password; check sasl.jaas.config"
    )


def test_client_certificate_rejected_by_the_broker_is_reported_as_tls_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "ssl://b:1/bootstrap: SSL handshake failed: alert unknown ca (after 3ms in state SSL_HANDSHAKE)"
    line = refused(monkeypatch, KafkaError(KafkaError._SSL, text))
    assert line == (
        "TLS with the broker at b:1 failed: SSL handshake failed: alert unknown ca; check ssl.keystore.* and ssl.key.*"
    )


def test_topic_check_returns_false_without_error_if_openssl_does_not_trust_the_broker_certificate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = (
        "ssl://b:1/bootstrap: SSL handshake failed: certificate verify failed: broker certificate could not be verified"
    )
    monkeypatch.setattr(topic_check, "LIMIT_S", 0.1)
    made = lambda settings: Faulty(settings, [KafkaError(KafkaError._SSL, text)])  # noqa: E731
    monkeypatch.setattr("confluent_kafka.Consumer", made)
    assert not check_readable(ClientSettings({"bootstrap.servers": "b:1"}), ["t"])


@pytest.mark.parametrize("operation", ["describe", "read"])
def test_missing_describe_or_read_acl_is_reported_with_the_operation(
    operation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    denied = KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)
    topic = Of(error=denied if operation == "describe" else None, partitions={0: Of(leader=1)})
    line = refused(monkeypatch, topic=topic, event=Of(error=lambda: denied))
    assert line.startswith(
        f"the login may not {operation} topic t at b:1: it needs the ACLs DESCRIBE and READ of the topic"
    )


def test_unreachable_partition_leader_is_reported_with_advertised_listeners_hint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "kafka.internal:9092/1: Failed to resolve 'kafka.internal:9092': not known (after 5ms in state CONNECT)"
    topic = Of(error=None, partitions={0: Of(leader=-1), 1: Of(leader=1)})
    line = refused(monkeypatch, KafkaError(KafkaError._RESOLVE, text), topic=topic)
    assert line.startswith("the leader of partition 1 of t is out of reach (kafka.internal:9092/1: Failed to resolve")
    assert "check the broker's advertised.listeners" in line


def test_topic_check_of_an_invalid_topic_name_raises_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    topic = Of(error=KafkaError(KafkaError.TOPIC_EXCEPTION), partitions={})
    assert refused(monkeypatch, topic=topic).startswith("'t' is not a valid topic name")


def test_librdkafka_prints_nothing_during_the_topic_check(address: str, capfd: pytest.CaptureFixture[str]) -> None:
    """librdkafka would warn of a mechanism without SASL."""
    check_readable(
        ClientSettings({"bootstrap.servers": f"127.0.0.1:9,{address}", "sasl.mechanism": "PLAIN"}), ["orders"]
    )
    assert capfd.readouterr() == ("", "")
