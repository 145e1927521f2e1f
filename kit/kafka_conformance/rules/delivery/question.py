"""The question of ``delivery``: a producer's configuration, a partition, how many records, and a list of faults."""

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
    """What the user sets, as text, by Kafka's names; null is left alone."""

    acks: Setting = None
    retries: Setting = None
    in_flight: Setting = None
    idempotence: Setting = None


class AskedPartition(Question, frozen=True, omit_defaults=True):
    """How many replicas there are, all in sync at first, and how many have to be for acks all."""

    replicas: Annotated[int, msgspec.Meta(ge=1, le=9)] = 3
    min_insync_replicas: Annotated[int, msgspec.Meta(ge=1, le=9)] = 1


class AskedFault(Question, frozen=True, omit_defaults=True):
    """A fault at the ``request``-th request on the wire; ``error`` goes with ``refuse``."""

    op: AskedKind
    request: Annotated[int, msgspec.Meta(ge=1, le=1000)]
    error: str | None = None


class DeliveryQuestion(Question, frozen=True, omit_defaults=True):
    """So many records, sent at once, to one partition, by one producer."""

    producer: AskedProducer = AskedProducer()
    partition: AskedPartition = AskedPartition()
    records: Annotated[int, msgspec.Meta(ge=1, le=20)] = 3
    faults: Annotated[tuple[AskedFault, ...], msgspec.Meta(max_length=12)] = ()
