"""One batch: records for one partition, from the first append to the broker's answer.

A batch is *open* until a record finds no room in it; then it is closed for appends, and full from there on, whatever else
would have fitted. Draining closes it for good. Its clock has three hands:

- ``created_ms``, when it was made: expiry by ``delivery.timeout.ms`` (since 2.1.0) counts from here, retries included;
- ``last_attempt_ms``, when it was made or came back: lingering and backing off count from here;
- ``last_append_ms``, of its last record, and when it came back: expiry to 2.0.x looks at it for full batches.

``attempts`` is how often it came back. **Another leader** (since 3.6.1): a batch remembers the highest leader epoch it was
shown, and how many attempts it had when that rose. As long as those are all its attempts, the leader is another one than
the one that failed, and backing off makes no sense.

**Expiry to 2.0.x** goes by ``request.timeout.ms``, in three cases, and a batch that fits one of them has expired:

==================== ===============================================================================================
full, never sent     more than the timeout since the last append
never sent           more than the timeout since it was made and ``linger.ms`` went by
came back            more than the timeout since it came back and the back-off went by
==================== ===============================================================================================

**Splitting** (since 0.11.0.0), for a batch the broker found too large: its records go into new batches, each of up to
``batch.size``, or as large as its first record needs. They keep its ``created_ms``; their attempts are 0. Since 4.2.0 a
piece that is to be split again is cut to half its size, or its largest record if that is more, since pieces of
``batch.size`` would be the same piece again, for ever (KAFKA-8350). Since 2.6.0 every piece is closed for appends;
before, a piece that was not full stood open, and as the last one of its queue it took what came next.

Java source mirrored: ``RecordBatch``, 0.10; ``ProducerBatch``, 0.11.0.0 to 4.4.0.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence

from kafka_reference.accumulator.compression import Compressed, shown_while_open
from kafka_reference.accumulator.sizes import BatchSize, SizedRecord, batch_overhead, buffer_size, newest_magic
from kafka_reference.errors import IllegalArgumentException, IllegalStateException
from kafka_reference.releases import Release, since

__all__ = ["Batch", "BatchState", "split"]

CLOSES_PIECES = since("2.6.0")


class BatchState(enum.Enum):
    """Where a batch is, to whoever uses the accumulator."""

    QUEUED = enum.auto()
    DRAINED = enum.auto()
    LOST = enum.auto()  # drained by a drain that then raised
    EXPIRED = enum.auto()
    ABORTED_IN_FLIGHT = enum.auto()
    DONE = enum.auto()


class Batch:
    """A batch for ``topic_partition``; ``number`` counts the batches of a history, ``buffer`` its bytes."""

    __slots__ = (
        "_at", "_attempts_at_epoch", "_compressed", "_epoch", "aborted", "attempts", "buffer", "closed", "created_ms",
        "in_flight", "is_piece", "last_append_ms", "last_attempt_ms", "number", "producer", "records", "reopened",
        "sequence", "size", "state", "topic_partition",
    )  # fmt: skip

    def __init__(
        self, at: Release, topic_partition: tuple[str, int], number: int, now_ms: int, batch_size: int, first: SizedRecord,
        is_piece: bool = False, compressed: Compressed | None = None,
    ) -> None:  # fmt: skip
        self.topic_partition, self.number, self.is_piece = topic_partition, number, is_piece
        self._at, self._compressed = at, compressed
        self.buffer = buffer_size(at, batch_size, first, compressed=compressed is not None)
        ratio = 1.0 if compressed is None else compressed.ratio
        self.size = BatchSize(at, batch_size, self.buffer, newest_magic(at), compressed is not None, ratio)
        self.created_ms = self.last_attempt_ms = self.last_append_ms = now_ms
        self.records: list[SizedRecord] = []
        self.attempts, self.closed, self.in_flight, self.state = 0, False, False, BatchState.QUEUED
        self.aborted = self.reopened = False
        self.sequence: int | None = None
        self.producer: tuple[int, int] | None = None
        self._epoch: int | None = None
        self._attempts_at_epoch = 0
        self.append(first, now_ms)

    @property
    def full(self) -> bool:
        """Whether nothing more is to be appended."""
        return self.size.full

    @property
    def estimated(self) -> int:
        """Bytes so far, as it shows them: once it is built, what it really came to. Mirrors ``estimatedSizeInBytes``."""
        if self._compressed is None:
            return self.size.estimated
        if self.closed:
            return self.built
        shown = shown_while_open(self._at)
        return self.size.estimated if shown is None else shown

    @property
    def packed(self) -> int:
        """Bytes its records come to, without what precedes them in the batch."""
        return self.size.uncompressed if self._compressed is None else self._compressed.packed(self.size.uncompressed)

    @property
    def built(self) -> int:
        """Bytes once it is built. Mirrors ``records().sizeInBytes()``."""
        if self._compressed is None:
            return self.size.built
        return batch_overhead(self.size.magic, True) + self.packed

    def append(self, record: SizedRecord, now_ms: int | None) -> None:
        """Take the record; the pieces of a split batch look at no clock."""
        self.size.append(record)
        self.records.append(record)
        if now_ms is not None:
            self.last_append_ms = now_ms

    def try_append(self, record: SizedRecord, now_ms: int | None) -> bool:
        """Take the record if there is room for it."""
        if not self.size.has_room_for(record):
            return False
        self.append(record, now_ms)
        return True

    def close_for_appends(self) -> None:
        """Take no more records. Mirrors ``closeForRecordAppends``."""
        self.size.closed = True

    def close(self) -> None:
        """Be built. Raises IllegalArgumentException for a negative sequence. Mirrors ``close``."""
        if self.sequence is not None and self.sequence < 0:
            raise IllegalArgumentException
        self.size.closed = self.closed = True
        self.reopened = False

    @property
    def record_count(self) -> int:
        """How many records it holds."""
        return len(self.records)

    def renumber(self, producer: tuple[int, int], sequence: int) -> None:
        """Be built anew with these. Mirrors ``resetProducerState``.

        Raises IllegalStateException if it was aborted; it counts as ``reopened`` all the same, which is
        ``sequenceHasBeenReset``, until it is built again.
        """
        self.reopened = True
        if self.aborted:
            raise IllegalStateException
        self.producer, self.sequence, self.closed = producer, sequence, False

    def waited_ms(self, now_ms: int) -> int:
        """Since it was made or came back."""
        return max(0, now_ms - self.last_attempt_ms)

    def come_back(self, now_ms: int) -> None:
        """It was sent in vain. Mirrors ``reenqueued``."""
        self.attempts += 1
        self.last_attempt_ms = self.last_append_ms = max(self.last_append_ms, now_ms)

    def see_epoch(self, epoch: int | None) -> None:
        """The epoch of its leader is this one now, if known. Mirrors ``maybeUpdateLeaderEpoch``."""
        if epoch is not None and (self._epoch is None or self._epoch < epoch):
            self._epoch, self._attempts_at_epoch = epoch, self.attempts

    @property
    def has_another_leader(self) -> bool:
        """Than the one that failed last. Mirrors ``hasLeaderChangedForTheOngoingRetry``."""
        return self.attempts >= 1 and self.attempts == self._attempts_at_epoch

    def outlived_request(self, timeout_ms: int, backoff_ms: int, linger_ms: int, now_ms: int, full: bool) -> bool:
        """Whether it has expired, to 2.0.x. Mirrors ``maybeExpire``."""
        if self.attempts:
            return timeout_ms < self.waited_ms(now_ms) - backoff_ms
        idle, age = now_ms - self.last_append_ms, now_ms - self.created_ms
        return (full and timeout_ms < idle) or timeout_ms < age - linger_ms


def split(
    at: Release, batch: Batch, batch_size: int, first_number: int, codec: Callable[[int], Compressed | None]
) -> Sequence[Batch]:
    """The batch's records, in pieces; ``codec`` is what becomes of the batch of a number. Mirrors ``split``."""
    pieces: list[Batch] = []
    for record in batch.records:
        if pieces and pieces[-1].try_append(record, None):
            continue
        if pieces and at in CLOSES_PIECES:
            pieces[-1].close_for_appends()
        number = first_number + len(pieces)
        pieces.append(
            Batch(at, batch.topic_partition, number, batch.created_ms, batch_size, record, True, codec(number))
        )
    if at in CLOSES_PIECES:
        pieces[-1].close_for_appends()
    return pieces
