"""When a broker answers a produce request with each error: before it appends the records, after it, or never.

Which it is decides what a retry does. After an append the records are in the log, and a retry without idempotence doubles
them:

================ ======================================================================================================
before           the records are checked, or the broker looks for the partition: nothing is appended
after            the leader appended the records and waits for its followers (``acks=all`` alone): DelayedProduce
before or after  the broker looks for the partition before the append, and again while it waits
never            another request is answered with it, or the client makes it without a response
================ ======================================================================================================

Java source mirrored: ``KafkaApis.handleProduceRequest``, ``ReplicaManager.appendToLocalLog``,
``DelayedProduce.tryComplete``, ``Partition.checkEnoughReplicasReachOffset``, ``LogValidator``, ``ProducerStateManager``,
every release.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kafka_reference.releases import Release, Spans, since

__all__ = ["PRODUCE_ERRORS", "Given", "Moment", "has_appended", "may_follow_append", "why_impossible"]


class Moment(enum.Enum):
    """When a broker gives an error; see the table of this module.

    >>> PRODUCE_ERRORS["REQUEST_TIMED_OUT"].moment
    <Moment.AFTER: 'after'>
    """

    BEFORE = "before"
    AFTER = "after"
    EITHER = "before or after"
    NEVER = "never"


_EVERY = since("0.10.0.0")


@dataclass(frozen=True, slots=True)
class Given:
    """When a broker gives an error, and to which producers."""

    moment: Moment
    why_never: str = ""
    """Where the error comes from, if no broker answers a produce request with it."""
    releases: Spans = _EVERY
    """The releases whose brokers give it."""
    needs_acks_all: bool = False
    """Whether only requests with ``acks=all`` are answered with it."""
    needs_idempotence: bool = False
    """Whether only requests of an idempotent producer are answered with it."""


_BEFORE = Given(Moment.BEFORE)
_AFTER = Given(Moment.AFTER, needs_acks_all=True)
_EITHER = Given(Moment.EITHER)


def _never(why: str) -> Given:
    return Given(Moment.NEVER, why)


def _about_sequences(releases: Spans) -> Given:
    return Given(Moment.BEFORE, releases=releases, needs_idempotence=True)


PRODUCE_ERRORS: Mapping[str, Given] = MappingProxyType(
    {
        "TOPIC_AUTHORIZATION_FAILED": _BEFORE,
        # Up to 2.7.x for an idempotent producer without IdempotentWrite; since then only InitProducerId (KIP-679).
        "CLUSTER_AUTHORIZATION_FAILED": _about_sequences(since("0.11.0.0", until="2.7.x")),
        "UNKNOWN_TOPIC_OR_PARTITION": _EITHER,
        "NOT_LEADER_OR_FOLLOWER": _EITHER,
        "KAFKA_STORAGE_ERROR": _EITHER,
        "INVALID_TOPIC_EXCEPTION": _BEFORE,
        "NOT_ENOUGH_REPLICAS": Given(Moment.BEFORE, needs_acks_all=True),
        "CORRUPT_MESSAGE": _BEFORE,
        "MESSAGE_TOO_LARGE": _BEFORE,
        "RECORD_LIST_TOO_LARGE": _BEFORE,
        "INVALID_TIMESTAMP": _BEFORE,
        "INVALID_RECORD": _BEFORE,
        "OUT_OF_ORDER_SEQUENCE_NUMBER": _about_sequences(since("0.11.0.0")),
        "INVALID_PRODUCER_EPOCH": _about_sequences(since("0.11.0.0")),
        "UNKNOWN_PRODUCER_ID": _about_sequences(since("1.0.0", until="2.4.x")),
        "DUPLICATE_SEQUENCE_NUMBER": _about_sequences(since("0.11.0.0", until="1.0.1")),
        "REQUEST_TIMED_OUT": _AFTER,
        "NOT_ENOUGH_REPLICAS_AFTER_APPEND": _AFTER,
        "NETWORK_EXCEPTION": _never("the client makes it when a connection closes: use lose-request or lose-response"),
        "UNSUPPORTED_VERSION": _never("the client makes it when a broker lacks the version of its request"),
        "LEADER_NOT_AVAILABLE": _never("a broker answers requests for metadata with it"),
        "COORDINATOR_LOAD_IN_PROGRESS": _never("a coordinator answers with it"),
        "TRANSACTIONAL_ID_AUTHORIZATION_FAILED": _never("the records of a transaction are answered with it"),
        "PRODUCER_FENCED": _never("a transaction coordinator answers with it; a leader with INVALID_PRODUCER_EPOCH"),
        "INVALID_REQUIRED_ACKS": _never("a producer's acks are 0, 1 or all"),
    }
)
"""The errors of produce requests (:func:`kafka_reference.idempotence.errors.produce_errors`)."""


def has_appended(error: str) -> bool:
    """Return whether a leader that answers with ``error`` has always appended the records.

    >>> has_appended("NOT_ENOUGH_REPLICAS"), has_appended("NOT_ENOUGH_REPLICAS_AFTER_APPEND")
    (False, True)
    """
    return error in PRODUCE_ERRORS and PRODUCE_ERRORS[error].moment is Moment.AFTER


def may_follow_append(error: str) -> bool:
    """Return whether a leader may answer with ``error`` after it has appended the records.

    >>> may_follow_append("NOT_LEADER_OR_FOLLOWER"), may_follow_append("MESSAGE_TOO_LARGE")
    (True, False)
    """
    return error in PRODUCE_ERRORS and PRODUCE_ERRORS[error].moment in (Moment.AFTER, Moment.EITHER)


def why_impossible(
    error: str, release: Release | None, *, waits: bool | None, idempotent: bool | None, after_append: bool
) -> str:
    """Return why no broker of ``release`` answers a producer's request with ``error``, or "".

    ``waits`` is whether the producer has ``acks=all``, ``after_append`` whether the records are in the log by then. None is
    any release, or a setting that is not known.

    >>> why_impossible("REQUEST_TIMED_OUT", None, waits=False, idempotent=False, after_append=False)
    'only requests with acks=all wait for followers: with acks=0 or 1 no broker answers with it'
    """
    given = PRODUCE_ERRORS[error]
    if given.moment is Moment.NEVER:
        return f"no broker answers a produce request with it: {given.why_never}"
    if release is not None and release not in given.releases:
        # unreached: for callers; a rule names errors of its release
        return f"no broker of release {release} answers a produce request with it: {given.releases} do"
    if waits is False and (given.needs_acks_all or after_append):
        return "only requests with acks=all wait for followers: with acks=0 or 1 no broker answers with it"
    if idempotent is False and given.needs_idempotence:
        return "only requests of an idempotent producer are answered with it"
    return ""
