"""Mistakes of senders: what becomes of an answered batch, who begins a new epoch, what is in flight, what expires."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.rules.common.partitioner_mutants import as_if
from kafka_conformance.rules.producer_sequences.adapter import ask_sender
from kafka_conformance.rules.producer_sequences.rule import RULE
from kafka_reference.accumulator.accumulator import RecordAccumulator
from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.idempotence.batch_actions import BatchAction, SideEffect
from kafka_reference.idempotence.errors import ProduceError
from kafka_reference.idempotence.in_flight import Sequenced
from kafka_reference.idempotence.outcomes import Drained, Outcomes
from kafka_reference.idempotence.requests import InFlight, Request
from kafka_reference.idempotence.sender import Sender, SenderConfig
from kafka_reference.idempotence.transaction_manager import TransactionManager
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["MUTANTS"]

Decided = tuple[BatchAction, SideEffect]


def _deciding(other: Callable[[Decided, ProduceError, int], Decided]) -> type[Sender]:
    """A sender that decides by ``other``: what the rule decided, the error, and where the log begins."""

    class Deciding(Sender):
        def _decide(self, batch: Batch, error: ProduceError, log_start: int) -> Decided:
            return other(super()._decide(batch, error, log_start), error, log_start)

    return Deciding


def _duplicates_fail(found: Decided, error: ProduceError, _: int) -> Decided:
    return (BatchAction.FAILED, SideEffect.NOTHING) if error.name == "DUPLICATE_SEQUENCE_NUMBER" else found


def _never_bumps(found: Decided, *_: object) -> Decided:
    return (found[0], SideEffect.NOTHING) if found[1] is SideEffect.BUMP else found


def _out_of_order_fails(found: Decided, error: ProduceError, _: int) -> Decided:
    is_left = error.name == "OUT_OF_ORDER_SEQUENCE_NUMBER" and found == (BatchAction.RETRIED, SideEffect.NOTHING)
    return (BatchAction.FAILED, SideEffect.NOTHING) if is_left else found


def _out_of_order_bumps(found: Decided, error: ProduceError, _: int) -> Decided:
    is_left = error.name == "OUT_OF_ORDER_SEQUENCE_NUMBER" and found == (BatchAction.RETRIED, SideEffect.NOTHING)
    return (BatchAction.RETRIED, SideEffect.BUMP) if is_left else found


def _any_offset_will_do(found: Decided, error: ProduceError, log_start: int) -> Decided:
    is_left = error.name == "UNKNOWN_PRODUCER_ID" and log_start == -1 and found[0] is BatchAction.RETRIED
    return (BatchAction.RETRIED, SideEffect.BUMP) if is_left else found


def _never_splits(found: Decided, *_: object) -> Decided:
    return (BatchAction.FAILED, SideEffect.NOTHING) if found[0] is BatchAction.SPLIT else found


def _splits_without_end(found: Decided, *_: object) -> Decided:
    return (BatchAction.RETRIED, SideEffect.NOTHING) if found[0] is BatchAction.SPLIT else found


class _OneMoreRetry(Sender):
    def _may_retry(self, batch: Batch) -> bool:
        return super()._may_retry(batch) or (not self._outcomes.has(batch) and batch.attempts == self._config.retries)


class _RetriesWhatIsOverdue(Sender):
    def _may_retry(self, batch: Batch) -> bool:
        return not self._outcomes.has(batch) and batch.attempts < self._config.retries


class _ExhaustedIsRefused(Sender):
    def _fail(self, batch: Batch, exception: str, adjust: bool) -> None:
        super()._fail(batch, exception, adjust or exception != "TimeoutException")


class _TellsAgain(Outcomes):
    def end(self, batch: Batch, exception: str | None, base_offset: int) -> bool:
        self._ends.pop(batch, None)
        return super().end(batch, exception, base_offset)


class _TellsTwice(Sender):
    def __init__(
        self, at: Release, config: SenderConfig, accumulator: RecordAccumulator, metadata: Metadata, idempotent: bool
    ) -> None:
        super().__init__(at, config, accumulator, metadata, idempotent)
        self._outcomes = _TellsAgain(at)


class _DoesNotSendWhatExpired(Sender):
    def _send_to(self, node: int, batches: Iterable[Batch]) -> None:
        left = [batch for batch in batches if not self._outcomes.has(batch)]
        if left:
            super()._send_to(node, left)


class _NeverOverdue(Drained):
    def take_overdue(self, *_: object) -> list[Batch]:
        return []


class _NothingExpiresInFlight(Sender):
    def __init__(
        self, at: Release, config: SenderConfig, accumulator: RecordAccumulator, metadata: Metadata, idempotent: bool
    ) -> None:
        super().__init__(at, config, accumulator, metadata, idempotent)
        self._drained = _NeverOverdue()


class _Networked(Sender):
    network_class: type[InFlight] = InFlight

    def __init__(
        self, at: Release, config: SenderConfig, accumulator: RecordAccumulator, metadata: Metadata, idempotent: bool
    ) -> None:
        super().__init__(at, config, accumulator, metadata, idempotent)
        self.network = self.network_class(at, config.max_in_flight, config.request_timeout_ms)


class _OneMore(InFlight):
    def can_send(self, node: int) -> bool:
        return self.count(node) <= self._most


class _NewestFirst(InFlight):
    def _clear(self, node: int) -> Iterator[Request]:
        return reversed(list(super()._clear(node)))


def _networked(kind: type[InFlight]) -> type[Sender]:
    return type(f"_With{kind.__name__}", (_Networked,), {"network_class": kind})


class _AllBeginAnew(TransactionManager):
    def bump(self) -> None:
        self._to_restart |= dict.fromkeys(self.partitions)
        super().bump()


class _EpochsGoRound(TransactionManager):
    def bump(self) -> None:
        producer_id, epoch = self.current
        if epoch == 2**15 - 1:
            self.current = (producer_id, -1)
        super().bump()


class _OldNumbersInANewEpoch(TransactionManager):
    def restart(self, of: tuple[str, int]) -> None:
        for batch in self.partitions[of].in_flight:
            batch.renumber(self.current, batch.sequence or 0)
        self.partitions[of].in_flight.renumbered()
        self.partitions[of].producer = self.current


class _RefusedLeavesNoGap(TransactionManager):
    def failed(self, batch: Sequenced, exception: str, adjust: bool) -> None:  # noqa: ARG002  whoever refused it
        super().failed(batch, exception, False)


class _NothingIsFatal(TransactionManager):
    def fail_for_good(self, exception: str) -> None:
        pass


class _NeverResolves(TransactionManager):
    def resolve(self) -> None:
        pass


class _ForgetsOffsets(TransactionManager):
    def last_offset(self, of: tuple[str, int]) -> int:  # noqa: ARG002  whichever it is
        return -1


class _BeginsTheForgottenAnew(TransactionManager):
    def restart(self, of: tuple[str, int]) -> None:
        self._known(of).was_in_flight = True
        super().restart(of)


class _NumbersPiecesOfTheForgotten(TransactionManager):
    def restart(self, of: tuple[str, int]) -> None:
        partition = self._known(of)
        partition.next = partition.next or 0
        super().restart(of)


class _LogsWithoutCounting(TransactionManager):
    def retry(self, batch: Sequenced) -> None:
        pass


class _MutedByALostConnection(Sender):
    def _settle(
        self, batch: Batch, error: ProduceError, base_offset: int, log_start: int, throttle_ms: int | None = 0
    ) -> None:
        super()._settle(batch, error, base_offset, log_start, 0 if throttle_ms is None else throttle_ms)


def _made(kind: type[Sender]) -> Ask:
    return partial(ask_sender, kind)


def _managed(kind: type[TransactionManager]) -> Ask:
    """A sender whose manager is of this kind."""

    def made(
        at: Release, config: SenderConfig, accumulator: RecordAccumulator, metadata: Metadata, idempotent: bool
    ) -> Sender:
        sender = Sender(at, config, accumulator, metadata, idempotent)
        if idempotent:
            sender.manager = accumulator.state.sequences = kind(at)
        return sender

    return partial(ask_sender, made)


_MISTAKES: tuple[tuple[str, str, Ask], ...] = (
    ("duplicates-fail", "a duplicate is told as an error", _made(_deciding(_duplicates_fail))),
    ("never-another-epoch", "an epoch is for ever", _made(_deciding(_never_bumps))),
    ("out-of-order-fails", "who waits for another batch fails with it", _made(_deciding(_out_of_order_fails))),
    ("out-of-order-bumps", "who waits for another batch begins a new epoch", _made(_deciding(_out_of_order_bumps))),
    ("any-log-start-will-do", "an unknown producer begins anew at once", _made(_deciding(_any_offset_will_do))),
    ("never-splits", "a batch that is too large fails", _made(_deciding(_never_splits))),
    ("splits-without-end", "a batch that is too large is sent again as it is", _made(_deciding(_splits_without_end))),
    ("one-more-retry", "retries count from one", _made(_OneMoreRetry)),
    ("retries-what-is-overdue", "delivery.timeout.ms is for what waits only", _made(_RetriesWhatIsOverdue)),
    ("exhausted-is-refused", "after the last retry the sequence is taken to be free", _made(_ExhaustedIsRefused)),
    ("tells-twice", "a late answer is told, too", _made(_TellsTwice)),
    (
        "expired-is-not-sent",
        "what expires in the round in which it was drained is not sent",
        _made(_DoesNotSendWhatExpired),
    ),
    ("nothing-expires-in-flight", "only what waits expires", _made(_NothingExpiresInFlight)),
    ("one-more-in-flight", "one more than max.in.flight may be in flight", _made(_networked(_OneMore))),
    ("newest-ends-first", "a lost connection ends its newest request first", _made(_networked(_NewestFirst))),
    ("all-begin-anew", "all partitions begin anew with a new epoch", _managed(_AllBeginAnew)),
    ("epochs-go-round", "after epoch 32767 comes 0, for the same id", _managed(_EpochsGoRound)),
    ("old-numbers-in-a-new-epoch", "batches keep their sequences in a new epoch", _managed(_OldNumbersInANewEpoch)),
    ("refused-leaves-no-gap", "a refused batch leaves a gap that is not closed", _managed(_RefusedLeavesNoGap)),
    ("nothing-is-fatal", "a producer that may not write goes on", _managed(_NothingIsFatal)),
    ("never-resolves", "an unresolved partition stays so", _managed(_NeverResolves)),
)
_OTHER_RELEASES: tuple[tuple[str, str, str, str], ...] = (
    ("sender-3.9-in-4.0", "nodes come in the order of before they could be fenced (KIP-1073)", "3.9.2", "4.0.2"),
    ("sender-3.5-in-3.6", "failures are told to the manager whenever they come", "3.5.2", "3.6.2"),
    ("sender-3.3.1-in-3.3.2", "most retriable errors end the request for an id (KAFKA-14417)", "3.3.1", "3.3.2"),
    ("sender-3.1.0-in-3.1.2", "a late answer takes out a batch of the next epoch (KAFKA-13794)", "3.1.0", "3.1.2"),
    ("sender-2.6-in-2.7", "idle partitions keep their numbers (KAFKA-12152)", "2.6.3", "2.7.2"),
    ("sender-2.4-in-2.5", "a gap costs the producer its id (KIP-360)", "2.4.1", "2.5.1"),
    ("sender-2.0-in-2.3", "nothing expires in flight (KIP-91)", "2.0.1", "2.3.1"),
    ("sender-1.1-in-2.0", "a lost connection ends its newest request first", "1.1.1", "2.0.1"),
    ("sender-0.11-in-1.1", "one batch in flight at most is numbered (KAFKA-5494)", "0.11.0.3", "1.1.1"),
)

MUTANTS = (
    *(Mutant(slug, RULE.slug, story, ask, NEWEST) for slug, story, ask in _MISTAKES),
    Mutant(
        "forgets-offsets",
        RULE.slug,
        "an unknown producer always lost its log",
        _managed(_ForgetsOffsets),
        parse_release("2.4.1"),
    ),
    Mutant(
        "muted-by-a-lost-connection",
        RULE.slug,
        "a lost connection mutes for as long as a throttle of no time",
        _made(_MutedByALostConnection),
        parse_release("2.0.1"),
    ),
    Mutant(
        "logs-without-counting",
        RULE.slug,
        "a forgotten partition is not counted again by the line that logs a retry",
        _managed(_LogsWithoutCounting),
        parse_release("0.11.0.3"),
    ),
    *(
        Mutant(slug, RULE.slug, story, _managed(kind), parse_release("2.0.1"))
        for slug, story, kind in (
            ("begins-the-forgotten-anew", "a partition that was forgotten begins anew", _BeginsTheForgottenAnew),
            ("counts-on-for-pieces", "pieces of the forgotten begin anew", _NumbersPiecesOfTheForgotten),
        )
    ),
    *(
        Mutant(slug, RULE.slug, story, as_if(RULE.slug, another), parse_release(at))
        for slug, story, another, at in _OTHER_RELEASES
    ),
)
