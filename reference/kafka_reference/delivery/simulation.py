"""Simulate a scenario with the reference's own configuration, producer and leader."""

from __future__ import annotations

from collections.abc import Callable

from kafka_reference.arguments import checked, proven_by
from kafka_reference.delivery.faults import InvalidScenario
from kafka_reference.delivery.leader import Leader
from kafka_reference.delivery.messages import (
    Configure,
    InvalidProducer,
    LeaderTurn,
    Message,
    ProducerTurn,
    Reply,
    Settings,
)
from kafka_reference.delivery.network import Network
from kafka_reference.delivery.produce_errors import why_impossible
from kafka_reference.delivery.producer import Producer
from kafka_reference.delivery.replicas import Replicas
from kafka_reference.delivery.scenario import Outcome, Scenario
from kafka_reference.errors import ConfigException
from kafka_reference.idempotence.config import producer_outcome
from kafka_reference.idempotence.errors import produce_error
from kafka_reference.releases import NEWEST, Release, parse_release
from kafka_reference.replication.produce_acks import waits

__all__ = ["check_possible", "run_scenario", "simulate"]


@checked(version=proven_by("delivery"))
def simulate(  # unreached: for callers; the rule asks run_scenario
    scenario: Scenario, version: str | Release = NEWEST, *,
    producer: Callable[[Release], Producer] = Producer, leader: Callable[[Release], Leader] = Leader,
    replicas: Callable[..., Replicas] = Replicas,
) -> Outcome | InvalidProducer:  # fmt: skip
    """Simulate ``scenario`` with the client and the broker of release ``version``, and return its outcome.

    ``producer`` and ``leader`` create the two ends, ``replicas`` the replicas, to replace the reference's. Raises
    InvalidScenario, also for an error that no broker of the release gives this producer (:mod:`.produce_errors`);
    NotInThisRelease if a fault names an error that the release does not have; UnprovenRelease for a
    version, as text, that is not proven.

    >>> from kafka_reference.delivery import Fault, Kind, Scenario
    >>> end = simulate(Scenario({"acks": "1"}, records=3, faults=[Fault(Kind.LOSE_RESPONSE, request=2)]))
    >>> end.log, end.doubled
    ((0, 1, 2, 1), (1,))
    """
    release = parse_release(version)
    check_possible(scenario, release)
    return run_scenario(scenario, release, producer=producer, leader=leader, replicas=replicas)


# unreached: a rule is also asked what no broker does
def check_possible(scenario: Scenario, release: Release) -> None:
    """Raise InvalidScenario for a scenario that cannot be simulated, or with an error that no broker gives its producer.

    Raises NotInThisRelease if a fault names an error that the release does not have.
    """
    scenario.validate()
    settings = _configure(dict(scenario.config), release)
    for fault in scenario.faults:
        if fault.error is None or isinstance(settings, InvalidProducer):
            continue
        produce_error(release, fault.error)
        why = why_impossible(
            fault.error, release, waits=waits(settings.acks), idempotent=settings.idempotent,
            after_append=fault.follows_append,
        )  # fmt: skip
        if why:
            raise InvalidScenario(f"{fault.kind.value} {fault.request}={fault.error}: {why}")


def run_scenario(
    scenario: Scenario, release: Release, *,
    producer: Callable[[Release], Producer] = Producer, leader: Callable[[Release], Leader] = Leader,
    replicas: Callable[..., Replicas] = Replicas, network: Callable[..., Network] = Network,
) -> Outcome | InvalidProducer:  # fmt: skip
    """Simulate ``scenario`` as :func:`simulate` does, also with an error that no broker gives its producer."""
    for fault in scenario.faults:
        if fault.error is not None:
            produce_error(release, fault.error)
    ends = _Ends(release, producer(release), leader)
    exchange = network(scenario, release, replicas).run()
    try:
        message = next(exchange)
        while True:
            message = exchange.send(ends.handle(message))
    except StopIteration as finished:
        outcome: Outcome | InvalidProducer = finished.value
        return outcome


class _Ends:
    def __init__(self, release: Release, producer: Producer, create_leader: Callable[[Release], Leader]) -> None:
        self._release, self._producer, self._create_leader = release, producer, create_leader
        self._leader: Leader | None = None  # up to 0.10.2.x there is no producer state

    def handle(self, message: Message) -> Reply:
        match message:
            case Configure(config):
                return _configure(dict(config), self._release)
            case ProducerTurn():
                return self._producer.handle(message)
            case LeaderTurn(event):  # unreached: there is no other message, so it always matches
                if self._leader is None:
                    self._leader = self._create_leader(self._release)
                return self._leader.handle(event)


def _configure(config: dict[str, object], release: Release) -> Settings | InvalidProducer:
    try:
        effective = producer_outcome(config, release)
    except ConfigException as error:
        return InvalidProducer(error.java_name, error.message)
    return Settings(effective.idempotent, effective.acks, effective.retries, effective.max_in_flight)
