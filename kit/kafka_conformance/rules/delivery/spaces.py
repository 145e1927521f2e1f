"""The finite spaces of ``delivery``: one fault for each kind of producer, and pairs of faults."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from kafka_conformance.rules.delivery.question import (
    KINDS,
    AskedFault,
    AskedKind,
    AskedPartition,
    AskedProducer,
    DeliveryQuestion,
)

__all__ = ["every_fault", "every_pair_of_faults"]

_PRODUCERS = tuple(
    AskedProducer(*values)
    for values in (
        ("0", None, None, None), ("1", "3", None, "false"), ("1", "0", None, None), ("1", None, "1", None),
        ("all", "3", None, "false"), ("all", None, "6", "false"), ("all", "1", "1", "false"), (None, None, None, "true"),
        ("all", None, "1", "true"), ("all", "1", None, "true"), ("1", None, None, "true"), (None, None, None, None),
    )
)  # fmt: skip
_TWO_PRODUCERS = (_PRODUCERS[4], _PRODUCERS[-1])


def _fault(kind: AskedKind, request: int) -> AskedFault:
    return AskedFault(kind, request, "NOT_LEADER_OR_FOLLOWER" if kind == "refuse" else None)


def every_fault() -> Iterator[DeliveryQuestion]:
    """Yield four records for each of 12 producers: without a fault, and with each fault at each of requests 1 to 3."""
    for producer in _PRODUCERS:
        yield DeliveryQuestion(producer, AskedPartition(), 4)
        for kind, request in product(KINDS, range(1, 4)):
            yield DeliveryQuestion(producer, AskedPartition(), 4, (_fault(kind, request),))


def every_pair_of_faults() -> Iterator[DeliveryQuestion]:
    """Yield three records for 2 producers and every two faults at adjacent requests, with all replicas required."""
    for producer, first, second, request in product(_TWO_PRODUCERS, KINDS, KINDS, (1, 2)):
        faults = (_fault(first, request), _fault(second, request + 1))
        yield DeliveryQuestion(producer, AskedPartition(3, 3), 3, faults)
