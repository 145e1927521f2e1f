"""Requests and replies between a sender and the brokers, as far as batches go."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from kafka_reference.accumulator.batches import Batch
from kafka_reference.arguments import checked
from kafka_reference.idempotence.outcomes import number_of

__all__ = ["COORDINATOR", "End", "Reply", "Request", "Sent", "on_the_wire"]

COORDINATOR = 999
"""The node that requests for a producer id go to."""


class End(enum.Enum):
    """How a request ends without a reply."""

    SENT = "no answer was wanted"
    DISCONNECTED = "the connection was lost"
    TIMED_OUT = "the request took too long"


@checked
@dataclass(frozen=True, slots=True)
class Reply:
    """A broker's reply.

    ``error`` is for the first partition of the request, ``others`` for the others if it is not None. ``base_offset`` is the
    offset of each first record, ``log_start`` the first offset of each log, -1 for unknown. In the reply to a request for a
    producer id, ``producer`` is the id and the epoch.

        >>> Reply("NOT_ENOUGH_REPLICAS").base_offset
        0
    """

    error: str = "NONE"
    others: str | None = None
    base_offset: int = 0
    log_start: int = -1
    producer: tuple[int, int] = (-1, -1)


@dataclass(frozen=True, slots=True)
class Request:
    """A request; ``batches`` by partition, in Java's order, none in a request for a producer id."""

    node: int
    batches: Mapping[tuple[str, int], Batch]
    sent_ms: int
    wants_answer: bool = True


@dataclass(frozen=True, slots=True)
class Sent:
    """A batch as it was sent: its partition, its records, and producer id, epoch and base sequence, -1 for none.

    >>> Sent(("t", 0), records=(0, 1), producer=(1000, 0), sequence=0).sequence
    0
    """

    topic_partition: tuple[str, int]
    records: tuple[int, ...]
    producer: tuple[int, int]
    sequence: int


def on_the_wire(batch: Batch) -> Sent:
    """Return a batch as it is sent."""
    sequence = -1 if batch.sequence is None else batch.sequence
    return Sent(
        batch.topic_partition,
        tuple(number_of(record) for record in batch.records),
        batch.producer or (-1, -1),
        sequence,
    )
