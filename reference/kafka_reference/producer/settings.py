"""What a producer acts by, given what its user set.

Acknowledgements, retries and requests in flight depend on idempotence: see ``idempotence.config``. The rest:

- ``linger.ms`` is 5 if unset since 4.0.0, and 0 before.
- ``delivery.timeout.ms`` exists since 2.1.0. A value below ``linger.ms + request.timeout.ms`` is a ConfigException; unset
  (2 minutes), it is raised to that sum if need be. Up to 2.0.x the request's timeout counts.
- ``partitioner.adaptive.partitioning.enable`` has no effect with a ``partitioner.class``.

Java source mirrored: the constructor of ``KafkaProducer``, ``lingerMs``, ``configureDeliveryTimeout``, every release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from kafka_reference.accumulator.state import AccumulatorConfig
from kafka_reference.arguments import SETTINGS, checked, proven_by
from kafka_reference.errors import ConfigException
from kafka_reference.idempotence.config import producer_outcome
from kafka_reference.idempotence.config_behaviour import ACKS, IDEMPOTENCE, IN_FLIGHT, RETRIES, ProducerConfigBehaviour
from kafka_reference.idempotence.config_def import parse_config
from kafka_reference.idempotence.sender import SenderConfig
from kafka_reference.producer_config import ProducerDefaultsBehaviour, parse_settings
from kafka_reference.releases import NEWEST, Release

__all__ = ["EffectiveSettings", "ProducerSettings", "effective_settings"]

_DEFAULT_DELIVERY_TIMEOUT_MS = 120_000
_TOO_SHORT = "delivery.timeout.ms should be equal to or larger than linger.ms + request.timeout.ms"


@checked(settings=SETTINGS, version=proven_by("producer-send"))
@dataclass(frozen=True, slots=True)
class ProducerSettings:
    """A producer's configuration; None is a setting that was left alone.

    ``acks`` is "0", "1" or "all"; ``partitioner`` is "default", "uniform-sticky" or "round-robin". Settings that a release
    does not know have no effect there.

        >>> ProducerSettings.of({"batch.size": "100", "retries": 0}).retries
        0
    """

    batch_size: int
    buffer_memory: int
    max_request_size: int
    request_timeout_ms: int
    retry_backoff_ms: int
    retry_backoff_max_ms: int
    linger_ms: int | None = None
    delivery_timeout_ms: int | None = None
    acks: str | None = None
    retries: int | None = None
    idempotence: bool | None = None
    max_in_flight: int | None = None
    partitioner: str | None = None
    ignore_keys: bool = False
    adaptive: bool = True
    availability_timeout_ms: int = 0

    # unreached: for callers; questions name each value
    @classmethod
    def of(cls, settings: Mapping[str, object], version: str | Release = NEWEST) -> Self:
        """Return the configuration that ``settings``, by Kafka's names, are in release ``version``.

        Raises ConfigException, with Kafka's text, for an invalid value, and ValueError for a name with underscores.
        """
        values: dict[str, Any] = parse_settings(settings, version)
        values |= parse_config(settings, ProducerConfigBehaviour.of(version))
        given = {name: value for name, value in values.items() if name in settings}
        return cls(
            batch_size=values["batch.size"],
            buffer_memory=values["buffer.memory"],
            max_request_size=values["max.request.size"],
            request_timeout_ms=values["request.timeout.ms"],
            retry_backoff_ms=values["retry.backoff.ms"],
            retry_backoff_max_ms=values.get("retry.backoff.max.ms", values["retry.backoff.ms"]),
            linger_ms=given.get("linger.ms"),
            delivery_timeout_ms=given.get("delivery.timeout.ms"),
            acks=given.get(ACKS),
            retries=given.get(RETRIES),
            idempotence=given.get(IDEMPOTENCE),
            max_in_flight=given.get(IN_FLIGHT),
            partitioner=_partitioner(settings.get("partitioner.class")),
            ignore_keys=values.get("partitioner.ignore.keys", False),
            adaptive=values.get("partitioner.adaptive.partitioning.enable", True),
            availability_timeout_ms=values.get("partitioner.availability.timeout.ms", 0),
        )


_PARTITIONERS = {
    "org.apache.kafka.clients.producer.internals.DefaultPartitioner": "default",
    "org.apache.kafka.clients.producer.UniformStickyPartitioner": "uniform-sticky",
    "org.apache.kafka.clients.producer.RoundRobinPartitioner": "round-robin",
}


def _partitioner(name: object) -> str | None:  # unreached: for callers
    if name is not None and name not in _PARTITIONERS:
        raise ConfigException(
            f"Invalid value {name} for configuration partitioner.class: Class {name} could not be found."
        )
    return _PARTITIONERS.get(str(name))


@dataclass(frozen=True, slots=True)
class EffectiveSettings:
    """What the sender and the accumulator are made with."""

    sender: SenderConfig
    accumulator: AccumulatorConfig
    idempotent: bool


def effective_settings(settings: ProducerSettings, version: str | Release) -> EffectiveSettings:
    """What ``KafkaProducer`` makes of these settings.

    Raises ConfigException, with Kafka's text, for settings that contradict each other.
    """
    texts = {
        "acks": settings.acks,
        "retries": None if settings.retries is None else str(settings.retries),
        "enable.idempotence": None if settings.idempotence is None else str(settings.idempotence).lower(),
        "max.in.flight.requests.per.connection": None
        if settings.max_in_flight is None
        else str(settings.max_in_flight),
    }
    outcome = producer_outcome({name: text for name, text in texts.items() if text is not None}, version)
    behaviour = ProducerDefaultsBehaviour.of(version)
    linger_ms = behaviour.default_linger_ms if settings.linger_ms is None else settings.linger_ms
    delivery_timeout_ms = settings.request_timeout_ms
    if behaviour.has_delivery_timeout:
        delivery_timeout_ms = _delivery_timeout_ms(settings, linger_ms)
    return EffectiveSettings(
        SenderConfig(
            acks=outcome.acks,
            retries=outcome.retries,
            max_in_flight=outcome.max_in_flight,
            request_timeout_ms=settings.request_timeout_ms,
            delivery_timeout_ms=delivery_timeout_ms,
            retry_backoff_ms=settings.retry_backoff_ms,
            max_request_size=settings.max_request_size,
        ),
        AccumulatorConfig(
            batch_size=settings.batch_size,
            linger_ms=linger_ms,
            retry_backoff_ms=settings.retry_backoff_ms,
            retry_backoff_max_ms=settings.retry_backoff_max_ms,
            delivery_timeout_ms=delivery_timeout_ms,
            buffer_memory=settings.buffer_memory,
            adaptive=settings.adaptive and settings.partitioner is None,
            availability_timeout_ms=settings.availability_timeout_ms,
        ),
        outcome.idempotent,
    )


def _delivery_timeout_ms(settings: ProducerSettings, linger_ms: int) -> int:
    """Mirrors ``configureDeliveryTimeout``."""
    least_ms = linger_ms + settings.request_timeout_ms
    if settings.delivery_timeout_ms is None:
        return max(_DEFAULT_DELIVERY_TIMEOUT_MS, least_ms)
    if settings.delivery_timeout_ms < least_ms:
        raise ConfigException(_TOO_SHORT)
    return settings.delivery_timeout_ms
