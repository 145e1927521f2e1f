"""Faults between a producer and a partition's leader, as a list that a proxy in the network could play.

Requests are numbered as they come over the wire, from 1, those that are sent again too. The proxy passes one at a time: the
next one only once the one before has its response. So what happens at a request happens at one place of the story. A
connection that is cut loses all requests that the proxy has not passed, and the producer hears of it for each of them.

================== =======================================================================================================
lose-request       the connection is cut before the request reaches the leader
lose-response      the leader has dealt with the request; the connection is cut before its response reaches the producer
refuse             the leader answers with an error, and does nothing
crash-before       the leader ends before it has dealt with the request
crash-unreplicated it ends after it has written the request, and before a follower has. With acks 1 its response was first
crash-replicated   it ends after followers have written it too. With acks 1 its response was first, with acks all it was not
restart-producer   the leader has dealt with the request, and the producer ends before the response reaches it. A new one
                   begins, and the application sends again whatever nobody told it the end of
================== =======================================================================================================

A follower leads after a crash, with what it has of the log. The one that crashed is back as a follower, in sync, two
requests later. So what the next request finds is a partition with one in-sync replica less.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from kafka_reference.errors import QuestionError

__all__ = ["Fault", "InvalidScenario", "Kind", "by_request"]


class InvalidScenario(QuestionError):
    """A story that cannot be played. What is wrong with it, and what to write instead."""


class Kind(enum.Enum):
    """What happens at a request."""

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
    """At the ``request``-th request on the wire; ``error`` is what it is refused with, in Kafka's name for it."""

    kind: Kind
    request: int
    error: str | None = None


def by_request(faults: Iterable[Fault]) -> dict[int, Fault]:
    """Faults by their request. Raises InvalidScenario: two at one request, or one at a request that never is."""
    found: dict[int, Fault] = {}
    for fault in faults:
        if fault.request < 1:
            raise InvalidScenario(f"requests are counted from 1: there is none with number {fault.request}")
        if fault.request in found:
            raise InvalidScenario(f"two faults at request {fault.request}: give each a request of its own")
        if (fault.error is None) is (fault.kind is Kind.REFUSE):
            raise InvalidScenario(
                "an error goes with refuse, and only with that: name one, such as NOT_ENOUGH_REPLICAS"
            )
        found[fault.request] = fault
    return found
