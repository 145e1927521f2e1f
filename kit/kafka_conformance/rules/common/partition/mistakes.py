"""Known mistakes of a partition, as subclasses of the reference's."""

# ruff: noqa: ARG002, D102 - a mistake may ignore an argument, and its class says what its methods do

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from kafka_reference.replication.high_watermark import EpochEnd
from kafka_reference.replication.in_sync_replicas import InSyncState, Rejection
from kafka_reference.replication.partition_log import PartitionLog
from kafka_reference.replication.partition_state import AlterRequest, FollowerFetch, Partition
from kafka_reference.replication.produce_acks import Completion
from kafka_reference.replication.replica_state import ReplicaState

__all__ = [
    "AnyAcksNeedMinimum", "AsksInFlight", "ClearsFollowers", "CommitsExpansionAtOnce", "CommitsShrinkAtOnce",
    "CountsAssigned", "CountsDiverging", "CountsLeaderTwice", "EpochEndsWithRecords", "FollowerNeverGoesBack",
    "FollowsBlindly", "IgnoresBrokers", "IgnoresEpochStart", "IgnoresMaximal", "IgnoresMinimum", "KeepsEpochs",
    "KeepsHighWatermark", "KeepsRoleState", "LaggardsOnly", "NeedsEnd", "NeverRejoins", "OnlyInSync",
    "RemovesLeader", "ResetsOnEveryError", "ResetsSameEpoch", "RetriesEverything", "ShrinksAtLimit",
    "TakesAnyAnswer", "TakesLateAnswers", "UsesCommitted", "UsesFetchTime", "WaitsForShrinking",
]  # fmt: skip


class _Mistaken(Partition):
    """A partition whose high watermark is moved with other followers than the real one."""

    def update_high_watermark(self) -> bool:
        followers, in_sync = self.followers, self.in_sync
        self.followers, self.in_sync = self.seen_followers(), self.seen_in_sync()
        try:
            return super().update_high_watermark()
        finally:
            self.followers, self.in_sync = followers, in_sync

    def seen_followers(self) -> dict[int, ReplicaState]:
        """Return the followers that the high watermark may wait for."""
        return self.followers

    def seen_in_sync(self) -> InSyncState:
        """Return the in-sync replicas that it waits for."""
        return self.in_sync


class CountsAssigned(_Mistaken):
    """The high watermark waits for every assigned replica."""

    def seen_in_sync(self) -> InSyncState:
        return InSyncState(frozenset({self.broker, *self.followers}))


class OnlyInSync(_Mistaken):
    """The high watermark waits for no follower outside of the in-sync replicas."""

    def seen_followers(self) -> dict[int, ReplicaState]:
        return {each: state for each, state in self.followers.items() if each in self.in_sync.maximal}


class IgnoresMaximal(_Mistaken):
    """The high watermark does not wait for a follower whose addition is not confirmed."""

    def seen_followers(self) -> dict[int, ReplicaState]:
        return {each: state for each, state in self.followers.items() if each != self.in_sync.joining}


class WaitsForShrinking(_Mistaken):
    """The high watermark does not wait any more for followers that the controller is asked to remove."""

    def seen_followers(self) -> dict[int, ReplicaState]:
        return {each: state for each, state in self.followers.items() if each not in self.in_sync.leaving}


class KeepsHighWatermark(Partition):
    """The leader's high watermark moves only by fetches, not when the in-sync replicas change."""

    def handle_answer(self, error: str, partition_epoch: int) -> None:
        before = self.log.high_watermark
        super().handle_answer(error, partition_epoch)
        self.log.high_watermark = before


class FollowerNeverGoesBack(Partition):
    """A follower's high watermark never goes down."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.log = _Monotonic(self.behaviour)


class _Monotonic(PartitionLog):
    def follow_high_watermark(self, leader_high_watermark: int) -> None:
        before = self.high_watermark
        super().follow_high_watermark(leader_high_watermark)
        self.high_watermark = max(before, self.high_watermark)


class FollowsBlindly(Partition):
    """A follower takes over the leader's high watermark, even beyond the end of its log."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.log = _Unbounded(self.behaviour)


class _Unbounded(PartitionLog):
    def follow_high_watermark(self, leader_high_watermark: int) -> None:
        super().follow_high_watermark(leader_high_watermark)
        self.high_watermark = max(leader_high_watermark, 0)


class KeepsEpochs(Partition):
    """Truncation leaves the epochs of removed records in the cache."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.log = _KeepsEpochs(self.behaviour)


class _KeepsEpochs(PartitionLog):
    def truncate_to(self, offset: int) -> None:
        epochs = list(self.epochs)
        super().truncate_to(offset)
        self.epochs = epochs


class EpochEndsWithRecords(Partition):
    """A new leader does not note where its epoch begins until it appends."""

    def lead(self, *, epoch: int, partition_epoch: int, in_sync: Collection[int], replicas: Sequence[int]) -> bool:
        epochs = list(self.log.epochs)
        is_new = super().lead(epoch=epoch, partition_epoch=partition_epoch, in_sync=in_sync, replicas=replicas)
        self.log.epochs = epochs
        return is_new


class ClearsFollowers(Partition):
    """A leader that leads on in a new epoch forgets the offsets of its followers."""

    def lead(self, *, epoch: int, partition_epoch: int, in_sync: Collection[int], replicas: Sequence[int]) -> bool:
        if epoch > self.leader_epoch and partition_epoch >= self.partition_epoch:
            self.followers = {}
        return super().lead(epoch=epoch, partition_epoch=partition_epoch, in_sync=in_sync, replicas=replicas)


class ResetsSameEpoch(Partition):
    """New metadata in the same leader epoch reset what is known of the followers."""

    def lead(self, *, epoch: int, partition_epoch: int, in_sync: Collection[int], replicas: Sequence[int]) -> bool:
        if epoch == self.leader_epoch and self.is_leader and partition_epoch >= self.partition_epoch:
            self.followers = {}
        return super().lead(epoch=epoch, partition_epoch=partition_epoch, in_sync=in_sync, replicas=replicas)


class KeepsRoleState(Partition):
    """Older metadata are taken over as well."""

    def lead(self, *, epoch: int, partition_epoch: int, in_sync: Collection[int], replicas: Sequence[int]) -> bool:
        newest = max(partition_epoch, self.partition_epoch)
        return super().lead(epoch=epoch, partition_epoch=newest, in_sync=in_sync, replicas=replicas)


class UsesFetchTime(Partition):
    """A follower is caught up whenever it fetches."""

    def fetch(self, fetch: FollowerFetch) -> EpochEnd | None:
        found = super().fetch(fetch)
        if found is None and fetch.replica in self.followers:
            self.followers[fetch.replica] = replace(self.followers[fetch.replica], last_caught_up_ms=self.now_ms)
        return found


class LaggardsOnly(Partition):
    """A follower that fetches from where the leader's end was at its last fetch does not count as caught up then."""

    def fetch(self, fetch: FollowerFetch) -> EpochEnd | None:
        before = self.followers.get(fetch.replica)
        end = self.log.end_offset
        found = super().fetch(fetch)
        if found is None and before is not None and self.followers[fetch.replica].log_end_offset < end:
            state = self.followers[fetch.replica]
            self.followers[fetch.replica] = replace(state, last_caught_up_ms=before.last_caught_up_ms)
        return found


class CountsDiverging(Partition):
    """A fetch counts even if the follower's log differs from the leader's."""

    def fetch(self, fetch: FollowerFetch) -> EpochEnd | None:
        found = super().fetch(fetch)
        if found is not None:
            super().fetch(replace(fetch, last_epoch=None))
        return found


class ShrinksAtLimit(Partition):
    """A follower that was caught up exactly the lag limit ago is removed."""

    def shrink(self) -> None:
        self.now_ms += 1
        super().shrink()
        self.now_ms -= 1


class IgnoresEpochStart(Partition):
    """A follower joins once it has reached the high watermark, even before the start of the leader's epoch."""

    def expand(self, follower: int) -> None:
        start, self.epoch_start_offset = self.epoch_start_offset, 0
        super().expand(follower)
        self.epoch_start_offset = start


class NeedsEnd(Partition):
    """A follower joins only from the end of the leader's log."""

    def expand(self, follower: int) -> None:
        if self.followers[follower].log_end_offset >= self.log.end_offset:
            super().expand(follower)


class IgnoresBrokers(Partition):
    """A follower joins whatever the metadata say of its broker."""

    def is_eligible(self, follower: int) -> bool:
        return follower in self.followers


class NeverRejoins(Partition):
    """A follower joins only by a fetch that moves its log end offset."""

    def _update_follower(self, fetch: FollowerFetch, offset: int) -> None:
        before = self.followers[fetch.replica].log_end_offset
        self._moved = before != offset
        super()._update_follower(fetch, offset)

    def expand(self, follower: int) -> None:
        if self._moved:
            super().expand(follower)


class AsksInFlight(Partition):
    """A change is asked for while another is in flight."""

    def expand(self, follower: int) -> None:
        in_sync = self.in_sync
        self.in_sync = InSyncState(in_sync.committed)
        super().expand(follower)
        if not self.in_sync.is_in_flight:
            self.in_sync = in_sync


class CommitsExpansionAtOnce(Partition):
    """A follower is in sync once the controller is asked to add it."""

    def submit(self, request: AlterRequest) -> None:
        super().submit(request)
        if request.proposed.joining is not None:
            self.in_sync = InSyncState(request.proposed.requested)


class CommitsShrinkAtOnce(Partition):
    """A follower is out of sync once the controller is asked to remove it."""

    def submit(self, request: AlterRequest) -> None:
        super().submit(request)
        if request.proposed.leaving:
            self.in_sync = InSyncState(request.proposed.requested)


class RemovesLeader(Partition):
    """The leader may remove itself: it looks itself up among the followers."""

    def shrink(self) -> None:
        broker, self.broker = self.broker, 0
        leader, self.leader = self.leader, 0 if self.leader == broker else self.leader
        super().shrink()
        self.broker, self.leader = broker, leader


class _Answering(Partition):
    """A partition that handles a rejection of the controller differently."""

    rejection: Rejection

    def _reject(self, request: AlterRequest, rejection: Rejection) -> None:
        super()._reject(request, self.rejection)


class ResetsOnEveryError(_Answering):
    """Every error of the controller drops the change."""

    rejection = Rejection.RESET


class RetriesEverything(_Answering):
    """Every error of the controller is retried."""

    rejection = Rejection.RETRY


class TakesLateAnswers(Partition):
    """An answer to an older request is taken for the current one's."""

    def handle_answer(self, error: str, partition_epoch: int) -> None:
        if self.requests and self.pending is not None:
            self.requests[0] = self.pending
        super().handle_answer(error, partition_epoch)


class TakesAnyAnswer(Partition):
    """A success with an older partition epoch is taken."""

    def handle_answer(self, error: str, partition_epoch: int) -> None:
        super().handle_answer(error, max(partition_epoch, self.partition_epoch))


class AnyAcksNeedMinimum(Partition):
    """Every request needs the minimum of in-sync replicas before the append."""

    def append(self, records: int, acks: int) -> int:
        return super().append(records, -1)


class IgnoresMinimum(Partition):
    """No request is refused before the append."""

    def append(self, records: int, acks: int) -> int:
        return super().append(records, 1)


class CountsLeaderTwice(Partition):
    """A request is refused only if fewer followers than the minimum are in sync, without the leader."""

    def append(self, records: int, acks: int) -> int:
        self.min_in_sync -= 1
        try:
            return super().append(records, acks)
        finally:
            self.min_in_sync += 1


class UsesCommitted(Partition):
    """The check after the append counts committed in-sync replicas."""

    def check_completion(self, required_offset: int) -> Completion:
        in_sync, self.in_sync = self.in_sync, InSyncState(self.in_sync.committed)
        try:
            return super().check_completion(required_offset)
        finally:
            self.in_sync = in_sync
