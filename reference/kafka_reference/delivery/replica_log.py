"""The log of one replica: its batches, the leader epochs they were appended in, and its high watermark."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafka_reference.delivery.messages import Batch, Truncation
from kafka_reference.replication.high_watermark import UNDEFINED, EpochStart, find_epoch_end, find_truncation

__all__ = ["ReplicaLog"]


@dataclass(slots=True)
class ReplicaLog:
    """A replica on a broker. A batch holds one record, so the offset of a batch is its place in the log."""

    batches: list[Batch] = field(default_factory=list)
    """The batches, by offset."""
    epochs: list[EpochStart] = field(default_factory=list)
    """The leader epoch cache: each epoch, and the offset of its first record."""
    history: list[Batch | Truncation] = field(default_factory=list)
    """What the broker's producer state has gone through since the broker started."""
    high_watermark: int = 0
    """The high watermark that this replica has."""
    is_alive: bool = True
    """Whether the broker runs."""
    fetches: bool = True
    """Whether the replica fetches when it follows."""
    followed_epoch: int = UNDEFINED
    """The leader epoch for which the log was truncated last."""

    @property
    def end_offset(self) -> int:
        """The log end offset."""
        return len(self.batches)

    def append(self, batch: Batch, leader_epoch: int) -> None:
        """Append a batch of this leader epoch."""
        self.assign_epoch(leader_epoch)
        self.batches.append(batch)
        self.history.append(batch)

    def assign_epoch(self, leader_epoch: int) -> None:
        """Note that the next record is of this leader epoch; entries without a record give way.

        Java source mirrored: ``LeaderEpochFileCache.assign``.
        """
        if not self.epochs or self.epochs[-1].epoch != leader_epoch:
            self.epochs = [entry for entry in self.epochs if entry.start_offset < self.end_offset]
            self.epochs.append(EpochStart(leader_epoch, self.end_offset))

    def epoch_of(self, offset: int) -> int:
        """Return the leader epoch of the record at ``offset``."""
        return next(entry.epoch for entry in reversed(self.epochs) if entry.start_offset <= offset)

    def follow(self, leader: ReplicaLog, leader_epoch: int) -> None:
        """Remove what the leader does not have, once in each leader epoch, by the epochs of both logs.

        Java source mirrored: ``AbstractFetcherThread.maybeTruncate``.
        """
        if self.followed_epoch == leader_epoch:
            return
        self.followed_epoch = leader_epoch
        completed = not self.epochs
        while not completed:
            end = find_epoch_end(leader.epochs, self.epochs[-1].epoch, leader.end_offset)
            truncation = find_truncation(end, self.epochs, self.end_offset, self.high_watermark)
            self._truncate(truncation.offset)
            completed = truncation.completed or not self.epochs

    def _truncate(self, end_offset: int) -> None:
        if end_offset < self.end_offset:
            del self.batches[end_offset:]
            self.history += [Truncation(end_offset), *self.batches]
        self.epochs = [entry for entry in self.epochs if entry.start_offset < end_offset]
        self.high_watermark = min(self.high_watermark, end_offset)

    def crash(self) -> None:
        """Stop the broker. When it starts again, its producer state is that of its log."""
        self.is_alive = False
        self.history = list(self.batches)
        self.followed_epoch = UNDEFINED
