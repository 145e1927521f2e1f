"""The log of a partition, as far as replication sees it: batches, end offset, high watermark and leader epochs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from kafka_reference.replication.behaviour import PartitionBehaviour
from kafka_reference.replication.errors import (
    OffsetOutOfRangeException,
    OffsetsOutOfOrderException,
    UnexpectedAppendOffsetException,
)
from kafka_reference.replication.high_watermark import EpochEnd, EpochStart, find_epoch_end, follower_high_watermark

__all__ = ["LogBatch", "PartitionLog"]


@dataclass(frozen=True, slots=True)
class LogBatch:
    """A batch of records: the offsets of its first and last one, and the leader epoch in which it was appended."""

    base_offset: int
    last_offset: int
    epoch: int


class PartitionLog:
    """A log that begins empty at offset 0.

    Java source mirrored: ``UnifiedLog``, ``LocalLog``, ``LeaderEpochFileCache``.
    """

    def __init__(self, behaviour: PartitionBehaviour) -> None:
        self.behaviour = behaviour
        self.batches: list[LogBatch] = []
        self.epochs: list[EpochStart] = []
        self.end_offset = 0
        self.high_watermark = 0
        self.high_watermark_is_located = True
        """Whether the log has the position of the high watermark in its files."""

    def append_as_leader(self, records: int, epoch: int) -> int:
        """Append a batch of ``records`` at the end; return the offset of its first record."""
        first = self.end_offset
        self._add(LogBatch(first, first + records - 1, epoch))
        return first

    def append_as_follower(self, batches: Sequence[LogBatch], leader_epoch: int) -> None:
        """Append batches with the offsets that the leader gave them.

        Raises OffsetsOutOfOrderException, UnexpectedAppendOffsetException.
        """
        taken = list(batches)
        if self.behaviour.refuses_newer_epochs:
            taken = list(takewhile(lambda batch: batch.epoch <= leader_epoch, batches))
        if not taken:
            return
        ends = [-1, *(batch.last_offset for batch in taken)]
        if any(end >= later for end, later in pairwise(ends)):
            raise OffsetsOutOfOrderException
        if taken[0].base_offset < self.end_offset:
            raise UnexpectedAppendOffsetException
        for batch in taken:
            self.assign_epoch(batch.epoch, batch.base_offset)
        for batch in taken:
            self.batches.append(batch)
        self.end_offset = taken[-1].last_offset + 1

    def _add(self, batch: LogBatch) -> None:
        self.assign_epoch(batch.epoch, batch.base_offset)
        self.batches.append(batch)
        self.end_offset = batch.last_offset + 1

    def assign_epoch(self, epoch: int, start_offset: int) -> None:
        """Note where an epoch begins; entries that do not lie before it go.

        Java source mirrored: ``LeaderEpochFileCache.assign``.
        """
        if self.epochs and self.epochs[-1].epoch == epoch and start_offset >= self.epochs[-1].start_offset:
            return
        while self.epochs and (self.epochs[-1].epoch >= epoch or self.epochs[-1].start_offset >= start_offset):
            self.epochs.pop()
        self.epochs.append(EpochStart(epoch, start_offset))

    def find_epoch_end(self, epoch: int) -> EpochEnd:
        """Return the largest epoch of the log that is at most ``epoch``, and where it ends; both -1 if unknown."""
        found = find_epoch_end(self.epochs, epoch, self.end_offset)
        return found if found.end_offset >= 0 else EpochEnd(-1, -1)

    def find_read_start(self, offset: int) -> int:
        """Return the offset that a read from ``offset`` begins at, as the read reports it.

        Up to 3.9.x that is ``offset``; since 4.0.0 the first offset of the batch that has it. It is the end of the log
        if there is no record from ``offset`` on.

        Raises OffsetOutOfRangeException.

        Java source mirrored: ``LocalLog.read``, ``LogSegment.read``.
        """
        if not 0 <= offset <= self.end_offset:
            raise OffsetOutOfRangeException
        batch = next((batch for batch in self.batches if batch.last_offset >= offset), None)
        if batch is None:
            return self.end_offset
        return batch.base_offset if self.behaviour.fetch_starts_at_batch else offset

    def truncate_to(self, offset: int) -> None:
        """Remove the batches from the one that has ``offset``, and the epochs from there; the log ends at ``offset``.

        The high watermark is then at most the end. Without records there, only epochs at the end go.

        Java source mirrored: ``UnifiedLog.truncateTo``.
        """
        end = min(offset, self.end_offset)
        self.epochs = [entry for entry in self.epochs if entry.start_offset < end]
        if offset < self.end_offset:
            self.batches = [batch for batch in self.batches if batch.last_offset < offset]
            self.end_offset = offset
            if self.high_watermark >= offset:
                self.high_watermark, self.high_watermark_is_located = offset, True

    def follow_high_watermark(self, leader_high_watermark: int) -> None:
        """Take over the leader's high watermark, within this log; its position is known if that is the end of the log."""
        self.high_watermark = follower_high_watermark(leader_high_watermark, self.end_offset)
        self.high_watermark_is_located = leader_high_watermark >= self.end_offset

    def locate_high_watermark(self) -> int:
        """Find the position of the high watermark, if it is not known; return the high watermark.

        It is found by a read, and becomes the offset that the read reports: since 4.0.0 the first offset of its batch.

        Java source mirrored: ``UnifiedLog.fetchHighWatermarkMetadata``.
        """
        if not self.high_watermark_is_located:
            self.high_watermark, self.high_watermark_is_located = self.find_read_start(self.high_watermark), True
        return self.high_watermark
