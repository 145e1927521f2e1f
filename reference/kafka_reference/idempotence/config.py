"""What a producer ends up with: whether it is idempotent, or transactional, and with which acks, retries, in-flight.

A user sets some of five things and leaves others alone, and "set" is not "has that value": the rule asks of each whether
it was named at all. First the texts are read (``config_def``), which ends at the first bad one. Then there are two
rules, one of before 3.0.1 and one of after, in six versions. Each names the checks in its order, which decides of two
mistakes which one a user is told about:

=========================== ==== ==========================================================================================
to 0.10.2                   ``-``  Nobody knows of it. ``enable.idempotence=true`` is ignored, as any name that is not
                                 defined.
0.11.0                      A    On request. Checked: retries, in-flight (which must be 1, and is if left alone), acks.
1.0 – 2.0                   B    On request. Checked: retries, in-flight (at most 5 from now on), acks.
2.1 – 2.4                   C    On request. Checked: in-flight, retries, acks.
2.5 – 2.8, 3.0.0, 3.1.0     D    On request. Checked: retries, acks, in-flight. In 3.0.0 and 3.1.0 the default of
                                 ``enable.idempotence`` is said to be true, and nobody looks at it (KAFKA-13598).
3.0.1, 3.0.2, 3.1.1 – 3.9   E    On by default. Checked: retries, acks, in-flight; where ``enable.idempotence`` is left
                                 alone, a conflict disables it and is no error (KAFKA-13673).
4.0 on                      F    On by default. As E, but in-flight above 5 is an error whoever set what. 4.1 adds a last
                                 check: two-phase commit and ``transaction.timeout.ms`` exclude each other.
=========================== ==== ==========================================================================================

*On request*: idempotent if ``enable.idempotence`` is set and true, or if ``transactional.id`` is set, unless the first is
set and false, which is an error. A conflict is always an error. Then acks become all, and retries become 2^31-1 if they
were left alone.

*On by default*: idempotent if ``enable.idempotence`` is true, set or by default, and nothing disables it. A conflict is an
error if ``enable.idempotence`` is set, whatever else; else it disables. A ``transactional.id`` without idempotence is an
error, said last: ``acks=1`` with a ``transactional.id`` complains about that id.

*A conflict*: ``retries=0``; ``acks`` set to anything but all (or -1, the same); more in flight than allowed.

Order within a partition is guaranteed by sending one request at a time if exactly one may be in flight; idempotent
producers keep it by sequence numbers in any case, and ``guarantee_order`` says nothing about that.

What a setting is set to may be null (a map can hold that, a properties file cannot): it counts as set. A null
``transactional.id`` so asks for idempotence in releases where that is on request, without transactions. A null
``enable.idempotence`` ends in a NullPointerException as soon as somebody looks at it, a null
``transaction.timeout.ms`` likewise, which only a producer does that wants to be idempotent: before any of the checks to
2.4, before the last one in D, after all of them since.

Java source mirrored: the constructor of ``KafkaProducer`` (its ``configureTransactionState``, ``configureRetries``,
``configureInflightRequests``, ``configureAcks``; 0.10.0.1 to 3.1.0) and ``ProducerConfig.postProcessParsedConfig``
(2.5.0 to 4.4.0).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kafka_reference.errors import ConfigException, NullPointerException
from kafka_reference.idempotence.config_def import Value, parsed
from kafka_reference.releases import NEWEST, Release, Spans, parse_release, since

__all__ = ["ProducerOutcome", "producer_outcome"]

UNKNOWN = since("0.10.0.0", until="0.10.2.2")
ONE_IN_FLIGHT = since("0.11.0.0", until="0.11.0.3")
ON_REQUEST = since("0.11.0.0", until="3.0.0") | since("3.1.0", until="3.1.0")
IN_FLIGHT_ALWAYS_CHECKED = since("4.0.0")
TWO_PHASE = since("4.1.0")

RETRIES, ACKS, IN_FLIGHT = "retries", "acks", "max.in.flight.requests.per.connection"
IDEMPOTENCE, TRANSACTIONAL_ID = "enable.idempotence", "transactional.id"
TWO_PHASE_COMMIT, TRANSACTION_TIMEOUT = "transaction.two.phase.commit.enable", "transaction.timeout.ms"

CHECKS: tuple[tuple[Spans, tuple[str, ...]], ...] = (
    (since("0.11.0.0", until="2.0.1"), (TRANSACTION_TIMEOUT, RETRIES, IN_FLIGHT, ACKS)),
    (since("2.1.0", until="2.4.1"), (TRANSACTION_TIMEOUT, IN_FLIGHT, RETRIES, ACKS)),
    (ON_REQUEST, (RETRIES, ACKS, TRANSACTION_TIMEOUT, IN_FLIGHT)),
    (since("3.0.1"), (RETRIES, ACKS, IN_FLIGHT)),
)

NO_RETRIES = "Must set retries to non-zero when using the idempotent producer."
NOT_ALL_ACKS = (
    "Must set acks to all in order to use the idempotent producer. Otherwise we cannot guarantee idempotence."
)
# The blank that is missing is missing in Kafka.
MORE_THAN_ONE = (
    "Must set max.in.flight.requests.per.connection to 1 in orderto use the idempotent producer."
    " Otherwise we cannot guarantee idempotence."
)
MORE_THAN_FIVE = "Must set max.in.flight.requests.per.connection to at most 5 to use the idempotent producer."
MORE_THAN_FIVE_NOW = (
    "To use the idempotent producer, max.in.flight.requests.per.connection must be set to at most 5."
    " Current value is {}."
)
NOT_IDEMPOTENT = "Cannot set a transactional.id without also enabling idempotence."
TIMEOUT_IN_TWO_PHASES = (
    "Cannot set transaction.timeout.ms when transaction.two.phase.commit.enable is set to true."
    " Transactions will not expire with two-phase commit enabled."
)

MAX_RETRIES = 2**31 - 1
ALL = -1


@dataclass(frozen=True, slots=True)
class ProducerOutcome:
    """What the producer acts by.

    ``acks`` is -1 for all; ``max_in_flight`` is per connection; ``guarantee_order`` is whether a partition waits for its
    batch in flight before the next one is sent.
    """

    idempotent: bool
    transactional: bool
    acks: int
    retries: int
    max_in_flight: int
    guarantee_order: bool


@dataclass(frozen=True, slots=True)
class _Given:
    """What was set and what that was read as, in a release."""

    named: Mapping[str, str | None]
    values: Mapping[str, Value]
    at: Release

    def is_set(self, name: str) -> bool:
        return name in self.named

    def integer(self, name: str) -> int:
        return int(_unboxed(self.values[name]))

    @property
    def acks(self) -> int:
        return ALL if self.values[ACKS] == "all" else self.integer(ACKS)


def _unboxed(value: Value) -> bool | int | str:
    if value is None:
        raise NullPointerException
    return value


def producer_outcome(config: Mapping[str, str | None], version: str | Release = NEWEST) -> ProducerOutcome:
    """What ``KafkaProducer`` of release ``version`` ends up with, given these settings, by name, as texts.

    A setting that is absent was left alone. Names that matter are the five in this module's essay and, since 4.1,
    ``transaction.two.phase.commit.enable`` with ``transaction.timeout.ms``; others are not looked at.

    Raises ConfigException with Kafka's text: to 2.4 a user sees that as the cause of a KafkaException "Failed to construct
    kafka producer". Raises NullPointerException for a None in some places.
    """
    at = parse_release(version)
    given = _Given(config, parsed(config, at), at)
    if at in UNKNOWN:
        return _outcome(given, idempotent=False)
    idempotent = _on_request(given) if at in ON_REQUEST else _by_default(given)
    if idempotent:
        given.integer(TRANSACTION_TIMEOUT)
    return _outcome(given, idempotent)


def _on_request(given: _Given) -> bool:
    requested = _asked_for(given)
    if given.is_set(TRANSACTIONAL_ID) and given.is_set(IDEMPOTENCE) and not requested:
        raise ConfigException(NOT_IDEMPOTENT)
    if not requested and not given.is_set(TRANSACTIONAL_ID):
        return False
    for name in _checks(given.at):
        conflict = _CONFLICTS[name](given)
        if conflict is not None:
            raise ConfigException(conflict)
    return True


def _asked_for(given: _Given) -> bool:
    """Whether ``enable.idempotence`` is set and true: its default is not looked at, whatever that is said to be."""
    return given.is_set(IDEMPOTENCE) and bool(_unboxed(given.values[IDEMPOTENCE]))


def _by_default(given: _Given) -> bool:
    idempotent = wanted = bool(_unboxed(given.values[IDEMPOTENCE]))
    for name in _checks(given.at) if wanted else ():
        conflict = _CONFLICTS[name](given)
        if conflict is not None:
            if given.is_set(IDEMPOTENCE) or (name == IN_FLIGHT and given.at in IN_FLIGHT_ALWAYS_CHECKED):
                raise ConfigException(conflict)
            idempotent = False
    if not idempotent and given.is_set(TRANSACTIONAL_ID):
        raise ConfigException(NOT_IDEMPOTENT)
    if given.at in TWO_PHASE and _unboxed(given.values[TWO_PHASE_COMMIT]) and given.is_set(TRANSACTION_TIMEOUT):
        raise ConfigException(TIMEOUT_IN_TWO_PHASES)
    return idempotent


def _checks(at: Release) -> tuple[str, ...]:
    return next(names for spans, names in CHECKS if at in spans)


def _retries_conflict(given: _Given) -> str | None:
    # Where the default is 0, to 2.0, it is raised and no conflict.
    return NO_RETRIES if given.is_set(RETRIES) and given.integer(RETRIES) == 0 else None


def _acks_conflict(given: _Given) -> str | None:
    return NOT_ALL_ACKS if given.is_set(ACKS) and given.acks != ALL else None


def _in_flight_conflict(given: _Given) -> str | None:
    in_flight = given.integer(IN_FLIGHT)
    if given.at in ONE_IN_FLIGHT:
        return MORE_THAN_ONE if given.is_set(IN_FLIGHT) and in_flight != 1 else None
    if in_flight <= 5:
        return None
    return MORE_THAN_FIVE_NOW.format(in_flight) if given.at in IN_FLIGHT_ALWAYS_CHECKED else MORE_THAN_FIVE


def _timeout_conflict(given: _Given) -> None:
    given.integer(TRANSACTION_TIMEOUT)


_CONFLICTS: Mapping[str, Callable[[_Given], str | None]] = {
    TRANSACTION_TIMEOUT: _timeout_conflict,
    RETRIES: _retries_conflict,
    ACKS: _acks_conflict,
    IN_FLIGHT: _in_flight_conflict,
}


def _outcome(given: _Given, idempotent: bool) -> ProducerOutcome:
    in_flight = given.integer(IN_FLIGHT)
    if idempotent and given.at in ONE_IN_FLIGHT:
        in_flight = 1
    return ProducerOutcome(
        idempotent=idempotent,
        transactional=idempotent and given.values[TRANSACTIONAL_ID] is not None,
        acks=ALL if idempotent else given.acks,
        retries=MAX_RETRIES if idempotent and not given.is_set(RETRIES) else given.integer(RETRIES),
        max_in_flight=in_flight,
        guarantee_order=in_flight == 1,
    )
