"""Requests in flight: which node may be sent more, which request is answered next, in which order requests end.

A node takes a request while fewer than ``max.in.flight.requests.per.connection`` are in flight to it, and answers them in
the order in which they were sent. In one poll end, in this order: requests that want no answer (``acks`` = 0), one answered
request of each node, in the order in which nodes were first answered, all requests of connections that were lost, and all
requests of nodes whose oldest one took longer than ``request.timeout.ms``. The requests of one connection end with the
newest first to 1.1.x, and with the oldest first since 2.0.0. Since 3.5.0 a request knows whether it took too long; before,
that is a lost connection like any other.

Java source mirrored: ``InFlightRequests``, ``NetworkClient.poll``, 0.10.0.1 to 4.4.0.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafka_reference.accumulator.batches import Batch
from kafka_reference.idempotence.errors import produce_error
from kafka_reference.idempotence.outcomes import number_of
from kafka_reference.java.hash_maps import string_hash
from kafka_reference.releases import Release, since

__all__ = ["COORDINATOR", "End", "InFlight", "Reply", "Request", "Sent", "node_hash", "on_the_wire"]

OLDEST_FIRST = since("2.0.0")
KNOWS_TIMEOUTS = since("3.5.0")
KNOWS_FENCED = since("4.0.0")
COORDINATOR = 999
_FALSE = 1237  # Boolean.hashCode


class End(enum.Enum):
    """How a request ends without a reply."""

    SENT = "it wanted no answer"
    LOST = "the connection was lost"
    TOO_LATE = "it took too long"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a broker says: errors by partition, the offset of each first record, where each log begins, -1 for unknown.

    To who asks for a producer id: one error, and the id and epoch.
    """

    error: str
    others: str | None = None
    base_offset: int = 0
    log_start: int = -1
    producer: tuple[int, int] = (-1, -1)


@dataclass(frozen=True, slots=True)
class Request:
    """A request; ``batches`` by partition, in Java's order, none for a request for a producer id."""

    node: int
    batches: Mapping[tuple[str, int], Batch]
    sent_ms: int
    wants_answer: bool = True


@dataclass(frozen=True, slots=True)
class Sent:
    """A batch as it was sent: its partition, its records, and on the wire producer id, epoch and base sequence, or -1."""

    topic_partition: tuple[str, int]
    records: tuple[int, ...]
    producer: tuple[int, int]
    sequence: int


def on_the_wire(batch: Batch) -> Sent:
    """What a batch says when it is sent."""
    sequence = -1 if batch.sequence is None else batch.sequence
    return Sent(
        batch.topic_partition,
        tuple(number_of(record) for record in batch.records),
        batch.producer or (-1, -1),
        sequence,
    )


def node_hash(at: Release, node: int) -> int:
    """``Node.hashCode`` of a node whose host is named node and its id, on port 9092, without a rack, as 32 bits.

    Since 4.0.0 whether it is fenced counts (KIP-1073); it is not.
    """
    hashed = (((31 + string_hash(f"node{node}")) * 31 + node) * 31 + 9092) * 31
    return (hashed * 31 + _FALSE if at in KNOWS_FENCED else hashed) & 0xFFFFFFFF


class InFlight:
    """The requests in flight to all nodes."""

    def __init__(self, at: Release, most: int, timeout_ms: int) -> None:
        self._at, self._most, self._timeout_ms = at, most, timeout_ms
        self._requests: dict[int, deque[Request]] = {}
        self._replies: dict[int, deque[Reply]] = {}
        self._lost: dict[int, None] = {}

    def can_send(self, node: int) -> bool:
        """Whether this node may be sent one more."""
        return self.count(node) < self._most

    def count(self, node: int) -> int:
        """How many are in flight to this node."""
        return len(self._requests.get(node, ()))

    def send(self, request: Request) -> None:
        """Have a request in flight."""
        self._requests.setdefault(request.node, deque()).append(request)

    def reply(self, node: int, reply: Reply) -> None:
        """The next request of this node that has no reply yet is answered so; nothing if there is none.

        Raises NotInThisRelease for an error that this release does not have; nothing has changed then.
        """
        for name in (reply.error, reply.others):
            if name is not None:
                produce_error(self._at, name)
        replies = self._replies.setdefault(node, deque())
        if len(replies) < self.count(node):
            replies.append(reply)

    def lose(self, node: int) -> None:
        """The connection to this node is lost in the next poll."""
        self._lost[node] = None

    def poll(self, now_ms: int) -> list[tuple[Request, Reply | End]]:
        """What ends now, in order."""
        ended: list[tuple[Request, Reply | End]] = []
        for node in sorted(self._requests):
            requests = self._requests[node]
            while requests and not requests[-1].wants_answer:
                ended.append((requests.pop(), End.SENT))
        for node, replies in self._replies.items():
            if replies:
                ended.append((self._requests[node].popleft(), replies.popleft()))
        for node in self._lost:
            ended += ((request, End.LOST) for request in self._clear(node))
        self._lost.clear()
        for node in sorted(self._requests):
            requests = self._requests[node]
            if requests and now_ms - requests[0].sent_ms > self._timeout_ms:
                how = End.TOO_LATE if self._at in KNOWS_TIMEOUTS else End.LOST
                ended += ((request, how) for request in self._clear(node))
        return ended

    def _clear(self, node: int) -> Iterator[Request]:
        self._replies.pop(node, None)
        requests = self._requests.get(node, deque())
        self._requests[node] = deque()
        return iter(requests) if self._at in OLDEST_FIRST else reversed(requests)
