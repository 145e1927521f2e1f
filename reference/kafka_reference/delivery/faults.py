"""Faults between a producer and the leader of a partition, as a list that a network proxy could inject.

Requests are numbered from 1 in the order in which they are sent, retries included. The proxy forwards one request at a time
and waits for its response, so what happens at a request happens at one point of the scenario. When a connection closes, all
requests that the proxy has not forwarded are lost, and the producer is notified for each of them.

================== ======================================================================================================
lose-request       the connection closes before the request reaches the leader
lose-response      the leader handles the request; the connection closes before the response reaches the producer
refuse             the leader responds with an error and appends nothing
crash-before       the leader crashes before it handles the request
crash-unreplicated the leader crashes after it appends the request, before a follower has it; with acks 1 it responds first
crash-replicated   the leader crashes once followers have the request; with acks 1 it responds first, with acks all not
restart-producer   the leader handles the request; the producer ends before the response reaches it, a new one starts, and
                   the application sends every record again that was not completed
================== ======================================================================================================

After a crash a follower leads, with the log it has. The crashed broker is an in-sync follower again two requests later;
until then the partition has one in-sync replica less.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from kafka_reference.errors import QuestionError

__all__ = ["CRASHES", "Fault", "InvalidScenario", "Kind", "by_request"]


class InvalidScenario(QuestionError):
    """A scenario that cannot be simulated. The message says why, and what to change.

    >>> from kafka_reference.delivery import Scenario, simulate
    >>> simulate(Scenario({}, records=1, replicas=0))
    Traceback (most recent call last):
    kafka_reference.delivery.faults.InvalidScenario: min.insync.replicas 1 with 0 replicas: choose 1 to 0
    """


class Kind(enum.Enum):
    """What happens at a request; see the table of this module.

    >>> Kind("lose-response")
    <Kind.LOSE_RESPONSE: 'lose-response'>
    """

    LOSE_REQUEST = "lose-request"
    LOSE_RESPONSE = "lose-response"
    REFUSE = "refuse"
    CRASH_BEFORE = "crash-before"
    CRASH_UNREPLICATED = "crash-unreplicated"
    CRASH_REPLICATED = "crash-replicated"
    RESTART_PRODUCER = "restart-producer"


CRASHES = frozenset({Kind.CRASH_BEFORE, Kind.CRASH_UNREPLICATED, Kind.CRASH_REPLICATED})


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault at request number ``request``; ``error`` is Kafka's name of the error that REFUSE responds with.

    >>> Fault(Kind.REFUSE, request=2, error="NOT_ENOUGH_REPLICAS").request
    2
    """

    kind: Kind
    request: int
    error: str | None = None


def by_request(faults: Iterable[Fault]) -> dict[int, Fault]:
    """Return the faults by request number. Raises InvalidScenario: number below 1, two at one request, error missing."""
    found: dict[int, Fault] = {}
    for fault in faults:
        if fault.request < 1:
            raise InvalidScenario(f"invalid request number {fault.request}: requests are numbered from 1")
        if fault.request in found:
            raise InvalidScenario(f"two faults at request {fault.request}: give each a request of its own")
        if (fault.error is None) is (fault.kind is Kind.REFUSE):
            given = "no error" if fault.error is None else f"error {fault.error}"
            raise InvalidScenario(
                f"{fault.kind.value} with {given}: refuse needs an error, such as NOT_ENOUGH_REPLICAS, and no other fault"
            )
        found[fault.request] = fault
    return found
