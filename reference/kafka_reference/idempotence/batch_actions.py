"""What becomes of a batch that a broker answered with an error: the table of it, by error and release.

First, nothing is sent again that must not be. A batch whose retries are used up is not; since 2.1.0 neither is one whose
``delivery.timeout.ms`` went by, nor one that has ended already, because it expired in flight or was aborted. Such a batch
fails, whatever the error, but for the two errors at the end.

================================ ========= ==============================================================================
error                            releases
================================ ========= ==============================================================================
any retriable one                all       it is sent again
…, of another id or epoch        0.11–2.4  it is dropped, with an OutOfOrderSequenceException of the client's own
OUT_OF_ORDER_SEQUENCE_NUMBER     0.11      it fails
  if the batch is not the next   1.0 on    it is sent again: who failed is one before it. So is one numbered anew since it
  to be acknowledged                       was sent. Neither if the partition is unresolved, nor to 2.4 if the batch is of
                                           another producer (to 2.2.x: id)
  if it is the next              1.0–2.4   it fails: the producer is reset
  if it is the next              2.5 on    it is sent again with another epoch; of an unresolved partition only the batch
                                           behind the doubtful ones asks for that, any other is just sent again
UNKNOWN_PRODUCER_ID
  where the log begins is not    1.0 on    it is sent again, until somebody knows
  known
  numbered anew since            1.0 on    it is sent again
  the log lost all of ours       1.0–2.4   the partition's sequences begin at 0 again, it is sent again
  any other time                 1.0–2.4   it fails: the producer is reset
  any other time                 2.5 on    it is sent again with another epoch
DUPLICATE_SEQUENCE_NUMBER        0.11      it is sent again (retriable there)
                                 1.0 on    it is in the log, nobody knows where: completed, without an offset
MESSAGE_TOO_LARGE                0.11 on   a batch of several records is split, also if there are no retries left; since
                                           2.1.0 not if it has ended
any other                        all       it fails
================================ ========= ==============================================================================

Java source mirrored: ``Sender.completeBatch``, ``Sender.canRetry``, ``TransactionManager.canRetry``, 0.10.0.1 to 4.4.0.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

from kafka_reference.accumulator.batches import Batch
from kafka_reference.idempotence.errors import ErrorKind, ProduceError
from kafka_reference.idempotence.outcomes import MAY_END_AGAIN
from kafka_reference.idempotence.transaction_manager import TransactionManager
from kafka_reference.releases import Release, Spans, since

__all__ = ["Answered", "BatchAction", "SideEffect", "fate"]

SPLITS = since("0.11.0.0")
DUPLICATES_ARE_FINE = since("1.0.0")
_DROPS_STRANGERS = since("0.11.0.0", until="2.4.99")
_BY_ID_ALONE = since("1.0.0", until="2.2.99")
_TO_24, _SINCE_25 = since("1.0.0", until="2.4.99"), since("2.5.0")
_ALL = since("0.10.0.0")


class BatchAction(enum.Enum):
    """What becomes of a batch."""

    COMPLETED = "completed"
    SPLIT = "split"
    RETRIED = "sent again"
    DROPPED = "dropped"
    FAILED = "failed"


class SideEffect(enum.Enum):
    """What else happens, before that."""

    NOTHING = "nothing"
    BUMP = "another epoch"
    RESTART = "sequences begin at 0"


@dataclass(frozen=True, slots=True)
class Answered:
    """A batch of an idempotent producer, with an answer to it; ``log_start`` is an offset, -1 for unknown."""

    at: Release
    batch: Batch
    manager: TransactionManager
    log_start: int

    @property
    def is_of_this_producer(self) -> bool:
        """Of this id and epoch; to 2.2.x of this id; since 2.5.0 nobody asks."""
        if self.at in _SINCE_25:
            return True
        producer, current = self.batch.producer or (-1, -1), self.manager.current
        return producer[0] == current[0] if self.at in _BY_ID_ALONE else producer == current

    @property
    def is_unresolved(self) -> bool:
        """Whether its partition is unresolved."""
        return self.batch.topic_partition in self.manager.unresolved

    @property
    def is_behind_the_doubtful(self) -> bool:
        """Whether it follows those that nobody knows the end of. Mirrors ``isNextSequenceForUnresolvedPartition``."""
        return self.manager.unresolved.get(self.batch.topic_partition) == self.batch.sequence

    @property
    def waits_for_another(self) -> bool:
        """Whether it could not but be out of order."""
        is_next = self.manager.is_next(
            self.batch.topic_partition, -1 if self.batch.sequence is None else self.batch.sequence
        )
        return not self.is_unresolved and (self.batch.reopened or not is_next)


@dataclass(frozen=True, slots=True)
class _Row:
    error: str
    releases: Spans
    when: Callable[[Answered], bool]
    fate: BatchAction
    also: SideEffect = SideEffect.NOTHING


_OUT_OF_ORDER, _UNKNOWN = "OUT_OF_ORDER_SEQUENCE_NUMBER", "UNKNOWN_PRODUCER_ID"

# The first row that fits holds; an error without one that fits goes by its kind.
_ROWS = (
    _Row(_OUT_OF_ORDER, _TO_24, lambda met: met.is_of_this_producer and met.waits_for_another, BatchAction.RETRIED),
    _Row(_OUT_OF_ORDER, _SINCE_25, lambda met: met.waits_for_another, BatchAction.RETRIED),
    _Row(
        _OUT_OF_ORDER, _SINCE_25, lambda met: not met.is_unresolved or met.is_behind_the_doubtful, BatchAction.RETRIED, SideEffect.BUMP
    ),
    _Row(_OUT_OF_ORDER, _SINCE_25, lambda _: True, BatchAction.RETRIED),
    _Row(_UNKNOWN, _TO_24, lambda met: not met.is_of_this_producer, BatchAction.FAILED),
    _Row(_UNKNOWN, _TO_24 | _SINCE_25, lambda met: met.log_start == -1 or met.batch.reopened, BatchAction.RETRIED),
    _Row(
        _UNKNOWN, _TO_24, lambda met: met.manager.last_offset(met.batch.topic_partition) < met.log_start, BatchAction.RETRIED, SideEffect.RESTART
    ),
    _Row(_UNKNOWN, _SINCE_25, lambda _: True, BatchAction.RETRIED, SideEffect.BUMP),
)  # fmt: skip


def fate(
    at: Release, error: ProduceError, batch: Batch, manager: TransactionManager | None, log_start: int, may_retry: bool,
    has_ended: bool,
) -> tuple[BatchAction, SideEffect]:  # fmt: skip
    """What becomes of this batch, and what else happens. ``may_retry``: nothing forbids to send it again."""
    if error.kind is ErrorKind.NONE:
        return BatchAction.COMPLETED, SideEffect.NOTHING
    is_splittable = at in SPLITS and batch.record_count > 1 and not (has_ended and at in MAY_END_AGAIN)
    if error.name == "MESSAGE_TOO_LARGE" and is_splittable:
        return BatchAction.SPLIT, SideEffect.NOTHING
    found, also = (
        _retried(at, error, batch, manager, log_start) if may_retry else (BatchAction.FAILED, SideEffect.NOTHING)
    )
    if found is BatchAction.FAILED and error.name == "DUPLICATE_SEQUENCE_NUMBER" and at in DUPLICATES_ARE_FINE:
        return BatchAction.COMPLETED, also
    if (
        found is BatchAction.RETRIED
        and manager is not None
        and at in _DROPS_STRANGERS
        and batch.producer != manager.current
    ):
        return BatchAction.DROPPED, also
    return found, also


def _retried(
    at: Release, error: ProduceError, batch: Batch, manager: TransactionManager | None, log_start: int
) -> tuple[BatchAction, SideEffect]:
    if error.kind is ErrorKind.RETRIABLE:
        return BatchAction.RETRIED, SideEffect.NOTHING
    if manager is not None:
        met = Answered(at, batch, manager, log_start)
        for row in _ROWS:
            if row.error == error.name and at in row.releases and row.when(met):
                return row.fate, row.also
    return BatchAction.FAILED, SideEffect.NOTHING
