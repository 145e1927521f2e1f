"""Produce requests at one partition: which wait, and when and how each is answered."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_reference.replication.errors import NotEnoughReplicasException, NotLeaderOrFollowerException
from kafka_reference.replication.partition_state import Partition
from kafka_reference.replication.produce_acks import is_valid_acks, waits

__all__ = ["ProduceRequests", "ProduceResponse"]

_NO_OFFSET = -1


@dataclass(frozen=True, slots=True)
class ProduceResponse:
    """The response to a produce request."""

    request: int
    """The number of the request, from 0."""
    error: str
    """A name of ``Errors``; NONE: no error."""
    base_offset: int
    """The offset of the first record; -1 if nothing was appended. A request that fails later keeps it."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    request: int
    base_offset: int
    required_offset: int


class ProduceRequests:
    """The produce requests of a broker for one partition; ``responses`` are those that were sent, oldest first.

    Java source mirrored: ``ReplicaManager.appendRecords``, ``DelayedProduce``.
    """

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.responses: list[ProduceResponse] = []
        self.waiting: list[_Waiting] = []
        self._requests = 0

    def produce(self, acks: int, records: int) -> None:
        """Handle a request: append its batch, and answer it or let it wait.

        Requests that wait already are checked afterwards, if the append has moved the high watermark.
        """
        number = self._requests
        self._requests += 1
        if not is_valid_acks(acks):
            self.respond(number, "INVALID_REQUIRED_ACKS")
            return
        before = self.partition.log.high_watermark
        try:
            offset = self.partition.append(records, acks)
        except NotLeaderOrFollowerException:
            self.respond(number, "NOT_LEADER_OR_FOLLOWER")
        except NotEnoughReplicasException:
            self.respond(number, "NOT_ENOUGH_REPLICAS")
        else:
            waiting = _Waiting(number, offset, offset + records)
            if not waits(acks):
                self.respond(number, "NONE", offset)
            elif not self._complete(waiting):
                self.waiting.append(waiting)
            if self.partition.log.high_watermark > before:
                self.check_waiting()

    def respond(self, request: int, error: str, base_offset: int = _NO_OFFSET) -> None:
        """Answer a request."""
        self.responses.append(ProduceResponse(request, error, base_offset))

    def check_waiting(self) -> None:
        """Answer the requests that can be answered: the high watermark has moved, or the broker follows now.

        Java source mirrored: ``DelayedProduce.tryComplete``.
        """
        self.waiting = [waiting for waiting in self.waiting if not self._complete(waiting)]

    def _complete(self, waiting: _Waiting) -> bool:
        completion = self.partition.check_completion(waiting.required_offset)
        if not completion.done and completion.error == "NONE":
            return False
        self.respond(waiting.request, completion.error, waiting.base_offset)
        return True

    def expire(self) -> None:
        """Answer all requests that wait: their time is over."""
        for waiting in self.waiting:
            self.respond(waiting.request, "REQUEST_TIMED_OUT", waiting.base_offset)
        self.waiting = []
