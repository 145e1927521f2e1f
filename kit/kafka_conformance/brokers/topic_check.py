"""Check with librdkafka that a login works, that topics exist, and that they may be read. Reads no record of them."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

from kafka_conformance.brokers.client_settings import ClientSettings
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.suggestion import did_you_mean

__all__ = ["LIMIT_S", "QUIET", "check_readable"]

LIMIT_S = 8.0
"""Limit for a broker to describe the topics, and again for it to answer a fetch, in seconds."""

QUIET = {"log_level": 0, "log.connection.close": False}
"""Settings of librdkafka that keep it from printing to standard error what it also reports."""

_STEP_S, _EXPLAIN_S = 0.5, 2.0
_log = logging.getLogger(__name__)


class _Faults:
    """The errors that librdkafka reports in the background, which name the cause that a request's own error does not."""

    def __init__(self, where: str) -> None:
        from confluent_kafka import KafkaError

        self._codes, self._where = KafkaError, where
        self.connection = ""

    def add(self, error: Any) -> None:
        """Keep an error. Raises BadInput if Java's client would fail for the same cause."""
        codes, text = self._codes, _plain(error.str())
        if error.code() == codes._AUTHENTICATION:  # noqa: SLF001  librdkafka's own codes begin with an underscore
            raise BadInput(f"the broker at {self._where} refused the login: {text}; check sasl.jaas.config")
        # A certificate that OpenSSL does not trust may be one that Java does.
        if error.code() == codes._SSL and "verif" not in text:  # noqa: SLF001
            raise BadInput(f"TLS with the broker at {self._where} failed: {text}; check ssl.keystore.* and ssl.key.*")
        if error.code() in {codes._RESOLVE, codes._TRANSPORT}:  # noqa: SLF001
            self.connection = self.connection or text


def check_readable(
    translated: ClientSettings, topics: Sequence[str], explain: Callable[[], None] | None = None
) -> bool:
    """Return whether the broker described the topics within the limit. Raises BadInput, ImportError.

    ``explain`` is called once, if no description has come after two seconds; it raises BadInput if it finds out why.
    """
    from confluent_kafka import Consumer

    where = translated.settings.get("bootstrap.servers", "")
    faults, raised = _Faults(where), []

    def keep(error: Any) -> None:
        try:
            faults.add(error)
        except BadInput as fault:  # an exception here would end up in a call of another kind
            raised.append(fault)

    own = {
        "group.id": "kafka-conformance-check",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "allow.auto.create.topics": False,
        "fetch.wait.max.ms": 10,
        "socket.connection.setup.timeout.ms": 5000,
        "error_cb": keep,
    }
    consumer = Consumer({**translated.settings, **QUIET, **own})
    try:
        ask = _Asked(consumer, raised, explain)
        for topic in topics:
            described = ask.metadata(topic)
            if described is None:
                return False
            _check_described(topic, described.topics[topic], where, ask)
            _check_fetch(ask, topic, described.topics[topic], faults, where)
    finally:
        consumer.close()
    return True


class _Asked:
    """A consumer, and the causes that its callback has kept."""

    def __init__(self, consumer: Any, raised: list[BadInput], explain: Callable[[], None] | None) -> None:
        self.consumer, self._raised, self._explain = consumer, raised, explain

    def check(self, wait_s: float = 0.0) -> Any:
        """Serve the callback, and return a message or an event. Raises BadInput."""
        found = self.consumer.poll(wait_s)
        if self._raised:
            raise self._raised[0]
        return found

    def metadata(self, topic: str | None = None) -> Any:
        """Return the cluster's description of a topic, or of all; None if none came within the limit. Raises BadInput."""
        from confluent_kafka import KafkaException

        began = time.monotonic()
        while (waited_s := time.monotonic() - began) < LIMIT_S:
            if self._explain is not None and waited_s > _EXPLAIN_S:
                explain, self._explain = self._explain, None
                explain()
            try:
                return self.consumer.list_topics(topic, timeout=_STEP_S)
            except KafkaException as error:
                _log.debug("describing %s: %s", topic, error)
                self.check(0.05)
        return None


def _check_described(topic: str, described: Any, where: str, ask: _Asked) -> None:
    """Raise BadInput if the topic does not exist, or may not be described."""
    from confluent_kafka import KafkaError

    code = None if described.error is None else described.error.code()
    if code == KafkaError.UNKNOWN_TOPIC_OR_PART:
        everything = ask.metadata()
        known = [] if everything is None else sorted(everything.topics)
        raise BadInput(
            f"topic {topic} does not exist at {where}: {did_you_mean(topic, known, 'check its name and the broker')}"
        )
    if code == KafkaError.TOPIC_AUTHORIZATION_FAILED:
        raise BadInput(_not_authorized(topic, "describe", where))
    if code == KafkaError.TOPIC_EXCEPTION:
        raise BadInput(
            f"{topic!r} is not a valid topic name: use up to 249 letters, digits, dots, underscores and hyphens"
        )


def _check_fetch(ask: _Asked, topic: str, described: Any, faults: _Faults, where: str) -> None:
    """Fetch from the end of one partition. Raises BadInput if that is not allowed, or its leader is out of reach."""
    from confluent_kafka import OFFSET_END, KafkaError, TopicPartition

    led = [number for number, each in described.partitions.items() if each.leader >= 0]
    if not led:
        return
    faults.connection = ""
    ask.consumer.assign([TopicPartition(topic, led[0], OFFSET_END)])
    limit = time.monotonic() + LIMIT_S
    while time.monotonic() < limit:
        found = ask.check(_STEP_S)
        if found is None:
            continue
        code = None if found.error() is None else found.error().code()
        if code == KafkaError.TOPIC_AUTHORIZATION_FAILED:
            raise BadInput(_not_authorized(topic, "read", where))
        if code in {None, KafkaError._PARTITION_EOF}:  # noqa: SLF001  librdkafka's own code
            return
    if faults.connection:
        raise BadInput(
            f"the leader of partition {led[0]} of {topic} is out of reach ({faults.connection}): {where} names it so;"
            " check the broker's advertised.listeners, or run where its address can be reached"
        )


def _not_authorized(topic: str, operation: str, where: str) -> str:
    return (
        f"the login may not {operation} topic {topic} at {where}: it needs the ACLs DESCRIBE and READ of the topic"
        f" (kafka-acls.sh --add --allow-principal User:NAME --operation READ --topic {topic})"
    )


def _plain(text: str) -> str:
    """Return librdkafka's text without the address in front and the state at the end."""
    return re.sub(r"^\w+://\S+: | \(after \d+ms in state [A-Z0-9_]+.*\)$", "", text.strip()).rstrip(".:")
