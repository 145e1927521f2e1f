"""A story, told with the reference's own configuration, producer and leader."""

from __future__ import annotations

from collections.abc import Callable

from kafka_reference.delivery.leader import Leader
from kafka_reference.delivery.messages import Asks, Refused, Reply, Settings, Told, ToLeader, ToProducer
from kafka_reference.delivery.producer import Producer
from kafka_reference.delivery.scenario import Outcome, Scenario
from kafka_reference.errors import ConfigException
from kafka_reference.idempotence.config import producer_outcome
from kafka_reference.idempotence.errors import produce_error
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["simulate"]


def simulate(
    story: Scenario, version: str | Release = NEWEST, *,
    producer: Callable[[Release], Producer] = Producer, leader: Callable[[Release], Leader] = Leader,
) -> Outcome | Refused:  # fmt: skip
    """What comes of the story in this release, client and broker. Raises InvalidScenario; NotInThisRelease for an error
    that a fault names and the release has not. A story can be told once.

    ``producer`` and ``leader`` make those who take part, for who wants others than the reference's.

    >>> from kafka_reference.delivery import Fault, Kind, Scenario
    >>> end = simulate(Scenario({"acks": "1"}, records=3, faults=[Fault(Kind.LOSE_RESPONSE, request=2)]))
    >>> end.log, end.doubled
    ((0, 1, 1, 2), (1,))
    """
    at = parse_release(version)
    for fault in story.faults:
        if fault.error is not None:
            produce_error(at, fault.error)
    parties = _Parties(at, producer(at), leader)
    telling = story.told()
    try:
        waits = next(telling)
        while True:
            waits = telling.send(parties.reply(waits))
    except StopIteration as ended:
        end: Outcome | Refused = ended.value
        return end


class _Parties:
    def __init__(self, at: Release, producer: Producer, made: Callable[[Release], Leader]) -> None:
        self._at, self._producer, self._made = at, producer, made
        self._leader: Leader | None = None  # before 0.11 there is nothing a leader would have to look at

    def reply(self, told: Told) -> Reply:
        match told:
            case Asks(config):
                return _settings(dict(config), self._at)
            case ToProducer():
                return self._producer.hear(told)
            case ToLeader(one):
                if self._leader is None:
                    self._leader = self._made(self._at)
                return self._leader.hear(one)


def _settings(config: dict[str, str], at: Release) -> Settings | Refused:
    try:
        found = producer_outcome(config, at)
    except ConfigException as refused:
        return Refused(refused.java_name, refused.message)
    return Settings(found.idempotent, found.acks, found.retries, found.max_in_flight)
