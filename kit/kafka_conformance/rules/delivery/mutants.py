"""Mistakes on the way from the application to the log: a producer or a leader that breaks its promise to the other one."""

from __future__ import annotations

from functools import partial

from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.rules.common.partitioner_mutants import as_if
from kafka_conformance.rules.delivery.rule import RULE, delivery_ask_of
from kafka_reference.delivery.leader import Leader
from kafka_reference.delivery.messages import Answered, Batch, Heard, Leads, Starts, ToProducer, Wrote
from kafka_reference.delivery.producer import Producer
from kafka_reference.releases import NEWEST, parse_release

__all__ = ["MUTANTS"]


class _RemembersNobody(Leader):
    def hear(self, told: Leads | Batch) -> Wrote:
        found = super().hear(told)
        return Wrote(self._state.end_offset) if found.duplicate else found


class _TakesAnySequence(Leader):
    def hear(self, told: Leads | Batch) -> Wrote:
        found = super().hear(told)
        return found if found.error is None else Wrote(self._state.end_offset)


class _ForgetsWhenItBegins(Leader):
    """A new leader that did not note the producers of what it has by replication."""

    def hear(self, told: Leads | Batch) -> Wrote:
        if isinstance(told, Leads):
            super().hear(Leads(()))
            self._state.end_offset = sum(len(batch.records) for batch in told.log)
            return Wrote()
        return super().hear(told)


class _OneInFlight(Producer):
    def hear(self, told: ToProducer) -> Heard:
        begun = (self._with_one(one) if isinstance(one, Starts) else one for one in told.told)
        return super().hear(ToProducer(tuple(begun), told.rounds))

    def _with_one(self, starts: Starts) -> Starts:
        settings = starts.settings
        return Starts(type(settings)(settings.idempotent, settings.acks, settings.retries, 1), starts.producer_id)


class _GivesUp(Producer):
    """Retries are for others."""

    def hear(self, told: ToProducer) -> Heard:
        begun = (self._without(one) if isinstance(one, Starts) else one for one in told.told)
        return super().hear(ToProducer(tuple(begun), told.rounds))

    def _without(self, starts: Starts) -> Starts:
        settings = starts.settings
        return Starts(type(settings)(settings.idempotent, settings.acks, 0, settings.max_in_flight), starts.producer_id)


class _SameIdAgain(Producer):
    """A producer that begins anew takes itself for the one before."""

    def hear(self, told: ToProducer) -> Heard:
        begun = (Starts(one.settings, 7) if isinstance(one, Starts) else one for one in told.told)
        return super().hear(ToProducer(tuple(begun), told.rounds))


class _TakesErrorsForSuccess(Producer):
    def hear(self, told: ToProducer) -> Heard:
        heard = (Answered("NONE", 0) if isinstance(one, Answered) else one for one in told.told)
        return super().hear(ToProducer(tuple(heard), told.rounds))


def _led(leader: type[Leader]) -> Ask:
    return partial(delivery_ask_of, leader=leader)


def _produced(producer: type[Producer]) -> Ask:
    return partial(delivery_ask_of, producer=producer)


_MISTAKES: tuple[tuple[str, str, Ask], ...] = (
    ("duplicates-written", "the leader does not look for duplicates", _led(_RemembersNobody)),
    ("gaps-written", "the leader writes whatever sequence comes", _led(_TakesAnySequence)),
    ("leader-without-memory", "a new leader does not know the producers of its log", _led(_ForgetsWhenItBegins)),
    ("one-request-in-flight", "the producer waits for every answer", _produced(_OneInFlight)),
    ("no-retries", "the producer gives up at the first error", _produced(_GivesUp)),
    ("same-id-again", "a producer that is started anew has the id of the one before", _produced(_SameIdAgain)),
    ("errors-are-success", "the producer does not read what the leader answers", _produced(_TakesErrorsForSuccess)),
)
_OTHER_RELEASES: tuple[tuple[str, str, str, str], ...] = (
    ("delivery-1.1-in-2.0", "a lost connection ends its newest request first", "1.1.1", "2.0.1"),
    ("delivery-0.11-in-1.1", "idempotent, one request in flight", "0.11.0.3", "1.1.1"),
    ("delivery-3.0.2-in-3.0.0", "idempotent by default (KAFKA-13598)", "3.0.2", "3.0.0"),
)

MUTANTS = (
    *(Mutant(slug, RULE.slug, story, ask, NEWEST) for slug, story, ask in _MISTAKES),
    *(
        Mutant(slug, RULE.slug, story, as_if(RULE.slug, another), parse_release(at))
        for slug, story, another, at in _OTHER_RELEASES
    ),
)
