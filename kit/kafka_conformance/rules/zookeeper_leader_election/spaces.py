"""The finite spaces of ``zookeeper-leader-election``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations, product
from typing import Final, get_args

from kafka_conformance.rules.zookeeper_leader_election.question import ZookeeperLeaderElectionQuestion
from kafka_reference.elections.partition_registration import RecoveryState
from kafka_reference.elections.zookeeper_leader_election import ZookeeperElection

__all__ = ["LOST_LEADER", "every_election", "every_order", "every_state"]

_ELECTIONS: Final[tuple[ZookeeperElection, ...]] = get_args(ZookeeperElection)
_RECOVERY: Final[tuple[RecoveryState, ...]] = get_args(RecoveryState)

LOST_LEADER: Final = ZookeeperLeaderElectionQuestion(
    "offline", (1, 2, 3), (1, 2, 3), (2, 3), leader=1, leader_epoch=4, version=6
)
"""The leader's broker is gone: the next replica in sync leads, and the ISR loses the old one."""


def _subsets(brokers: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    return tuple(one for size in range(len(brokers) + 1) for one in combinations(brokers, size))


def every_election() -> Iterator[ZookeeperLeaderElectionQuestion]:
    """Yield 3 replicas with each ISR, set of live brokers and of those that shut down, in each kind of election."""
    yield LOST_LEADER
    subsets = _subsets((1, 2, 3))
    for election, isr, live, shutting_down, unclean in product(_ELECTIONS, subsets, subsets, subsets, (True, False)):
        yield ZookeeperLeaderElectionQuestion(
            election,
            (2, 1, 3),
            isr,
            live,
            shutting_down,
            unclean,
            leader=isr[0] if isr else -1,
            leader_epoch=3,
            version=5,
        )


def every_order() -> Iterator[ZookeeperLeaderElectionQuestion]:
    """Yield up to 3 replicas and ISRs in each order, some of them removed, with each set of live brokers."""
    orders = tuple(one for size in range(4) for one in permutations((1, 2, 3), size))
    for election, assignment, isr, live, removing in product(
        _ELECTIONS, orders, ((), (3, 1, 2), (2, 3), (9, 1)), ((1, 2, 3), (1, 9), (2, 3)), ((), (1,), (2, 3))
    ):
        yield ZookeeperLeaderElectionQuestion(
            election, assignment, isr, live, removing=removing, unclean=len(live) == 2
        )


def every_state() -> Iterator[ZookeeperLeaderElectionQuestion]:
    """Yield partitions with and without a state in ZooKeeper, in each state of recovery."""
    for election, recovery, supported, known, isr, unclean, leader in product(
        _ELECTIONS, _RECOVERY, (True, False), (True, False), ((1,), (1, 2), ()), (True, False), (-1, 1, 2)
    ):
        yield ZookeeperLeaderElectionQuestion(
            election, (1, 2), isr, (2,), (), unclean, (), leader, 7, 2, recovery, supported, known
        )
