"""Known mistakes about replication: with each of them the reference mispredicts some generated history."""

# ruff: noqa: ARG005 - a mistake may ignore an argument

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from kafka_reference.cluster import history as cluster_history
from kafka_reference.cluster import partition_leader
from kafka_reference.cluster import state as cluster_state
from kafka_reference.cluster.history import ClusterHistory
from kafka_reference.cluster.kraft_controller import KraftController
from kafka_reference.cluster.observation import Settled
from kafka_reference.cluster.partition_leader import PartitionLeader
from kafka_reference.cluster.replica_log import ReplicaLog
from kafka_reference.cluster.state import ClusterState
from kafka_reference.cluster.zookeeper_controller import ZooKeeperController
from kafka_reference.elections import eligible_leader_replicas, leader_election
from kafka_reference.elections.partition_registration import NO_LEADER
from kafka_reference.replication.produce_acks import ALL, Completion

__all__ = ["MISTAKES", "ReplicationMistake", "mistaken"]


@dataclass(frozen=True, slots=True)
class ReplicationMistake:
    """A mistake: a function or method of the reference that is replaced."""

    slug: str
    """A short name."""
    description: str
    """What is wrong, in a sentence."""
    owner: Any
    """The module or class that has the function."""
    name: str
    """The name of the function."""
    wrong: Callable[[Any], Any]
    """Returns the wrong function, given the right one."""


@contextmanager
def mistaken(mistake: ReplicationMistake) -> Iterator[None]:
    """Let the reference make a mistake within the block."""
    right = vars(mistake.owner)[mistake.name]
    setattr(mistake.owner, mistake.name, mistake.wrong(right))
    try:
        yield
    finally:
        setattr(mistake.owner, mistake.name, right)


def _ends(leader_end: int, followers: Any, in_sync: Any) -> list[int]:
    return [leader_end, *(state.log_end_offset for broker, state in followers.items() if broker in in_sync)]


def _high_watermark(choose: Callable[[int, Any, Any], int]) -> Callable[[Any], Any]:
    """Return a rule that chooses among the leader's end, the followers and the in-sync replicas."""
    return lambda right: lambda now, end, followers, in_sync, **rest: max(now, choose(end, followers, in_sync))


def _below_minimum(right: Any) -> Any:
    return lambda *args, min_in_sync, **rest: right(*args, min_in_sync=1, **rest)


def _with_minimum(change: Callable[[int], int]) -> Callable[[Any], Any]:
    return lambda right: lambda acks, count, minimum: right(acks, count, change(minimum))


def _reads_to_end(right: Any) -> Any:
    def settle(self: ClusterHistory) -> Settled:
        seen: Settled = right(self)
        return replace(seen, readable=seen.replicas[seen.leader].end_offset) if seen.leader != NO_LEADER else seen

    return settle


def _keeps_epoch(right: Any) -> Any:
    def change(self: KraftController, *args: Any, **options: Any) -> Any:
        epoch = self.partition.leader_epoch
        changed = right(self, *args, **options)
        self.partition = replace(self.partition, leader_epoch=epoch)
        return changed

    return change


def _shrink_raises_epoch(right: Any) -> Any:
    def change(self: KraftController, *args: Any, **options: Any) -> Any:
        before = self.partition
        changed = right(self, *args, **options)
        if self.partition.leader_epoch == before.leader_epoch and not set(before.isr) <= set(self.partition.isr):
            self.partition = replace(self.partition, leader_epoch=before.leader_epoch + 1)
        return changed

    return change


def _removal_keeps_epoch(right: Any) -> Any:
    def end_session(self: ZooKeeperController, broker: int) -> None:
        before = self.partition
        right(self, broker)
        if self.partition.leader == before.leader:
            self.partition = replace(self.partition, leader_epoch=before.leader_epoch)

    return end_session


def _stays_in_sync(right: Any) -> Any:
    def end_session(self: KraftController, broker: int) -> None:
        if broker == self.partition.leader:
            right(self, broker)
        else:
            self.alive.discard(broker)

    return end_session


def _unclean(right: Any) -> Any:
    def change(self: KraftController, *args: Any, **options: Any) -> Any:
        return right(self, *args, **{**options, "election": options.get("election") or "unclean"})

    return change


def _elects_lowest(right: Any) -> Any:
    return lambda behaviour, election, candidates, **options: right(
        behaviour, election, replace(candidates, replicas=tuple(sorted(candidates.replicas))), **options
    )


def _last_replica_leaves(right: Any) -> Any:
    def change(self: KraftController, isr: tuple[int, ...], **options: Any) -> Any:
        changed = right(self, isr, **options)
        if not isr and self.partition.leader == NO_LEADER:
            self.partition = replace(self.partition, isr=())
        return changed

    return change


def _restart_is_clean(right: Any) -> Any:
    return lambda self, broker, *, restarted: right(self, broker, restarted=False)


def _keeps_eligible(right: Any) -> Any:
    def change_min_isr(self: KraftController, replicas: int) -> None:
        before = self.partition
        right(self, replicas)
        self.partition = replace(before)

    return change_min_isr


def _truncates_to_high_watermark(right: Any) -> Any:
    def truncate(self: ReplicaLog, leader: ReplicaLog) -> bool:
        end = self.end_offset, self.epochs, self.batches, self.high_watermark
        if right(self, leader):
            _, self.epochs, self.batches, self.high_watermark = end
            self.truncate(self.high_watermark)
        return False

    return truncate


def _restart_truncates(right: Any) -> Any:
    def restart(self: ReplicaLog) -> None:
        right(self)
        self.truncate(self.high_watermark)

    return restart


def _minimum_moves_high_watermark(right: Any) -> Any:
    def follow(self: ClusterState) -> None:
        right(self)
        if self.leader is not None:
            self.leader.raise_high_watermark(self._metadata(), now_ms=self._now_ms)

    return follow


def _preferred_returns(right: Any) -> Any:
    def settle(self: ClusterHistory) -> Settled:
        right(self)
        self.state.controller.elect("preferred")
        seen: Settled = right(self)
        return seen

    return settle


MISTAKES = (
    ReplicationMistake(
        "hw-leader-end",
        "The high watermark is the end of the leader's log.",
        partition_leader,
        "leader_high_watermark",
        _high_watermark(lambda end, followers, in_sync: end),
    ),
    ReplicationMistake(
        "hw-max",
        "The high watermark is the furthest follower's end.",
        partition_leader,
        "leader_high_watermark",
        _high_watermark(
            lambda end, followers, in_sync: max((one.log_end_offset for one in followers.values()), default=end)
        ),
    ),
    ReplicationMistake(
        "hw-majority",
        "The high watermark is what two of three replicas have.",
        partition_leader,
        "leader_high_watermark",
        _high_watermark(lambda end, followers, in_sync: sorted(_ends(end, followers, followers))[1]),
    ),
    ReplicationMistake(
        "hw-every-replica",
        "The high watermark waits for every replica, in sync or not.",
        partition_leader,
        "leader_high_watermark",
        _high_watermark(lambda end, followers, in_sync: min(_ends(end, followers, followers))),
    ),
    ReplicationMistake(
        "hw-below-minimum",
        "The high watermark rises with fewer in-sync replicas than min.insync.replicas.",
        partition_leader,
        "leader_high_watermark",
        _below_minimum,
    ),
    ReplicationMistake(
        "hw-follows-minimum",
        "A lower min.insync.replicas raises the high watermark at once.",
        ClusterState,
        "_follow_metadata",
        _minimum_moves_high_watermark,
    ),
    ReplicationMistake(
        "lag-twice-the-session",
        "A follower that lags leaves the ISR only when its session ends.",
        PartitionLeader,
        "out_of_sync",
        lambda right: lambda self, now_ms: frozenset(),
    ),
    ReplicationMistake(
        "session-keeps-isr",
        "A follower whose session ends stays in the ISR.",
        KraftController,
        "end_session",
        _stays_in_sync,
    ),
    ReplicationMistake(
        "minimum-ignored",
        "min.insync.replicas is ignored.",
        cluster_history,
        "error_before_append",
        _with_minimum(lambda minimum: 1),
    ),
    ReplicationMistake(
        "minimum-exclusive",
        "The ISR must have more than min.insync.replicas.",
        cluster_history,
        "error_before_append",
        _with_minimum(lambda minimum: minimum + 1),
    ),
    ReplicationMistake(
        "minimum-beside-the-leader",
        "min.insync.replicas counts followers only.",
        partition_leader,
        "effective_min_in_sync",
        lambda right: lambda minimum, replicas, behaviour: min(minimum, replicas - 1),
    ),
    ReplicationMistake(
        "minimum-for-acks-1",
        "min.insync.replicas counts with acks=1, too.",
        cluster_history,
        "error_before_append",
        lambda right: lambda acks, count, minimum: right(ALL if acks else acks, count, minimum),
    ),
    ReplicationMistake(
        "all-answers-at-once",
        "acks=all is answered once the leader has the record.",
        cluster_state,
        "check_completion",
        lambda right: lambda *args, **options: Completion(True, "NONE"),
    ),
    ReplicationMistake(
        "any-acks", "Any number of acks is accepted.", cluster_history, "is_valid_acks", lambda right: lambda acks: True
    ),
    ReplicationMistake("unclean-by-default", "Unclean leader election is on.", KraftController, "_change", _unclean),
    ReplicationMistake(
        "epoch-stays", "An election leaves the leader epoch unchanged.", KraftController, "_change", _keeps_epoch
    ),
    ReplicationMistake(
        "shrink-raises-epoch",
        "The leader epoch rises when the ISR shrinks, as up to 3.5.x.",
        KraftController,
        "_change",
        _shrink_raises_epoch,
    ),
    ReplicationMistake(
        "removal-keeps-epoch",
        "With ZooKeeper, the end of a follower's session leaves the leader epoch.",
        ZooKeeperController,
        "end_session",
        _removal_keeps_epoch,
    ),
    ReplicationMistake(
        "elects-lowest-id",
        "The in-sync replica with the lowest id is elected.",
        leader_election,
        "elect_leader",
        _elects_lowest,
    ),
    ReplicationMistake(
        "preferred-returns",
        "The preferred replica leads again as soon as it is in sync.",
        ClusterHistory,
        "_settle",
        _preferred_returns,
    ),
    ReplicationMistake(
        "last-replica-leaves",
        "The last in-sync replica leaves the ISR in every release.",
        KraftController,
        "_change",
        _last_replica_leaves,
    ),
    ReplicationMistake(
        "eligible-after-crash",
        "A replica is still eligible after its broker was killed.",
        KraftController,
        "register",
        _restart_is_clean,
    ),
    ReplicationMistake(
        "minimum-keeps-eligible",
        "A new min.insync.replicas keeps the eligible leader replicas.",
        KraftController,
        "change_min_isr",
        _keeps_eligible,
    ),
    ReplicationMistake(
        "last-leader-forgotten",
        "The last known leader is not elected.",
        eligible_leader_replicas,
        "last_known_leader",
        lambda right: lambda *args: None,
    ),
    ReplicationMistake(
        "no-eligible-replicas",
        "There are no eligible leader replicas.",
        eligible_leader_replicas,
        "eligible_replicas",
        lambda right: lambda *args: ((), ()),
    ),
    ReplicationMistake(
        "no-truncation",
        "A former leader keeps what diverges.",
        ReplicaLog,
        "truncate_divergence",
        lambda right: lambda self, leader: False,
    ),
    ReplicationMistake(
        "truncates-to-hw",
        "A log that diverges is cut to its high watermark, as before KIP-101.",
        ReplicaLog,
        "truncate_divergence",
        _truncates_to_high_watermark,
    ),
    ReplicationMistake(
        "restart-truncates",
        "A broker that starts cuts its log to the high watermark.",
        ReplicaLog,
        "restart",
        _restart_truncates,
    ),
    ReplicationMistake(
        "reads-to-end", "Consumers read to the end of the leader's log.", ClusterHistory, "_settle", _reads_to_end
    ),
)
"""The mistakes."""
