"""One replica of a partition: the leader with its followers, or a follower, and the log of either."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kafka_reference.releases import Release
from kafka_reference.replication.behaviour import PartitionBehaviour
from kafka_reference.replication.errors import (
    FencedLeaderEpochException,
    NotEnoughReplicasException,
    NotLeaderOrFollowerException,
    OffsetOutOfRangeException,
    UnknownLeaderEpochException,
)
from kafka_reference.replication.high_watermark import EpochEnd, leader_high_watermark, may_advance
from kafka_reference.replication.in_sync_replicas import (
    BrokerMetadata,
    InSyncState,
    Rejection,
    find_out_of_sync,
    handle_rejection,
    has_reached_leader,
    is_eligible,
)
from kafka_reference.replication.partition_log import LogBatch, PartitionLog
from kafka_reference.replication.produce_acks import (
    Completion,
    check_completion,
    effective_min_in_sync,
    error_before_append,
)
from kafka_reference.replication.replica_state import ReplicaState, reset_replica, update_fetch_state

__all__ = ["AlterRequest", "FollowerFetch", "Partition"]

_UNKNOWN_EPOCH = -1


@dataclass(frozen=True, slots=True)
class AlterRequest:
    """What a leader asks the controller for: a new set of in-sync replicas."""

    in_sync: tuple[tuple[int, ...], ...]
    """Each broker, ascending, with its broker epoch since 3.5.0; -1 for a follower that has not fetched."""
    leader_epoch: int
    partition_epoch: int
    proposed: InSyncState
    """The leader's in-sync replicas while the request is in flight."""


@dataclass(frozen=True, slots=True)
class FollowerFetch:
    """A fetch request of a follower."""

    replica: int
    offset: int
    log_start_offset: int = 0
    broker_epoch: int = -1
    leader_epoch: int | None = None
    """The leader epoch that the follower knows; None in old requests."""
    last_epoch: int | None = None
    """The epoch of the follower's last record; None in old requests."""


class Partition:
    """The replica of a partition on one broker.

    ``now_ms`` is the clock, which the caller moves; ``brokers`` are the metadata, which the caller changes; ``requests``
    are the AlterPartition requests that the caller answers, oldest first; ``pending`` is the one that the leader waits for,
    and ``sent`` are all that it has sent, which the caller may clear.

    Java source mirrored: ``kafka.cluster.Partition``.
    """

    def __init__(
        self,
        version: str | Release,
        *,
        broker: int = 1,
        broker_epoch: int = 100,
        max_lag_ms: int = 30_000,
        min_in_sync: int = 1,
    ) -> None:
        self.behaviour = PartitionBehaviour.of(version)
        self.broker, self.broker_epoch = broker, broker_epoch
        self.max_lag_ms, self.min_in_sync = max_lag_ms, min_in_sync
        self.now_ms = 0
        self.brokers: dict[int, BrokerMetadata] = {}
        self.log = PartitionLog(self.behaviour)
        self.followers: dict[int, ReplicaState] = {}
        self.in_sync = InSyncState()
        self.requests: list[AlterRequest] = []
        self.sent: list[AlterRequest] = []
        self.pending: AlterRequest | None = None
        self.leader: int | None = None
        self.leader_epoch = -1
        self.partition_epoch = 0
        self.epoch_start_offset: int | None = None

    @property
    def is_leader(self) -> bool:
        """Whether this broker leads the partition."""
        return self.leader == self.broker

    @property
    def effective_min_in_sync(self) -> int:
        """How many replicas have to be in sync."""
        return effective_min_in_sync(self.min_in_sync, len(self.followers) + 1, self.behaviour)

    # Roles.
    def lead(self, *, epoch: int, partition_epoch: int, in_sync: Collection[int], replicas: Sequence[int]) -> bool:
        """Take over the lead, or take note of new metadata as the leader; return whether the broker leads newly.

        An older partition epoch changes nothing. Only a newer leader epoch resets what is known of the followers.

        Java source mirrored: ``Partition.makeLeader``.
        """
        if partition_epoch < self.partition_epoch:
            return False
        is_new = not self.is_leader
        self.followers = {each: self.followers.get(each, ReplicaState()) for each in replicas if each != self.broker}
        self._commit(in_sync)
        if epoch > self.leader_epoch:
            self._begin_epoch(epoch, is_new)
        self.partition_epoch = partition_epoch
        self.leader = self.broker
        self.update_high_watermark()
        return is_new

    def _begin_epoch(self, epoch: int, is_new: bool) -> None:
        end = self.log.end_offset
        self.log.assign_epoch(epoch, end)
        for each, replica in self.followers.items():
            self.followers[each] = reset_replica(
                replica,
                now_ms=self.now_ms,
                leader_end_offset=end,
                is_new_leader=is_new,
                is_in_sync=each in self.in_sync.committed,
            )
        self.leader_epoch, self.epoch_start_offset = epoch, end

    def follow(self, *, leader: int, epoch: int, partition_epoch: int) -> bool:
        """Follow a leader; return whether the leader epoch is new, so that fetching restarts.

        Java source mirrored: ``Partition.makeFollower``.
        """
        if partition_epoch < self.partition_epoch:
            return False
        is_new = epoch > self.leader_epoch
        self.leader, self.leader_epoch, self.partition_epoch = leader, epoch, partition_epoch
        self.epoch_start_offset = None
        self.followers = {}
        self._commit(())
        return is_new

    # The leader.
    def append(self, records: int, acks: int) -> int:
        """Append a batch as the leader; return the offset of its first record.

        Raises NotLeaderOrFollowerException, NotEnoughReplicasException.

        Java source mirrored: ``Partition.appendRecordsToLeader``.
        """
        if not self.is_leader:
            raise NotLeaderOrFollowerException
        if error_before_append(acks, len(self.in_sync.committed), self.effective_min_in_sync):
            raise NotEnoughReplicasException
        offset = self.log.append_as_leader(records, self.leader_epoch)
        self.update_high_watermark()
        return offset

    def update_high_watermark(self) -> bool:
        """Move the leader's high watermark, if it can; return whether it moved."""
        count, least = len(self.in_sync.committed), self.effective_min_in_sync
        if not may_advance(count, least, self.behaviour):
            return False
        before = self.log.locate_high_watermark()
        self.log.high_watermark = leader_high_watermark(
            before,
            self.log.end_offset,
            self.followers,
            self.in_sync.maximal,
            in_sync_count=count,
            min_in_sync=least,
            now_ms=self.now_ms,
            max_lag_ms=self.max_lag_ms,
            may_join=[each for each in self.followers if self.is_eligible(each)],
            behaviour=self.behaviour,
        )
        return self.log.high_watermark > before

    def fetch(self, fetch: FollowerFetch) -> EpochEnd | None:
        """Serve a follower's fetch: take note of its state, add it to the in-sync replicas, move the high watermark.

        Return the epoch and end offset from which on the follower's log differs, or None. If it differs, nothing changes.
        Raises NotLeaderOrFollowerException, FencedLeaderEpochException, UnknownLeaderEpochException,
        OffsetOutOfRangeException.

        Java source mirrored: ``Partition.fetchRecords``, ``updateFollowerFetchState``.
        """
        self._check_leader_epoch(fetch.leader_epoch)
        if not self.is_leader:
            raise NotLeaderOrFollowerException
        if fetch.replica not in self.followers:
            raise NotLeaderOrFollowerException if fetch.leader_epoch is None else UnknownLeaderEpochException
        diverging = self._find_divergence(fetch)
        if diverging is None:
            self._update_follower(fetch, self.log.find_read_start(fetch.offset))
        return diverging

    def _check_leader_epoch(self, epoch: int | None) -> None:
        if epoch is not None and epoch != self.leader_epoch:
            raise FencedLeaderEpochException if epoch < self.leader_epoch else UnknownLeaderEpochException

    def _find_divergence(self, fetch: FollowerFetch) -> EpochEnd | None:
        if fetch.last_epoch is None:
            return None
        found = self.log.find_epoch_end(fetch.last_epoch)
        if found.end_offset < 0 or found.epoch < 0 or fetch.offset < 0:
            raise OffsetOutOfRangeException
        return found if found.epoch < fetch.last_epoch or found.end_offset < fetch.offset else None

    def _update_follower(self, fetch: FollowerFetch, offset: int) -> None:
        broker, known = self.brokers.get(fetch.replica), self.followers[fetch.replica]
        fences = self.behaviour.fences_stale_fetch and fetch.broker_epoch != _UNKNOWN_EPOCH
        if fences and broker is not None and not broker.fenced and broker.epoch > fetch.broker_epoch:
            raise NotLeaderOrFollowerException
        self.followers[fetch.replica] = update_fetch_state(
            known,
            offset,
            log_start_offset=fetch.log_start_offset,
            now_ms=self.now_ms,
            leader_end_offset=self.log.end_offset,
            broker_epoch=fetch.broker_epoch,
        )
        self.expand(fetch.replica)
        if offset != known.log_end_offset:
            self.update_high_watermark()

    # The in-sync replicas.
    def is_eligible(self, follower: int) -> bool:
        """Return whether the metadata let a follower join."""
        return is_eligible(self.followers.get(follower), self.brokers.get(follower), self.behaviour)

    def expand(self, follower: int) -> None:
        """Ask the controller to add a follower, if it may join.

        Java source mirrored: ``Partition.maybeExpandIsr``.
        """
        if self.in_sync.is_in_flight or follower in self.in_sync.committed or not self.is_eligible(follower):
            return
        if has_reached_leader(self.followers[follower], self.log.high_watermark, self.epoch_start_offset):
            self._request(InSyncState(self.in_sync.committed, joining=follower))

    def shrink(self) -> None:
        """Ask the controller to remove the followers that are out of sync, if this broker leads.

        Java source mirrored: ``Partition.maybeShrinkIsr``.
        """
        if not self.is_leader:
            return
        leaving = find_out_of_sync(
            self.in_sync,
            self.broker,
            self.followers,
            self.log.end_offset,
            now_ms=self.now_ms,
            max_lag_ms=self.max_lag_ms,
        )
        if leaving:
            self._request(InSyncState(self.in_sync.committed, leaving=leaving))

    def _commit(self, in_sync: Collection[int]) -> None:
        self.in_sync, self.pending = InSyncState(frozenset(in_sync)), None

    def _request(self, proposed: InSyncState) -> None:
        self.in_sync = proposed
        self.pending = AlterRequest(
            tuple((each, *self._broker_epoch(each)) for each in sorted(proposed.requested)),
            self.leader_epoch,
            self.partition_epoch,
            proposed,
        )
        self.submit(self.pending)

    def submit(self, request: AlterRequest) -> None:
        """Send a request to the controller."""
        self.requests.append(request)
        self.sent.append(request)

    def _broker_epoch(self, broker: int) -> tuple[int, ...]:
        if not self.behaviour.checks_broker_epoch:
            return ()
        if broker == self.broker:
            return (self.broker_epoch,)
        epoch = self.followers[broker].broker_epoch if broker in self.followers else None
        return (_UNKNOWN_EPOCH if epoch is None else epoch,)

    def handle_answer(self, error: str, partition_epoch: int) -> None:
        """Handle the controller's answer to the oldest request, if there is one.

        ``error`` is a name of ``Errors``, "" for success, which comes with the new ``partition_epoch``. An answer to a
        request that is not the current one is ignored, and so is a success with an older partition epoch.

        Java source mirrored: ``Partition.submitAlterPartition``, ``handleAlterPartitionUpdate``.
        """
        if not self.requests:
            return
        request = self.requests.pop(0)
        if self.pending != request:
            return
        if error:
            self._reject(request, handle_rejection(error))
        elif partition_epoch >= self.partition_epoch:
            self._commit(request.proposed.requested)
            self.partition_epoch = partition_epoch
            self.update_high_watermark()

    def _reject(self, request: AlterRequest, rejection: Rejection) -> None:
        if rejection is Rejection.RESET:
            self._commit(request.proposed.committed)
        elif rejection is Rejection.RETRY:
            self.submit(request)

    def check_completion(self, required_offset: int) -> Completion:
        """Return whether a request with ``acks=all`` whose records end at ``required_offset`` is answered, and how.

        Java source mirrored: ``Partition.checkEnoughReplicasReachOffset``.
        """
        if not self.is_leader:
            return Completion(False, "NOT_LEADER_OR_FOLLOWER")
        return check_completion(
            required_offset,
            self.log.high_watermark,
            maximal_in_sync_count=len(self.in_sync.maximal),
            min_in_sync=self.effective_min_in_sync,
        )

    # The follower.
    def replicate(self, batches: Sequence[LogBatch]) -> None:
        """Append batches that were fetched from the leader.

        Raises OffsetsOutOfOrderException, UnexpectedAppendOffsetException.

        Java source mirrored: ``Partition.appendRecordsToFollowerOrFutureReplica``.
        """
        self.log.append_as_follower(batches, self.leader_epoch)
