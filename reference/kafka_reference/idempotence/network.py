"""A simulated network: which node may be sent a request, which request ends next, and how.

A node takes a request while fewer than ``max.in.flight.requests.per.connection`` are in flight to it, and answers requests
in the order in which they were sent. In one poll end, in this order:

1. requests that want no answer (``acks`` = 0);
2. one answered request of each node, in the order in which nodes were first answered;
3. all requests of connections that were lost;
4. all requests of nodes whose oldest request took longer than ``request.timeout.ms``.

The requests of one connection end with the oldest first; up to 1.1.x with the newest. A request that took too long ends with
a timeout; up to 3.4.x with a lost connection (KAFKA-14317).

A request for a producer id goes to a separate node and is answered at once: with the replies that were queued for it, then
with the ids 1000, 1001, … in epoch 0, counted over all replies.

Java source mirrored: ``clients/src/main/java/org/apache/kafka/clients/NetworkClient.java#poll``, ``InFlightRequests.java``,
every release.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from kafka_reference.idempotence.behaviour import NetworkClientBehaviour, NodeBehaviour
from kafka_reference.idempotence.errors import produce_error
from kafka_reference.idempotence.requests import COORDINATOR, End, Reply, Request
from kafka_reference.java.hash_maps import string_hash
from kafka_reference.releases import Release

__all__ = ["Network", "node_hash"]

_FIRST_ID = 1000
_FALSE = 1237  # Boolean.hashCode


def node_hash(behaviour: NodeBehaviour, node: int) -> int:
    """Return ``Node.hashCode`` of a node whose host is "node" and its id, on port 9092, without a rack, as 32 bits.

    Since 4.0.0 it includes whether the node is fenced (KIP-1073); this node is not. Mirrors ``Node.java#hashCode``.
    """
    hashed = (((31 + string_hash(f"node{node}")) * 31 + node) * 31 + 9092) * 31
    return (hashed * 31 + _FALSE if behaviour.hashes_fenced else hashed) & 0xFFFFFFFF


class Network:
    """The requests in flight to all nodes, and the replies to them.

    ``max_in_flight`` is per node. ``id_requests`` counts the requests for a producer id since :meth:`begin_round`.
    """

    def __init__(self, release: Release, max_in_flight: int, timeout_ms: int) -> None:
        self._release, self._max_in_flight, self._timeout_ms = release, max_in_flight, timeout_ms
        self._behaviour = NetworkClientBehaviour.of(release)
        self._requests: dict[int, deque[Request]] = {}
        self._replies: dict[int, deque[Reply]] = {}
        self._disconnected: dict[int, None] = {}
        self._id_replies: deque[Reply] = deque()
        self._next_id = _FIRST_ID
        self.id_requests = 0

    def can_send(self, node: int) -> bool:
        """Return whether this node may be sent one more request."""
        return self.count(node) < self._max_in_flight

    def count(self, node: int) -> int:
        """Return how many requests are in flight to this node."""
        return len(self._requests.get(node, ()))

    def send(self, request: Request) -> None:
        """Put a request in flight."""
        self._requests.setdefault(request.node, deque()).append(request)

    def reply(self, node: int, reply: Reply) -> None:
        """Answer the oldest request of this node that has no reply yet; do nothing if there is none.

        Raises NotInThisRelease for an error that the release does not have; nothing has changed then.
        """
        for name in (reply.error, reply.others):
            if name is not None:
                produce_error(self._release, name)
        replies = self._replies.setdefault(node, deque())
        if len(replies) < self.count(node):
            replies.append(reply)

    def disconnect(self, node: int) -> None:
        """Lose the connection to this node in the next poll."""
        self._disconnected[node] = None

    def queue_producer_id(self, reply: Reply) -> None:
        """Answer a later request for a producer id so, after the replies queued before.

        Raises NotInThisRelease for an error that the release does not have; nothing has changed then.
        """
        produce_error(self._release, reply.error)
        self._id_replies.append(reply)

    def begin_round(self) -> None:
        """Count the requests for a producer id from 0."""
        self.id_requests = 0

    def request_producer_id(self, now_ms: int) -> Reply:
        """Put a request for a producer id in flight and return the reply, which arrives in the next poll."""
        self.id_requests += 1
        reply = self._id_replies.popleft() if self._id_replies else Reply("NONE", producer=(self._next_id, 0))
        self._next_id += 1
        self.send(Request(COORDINATOR, {}, now_ms))
        self.reply(COORDINATOR, reply)
        return reply

    def poll(self, now_ms: int) -> list[tuple[Request, Reply | End]]:
        """Return the requests that end now, in order, with how they end."""
        ended: list[tuple[Request, Reply | End]] = []
        for node in sorted(self._requests):
            requests = self._requests[node]
            while requests and not requests[-1].wants_answer:
                ended.append((requests.pop(), End.SENT))
        for node, replies in self._replies.items():
            if replies:
                ended.append((self._requests[node].popleft(), replies.popleft()))
        for node in self._disconnected:
            ended += ((request, End.DISCONNECTED) for request in self._clear(node))
        self._disconnected.clear()
        timed_out = End.TIMED_OUT if self._behaviour.reports_request_timeout else End.DISCONNECTED
        for node in sorted(self._requests):
            requests = self._requests[node]
            if requests and now_ms - requests[0].sent_ms > self._timeout_ms:
                ended += ((request, timed_out) for request in self._clear(node))
        return ended

    def _clear(self, node: int) -> Iterator[Request]:
        self._replies.pop(node, None)
        requests = self._requests.get(node, deque())
        self._requests[node] = deque()
        return iter(requests) if self._behaviour.lost_requests_oldest_first else reversed(requests)
