"""The effective producer settings: idempotent or transactional, and with which acks, retries and requests in flight.

The rule (since 3.0.1, except 3.1.0)
    A producer is idempotent if ``enable.idempotence`` is true, which is the default, and no other setting conflicts. A
    conflict is ``retries=0``; ``acks`` other than all (or -1, the same); or more than five requests in flight. If
    ``enable.idempotence`` is set, a conflict is an error; otherwise it disables idempotence (KAFKA-13673). Since 4.0.0 more
    than five requests in flight are an error in both cases. A ``transactional.id`` without idempotence is an error, which is
    reported last: ``acks=1`` with a ``transactional.id`` is reported as an error of that id.

    An idempotent producer has acks all, and 2^31-1 retries unless ``retries`` is set. It is transactional if
    ``transactional.id`` is not null. ``guarantee_order`` is true if exactly one request may be in flight: idempotent
    producers keep the order by sequence numbers in any case.

Exceptions
    - up to 0.10.2.x there is no idempotence; ``enable.idempotence`` is ignored, like every name that is not defined;
    - 0.11.0.0 to 3.0.0, and 3.1.0: idempotence is on request, by ``enable.idempotence=true`` or by a ``transactional.id``
      that is set, even to null; both ``enable.idempotence=false`` and a ``transactional.id`` are an error, and so is every
      conflict. In 3.0.0 and 3.1.0 the default of ``enable.idempotence`` is true, but ignored (KAFKA-13598);
    - 0.11.0.x: one request in flight, which is the default then; more are a conflict (KAFKA-5494);
    - since 4.1.0 two-phase commit and ``transaction.timeout.ms`` exclude each other.

"Set" means named at all: a setting may be set to its default, or to null (a map can hold null, a properties file cannot).
A null ``enable.idempotence`` or, for an idempotent producer, ``transaction.timeout.ms`` throws a NullPointerException when
it is read. The order of the checks decides which of two conflicts is reported: see
:class:`~.config_behaviour.ProducerConfigBehaviour`. Values are parsed before any of this (:mod:`.config_def`).

Java source mirrored: the constructor of ``KafkaProducer`` with its ``configureTransactionState``, ``configureRetries``,
``configureInflightRequests`` and ``configureAcks`` (up to 3.1.0), and ``ProducerConfig.postProcessParsedConfig``
(since 2.5.0).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kafka_reference.arguments import SETTINGS, checked, proven_by
from kafka_reference.config_def import Value
from kafka_reference.errors import ConfigException, NullPointerException
from kafka_reference.idempotence.config_behaviour import (
    ACKS,
    IDEMPOTENCE,
    IN_FLIGHT,
    RETRIES,
    TRANSACTION_TIMEOUT,
    TRANSACTIONAL_ID,
    TWO_PHASE_COMMIT,
    ProducerConfigBehaviour,
)
from kafka_reference.idempotence.config_def import parse_config
from kafka_reference.releases import NEWEST, Release

__all__ = ["ProducerOutcome", "producer_outcome"]

NO_RETRIES = "Must set retries to non-zero when using the idempotent producer."
NOT_ALL_ACKS = (
    "Must set acks to all in order to use the idempotent producer. Otherwise we cannot guarantee idempotence."
)
# Kafka's text lacks a space: "orderto".
MORE_THAN_ONE = (
    "Must set max.in.flight.requests.per.connection to 1 in orderto use the idempotent producer."
    " Otherwise we cannot guarantee idempotence."
)
MORE_THAN_FIVE = "Must set max.in.flight.requests.per.connection to at most 5 to use the idempotent producer."
MORE_THAN_FIVE_WITH_VALUE = (
    "To use the idempotent producer, max.in.flight.requests.per.connection must be set to at most 5."
    " Current value is {}."
)
NOT_IDEMPOTENT = "Cannot set a transactional.id without also enabling idempotence."
TIMEOUT_WITH_TWO_PHASES = (
    "Cannot set transaction.timeout.ms when transaction.two.phase.commit.enable is set to true."
    " Transactions will not expire with two-phase commit enabled."
)

MAX_RETRIES = 2**31 - 1
MOST_IN_FLIGHT = 5
ALL = -1


@dataclass(frozen=True, slots=True)
class ProducerOutcome:
    """The effective settings: ``acks`` is -1 for all, ``max_in_flight`` counts per connection.

    ``guarantee_order`` is true if a partition waits for its batch in flight before it sends the next one.

    >>> producer_outcome({}).acks
    -1
    """

    idempotent: bool
    transactional: bool
    acks: int
    retries: int
    max_in_flight: int
    guarantee_order: bool


@dataclass(frozen=True, slots=True)
class _Settings:
    """The values that are set, and the parsed values of all settings that the release defines."""

    texts: Mapping[str, object]
    values: Mapping[str, Value]
    behaviour: ProducerConfigBehaviour

    def is_set(self, name: str) -> bool:
        return name in self.texts

    def integer(self, name: str) -> int:
        return int(_unboxed(self.values[name]))

    @property
    def acks(self) -> int:
        return ALL if self.values[ACKS] == "all" else self.integer(ACKS)


def _unboxed(value: Value) -> bool | int | str:
    if value is None:
        raise NullPointerException
    return value


@checked(config=SETTINGS, version=proven_by("idempotence-config"))
def producer_outcome(config: Mapping[str, object], version: str | Release = NEWEST) -> ProducerOutcome:
    """Return the effective settings of a ``KafkaProducer`` of release ``version`` with the settings ``config``.

    ``config`` has Kafka's names and values, texts or of the setting's type; an absent setting is unset. Names that do not
    matter here are ignored: those that matter are the constants of :mod:`.config_behaviour`.

        >>> producer_outcome({"acks": "1", "retries": 0}).idempotent
        False

    Raises ConfigException with Kafka's text (up to 2.4.x a user sees it as the cause of a KafkaException "Failed to
    construct kafka producer"), and NullPointerException for some settings that are None.
    """
    behaviour = ProducerConfigBehaviour.of(version)
    settings = _Settings(config, parse_config(config, behaviour), behaviour)
    if not behaviour.defines_idempotence:
        return _outcome(settings, idempotent=False)
    idempotent = _on_request(settings) if behaviour.idempotence_on_request else _by_default(settings)
    if idempotent:
        settings.integer(TRANSACTION_TIMEOUT)
    return _outcome(settings, idempotent)


def _on_request(settings: _Settings) -> bool:
    requested = settings.is_set(IDEMPOTENCE) and bool(_unboxed(settings.values[IDEMPOTENCE]))
    if settings.is_set(TRANSACTIONAL_ID) and settings.is_set(IDEMPOTENCE) and not requested:
        raise ConfigException(NOT_IDEMPOTENT)
    if not requested and not settings.is_set(TRANSACTIONAL_ID):
        return False
    for name in settings.behaviour.check_order:
        conflict = _CONFLICTS[name](settings)
        if conflict is not None:
            raise ConfigException(conflict)
    return True


def _by_default(settings: _Settings) -> bool:
    behaviour = settings.behaviour
    idempotent = wanted = bool(_unboxed(settings.values[IDEMPOTENCE]))
    for name in behaviour.check_order if wanted else ():
        conflict = _CONFLICTS[name](settings)
        if conflict is not None:
            always_fails = name == IN_FLIGHT and behaviour.in_flight_conflict_always_fails
            if settings.is_set(IDEMPOTENCE) or always_fails:
                raise ConfigException(conflict)
            idempotent = False
    if not idempotent and settings.is_set(TRANSACTIONAL_ID):
        raise ConfigException(NOT_IDEMPOTENT)
    excluded = behaviour.two_phase_commit_excludes_timeout and _unboxed(settings.values.get(TWO_PHASE_COMMIT, False))
    if excluded and settings.is_set(TRANSACTION_TIMEOUT):
        raise ConfigException(TIMEOUT_WITH_TWO_PHASES)
    return idempotent


def _retries_conflict(settings: _Settings) -> str | None:
    # A default of 0 (up to 2.0.x) is not a conflict: it is raised.
    return NO_RETRIES if settings.is_set(RETRIES) and settings.integer(RETRIES) == 0 else None


def _acks_conflict(settings: _Settings) -> str | None:
    return NOT_ALL_ACKS if settings.is_set(ACKS) and settings.acks != ALL else None


def _in_flight_conflict(settings: _Settings) -> str | None:
    in_flight = settings.integer(IN_FLIGHT)
    if settings.behaviour.one_request_in_flight:
        return MORE_THAN_ONE if settings.is_set(IN_FLIGHT) and in_flight != 1 else None
    if in_flight <= MOST_IN_FLIGHT:
        return None
    has_value = settings.behaviour.in_flight_error_has_value
    return MORE_THAN_FIVE_WITH_VALUE.format(in_flight) if has_value else MORE_THAN_FIVE


def _read_timeout(settings: _Settings) -> None:
    settings.integer(TRANSACTION_TIMEOUT)


_CONFLICTS: Mapping[str, Callable[[_Settings], str | None]] = {
    TRANSACTION_TIMEOUT: _read_timeout,
    RETRIES: _retries_conflict,
    ACKS: _acks_conflict,
    IN_FLIGHT: _in_flight_conflict,
}


def _outcome(settings: _Settings, idempotent: bool) -> ProducerOutcome:
    in_flight = settings.integer(IN_FLIGHT)
    if idempotent and settings.behaviour.one_request_in_flight:
        in_flight = 1
    return ProducerOutcome(
        idempotent=idempotent,
        transactional=idempotent and settings.values[TRANSACTIONAL_ID] is not None,
        acks=ALL if idempotent else settings.acks,
        retries=MAX_RETRIES if idempotent and not settings.is_set(RETRIES) else settings.integer(RETRIES),
        max_in_flight=in_flight,
        guarantee_order=in_flight == 1,
    )
