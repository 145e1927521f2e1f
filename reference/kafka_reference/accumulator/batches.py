"""One batch: records for one partition, from the first append to the broker's answer.

A batch is *open* until a record finds no room in it. Then it is closed for appends, and counts as full, even if a smaller
record would fit. Draining closes it for good. It has three times:

- ``created_ms``, when it was made: expiry by ``delivery.timeout.ms`` (since 2.1.0) counts from here, retries included;
- ``last_attempt_ms``, when it was made or queued again: lingering and backing off count from here;
- ``last_append_ms``, of its last record, or when it was queued again: expiry of full batches up to 2.0.x uses it.

``attempts`` is how often it was queued again. Since 3.6.1 a batch has *a new leader* as long as all its attempts were
made before the leader epoch last rose; then it does not back off (KAFKA-15415). In 3.6.1 and 3.7.0 a lower epoch, or none,
counts as well.

**Expiry up to 2.0.x** goes by ``request.timeout.ms``. A batch that fits one of these cases has expired:

==================== ===============================================================================================
full, never sent     more than the timeout since the last append
never sent           more than the timeout since it was made and ``linger.ms`` went by
queued again         more than the timeout since it was queued again and the back-off went by
==================== ===============================================================================================

**Splitting** (since 0.11.0.0), of a batch that the broker finds too large: its records go into new batches, each of up to
``batch.size``, or as large as its first record needs. They keep its ``created_ms``, and their attempts are 0. Every piece
is closed for appends; up to 2.5.x the last one, if it is not full, takes the records that follow in its queue.

Java source mirrored: ``RecordBatch``, 0.10; ``ProducerBatch.tryAppend``, ``split``, ``close``, ``reenqueued``,
``resetProducerState``, ``hasLeaderChangedForTheOngoingRetry``, since 0.11.0.0.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import replace

from kafka_reference.accumulator.behaviour import MemoryRecordsBuilderBehaviour, ProducerBatchBehaviour
from kafka_reference.accumulator.compression import WRAPPER, Compressed
from kafka_reference.accumulator.sizes import BatchSize, SizedRecord, batch_overhead, buffer_size
from kafka_reference.errors import IllegalArgumentException, IllegalStateException
from kafka_reference.releases import Release

__all__ = ["Batch", "BatchState", "split"]


class BatchState(enum.Enum):
    """Where a batch is.

    >>> BatchState.QUEUED.name
    'QUEUED'
    """

    QUEUED = enum.auto()
    DRAINED = enum.auto()
    LOST = enum.auto()
    """Taken by a drain that then threw: no queue and no request has it."""
    EXPIRED = enum.auto()
    ABORTED_IN_FLIGHT = enum.auto()
    DONE = enum.auto()


class Batch:
    """A batch for ``topic_partition``; ``number`` counts the batches of a history, ``buffer`` is in bytes.

    ``sequence`` and ``producer`` (id and epoch) are None without idempotence.

    >>> from kafka_reference import parse_release
    >>> Batch(parse_release("4.4.0"), ("t", 0), number=0, now_ms=0, batch_size=100, first=SizedRecord(value=7))
    <Batch 0 of t-0: 1 record, 75 bytes, queued>
    """

    __slots__ = (
        "_attempts_at_epoch", "_behaviour", "_compressed", "_epoch", "aborted", "attempts", "buffer", "closed",
        "created_ms", "in_flight", "is_piece", "last_append_ms", "last_attempt_ms", "number", "producer", "records",
        "reopened", "sequence", "size", "state", "topic_partition",
    )  # fmt: skip

    def __init__(
        self,
        release: Release,
        topic_partition: tuple[str, int],
        number: int,
        now_ms: int,
        batch_size: int,
        first: SizedRecord,
        is_piece: bool = False,
        compressed: Compressed | None = None,
    ) -> None:
        self.topic_partition, self.number, self.is_piece = topic_partition, number, is_piece
        self._behaviour, self._compressed = ProducerBatchBehaviour.of(release), compressed
        sizes = MemoryRecordsBuilderBehaviour.of(release)
        self.buffer = buffer_size(sizes, batch_size, first, compressed=compressed is not None)
        ratio = 1.0 if compressed is None else compressed.ratio
        self.size = BatchSize(sizes, batch_size, self.buffer, sizes.newest_magic, compressed is not None, ratio)
        self.created_ms = self.last_attempt_ms = self.last_append_ms = now_ms
        self.records: list[SizedRecord] = []
        self.attempts, self.closed, self.in_flight, self.state = 0, False, False, BatchState.QUEUED
        self.aborted = self.reopened = False
        self.sequence: int | None = None
        self.producer: tuple[int, int] | None = None
        self._epoch: int | None = None
        self._attempts_at_epoch = 0
        self.append(first, None if is_piece else now_ms)

    def __repr__(self) -> str:  # unreached: for readers
        (topic, partition), count = self.topic_partition, self.record_count
        records = f"{count} record{'s' * (count != 1)}, {self.estimated} bytes"
        return f"<Batch {self.number} of {topic}-{partition}: {records}, {self.state.name.lower().replace('_', ' ')}>"

    @property
    def full(self) -> bool:
        """Whether the batch takes no further record. Mirrors ``isFull``."""
        return self.size.full

    @property
    def estimated(self) -> int:
        """Bytes so far: once it is built, those it came to, before that an estimate. Mirrors ``estimatedSizeInBytes``."""
        if self._compressed is None:
            return self.size.estimated
        if self.closed:
            return self.built
        return WRAPPER if self._behaviour.open_batch_shows_wrapper_only else self.size.estimated

    @property
    def packed(self) -> int:
        """Bytes of its records after compression, without what precedes them in the batch."""
        return self.size.uncompressed if self._compressed is None else self._compressed.packed(self.size.uncompressed)

    @property
    def built(self) -> int:
        """Bytes once it is built. Mirrors ``records().sizeInBytes()``."""
        if self._compressed is None:
            return self.size.built
        return batch_overhead(self.size.magic, True) + self.packed

    @property
    def record_count(self) -> int:
        """How many records it holds."""
        return len(self.records)

    def append(self, record: SizedRecord, now_ms: int | None) -> None:
        """Add the record; ``now_ms`` is None for a piece of a split batch, which keeps its times."""
        if now_ms is None and self._behaviour.pieces_lose_headers:
            record = replace(record, headers=())
        self.size.append(record)
        self.records.append(record)
        if now_ms is not None:
            self.last_append_ms = now_ms

    def try_append(self, record: SizedRecord, now_ms: int | None) -> bool:
        """Add the record if there is room for it, and return whether there was. Mirrors ``tryAppend``."""
        if not self.size.has_room_for(record):
            return False
        self.append(record, now_ms)
        return True

    def close_for_appends(self) -> None:
        """Take no more records. Mirrors ``closeForRecordAppends``."""
        self.size.closed = True

    def close(self) -> None:
        """Build the batch. Raises IllegalArgumentException for a negative sequence. Mirrors ``close``."""
        if self.sequence is not None and self.sequence < 0:
            raise IllegalArgumentException
        self.size.closed = self.closed = True
        self.reopened = False

    def renumber(self, producer: tuple[int, int], sequence: int) -> None:
        """Give the batch another producer and sequence; it is built again with them. Mirrors ``resetProducerState``.

        Raises IllegalStateException if it was aborted. ``reopened``, which is ``sequenceHasBeenReset``, is set first in
        any case, until the batch is built again.
        """
        self.reopened = True
        if self.aborted:
            raise IllegalStateException
        self.producer, self.sequence, self.closed = producer, sequence, False

    def waited_ms(self, now_ms: int) -> int:
        """Return the ms since it was made or queued again. Mirrors ``waitedTimeMs``."""
        return max(0, now_ms - self.last_attempt_ms)

    def mark_reenqueued(self, now_ms: int) -> None:
        """Count an attempt. Mirrors ``reenqueued``."""
        self.attempts += 1
        self.last_attempt_ms = self.last_append_ms = max(self.last_append_ms, now_ms)

    def update_leader_epoch(self, epoch: int | None) -> None:
        """Remember the highest epoch of its leader, if known; in 3.6.1 and 3.7.0 the last one.

        Mirrors ``maybeUpdateLeaderEpoch``.
        """
        rises = epoch is not None and (self._epoch is None or self._epoch < epoch)
        if rises or (self._behaviour.any_other_epoch_is_newer and epoch != self._epoch):
            self._epoch, self._attempts_at_epoch = epoch, self.attempts

    @property
    def has_new_leader(self) -> bool:
        """Whether the leader changed since it was last sent. Mirrors ``hasLeaderChangedForTheOngoingRetry``."""
        return self.attempts >= 1 and self.attempts == self._attempts_at_epoch

    def outlived_request(self, timeout_ms: int, backoff_ms: int, linger_ms: int, now_ms: int, full: bool) -> bool:
        """Return whether it has expired by the rule up to 2.0.x. Mirrors ``maybeExpire``."""
        if self.attempts:
            return timeout_ms < self.waited_ms(now_ms) - backoff_ms
        idle, age = now_ms - self.last_append_ms, now_ms - self.created_ms
        return (full and timeout_ms < idle) or timeout_ms < age - linger_ms


def split(
    release: Release, batch: Batch, batch_size: int, first_number: int, codec: Callable[[int], Compressed | None]
) -> Sequence[Batch]:
    """Return the records of ``batch`` in pieces, numbered from ``first_number``; ``codec`` compresses by number.

    Mirrors ``split``.
    """
    closes = ProducerBatchBehaviour.of(release).closes_pieces
    pieces: list[Batch] = []
    for record in batch.records:
        if pieces and pieces[-1].try_append(record, None):
            continue
        if pieces and closes:
            pieces[-1].close_for_appends()
        number, made_ms = first_number + len(pieces), batch.created_ms
        piece = Batch(release, batch.topic_partition, number, made_ms, batch_size, record, True, codec(number))
        pieces.append(piece)
    if closes:
        pieces[-1].close_for_appends()
    return pieces
