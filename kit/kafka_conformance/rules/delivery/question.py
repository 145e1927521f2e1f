"""The question of ``delivery``: the configuration of a producer, a partition, a number of records, and faults."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias, get_args

import msgspec

from kafka_conformance.core.protocol import Question

__all__ = ["KINDS", "AskedFault", "AskedKind", "AskedPartition", "AskedProducer", "DeliveryQuestion"]

AskedKind: TypeAlias = Literal[
    "lose_request",
    "lose_response",
    "refuse",
    "crash_before",
    "crash_unreplicated",
    "crash_replicated",
    "restart_producer",
]
KINDS: tuple[AskedKind, ...] = get_args(AskedKind)
Setting: TypeAlias = Annotated[str, msgspec.Meta(max_length=20)] | None


class AskedProducer(Question, frozen=True, omit_defaults=True, rename={"in_flight": "max.in.flight.requests.per.connection",
                                                                       "idempotence": "enable.idempotence"}):  # fmt: skip
    """The settings of the producer, as text, by Kafka's names; null is unset."""

    acks: Setting = None
    retries: Setting = None
    in_flight: Setting = None
    idempotence: Setting = None


class AskedPartition(Question, frozen=True, omit_defaults=True):
    """The number of replicas, all in sync at first, and how many of them acks all needs in sync."""

    replicas: Annotated[int, msgspec.Meta(ge=1, le=9)] = 3
    min_insync_replicas: Annotated[int, msgspec.Meta(ge=1, le=9)] = 1


class AskedFault(Question, frozen=True, omit_defaults=True):
    """A fault at request number ``request``; ``refuse`` needs an ``error``, no other fault has one."""

    op: AskedKind
    request: Annotated[int, msgspec.Meta(ge=1, le=1000)]
    error: str | None = None


class DeliveryQuestion(Question, frozen=True, omit_defaults=True):
    """A number of records, sent at once to one partition by one producer, and the faults on their way."""

    producer: AskedProducer = AskedProducer()
    partition: AskedPartition = AskedPartition()
    records: Annotated[int, msgspec.Meta(ge=1, le=20)] = 3
    faults: Annotated[tuple[AskedFault, ...], msgspec.Meta(max_length=12)] = ()
