"""The question of ``delivery``: the configuration of a producer, a partition, a number of records, and faults."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias, get_args

import msgspec

from kafka_conformance.core.protocol import Question

__all__ = [
    "CRASH_KINDS", "FOLLOWER_KINDS", "KINDS", "NETWORK_KINDS", "ONE_FOLLOWER_KINDS", "REFUSAL_KINDS", "AskedFault",
    "AskedKind", "AskedPartition", "AskedProducer", "DeliveryQuestion",
]  # fmt: skip

AskedKind: TypeAlias = Literal[
    "lose_request",
    "lose_response",
    "refuse",
    "refuse_after_append",
    "crash_before",
    "crash_unreplicated",
    "crash_replicated",
    "restart_producer",
    "stop_follower",
    "resume_follower",
    "shrink_isr",
    "shrink_isr_after_append",
]
KINDS: tuple[AskedKind, ...] = get_args(AskedKind)
FOLLOWER_KINDS = KINDS[-4:]
NETWORK_KINDS = KINDS[:-4]
CRASH_KINDS = tuple(kind for kind in KINDS if kind.startswith("crash"))
REFUSAL_KINDS = tuple(kind for kind in KINDS if kind.startswith("refuse"))
ONE_FOLLOWER_KINDS = tuple(kind for kind in KINDS if kind.endswith("follower"))
Setting: TypeAlias = Annotated[str, msgspec.Meta(max_length=20)] | None


class AskedProducer(Question, frozen=True, omit_defaults=True, rename={"in_flight": "max.in.flight.requests.per.connection",
                                                                       "idempotence": "enable.idempotence"}):  # fmt: skip
    """The settings of the producer, as text; null: not set."""

    acks: Setting = None
    """``acks``."""
    retries: Setting = None
    """``retries``."""
    in_flight: Setting = None
    """``max.in.flight.requests.per.connection``."""
    idempotence: Setting = None
    """``enable.idempotence``."""


class AskedPartition(Question, frozen=True, omit_defaults=True):
    """The partition that all records go to."""

    replicas: Annotated[int, msgspec.Meta(ge=1, le=9)] = 3
    """The number of replicas, all in sync at first."""
    min_insync_replicas: Annotated[int, msgspec.Meta(ge=1, le=9)] = 1
    """``min.insync.replicas``: how many replicas ``acks=all`` needs in sync; may be above the number of replicas."""
    unclean_leader_election: bool = False
    """``unclean.leader.election.enable``: whether a replica that is not in sync may lead if no other can."""


class AskedFault(Question, frozen=True, omit_defaults=True):
    """A fault on the way of one request."""

    op: AskedKind
    """The kind of fault, as ``kafka-conformance delivery`` names it:

    - ``lose_request``: the connection closes before the request reaches the leader
    - ``lose_response``: the leader handles the request; the connection closes before the response reaches the producer
    - ``refuse``: the leader responds with an error: REQUEST_TIMED_OUT and NOT_ENOUGH_REPLICAS_AFTER_APPEND once it has
      appended the request, any other error without an append
    - ``refuse_after_append``: the leader appends the request, and responds with an error that may follow an append, such as
      NOT_LEADER_OR_FOLLOWER
    - ``crash_before``: the leader crashes before it handles the request
    - ``crash_unreplicated``: the leader crashes after it appends the request, before a follower has it
    - ``crash_replicated``: the leader crashes once followers have the request
    - ``restart_producer``: the leader handles the request, a new producer starts, and the application sends every record
      again that was not completed
    - ``stop_follower``: before the request, a follower stops to fetch; it stays in sync for ``replica.lag.time.max.ms``,
      and for longer if it lacks no record
    - ``resume_follower``: before the request, a follower fetches again and is in sync
    - ``shrink_isr``: before the request, ``replica.lag.time.max.ms`` passes, and followers that lack a record leave the
      in-sync replicas
    - ``shrink_isr_after_append``: the same, after the leader appends the request and before it acknowledges it
    """
    request: Annotated[int, msgspec.Meta(ge=1, le=1000)]
    """The number of the request, counted from 1."""
    error: str | None = None
    """The protocol error of a ``refuse`` or ``refuse_after_append``; no other fault has one."""
    replica: Annotated[int, msgspec.Meta(ge=0, le=8)] | None = None
    """The broker of the follower, counted from 0, which leads at first; only ``stop_follower`` and ``resume_follower`` have
    one."""


class DeliveryQuestion(Question, frozen=True, omit_defaults=True):
    """A number of records, sent at once to one partition by one producer, and the faults on their way."""

    producer: AskedProducer = AskedProducer()
    """The settings of the producer."""
    partition: AskedPartition = AskedPartition()
    """The partition."""
    records: Annotated[int, msgspec.Meta(ge=1, le=20)] = 3
    """The number of records; each is a batch and a request."""
    faults: Annotated[tuple[AskedFault, ...], msgspec.Meta(max_length=12)] = ()
    """The faults."""
