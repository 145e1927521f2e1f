"""Faults between a producer and the leader of a partition, as a list that a network proxy could inject.

Requests are numbered from 1 in the order in which they are sent, retries included. The proxy forwards one request at a time
and waits for its response, so what happens at a request happens at one point of the scenario. When a connection closes, all
requests that the proxy has not forwarded are lost, and the producer is notified for each of them.

=================== =====================================================================================================
lose-request        the connection closes before the request reaches the leader
lose-response       the leader handles the request; the connection closes before the response reaches the producer
refuse              the leader responds with an error: once it has appended the request if brokers give the error only then
                    (REQUEST_TIMED_OUT, NOT_ENOUGH_REPLICAS_AFTER_APPEND), else without an append
refuse-after-append the leader appends the request, and responds with an error that may follow an append
crash-before        the leader crashes before it handles the request
crash-unreplicated  the leader crashes after it appends the request, before a follower has it; with acks 1 it responds first
crash-replicated    the leader crashes once followers have the request; with acks 1 it responds first, with acks all not
restart-producer    the leader handles the request; the producer ends before the response reaches it, a new one starts, and
                    the application sends every record again that was not completed
=================== =====================================================================================================

:mod:`.produce_errors` has when brokers give each error.

After a crash an in-sync follower leads, with the log it has. The crashed broker is an in-sync follower again two requests
later; until then the partition has one in-sync replica less. While no replica leads, the connection closes before a request
arrives.

Faults of followers come before a request, or while it waits for its acknowledgement. A request may have several of them and
one of the faults above.

======================= =================================================================================================
stop-follower           before the request, a follower stops to fetch; it stays in sync until ``replica.lag.time.max.ms``
                        passes and it lacks a record
resume-follower         before the request, a follower fetches again, reaches the leader's log end and is in sync
shrink-isr              before the request, ``replica.lag.time.max.ms`` passes: followers that lack a record leave the
                        in-sync replicas
shrink-isr-after-append the same, after the leader appends the request and before it acknowledges it
======================= =================================================================================================
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from kafka_reference.arguments import INT32, checked
from kafka_reference.delivery.produce_errors import PRODUCE_ERRORS, has_appended, may_follow_append
from kafka_reference.errors import QuestionError

__all__ = ["CRASHES", "FOLLOWERS", "REFUSALS", "Fault", "InvalidScenario", "Kind", "by_request", "of_followers"]


class InvalidScenario(QuestionError):
    """A scenario that cannot be simulated. The message says why, and what to change.

    >>> from kafka_reference.delivery import Scenario, simulate
    >>> simulate(Scenario({}, records=1, replicas=0))
    Traceback (most recent call last):
    kafka_reference.delivery.faults.InvalidScenario: 0 replicas: a partition has at least 1
    """


class Kind(enum.Enum):
    """What happens at a request; see the table of this module.

    >>> Kind("lose-response")
    <Kind.LOSE_RESPONSE: 'lose-response'>
    """

    LOSE_REQUEST = "lose-request"
    LOSE_RESPONSE = "lose-response"
    REFUSE = "refuse"
    REFUSE_AFTER_APPEND = "refuse-after-append"
    CRASH_BEFORE = "crash-before"
    CRASH_UNREPLICATED = "crash-unreplicated"
    CRASH_REPLICATED = "crash-replicated"
    RESTART_PRODUCER = "restart-producer"
    STOP_FOLLOWER = "stop-follower"
    RESUME_FOLLOWER = "resume-follower"
    SHRINK_ISR = "shrink-isr"
    SHRINK_ISR_AFTER_APPEND = "shrink-isr-after-append"


CRASHES = frozenset({Kind.CRASH_BEFORE, Kind.CRASH_UNREPLICATED, Kind.CRASH_REPLICATED})
REFUSALS = frozenset({Kind.REFUSE, Kind.REFUSE_AFTER_APPEND})
FOLLOWERS = frozenset({Kind.STOP_FOLLOWER, Kind.RESUME_FOLLOWER, Kind.SHRINK_ISR, Kind.SHRINK_ISR_AFTER_APPEND})
_OF_ONE_FOLLOWER = frozenset({Kind.STOP_FOLLOWER, Kind.RESUME_FOLLOWER})


@checked(request=INT32)
@dataclass(frozen=True, slots=True)
class Fault:
    """A fault at request number ``request``.

    ``error`` is Kafka's name of the error of REFUSE and REFUSE_AFTER_APPEND, ``replica`` the broker that STOP_FOLLOWER and
    RESUME_FOLLOWER name.

    >>> Fault(Kind.REFUSE, request=2, error="NOT_ENOUGH_REPLICAS").request
    2
    """

    kind: Kind
    request: int
    error: str | None = None
    replica: int | None = None

    @property
    def follows_append(self) -> bool:
        """Whether the leader responds with the error once it has appended the request."""
        return self.kind is Kind.REFUSE_AFTER_APPEND or (self.kind is Kind.REFUSE and has_appended(self.error or ""))


def by_request(faults: Iterable[Fault]) -> dict[int, Fault]:
    """Return the faults by request number, but for those of followers.

    Raises InvalidScenario: number below 1, two at one request, error or replica missing.
    """
    found: dict[int, Fault] = {}
    for fault in faults:
        if fault.request < 1:
            raise InvalidScenario(f"invalid request number {fault.request}: requests are numbered from 1")
        if (fault.replica is None) is (fault.kind in _OF_ONE_FOLLOWER):
            given = "no replica" if fault.replica is None else f"replica {fault.replica}"
            raise InvalidScenario(
                f"{fault.kind.value} with {given}: stop-follower and resume-follower name a replica, such as 1, and no "
                "other fault"
            )
        if fault.request in found and fault.kind not in FOLLOWERS:
            raise InvalidScenario(f"two faults at request {fault.request}: give each a request of its own")
        if (fault.error is None) is (fault.kind in REFUSALS):
            given = "no error" if fault.error is None else f"error {fault.error}"
            raise InvalidScenario(
                f"{fault.kind.value} with {given}: refuse and refuse-after-append need an error, such as "
                "NOT_LEADER_OR_FOLLOWER, and no other fault"
            )
        if fault.kind is Kind.REFUSE_AFTER_APPEND and not may_follow_append(fault.error or ""):
            raise InvalidScenario(
                f"refuse-after-append with error {fault.error}: no broker gives it after an append: use refuse, or one of "
                f" {', '.join(error for error in PRODUCE_ERRORS if may_follow_append(error))}"
            )
        if fault.kind not in FOLLOWERS:
            found[fault.request] = fault
    return found


def of_followers(faults: Iterable[Fault]) -> dict[int, list[Fault]]:
    """Return the faults of followers by request number, in the order given."""
    found: dict[int, list[Fault]] = {}
    for fault in faults:
        if fault.kind in FOLLOWERS:
            found.setdefault(fault.request, []).append(fault)
    return found
