"""The finite spaces of ``delivery``: one fault for each kind of producer, pairs of faults, and replicas that fall behind."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from kafka_conformance.rules.delivery.question import (
    CRASH_KINDS,
    NETWORK_KINDS,
    REFUSAL_KINDS,
    AskedFault,
    AskedKind,
    AskedPartition,
    AskedProducer,
    DeliveryQuestion,
)
from kafka_reference.delivery.produce_errors import may_follow_append

__all__ = [
    "AFTER_APPEND", "ERRORS", "every_error", "every_fault", "every_fault_of_followers", "every_minimum",
    "every_pair_of_errors", "every_pair_of_faults", "every_return",
]  # fmt: skip

_PRODUCERS = tuple(
    AskedProducer(*values)
    for values in (
        ("0", None, None, None), ("1", "3", None, "false"), ("1", "0", None, None), ("1", None, "1", None),
        ("all", "3", None, "false"), ("all", None, "6", "false"), ("all", "1", "1", "false"), (None, None, None, "true"),
        ("all", None, "1", "true"), ("all", "1", None, "true"), ("1", None, None, "true"), (None, None, None, None),
    )
)  # fmt: skip
# Of every release; a question with an error that a release does not have is unsupported there.
ERRORS = (
    "CORRUPT_MESSAGE", "UNKNOWN_TOPIC_OR_PARTITION", "LEADER_NOT_AVAILABLE", "NOT_LEADER_OR_FOLLOWER", "REQUEST_TIMED_OUT",
    "NETWORK_EXCEPTION", "NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "KAFKA_STORAGE_ERROR",
    "COORDINATOR_LOAD_IN_PROGRESS", "DUPLICATE_SEQUENCE_NUMBER", "MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE",
    "INVALID_TOPIC_EXCEPTION", "INVALID_REQUIRED_ACKS", "INVALID_TIMESTAMP", "TOPIC_AUTHORIZATION_FAILED",
    "OUT_OF_ORDER_SEQUENCE_NUMBER", "UNKNOWN_PRODUCER_ID", "INVALID_RECORD", "INVALID_PRODUCER_EPOCH",
    "CLUSTER_AUTHORIZATION_FAILED", "UNSUPPORTED_VERSION", "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", "PRODUCER_FENCED",
)  # fmt: skip
AFTER_APPEND = tuple(filter(may_follow_append, ERRORS))
# One of each kind: retriable, refused, about sequences, about the producer, fatal.
_KINDS_OF_ERROR = (
    "NOT_ENOUGH_REPLICAS", "MESSAGE_TOO_LARGE", "OUT_OF_ORDER_SEQUENCE_NUMBER", "UNKNOWN_PRODUCER_ID",
    "DUPLICATE_SEQUENCE_NUMBER", "INVALID_PRODUCER_EPOCH", "CLUSTER_AUTHORIZATION_FAILED",
)  # fmt: skip
_TWO_PRODUCERS = (_PRODUCERS[4], _PRODUCERS[-1])


def _fault(kind: AskedKind, request: int) -> AskedFault:
    return AskedFault(kind, request, "NOT_LEADER_OR_FOLLOWER" if kind in REFUSAL_KINDS else None)


def every_fault() -> Iterator[DeliveryQuestion]:
    """Yield four records for each of 12 producers: without a fault, and with each fault at each of requests 1 to 3."""
    for producer in _PRODUCERS:
        yield DeliveryQuestion(producer, AskedPartition(), 4)
        for kind, request in product(NETWORK_KINDS, range(1, 4)):
            yield DeliveryQuestion(producer, AskedPartition(), 4, (_fault(kind, request),))


def every_error() -> Iterator[DeliveryQuestion]:
    """Yield four records for each of 6 producers, where request 1 or 2 is refused with each error.

    Each error that may follow an append is asked after it as well.
    """
    refusals: list[tuple[AskedKind, str]] = [("refuse", error) for error in ERRORS]
    refusals += [("refuse_after_append", error) for error in AFTER_APPEND]
    for place, (kind, error), request in product((1, 5, 7, 8, 9, 11), refusals, (1, 2)):
        yield DeliveryQuestion(_PRODUCERS[place], AskedPartition(), 4, (AskedFault(kind, request, error),))


def every_minimum() -> Iterator[DeliveryQuestion]:
    """Yield two records for 5 producers with 1 to 3 replicas and ``min.insync.replicas`` of 1 to 4.

    With and without a follower that stops, or the leader alone: a minimum above the number of replicas is legal.
    """
    stops = AskedFault("stop_follower", 1, replica=1), AskedFault("shrink_isr_after_append", 1)
    for producer, replicas, needed in product(_OF_REPLICAS, (1, 2, 3), (1, 2, 3, 4)):
        yield DeliveryQuestion(producer, AskedPartition(replicas, needed), 2)
        if replicas > 1:
            yield DeliveryQuestion(producer, AskedPartition(replicas, needed), 2, stops)


def every_pair_of_errors() -> Iterator[DeliveryQuestion]:
    """Yield eight records of an idempotent producer, whose first request is refused, and then request 2 or 3 as well.

    More records than requests in flight: those that are sent after the errors show what the producer has made of them.
    """
    for first, second, request in product(_KINDS_OF_ERROR, _KINDS_OF_ERROR, (2, 3)):
        faults = (AskedFault("refuse", 1, first), AskedFault("refuse", request, second))
        yield DeliveryQuestion(_PRODUCERS[7], AskedPartition(), 8, faults)


def every_pair_of_faults() -> Iterator[DeliveryQuestion]:
    """Yield three records for 2 producers and every two faults at adjacent requests, with all replicas required."""
    for producer, first, second, request in product(_TWO_PRODUCERS, NETWORK_KINDS, NETWORK_KINDS, (1, 2)):
        faults = (_fault(first, request), _fault(second, request + 1))
        yield DeliveryQuestion(producer, AskedPartition(3, 3), 3, faults)


_OF_REPLICAS = (
    AskedProducer("0", None, "1", None), AskedProducer("1", None, "1", "false"), AskedProducer("all", None, "1", "false"),
    AskedProducer("all", None, "1", "true"), AskedProducer("all", None, "5", "true"),
)  # fmt: skip


def every_fault_of_followers() -> Iterator[DeliveryQuestion]:
    """Yield five records for 5 producers, where one or both of two followers stop at request 2.

    The in-sync replicas shrink before request 3, while request 2 waits, or not; the leader crashes at request 4 in each way
    or not; replica 1 fetches again at request 6. min.insync.replicas is 1 or 2, with and without unclean election.
    """
    lags: tuple[tuple[AskedFault, ...], ...] = (
        (), (AskedFault("shrink_isr", 3),), (AskedFault("shrink_isr_after_append", 2),)
    )  # fmt: skip
    stopped = ((1,), (1, 2))
    for producer, brokers, lag, crash, needed, unclean in product(
        _OF_REPLICAS, stopped, lags, (None, *CRASH_KINDS), (1, 2), (False, True)
    ):
        stops = tuple(AskedFault("stop_follower", 2, replica=broker) for broker in brokers)
        crashes = () if crash is None else (AskedFault(crash, 4),)
        faults = (*stops, *lag, *crashes, AskedFault("resume_follower", 6, replica=1))
        yield DeliveryQuestion(producer, AskedPartition(3, needed, unclean), 5, faults)


def every_return() -> Iterator[DeliveryQuestion]:
    """Yield six records for 5 producers, where a replica comes back and leads: after a crash, or after it fell behind.

    A crashed leader is back two requests later, truncates its log, and leads after the next crash. A follower that has left
    the in-sync replicas fetches again at the request at which the leader crashes, or while no replica leads. One that stops
    and lacks nothing stays.
    """
    stopped = AskedFault("stop_follower", 1, replica=1)
    behind = (stopped, AskedFault("shrink_isr", 2), AskedFault("resume_follower", 3, replica=1))
    idle = (stopped, AskedFault("shrink_isr", 1))
    leaderless = (
        stopped, AskedFault("stop_follower", 1, replica=2), AskedFault("shrink_isr_after_append", 1),
        AskedFault("crash_before", 2), AskedFault("shrink_isr", 3), AskedFault("resume_follower", 3, replica=1),
    )  # fmt: skip
    third = AskedFault("stop_follower", 3, replica=2)
    stories: list[tuple[AskedFault, ...]] = [
        (AskedFault(first, 2), third, AskedFault(second, 5)) for first, second in product(CRASH_KINDS, CRASH_KINDS)
    ]
    stories += [(*story, AskedFault(crash, 3)) for story, crash in product((behind, idle), CRASH_KINDS)]
    for producer, faults in product(_OF_REPLICAS, (*stories, idle, leaderless)):
        yield DeliveryQuestion(producer, AskedPartition(), 6, faults)
