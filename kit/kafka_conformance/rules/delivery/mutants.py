"""Known mistakes in delivery: a producer or a leader that breaks its side of the protocol."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.rules.delivery.adapter import ask
from kafka_conformance.rules.delivery.rule import RULE
from kafka_reference.delivery.faults import Fault
from kafka_reference.delivery.leader import Leader
from kafka_reference.delivery.messages import (
    AppendResult,
    Batch,
    ProducerEvent,
    ProducerResult,
    ProducerTurn,
    Response,
    StartLeader,
    StartProducer,
    Truncation,
)
from kafka_reference.delivery.network import FIRST_PRODUCER_ID, Network
from kafka_reference.delivery.producer import Producer
from kafka_reference.releases import parse_release

__all__ = ["MUTANTS"]


class _AppendsDuplicates(Leader):
    def handle(self, event: StartLeader | Batch) -> AppendResult:
        result = super().handle(event)
        return AppendResult(self._state.end_offset) if result.duplicate else result


class _AppendsAnySequence(Leader):
    def handle(self, event: StartLeader | Batch) -> AppendResult:
        result = super().handle(event)
        return result if result.error is None else AppendResult(self._state.end_offset)


class _StartsWithoutProducers(Leader):
    """Do not take the producers from the batches that the new leader has by replication."""

    def handle(self, event: StartLeader | Batch) -> AppendResult:
        if isinstance(event, Batch):
            return super().handle(event)
        super().handle(StartLeader(()))
        self._state.end_offset = _end_of(event)
        return AppendResult()


class _KeepsProducers(Leader):
    """A new leader keeps the producers of the last leader, and appends at the end of its log."""

    def handle(self, event: StartLeader | Batch) -> AppendResult:
        if isinstance(event, Batch) or not event.log:
            return super().handle(event)
        self._state.end_offset = _end_of(event)
        return AppendResult()


def _end_of(start: StartLeader) -> int:
    """Return the log end offset: after a truncation, offsets are used again."""
    last = max((place for place, entry in enumerate(start.log) if isinstance(entry, Truncation)), default=-1)
    return len(start.log) - last - 1


class _ChangesEvents(Producer):
    """Handle other events than those of the turn."""

    def changed(self, event: ProducerEvent) -> ProducerEvent:
        raise NotImplementedError

    def handle(self, turn: ProducerTurn) -> ProducerResult:
        return super().handle(ProducerTurn(tuple(map(self.changed, turn.events)), turn.rounds))


def _with_settings(**settings: Any) -> Ask:
    class Changed(_ChangesEvents):
        def changed(self, event: ProducerEvent) -> ProducerEvent:
            return (
                replace(event, settings=replace(event.settings, **settings))
                if isinstance(event, StartProducer)
                else event
            )

    return partial(ask, producer=Changed)


class _AppendsNothingAtErrors(Network):
    """Respond with an error as if it came before the append, whichever it is."""

    def _follows_append(self, _: Fault) -> bool:
        return False


class _AppendsAtEveryError(Network):
    """Append what is refused, whichever the error is."""

    def _follows_append(self, _: Fault) -> bool:
        return True


class _KeepsId(_ChangesEvents):
    def changed(self, event: ProducerEvent) -> ProducerEvent:
        return replace(event, producer_id=FIRST_PRODUCER_ID) if isinstance(event, StartProducer) else event


class _IgnoresErrors(_ChangesEvents):
    def changed(self, event: ProducerEvent) -> ProducerEvent:
        return Response("NONE", 0) if isinstance(event, Response) else event


_KAFKA = "https://github.com/apache/kafka/pull/"


def _mutant(slug: str, description: str, mistaken: Ask, *references: str, release: str = "4.4.0") -> Mutant:
    return Mutant(slug, RULE.slug, description, mistaken, parse_release(release), references)


MUTANTS = (
    _mutant(
        "duplicates-written", "the leader does not check for duplicates", partial(ask, leader=_AppendsDuplicates),
        "https://github.com/redpanda-data/redpanda/issues/3039",
    ),
    _mutant("gaps-written", "the leader appends any sequence", partial(ask, leader=_AppendsAnySequence)),
    _mutant(
        "leader-without-memory", "a new leader does not know the producers of its log",
        partial(ask, leader=_StartsWithoutProducers), "https://github.com/streamnative/kop/issues/960",
    ),
    _mutant("leader-keeps-producers", "a new leader has the old one's producers", partial(ask, leader=_KeepsProducers)),
    _mutant("one-request-in-flight", "the producer waits for every response", _with_settings(max_in_flight=1)),
    _mutant("no-retries", "the producer gives up at the first error", _with_settings(retries=0)),
    _mutant(
        "errors-before-append", "a request that is answered with an error is in no log",
        partial(ask, network=_AppendsNothingAtErrors),
    ),
    _mutant(
        "errors-after-append", "a request that is answered with an error is in the log",
        partial(ask, network=_AppendsAtEveryError),
    ),
    _mutant("same-id-again", "a restarted producer keeps the id of the previous one", partial(ask, producer=_KeepsId)),
    _mutant("errors-are-success", "the producer ignores errors in responses", partial(ask, producer=_IgnoresErrors)),
)  # fmt: skip
