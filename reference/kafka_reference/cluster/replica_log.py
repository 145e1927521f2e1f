"""The log of one replica: its batches, its leader epoch cache and its high watermark.

Java source mirrored: ``org.apache.kafka.storage.internals.log.UnifiedLog`` (``kafka.log`` up to 3.9.x) and
``LeaderEpochFileCache``, since 3.3.0; only what replication sees of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kafka_reference.replication.high_watermark import (
    EpochEnd,
    EpochStart,
    find_epoch_end,
    find_truncation,
    follower_high_watermark,
)

__all__ = ["Batch", "ReplicaLog"]


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of a log."""

    base_offset: int
    """The offset of the first record."""
    records: int
    """The number of records."""
    leader_epoch: int
    """The epoch of the leader that appended it."""

    @property
    def end_offset(self) -> int:
        """The offset behind the last record."""
        return self.base_offset + self.records


@dataclass(slots=True)
class ReplicaLog:
    """The log of one replica; it begins at offset 0."""

    batches: list[Batch] = field(default_factory=list)
    """The batches, in order."""
    epochs: list[EpochStart] = field(default_factory=list)
    """The leader epoch cache: the epochs in which the replica led or of which it has batches."""
    high_watermark: int = 0
    """The high watermark, which a restart keeps: it is written to a file."""

    @property
    def end_offset(self) -> int:
        """The log end offset: that of the next record."""
        return self.batches[-1].end_offset if self.batches else 0

    @property
    def latest_epoch(self) -> int | None:
        """The last epoch of the cache; None if it is empty."""
        return self.epochs[-1].epoch if self.epochs else None

    def append(self, batch: Batch) -> None:
        """Append a batch at the end; its epoch enters the cache if it is a new one."""
        if self.latest_epoch != batch.leader_epoch:
            self.begin_epoch(batch.leader_epoch, batch.base_offset)
        self.batches.append(batch)

    def begin_epoch(self, epoch: int, start_offset: int) -> None:
        """Enter an epoch into the cache: one without records gives way to the next that begins at the same offset.

        Java source mirrored: ``LeaderEpochFileCache.assign``.
        """
        self.epochs = [one for one in self.epochs if one.epoch < epoch and one.start_offset < start_offset]
        self.epochs.append(EpochStart(epoch, start_offset))

    def find_end_of(self, epoch: int) -> EpochEnd:
        """Return the largest epoch that is at most ``epoch``, and the offset behind its last record."""
        return find_epoch_end(self.epochs, epoch, self.end_offset)

    def truncate(self, offset: int) -> None:
        """Remove batches that end behind ``offset``, and epochs that begin there or behind, even at the log's end.

        Java source mirrored: ``UnifiedLog.truncateTo``, ``LeaderEpochFileCache.truncateFromEnd``.
        """
        self.batches = [batch for batch in self.batches if batch.end_offset <= offset]
        self.epochs = [one for one in self.epochs if one.start_offset < offset]
        self.high_watermark = min(self.high_watermark, offset)

    def truncate_divergence(self, leader: ReplicaLog) -> bool:
        """Truncate what the leader's log does not have, by leader epoch; return whether the fetch found a divergence.

        The follower fetches from its end, with its latest epoch. The leader finds where that epoch ends in its own log;
        if that is an earlier epoch or offset, the follower truncates and fetches again.

        Java source mirrored: ``Partition.readRecords``, ``AbstractFetcherThread.truncateOnFetchResponse``.
        """
        epoch = self.latest_epoch
        if epoch is None:
            return False
        end = leader.find_end_of(epoch)
        if end.epoch == epoch and end.end_offset >= self.end_offset:
            return False
        self.truncate(find_truncation(end, self.epochs, self.end_offset, self.high_watermark).offset)
        return True

    def copy_from(self, leader: ReplicaLog) -> None:
        """Append what the leader's log has beyond the own end, and take over its high watermark."""
        for batch in leader.batches:
            if batch.base_offset >= self.end_offset:
                self.append(batch)
        self.high_watermark = follower_high_watermark(leader.high_watermark, self.end_offset)

    def restart(self) -> None:
        """Load the log as a broker does when it starts: epochs without records are forgotten.

        Java source mirrored: ``LogLoader.load``.
        """
        self.epochs = [one for one in self.epochs if one.start_offset < self.end_offset]
        self.high_watermark = min(self.high_watermark, self.end_offset)
