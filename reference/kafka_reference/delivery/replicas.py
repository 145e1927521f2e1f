"""The replicas of a partition: who leads, which are in sync, what is committed, and what each has in its log.

Brokers are numbered from 0, which is the order of the assignment as well; broker 0 leads at first, and all are in sync.
Followers fetch whenever the leader has something for them, unless they have stopped. Between two requests every follower
that fetches reaches the end of the leader's log and has its high watermark. The controller makes every change of the in-sync
replicas that a leader requests, at once.

When the leader crashes, the first in-sync replica in the order of the assignment leads whose broker runs. Without one, the
partition has no leader until an in-sync replica is back; with ``unclean.leader.election.enable`` the first replica leads
whose broker runs, and is the only one in sync. A follower truncates its log by leader epochs (KIP-279) before it fetches.
Eligible leader replicas (KIP-966) are not simulated.

The decisions are those of :mod:`kafka_reference.replication`.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_reference.delivery.messages import Batch, Truncation
from kafka_reference.delivery.replica_log import ReplicaLog
from kafka_reference.releases import Release, parse_release
from kafka_reference.replication.behaviour import PARTITIONS, PartitionBehaviour
from kafka_reference.replication.high_watermark import follower_high_watermark, leader_high_watermark
from kafka_reference.replication.in_sync_replicas import (
    BrokerMetadata,
    InSyncState,
    find_out_of_sync,
    has_reached_leader,
    is_eligible,
)
from kafka_reference.replication.produce_acks import (
    Completion,
    check_completion,
    effective_min_in_sync,
    error_before_append,
)
from kafka_reference.replication.replica_state import ReplicaState, reset_replica, update_fetch_state

__all__ = ["PartitionState", "ReplicaRecords", "Replicas"]

_MAX_LAG_MS = 30_000
_BEGIN_MS = 1_000_000
_OLDEST = parse_release("3.3.0")
# Records, the leader's high watermark, the followers': after these fetches nothing changes.
_FETCHES_UNTIL_SETTLED = 3
_BROKER_EPOCH = 0


@dataclass(frozen=True, slots=True)
class ReplicaRecords:
    """The records in the log of a replica, and the high watermark that it has.

    >>> ReplicaRecords(records=(0, 1), high_watermark=1).log_end_offset
    2
    """

    records: tuple[int, ...]
    high_watermark: int

    @property
    def log_end_offset(self) -> int:
        """The offset behind the last record."""
        return len(self.records)


@dataclass(frozen=True, slots=True)
class PartitionState:
    """A partition after a request. ``leader`` and ``high_watermark`` are None while no replica leads.

    >>> from kafka_reference.delivery import Scenario, simulate
    >>> end = simulate(Scenario({}, records=2, unclean_leader_election=True)).partition
    >>> end.leader, end.in_sync, end.high_watermark, end.replicas[2].records
    (0, (0, 1, 2), 2, (0, 1))
    """

    leader: int | None
    in_sync: tuple[int, ...]
    high_watermark: int | None
    replicas: tuple[ReplicaRecords, ...]


class Replicas:
    """The replicas of one partition, in the release of its brokers; up to 3.2.x they do what 3.3.0 does."""

    def __init__(self, release: Release, count: int, min_in_sync: int, *, unclean_election: bool) -> None:
        self._behaviour = PartitionBehaviour.of(release if release in PARTITIONS else _OLDEST)
        self._min_in_sync = effective_min_in_sync(min_in_sync, count, self._behaviour)
        self._unclean_election = unclean_election
        self.logs = [ReplicaLog() for _ in range(count)]
        self.in_sync = frozenset(range(count))
        self.leader: int | None = None
        self.leader_epoch = -1
        self._last_leader = 0
        self._now_ms = _BEGIN_MS
        self._followers: dict[int, ReplicaState] = {}
        self._elect()

    @property
    def leader_log(self) -> ReplicaLog:
        """The log of the leader, or of the last one."""
        return self.logs[self._last_leader]

    def error_before_append(self, acks: int) -> str:
        """Return NOT_ENOUGH_REPLICAS if the leader refuses a request, or ""."""
        return error_before_append(acks, len(self.in_sync), self._min_in_sync)

    def append(self, batch: Batch) -> None:
        """Append a batch to the leader's log. No follower has it yet."""
        self.leader_log.append(batch, self.leader_epoch)
        self._advance_high_watermark()

    def check_completion(self, required_offset: int) -> Completion:
        """Return whether the leader answers a request with acks=all whose records end at ``required_offset``."""
        return check_completion(
            required_offset, self.leader_log.high_watermark, maximal_in_sync_count=len(self.in_sync),
            min_in_sync=self._min_in_sync,
        )  # fmt: skip

    def fetch(self) -> None:
        """Let every follower that fetches do so once: it takes the leader's records and the high watermark."""
        if self.leader is None:  # unreached: no question fetches without a leader
            return
        for broker, log in enumerate(self.logs):
            if broker != self.leader and log.is_alive and log.fetches:
                self._fetch(broker, log)

    def settle(self) -> None:
        """Let the followers fetch until nothing changes."""
        for _ in range(_FETCHES_UNTIL_SETTLED):
            self.fetch()

    def _fetch(self, broker: int, log: ReplicaLog) -> None:
        leader = self.leader_log
        log.follow(leader, self.leader_epoch)
        self._followers[broker] = update_fetch_state(
            self._followers[broker], log.end_offset, log_start_offset=0, now_ms=self._now_ms,
            leader_end_offset=leader.end_offset, broker_epoch=_BROKER_EPOCH,
        )  # fmt: skip
        self._join(broker)
        self._advance_high_watermark()
        for offset in range(log.end_offset, leader.end_offset):
            log.append(leader.batches[offset], leader.epoch_of(offset))
        log.high_watermark = follower_high_watermark(leader.high_watermark, log.end_offset)

    def _join(self, broker: int) -> None:
        leader = self.leader_log
        if broker not in self.in_sync and has_reached_leader(
            self._followers[broker], leader.high_watermark, leader.epochs[-1].start_offset
        ):
            self.in_sync |= {broker}

    def _advance_high_watermark(self) -> None:
        leader = self.leader_log
        leader.high_watermark = leader_high_watermark(
            leader.high_watermark, leader.end_offset, self._followers, self.in_sync, in_sync_count=len(self.in_sync),
            min_in_sync=self._min_in_sync, now_ms=self._now_ms, max_lag_ms=_MAX_LAG_MS, may_join=self._may_join(),
            behaviour=self._behaviour,
        )  # fmt: skip

    def _may_join(self) -> list[int]:
        return [
            broker
            for broker, replica in self._followers.items()
            if is_eligible(
                replica, BrokerMetadata(_BROKER_EPOCH, fenced=not self.logs[broker].is_alive), self._behaviour
            )
        ]

    def stop_follower(self, broker: int) -> None:
        """Let a follower fetch no more. A leader goes on, and fetches once it follows."""
        if broker != self.leader:
            self.logs[broker].fetches = False

    def resume_follower(self, broker: int) -> None:
        """Let a follower fetch again: it reaches the end of the leader's log and joins the in-sync replicas."""
        self.logs[broker].fetches = True
        self.settle()

    def shrink(self) -> None:
        """Let ``replica.lag.time.max.ms`` pass: the leader removes in-sync replicas that lacked a record for so long.

        A follower that has stopped stays in sync as long as it lacks nothing.
        """
        if self.leader is None:  # unreached: no question waits for a lag without a leader
            return
        self._now_ms += _MAX_LAG_MS + 1
        self.settle()
        self.in_sync -= find_out_of_sync(
            InSyncState(self.in_sync), self.leader, self._followers, self.leader_log.end_offset, now_ms=self._now_ms,
            max_lag_ms=_MAX_LAG_MS,
        )  # fmt: skip
        self._advance_high_watermark()
        self.settle()

    def crash_leader(self) -> int:
        """Let the broker of the leader crash, and another replica lead if one may. Return the broker that crashed."""
        crashed = self._last_leader
        self.logs[crashed].crash()
        self.leader = None
        self._elect()
        return crashed

    def recover(self, broker: int) -> None:
        """Start a crashed broker: it follows, or leads if no other replica may."""
        self.logs[broker].is_alive = True
        if self.leader is None:  # unreached: a broker recovers before its partition has no leader
            self._elect()
        self.settle()

    def _elect(self) -> None:
        alive = [broker for broker, log in enumerate(self.logs) if log.is_alive]
        in_sync = [broker for broker in alive if broker in self.in_sync]
        if in_sync:
            self._lead(in_sync[0], in_sync)
        elif alive and self._unclean_election:
            self._lead(alive[0], alive[:1])

    def _lead(self, broker: int, in_sync: list[int]) -> None:
        self.leader = self._last_leader = broker
        self.leader_epoch += 1
        self.in_sync = frozenset(in_sync)
        log = self.leader_log
        log.fetches = True
        log.assign_epoch(self.leader_epoch)
        self._followers = {
            follower: reset_replica(
                ReplicaState(), now_ms=self._now_ms, leader_end_offset=log.end_offset, is_new_leader=True,
                is_in_sync=follower in self.in_sync,
            )
            for follower in range(len(self.logs)) if follower != broker
        }  # fmt: skip
        self._advance_high_watermark()
        self.settle()

    def history(self) -> tuple[Batch | Truncation, ...]:
        """Return what the producer state of the leader has gone through."""
        return tuple(self.leader_log.history)

    def state(self) -> PartitionState:
        """Return the partition as it is now."""
        replicas = tuple(
            ReplicaRecords(tuple(record for batch in log.batches for record in batch.records), log.high_watermark)
            for log in self.logs
        )
        high_watermark = None if self.leader is None else self.leader_log.high_watermark
        return PartitionState(self.leader, tuple(sorted(self.in_sync)), high_watermark, replicas)
