"""The decision table of answered batches: what happens to a batch, by the error of its response and its situation.

:data:`TABLE` is the rule: the first column is the :class:`Answer`, the second the facts of the :class:`Situation` that must
hold, the third the :class:`BatchAction`, the fourth a :class:`SideEffect` that comes before it. Exactly one row applies to
every answer in every situation. What differs between releases is in the facts: see :class:`Situation`.

Java source mirrored: ``Sender.java#completeBatch``, ``canRetry``, ``TransactionManager.java#canRetry`` (both in
``clients/src/main/java/org/apache/kafka/clients/producer/internals``), every release.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache

from kafka_reference.accumulator.batches import Batch
from kafka_reference.idempotence.behaviour import SenderBehaviour
from kafka_reference.idempotence.errors import ErrorKind, ProduceError
from kafka_reference.idempotence.transaction_manager import TransactionManager

__all__ = [
    "TABLE",
    "Answer",
    "BatchAction",
    "Row",
    "SideEffect",
    "Situation",
    "answer_of",
    "decide",
    "matching_rows",
    "situation_of",
]

TABLE = """
none                  always                                                               completed  -
too large             can_split                                                            split      -
too large             !can_split                                                           failed     -
duplicate             duplicate_completes                                                  completed  -
duplicate             !duplicate_completes                                                 failed     -
refused               always                                                               failed     -
retriable             !may_retry                                                           failed     -
retriable              may_retry !is_stale                                                 retried    -
retriable              may_retry  is_stale                                                 dropped    -
out of order          !may_retry                                                           failed     -
out of order           may_retry !is_own                                                   failed     -
out of order           may_retry  is_own  is_behind !is_stale                              retried    -
out of order           may_retry  is_own  is_behind  is_stale                              dropped    -
out of order           may_retry  is_own !is_behind !bumps_epoch                           failed     -
out of order           may_retry  is_own !is_behind  bumps_epoch  waits_for_resolution     retried    -
out of order           may_retry  is_own !is_behind  bumps_epoch !waits_for_resolution     retried    bump
unknown producer      !may_retry                                                           failed     -
unknown producer       may_retry !is_own                                                   failed     -
unknown producer       may_retry  is_own  is_undecided !is_stale                           retried    -
unknown producer       may_retry  is_own  is_undecided  is_stale                           dropped    -
unknown producer       may_retry  is_own !is_undecided  bumps_epoch                        retried    bump
unknown producer       may_retry  is_own !is_undecided !bumps_epoch !log_is_lost           failed     -
unknown producer       may_retry  is_own !is_undecided !bumps_epoch  log_is_lost !is_stale retried    restart
unknown producer       may_retry  is_own !is_undecided !bumps_epoch  log_is_lost  is_stale dropped    restart
"""


class Answer(enum.Enum):
    """An error, as far as the table distinguishes errors."""

    NONE = "none"
    TOO_LARGE = "too large"
    DUPLICATE = "duplicate"
    OUT_OF_ORDER = "out of order"
    UNKNOWN_PRODUCER = "unknown producer"
    RETRIABLE = "retriable"
    REFUSED = "refused"


class BatchAction(enum.Enum):
    """What happens to a batch; DROPPED is a failure with the client's own OutOfOrderSequenceException."""

    COMPLETED = "completed"
    SPLIT = "split"
    RETRIED = "retried"
    DROPPED = "dropped"
    FAILED = "failed"


class SideEffect(enum.Enum):
    """What else happens, before that: another epoch is requested, or the partition's sequences begin at 0 again."""

    NOTHING = "-"
    BUMP = "bump"
    RESTART = "restart"


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The facts that the table decides by, for one batch in one release.

    - ``may_retry``: retries are left, and since 2.1.0 neither has the batch ended nor its ``delivery.timeout.ms`` passed.
    - ``can_split``: the batch has several records (never up to 0.10.2.x), and since 2.1.0 it has not ended.
    - ``duplicate_completes``: the batch is in the log, at an unknown offset (since 1.0.0).
    - ``is_own``: the producer is idempotent and handles sequence errors (since 1.0.0), and the batch is of its id and epoch;
      up to 2.2.x of its id; since 2.5.0 of any.
    - ``is_stale``: the batch is of another id or epoch (up to 2.4.x).
    - ``is_behind``: the partition is not unresolved, and another batch comes before this one, or it has been numbered again
      since it was sent.
    - ``waits_for_resolution``: the partition is unresolved, and the batch does not follow the unresolved ones directly.
    - ``bumps_epoch``: sequence errors begin another epoch (since 2.5.0).
    - ``is_undecided``: it is not known where the log begins, or the batch has been numbered again since it was sent.
    - ``log_is_lost``: the log begins after the last acknowledged offset.
    """

    may_retry: bool
    can_split: bool
    duplicate_completes: bool
    is_own: bool
    is_stale: bool
    is_behind: bool
    waits_for_resolution: bool
    bumps_epoch: bool
    is_undecided: bool
    log_is_lost: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table: it applies to ``answer`` where the facts have the values of ``conditions``."""

    answer: Answer
    conditions: Mapping[str, bool]
    action: BatchAction
    side_effect: SideEffect

    def applies(self, answer: Answer, situation: Situation) -> bool:
        """Return whether the row applies."""
        return self.answer is answer and all(
            getattr(situation, fact) == value for fact, value in self.conditions.items()
        )


_Fact = enum.Enum("_Fact", {fact.name: fact.name for fact in fields(Situation)})  # type: ignore[misc]


def _row(line: str) -> Row:
    answer, (*conditions, action, side_effect) = line[:22].strip(), line[22:].split()
    facts = {_Fact(word.removeprefix("!")).value: not word.startswith("!") for word in conditions if word != "always"}
    return Row(Answer(answer), facts, BatchAction(action), SideEffect(side_effect))


_ROWS = tuple(map(_row, TABLE.strip().splitlines()))
_SPECIAL = {
    "MESSAGE_TOO_LARGE": Answer.TOO_LARGE,
    "DUPLICATE_SEQUENCE_NUMBER": Answer.DUPLICATE,
    "OUT_OF_ORDER_SEQUENCE_NUMBER": Answer.OUT_OF_ORDER,
    "UNKNOWN_PRODUCER_ID": Answer.UNKNOWN_PRODUCER,
}


def matching_rows(answer: Answer, situation: Situation) -> tuple[Row, ...]:
    """Return the rows that apply; there is exactly one."""
    return tuple(row for row in _ROWS if row.applies(answer, situation))


@lru_cache(maxsize=4096)
def decide(answer: Answer, situation: Situation) -> tuple[BatchAction, SideEffect]:
    """Return what happens to a batch, and the side effect before that."""
    (row,) = matching_rows(answer, situation)
    return row.action, row.side_effect


def answer_of(error: ProduceError) -> Answer:
    """Return the row of the table that an error belongs to; DUPLICATE_SEQUENCE_NUMBER is retriable in 0.11."""
    match error.kind:
        case ErrorKind.NONE:
            return Answer.NONE
        case ErrorKind.RETRIABLE:
            return Answer.RETRIABLE
        case _:
            return _SPECIAL.get(error.name, Answer.REFUSED)


def situation_of(
    batch: Batch, manager: TransactionManager, log_start: int, *, sender: SenderBehaviour,
    may_retry: bool, is_done: bool,
) -> Situation:  # fmt: skip
    """Return the situation of a batch of this manager's producer.

    ``log_start`` is the first offset of the log, -1 for unknown; ``is_done``: the batch has ended.
    """
    topic_partition, sequences = batch.topic_partition, manager.behaviour
    is_unresolved = topic_partition in manager.unresolved
    is_next = manager.is_next(topic_partition, -1 if batch.sequence is None else batch.sequence)
    return Situation(
        may_retry=may_retry,
        can_split=sender.splits_large_batches
        and batch.record_count > 1
        and not (is_done and sender.done_batch_is_not_split),
        duplicate_completes=sender.duplicate_completes,
        is_own=sequences.tracks_in_flight_batches and manager.is_own(batch),
        is_stale=sender.drops_stale_retry and manager.is_stale(batch),
        is_behind=not is_unresolved and (batch.reopened or not is_next),
        waits_for_resolution=is_unresolved and manager.unresolved[topic_partition] != batch.sequence,
        bumps_epoch=sequences.bumps_epoch,
        is_undecided=log_start == -1 or batch.reopened,
        log_is_lost=manager.last_offset(topic_partition) < log_start,
    )
