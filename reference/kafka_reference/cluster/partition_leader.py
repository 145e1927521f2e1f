"""The leader's side of a partition: what its followers fetch, who is in sync, and what is committed.

Java source mirrored: ``kafka.cluster.Partition``, since 3.6.0,
https://github.com/apache/kafka/blob/4.3.1/core/src/main/scala/kafka/cluster/Partition.scala
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_reference.cluster.replica_log import Batch, ReplicaLog
from kafka_reference.replication.behaviour import PartitionBehaviour
from kafka_reference.replication.high_watermark import leader_high_watermark
from kafka_reference.replication.in_sync_replicas import (
    BrokerMetadata,
    InSyncState,
    find_out_of_sync,
    has_reached_leader,
    is_eligible,
)
from kafka_reference.replication.produce_acks import effective_min_in_sync
from kafka_reference.replication.replica_state import ReplicaState, reset_replica, update_fetch_state

__all__ = ["MAX_LAG_MS", "PartitionLeader"]

MAX_LAG_MS = 1000
"""``replica.lag.time.max.ms`` of a history, on a clock that only a settling cluster moves on."""


@dataclass(slots=True)
class PartitionLeader:
    """A replica that leads in one leader epoch."""

    broker: int
    """The broker that leads."""
    epoch: int
    """The leader epoch."""
    log: ReplicaLog
    """The broker's log."""
    min_isr: int
    """The topic's ``min.insync.replicas``, as the broker has it."""
    behaviour: PartitionBehaviour
    """What the release does."""
    epoch_start_offset: int = 0
    """The end of the log when the epoch began."""
    isr: frozenset[int] = frozenset()
    """The committed in-sync replicas."""
    followers: dict[int, ReplicaState] = field(default_factory=dict)
    """The last fetch of every follower."""

    def begin_epoch(self, epoch: int, isr: frozenset[int], replicas: tuple[int, ...], *, now_ms: int) -> None:
        """Lead from now on in ``epoch``. A leader that led before keeps its followers' offsets. Mirrors ``makeLeader``."""
        is_new = not self.followers
        self.epoch, self.epoch_start_offset = epoch, self.log.end_offset
        self.log.begin_epoch(epoch, self.log.end_offset)
        for replica in replicas:
            if replica != self.broker:
                self.followers[replica] = reset_replica(
                    self.followers.get(replica, ReplicaState()),
                    now_ms=now_ms,
                    leader_end_offset=self.log.end_offset,
                    is_new_leader=is_new,
                    is_in_sync=replica in isr,
                )
        self.isr = isr

    @property
    def effective_min_isr(self) -> int:
        """The minimum that counts."""
        return effective_min_in_sync(self.min_isr, len(self.followers) + 1, self.behaviour)

    def append(self, records: int) -> int:
        """Append a batch; return the offset behind it."""
        self.log.append(Batch(self.log.end_offset, records, self.epoch))
        return self.log.end_offset

    def raise_high_watermark(self, brokers: Mapping[int, BrokerMetadata], *, now_ms: int) -> None:
        """Raise the high watermark if the followers that count have more. Mirrors ``maybeIncrementLeaderHW``."""
        self.log.high_watermark = leader_high_watermark(
            self.log.high_watermark,
            self.log.end_offset,
            self.followers,
            self.isr,
            in_sync_count=len(self.isr),
            min_in_sync=self.effective_min_isr,
            now_ms=now_ms,
            max_lag_ms=MAX_LAG_MS,
            may_join=[one for one in self.followers if self._is_eligible(one, brokers)],
            behaviour=self.behaviour,
        )

    def take_fetch(self, follower: int, offset: int, brokers: Mapping[int, BrokerMetadata], *, now_ms: int) -> bool:
        """Note a follower's fetch; return whether the follower now joins. Mirrors ``updateFollowerFetchState``."""
        before = self.followers[follower]
        self.followers[follower] = after = update_fetch_state(
            before,
            offset,
            log_start_offset=0,
            now_ms=now_ms,
            leader_end_offset=self.log.end_offset,
            broker_epoch=brokers[follower].epoch,
        )
        joins = (
            follower not in self.isr
            and self._is_eligible(follower, brokers)
            and has_reached_leader(after, self.log.high_watermark, self.epoch_start_offset)
        )
        if joins:
            self.isr |= {follower}
        if after.log_end_offset != before.log_end_offset or joins:
            self.raise_high_watermark(brokers, now_ms=now_ms)
        return joins

    def out_of_sync(self, *, now_ms: int) -> frozenset[int]:
        """Return the in-sync replicas that the leader removes. Mirrors ``maybeShrinkIsr``."""
        return find_out_of_sync(
            InSyncState(self.isr), self.broker, self.followers, self.log.end_offset,
            now_ms=now_ms, max_lag_ms=MAX_LAG_MS,
        )  # fmt: skip

    def _is_eligible(self, follower: int, brokers: Mapping[int, BrokerMetadata]) -> bool:
        return is_eligible(self.followers[follower], brokers.get(follower), self.behaviour)
