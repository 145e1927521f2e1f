"""The simulation as callers use it: a fault at a request that the producer does not send is refused.

How many requests are sent shows only when the scenario has ended, since retries and restarts send more of them. Questions of
the rule ``delivery`` may have such faults, which do nothing: they ask :mod:`.simulation` itself.
"""

# unreached file: questions may have such faults
from __future__ import annotations

from collections.abc import Callable

from kafka_reference.delivery import simulation
from kafka_reference.delivery.faults import InvalidScenario
from kafka_reference.delivery.leader import Leader
from kafka_reference.delivery.messages import InvalidProducer
from kafka_reference.delivery.producer import Producer
from kafka_reference.delivery.replicas import Replicas
from kafka_reference.delivery.scenario import Outcome, Scenario
from kafka_reference.releases import NEWEST, Release

__all__ = ["simulate"]


def simulate(
    scenario: Scenario, version: str | Release = NEWEST, *,
    producer: Callable[[Release], Producer] = Producer, leader: Callable[[Release], Leader] = Leader,
    replicas: Callable[..., Replicas] = Replicas,
) -> Outcome | InvalidProducer:  # fmt: skip
    """Simulate ``scenario`` with the client and the broker of release ``version``, and return its outcome.

    ``producer`` and ``leader`` create the two ends, ``replicas`` the replicas, to replace the reference's. Raises
    InvalidScenario, also for a fault at a request that is not sent, and NotInThisRelease if a fault names an error that the
    release does not have; UnprovenRelease for a version, as text, that is not proven.

    >>> from kafka_reference.delivery import Fault, Kind, Scenario
    >>> end = simulate(Scenario({"acks": "1"}, records=3, faults=[Fault(Kind.LOSE_RESPONSE, request=2)]))
    >>> end.log, end.doubled
    ((0, 1, 2, 1), (1,))
    """
    outcome = simulation.simulate(scenario, version, producer=producer, leader=leader, replicas=replicas)
    if isinstance(outcome, Outcome):
        last = max((one.request for one in outcome.requests), default=0)
        for fault in scenario.faults:
            if fault.request > last:
                raise InvalidScenario(
                    f"{fault.kind.value} at request {fault.request}: the producer sends {last} requests here: choose 1 to "
                    f"{last}, or more records"
                )
    return outcome
