"""Mistakes of senders: what happens to an answered batch, when an epoch begins, what is in flight, and what expires."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.producer_sequences.adapter import ask_sender
from kafka_conformance.rules.producer_sequences.rule import RULE
from kafka_reference.accumulator.batches import Batch
from kafka_reference.behaviour import Behaviour, overridden
from kafka_reference.idempotence.batch_actions import BatchAction, SideEffect
from kafka_reference.idempotence.behaviour import (
    BatchEndBehaviour,
    NetworkClientBehaviour,
    SenderBehaviour,
    TransactionManagerBehaviour,
)
from kafka_reference.idempotence.errors import ProduceError
from kafka_reference.idempotence.network import Network
from kafka_reference.idempotence.sender import Sender
from kafka_reference.idempotence.sequence_order import Sequenced
from kafka_reference.idempotence.transaction_manager import LAST_EPOCH, TransactionManager
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["MUTANTS"]

Decision = tuple[BatchAction, SideEffect]
_PULL = "https://github.com/apache/kafka/pull/"
_DEKAF = "https://github.com/thomhurst/Dekaf/issues/"
_RETRIED: Decision = (BatchAction.RETRIED, SideEffect.NOTHING)
_BUMPED: Decision = (BatchAction.RETRIED, SideEffect.BUMP)
_FAILED: Decision = (BatchAction.FAILED, SideEffect.NOTHING)


def _ask(sender: type[Sender]) -> Ask:
    return partial(ask_sender, sender)


def _with(**parts: type) -> Ask:
    """A sender with other parts than its own: ``manager_class``, ``network_class``."""
    return _ask(type("_Sender", (Sender,), parts))


def _overriding(record: type[Behaviour], **values: Any) -> Ask:
    """The reference with other values in a behaviour record."""

    def ask(question: Any, release: Release) -> Answer:
        with overridden(record, **values):
            return ask_sender(Sender, question, release)

    return ask


def _deciding(change: Callable[[Decision, str, int], Decision]) -> Ask:
    """A sender that decides by ``change``: the rule's decision, the error's name, and where the log begins."""

    class _Deciding(Sender):
        def _decide(self, batch: Batch, error: ProduceError, log_start: int) -> Decision:
            return change(super()._decide(batch, error, log_start), error.name, log_start)

    return _ask(_Deciding)


def _never_bumps(decided: Decision, *_: object) -> Decision:
    return (decided[0], SideEffect.NOTHING) if decided[1] is SideEffect.BUMP else decided


def _out_of_order_fails(decided: Decision, error: str, _: int) -> Decision:
    return _FAILED if error == "OUT_OF_ORDER_SEQUENCE_NUMBER" and decided == _RETRIED else decided


def _out_of_order_bumps(decided: Decision, error: str, _: int) -> Decision:
    return _BUMPED if error == "OUT_OF_ORDER_SEQUENCE_NUMBER" and decided == _RETRIED else decided


def _any_log_start_bumps(decided: Decision, error: str, log_start: int) -> Decision:
    is_retried = decided[0] is BatchAction.RETRIED
    return _BUMPED if error == "UNKNOWN_PRODUCER_ID" and log_start == -1 and is_retried else decided


def _splits_without_end(decided: Decision, *_: object) -> Decision:
    return _RETRIED if decided[0] is BatchAction.SPLIT else decided


class _OneMoreRetry(Sender):
    def _may_retry(self, batch: Batch) -> bool:
        return super()._may_retry(batch) or (
            not self._outcomes.is_done(batch) and batch.attempts == self._config.retries
        )


class _RetriesOverdue(Sender):
    def _may_retry(self, batch: Batch) -> bool:
        return not self._outcomes.is_done(batch) and batch.attempts < self._config.retries


class _ExhaustedIsRefused(Sender):
    def _fail(self, batch: Batch, exception: str, refused: bool) -> None:
        super()._fail(batch, exception, refused or exception != "TimeoutException")


class _DoesNotSendExpired(Sender):
    def _send_to(self, node: int, batches: Sequence[Batch]) -> None:
        left = [batch for batch in batches if not self._outcomes.is_done(batch)]
        if left:
            super()._send_to(node, left)


class _MutesLostConnections(Sender):
    def _complete_batch(
        self, batch: Batch, error: ProduceError, base_offset: int, log_start: int, throttle_ms: int | None = 0
    ) -> None:
        super()._complete_batch(batch, error, base_offset, log_start, 0 if throttle_ms is None else throttle_ms)


class _OneMoreInFlight(Network):
    def can_send(self, node: int) -> bool:
        return self.count(node) <= self._max_in_flight


class _AllRestart(TransactionManager):
    def bump(self) -> None:
        self._to_restart |= dict.fromkeys(self.partitions)
        super().bump()


class _EpochsWrap(TransactionManager):
    def bump(self) -> None:
        producer_id, epoch = self.current
        if epoch == LAST_EPOCH:
            self.current = (producer_id, -1)
        super().bump()


class _KeepsSequences(TransactionManager):
    def restart(self, topic_partition: tuple[str, int]) -> None:
        partition = self.partitions[topic_partition]
        for batch in partition.in_flight:
            batch.renumber(self.current, batch.sequence or 0)
        partition.in_flight.reorder()
        partition.producer = self.current


class _KeepsGaps(TransactionManager):
    def failed(self, batch: Sequenced, exception: str, refused: bool) -> None:  # noqa: ARG002 (that is the mistake)
        super().failed(batch, exception, False)


class _NothingIsFatal(TransactionManager):
    def fail_for_good(self, exception: str) -> None:
        pass


class _NeverResolves(TransactionManager):
    def resolve(self) -> None:
        pass


class _ForgetsOffsets(TransactionManager):
    def last_offset(self, topic_partition: tuple[str, int]) -> int:  # noqa: ARG002 (that is the mistake)
        return -1


class _RestartsForgotten(TransactionManager):
    def restart(self, topic_partition: tuple[str, int]) -> None:
        self._known(topic_partition).was_in_flight = True
        super().restart(topic_partition)


class _RestartsForgottenPieces(TransactionManager):
    def restart(self, topic_partition: tuple[str, int]) -> None:
        partition = self._known(topic_partition)
        partition.next = partition.next or 0
        super().restart(topic_partition)


class _RetriesUnnoticed(TransactionManager):
    def retry(self, batch: Sequenced) -> None:
        pass


def _mutant(slug: str, description: str, ask: Ask, *references: str, release: str | Release = NEWEST) -> Mutant:
    return Mutant(slug, RULE.slug, description, ask, parse_release(release), references)


_DECISIONS = (
    _mutant(
        "duplicates-fail",
        "DUPLICATE_SEQUENCE_NUMBER fails the batch",
        _overriding(SenderBehaviour, duplicate_completes=False),
    ),
    _mutant("never-another-epoch", "a sequence error begins no other epoch", _deciding(_never_bumps)),
    _mutant("out-of-order-fails", "a batch that arrived before an earlier one fails", _deciding(_out_of_order_fails)),
    _mutant(
        "out-of-order-bumps",
        "a batch that arrived before an earlier one begins another epoch",
        _deciding(_out_of_order_bumps),
        "https://github.com/confluentinc/librdkafka/issues/4953",
        "https://github.com/confluentinc/librdkafka/pull/4972",
    ),
    _mutant(
        "any-log-start-will-do",
        "UNKNOWN_PRODUCER_ID begins another epoch although the start of the log is unknown",
        _deciding(_any_log_start_bumps),
    ),
    _mutant(
        "never-splits",
        "a batch that is too large fails",
        _overriding(SenderBehaviour, splits_large_batches=False),
        f"{_DEKAF}2255",
        "https://github.com/influxdata/rskafka/pull/124",
    ),
    _mutant(
        "splits-without-end",
        "a batch that is too large is sent again as it is",
        _deciding(_splits_without_end),
        f"{_PULL}20358",
    ),
    _mutant("one-more-retry", "a batch is sent retries + 2 times", _ask(_OneMoreRetry)),
    _mutant("retries-what-is-overdue", "delivery.timeout.ms limits batches in the queues only", _ask(_RetriesOverdue)),
    _mutant(
        "exhausted-is-refused",
        "a batch without retries left is treated as refused by the broker",
        _ask(_ExhaustedIsRefused),
    ),
)
_ENDS = (
    _mutant(
        "tells-twice",
        "a late response ends the records of an expired batch again",
        _overriding(BatchEndBehaviour, ends_again=True),
    ),
    _mutant(
        "expired-is-not-sent",
        "a batch that expires in the round in which it was drained is not sent",
        _ask(_DoesNotSendExpired),
    ),
    _mutant(
        "nothing-expires-in-flight",
        "only batches in the queues expire",
        _overriding(SenderBehaviour, expires_in_flight_batches=False),
    ),
    _mutant(
        "aborted-stays-in-flight",
        "a batch that was aborted stays in flight, and its expiry throws IllegalStateException (KAFKA-19012)",
        _overriding(SenderBehaviour, abort_clears_in_flight_batches=False),
        f"{_PULL}21065",
    ),
    _mutant(
        "one-more-in-flight",
        "one request more than max.in.flight.requests.per.connection may be in flight",
        _with(network_class=_OneMoreInFlight),
    ),
    _mutant(
        "newest-ends-first",
        "the requests of a lost connection end with the newest first",
        _overriding(NetworkClientBehaviour, lost_requests_oldest_first=False),
        f"{_PULL}4642",
    ),
    _mutant(
        "muted-by-a-lost-connection",
        "a partition whose connection was lost stays muted as after a throttle of 0 ms",
        _ask(_MutesLostConnections),
        release="2.0.1",
    ),
)
_EPOCHS = (
    _mutant("all-begin-anew", "every partition restarts in another epoch", _with(manager_class=_AllRestart)),
    _mutant(
        "epochs-go-round",
        "epoch 32767 is followed by epoch 0 of the same id",
        _with(manager_class=_EpochsWrap),
        "https://github.com/confluentinc/librdkafka/issues/3720",
        "https://github.com/IBM/sarama/pull/2178",
    ),
    _mutant(
        "old-numbers-in-a-new-epoch",
        "batches keep their sequences in another epoch",
        _with(manager_class=_KeepsSequences),
        f"{_DEKAF}3342",
    ),
    _mutant(
        "refused-leaves-no-gap",
        "a refused batch begins no other epoch, so its sequences are missing",
        _with(manager_class=_KeepsGaps),
        "https://github.com/IBM/sarama/pull/1661",
    ),
    _mutant("nothing-is-fatal", "a producer without authorization continues", _with(manager_class=_NothingIsFatal)),
    _mutant(
        "resolves-every-partition",
        "a resolved partition before another unresolved one raises no ConcurrentModificationException",
        _overriding(TransactionManagerBehaviour, resolved_partition_breaks_iteration=False),
        f"{_PULL}4608",
        release="1.0.2",
    ),
    _mutant("never-resolves", "an unresolved partition stays unresolved", _with(manager_class=_NeverResolves)),
    _mutant(
        "forgets-offsets",
        "UNKNOWN_PRODUCER_ID is always taken for a log that was deleted",
        _with(manager_class=_ForgetsOffsets),
        release="2.4.1",
    ),
    _mutant(
        "logs-without-counting",
        "a retry does not make the next sequence of a forgotten partition 0",
        _with(manager_class=_RetriesUnnoticed),
        release="0.11.0.3",
    ),
    _mutant(
        "begins-the-forgotten-anew",
        "a forgotten partition restarts instead of throwing NullPointerException",
        _with(manager_class=_RestartsForgotten),
        release="2.0.1",
    ),
    _mutant(
        "counts-on-for-pieces",
        "a forgotten partition with pieces in flight restarts instead of throwing IllegalStateException",
        _with(manager_class=_RestartsForgottenPieces),
        release="2.0.1",
    ),
)

MUTANTS = (*_DECISIONS, *_ENDS, *_EPOCHS)
