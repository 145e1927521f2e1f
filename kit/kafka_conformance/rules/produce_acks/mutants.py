"""Known mistakes in ``produce-acks``: what is refused, what waits, and how it is answered."""

from __future__ import annotations

from functools import partial
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.partition import mistakes
from kafka_conformance.rules.produce_acks.adapter import ask
from kafka_conformance.rules.produce_acks.rule import RULE
from kafka_reference.behaviour import overridden
from kafka_reference.releases import Release, parse_release
from kafka_reference.replication.behaviour import PartitionBehaviour
from kafka_reference.replication.errors import NotEnoughReplicasException
from kafka_reference.replication.partition_state import Partition
from kafka_reference.replication.produce_requests import ProduceRequests

__all__ = ["MUTANTS"]

_KAFKA = "https://github.com/apache/kafka/pull/"


class _AnyAcks(ProduceRequests):
    """Other acks than -1, 0 and 1 count as 1."""

    def produce(self, acks: int, records: int) -> None:
        super().produce(acks if acks in (-1, 0, 1) else 1, records)


class _AllIsOne(ProduceRequests):
    """A request with acks=all is answered when the leader has appended."""

    def produce(self, acks: int, records: int) -> None:
        super().produce(acks, records)
        for waiting in self.waiting:
            self.respond(waiting.request, "NONE", waiting.base_offset)
        self.waiting = []


class _OneWaits(ProduceRequests):
    """A request with acks=1 waits, too."""

    def produce(self, acks: int, records: int) -> None:
        super().produce(-1 if acks == 1 else acks, records)


class _ForgetsOffset(ProduceRequests):
    """A request that fails after its append has no offset."""

    def respond(self, request: int, error: str, base_offset: int = -1) -> None:
        super().respond(request, error, base_offset if error == "NONE" else -1)


class _OneAtATime(ProduceRequests):
    """Each time the high watermark moves, one request is answered."""

    def check_waiting(self) -> None:
        first, rest = self.waiting[:1], self.waiting[1:]
        self.waiting = first
        super().check_waiting()
        self.waiting += rest


class _WaitsAsFollower(ProduceRequests):
    """Requests wait on when the broker does not lead any more."""

    def check_waiting(self) -> None:
        if self.partition.is_leader:
            super().check_waiting()


class _ForgetsLate(ProduceRequests):
    """Requests whose time is over are dropped without a response."""

    def expire(self) -> None:
        self.waiting = []


class _AppendsRefused(Partition):
    """A request that is refused for too few in-sync replicas is appended nevertheless."""

    def append(self, records: int, acks: int) -> int:
        try:
            return super().append(records, acks)
        except NotEnoughReplicasException:
            super().append(records, 1)
            raise


class _FailsEarly(Partition):
    """A request fails after its append before the high watermark has reached its records."""

    def check_completion(self, required_offset: int) -> Any:
        return super().check_completion(
            min(required_offset, self.log.high_watermark) if self._short else required_offset
        )

    @property
    def _short(self) -> bool:
        return len(self.in_sync.maximal) < self.effective_min_in_sync


class _BeyondOffset(Partition):
    """A request is answered once the high watermark is beyond its records, not at their end."""

    def check_completion(self, required_offset: int) -> Any:
        return super().check_completion(required_offset + 1)


def _behaving(**values: Any) -> Ask:
    def answer(question: Any, release: Release) -> Answer:
        with overridden(PartitionBehaviour, **values):
            return ask(question, release)

    return answer


def _mutant(slug: str, description: str, answer: Ask, *references: str, release: str = "4.4.0") -> Mutant:
    return Mutant(f"produce-acks-{slug}", RULE.slug, description, answer, parse_release(release), references)


def _partition(slug: str, description: str, create: type[Partition]) -> Mutant:
    return _mutant(slug, description, partial(ask, create=create))


def _requests(slug: str, description: str, requests: type[ProduceRequests]) -> Mutant:
    return _mutant(slug, description, partial(ask, requests=requests))


MUTANTS = (
    _mutant(
        "not-capped", "min.insync.replicas above the number of replicas refuses every request",
        _behaving(min_isr_capped_at_replicas=False), f"{_KAFKA}14594",
    ),
    _mutant(
        "capped-early", "min.insync.replicas is capped before there was a release that did so",
        _behaving(min_isr_capped_at_replicas=True), f"{_KAFKA}14594", release="3.6.2",
    ),
    _mutant(
        "below-min-isr", "requests are answered below min.insync.replicas",
        _behaving(high_watermark_waits_for_min_isr=False), f"{_KAFKA}14594",
    ),
    _partition("any-acks-need-minimum", "acks=0 and acks=1 need min.insync.replicas", mistakes.AnyAcksNeedMinimum),
    _partition("never-refused", "no request is refused before the append", mistakes.IgnoresMinimum),
    _partition("one-too-few", "the leader counts twice before the append", mistakes.CountsLeaderTwice),
    _partition("committed", "the check after the append counts committed replicas", mistakes.UsesCommitted),
    _partition("appends-refused", "a refused batch is in the log", _AppendsRefused),
    _partition("fails-early", "a request fails before the high watermark has reached it", _FailsEarly),
    _partition("beyond", "the high watermark has to pass the records", _BeyondOffset),
    _requests("any-acks", "any acks are accepted", _AnyAcks),
    _requests("all-is-one", "acks=all is answered by the leader alone", _AllIsOne),
    _requests("one-waits", "acks=1 waits for followers", _OneWaits),
    _requests("forgets-offset", "a late error has no offset", _ForgetsOffset),
    _requests("one-at-a-time", "one waiting request is answered at a time", _OneAtATime),
    _requests("waits-as-follower", "requests wait on after the lead is lost", _WaitsAsFollower),
    _requests("no-timeout", "a request whose time is over gets no response", _ForgetsLate),
)  # fmt: skip
