"""The finite spaces of ``leader-election``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations, product
from typing import Any, Final, get_args

from kafka_conformance.core.mutant import replaced
from kafka_conformance.rules.leader_election.question import AskedDirectory, AskedPartition, LeaderElectionQuestion
from kafka_reference.elections.leader_election import Election
from kafka_reference.elections.metadata_version import MetadataVersion
from kafka_reference.elections.partition_registration import RecoveryState

__all__ = [
    "LOST_LEADER", "every_directory", "every_election", "every_eligible", "every_last_leader", "every_reassignment",
    "every_shrink",
]  # fmt: skip

ELECTIONS: Final[tuple[Election, ...]] = get_args(Election)
VERSIONS: Final[tuple[MetadataVersion, ...]] = get_args(MetadataVersion)
_RECOVERY: Final[tuple[RecoveryState, ...]] = get_args(RecoveryState)
_REASSIGNED: Final[tuple[MetadataVersion, ...]] = ("3.6", "newest")
_TWO: Final[tuple[Election, ...]] = ("online", "unclean")
_LISTS: Final[tuple[tuple[int, ...] | None, ...]] = ((), (3,), (2,), None)
_THREE: Final = (1, 2, 3)

LOST_LEADER: Final = LeaderElectionQuestion(
    AskedPartition((1, 2, 3), (1, 2, 3), 1, leader_epoch=4, partition_epoch=6), acceptable=(2, 3), isr=(2, 3)
)
"""The leader's broker is fenced: the next replica in sync leads, and the leader epoch rises."""


def _subsets(brokers: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for size in range(len(brokers) + 1):
        yield from combinations(brokers, size)


def every_election() -> Iterator[LeaderElectionQuestion]:
    """Yield 3 replicas with each ISR, leader, wanted ISR and set of acceptable brokers, in each kind of election."""
    yield LOST_LEADER
    subsets = tuple(_subsets(_THREE))
    for isr, wanted, acceptable, election in product(subsets, (None, (), (1,), (3, 2), (2,)), subsets, ELECTIONS):
        for leader in (*isr, -1):
            partition = AskedPartition((2, 1, 3), isr, leader, leader_epoch=5, partition_epoch=8)
            yield LeaderElectionQuestion(
                partition, acceptable, election, wanted, unclean_allowed=len(acceptable) == 1, metadata_version="3.6"
            )


def every_eligible() -> Iterator[LeaderElectionQuestion]:
    """Yield replicas that leave an ISR around its minimum, with each that is eligible, lost or acceptable."""
    members: tuple[tuple[tuple[int, ...], tuple[int, ...], int], ...] = (
        ((1, 2, 3), (), 1), ((1, 2), (3,), 2), ((1,), (3, 2), 1), ((), (33, 17), -1), ((), (1,), -1), ((17, 1), (33,), 1),
    )  # fmt: skip
    for (isr, elr, leader), size, lost, minimum, enabled in product(
        members, range(3), ((), (1,), (17, 33), (2, 3)), (1, 2, 3), (True, False)
    ):
        for election, acceptable in product(ELECTIONS, ((1, 2, 3, 17, 33), (2, 17), (3,), ())):
            yield LeaderElectionQuestion(
                AskedPartition((1, 2, 3, 33, 17), isr, leader, elr=elr, last_known_elr=(2,) if size else ()),
                acceptable,
                election,
                isr[size:] if isr else None,
                elr_enabled=enabled,
                last_leader_enabled=size < 2,
                min_isr=minimum,
                unclean_shutdown=lost or None,
            )


def every_last_leader() -> Iterator[LeaderElectionQuestion]:
    """Yield partitions with and without a last known leader, which lose, keep, get back or never had a leader."""
    knowns: tuple[tuple[int, ...], ...] = ((), (1,), (2,), (1, 2))
    states: tuple[tuple[tuple[int, ...], int], ...] = (((1,), 1), ((), -1), ((2,), -1), ((1, 2), 2))
    for known, (isr, leader), wanted, elr in product(knowns, states, (None, (), (2,), (1,)), ((), (3,))):
        for election, acceptable, allowed, enabled, lost in product(
            ELECTIONS, ((), (1,), (2, 3)), (True, False), (True, False), (None, (1, 2, 3))
        ):
            yield LeaderElectionQuestion(
                AskedPartition((1, 2, 3), isr, leader, elr=elr, last_known_elr=known, recovery="recovering"),
                acceptable,
                election,
                wanted,
                elr_enabled=enabled,
                last_leader_enabled=allowed,
                min_isr=2,
                unclean_shutdown=lost,
            )


def every_reassignment() -> Iterator[LeaderElectionQuestion]:
    """Yield reassignments of 4 replicas that remove and add up to 2 each, with each ISR, and each way to ask for them."""
    for removing, adding in product(((), (1,), (2, 1), (1, 2, 3, 4)), ((), (4,), (3, 4), (5,))):
        for isr, acceptable in product(_subsets((1, 2, 3, 4)), ((1, 2, 3, 4), (2, 4))):
            leader = isr[0] if isr else -1
            partition = AskedPartition((1, 2, 3, 4), isr, leader, removing, adding)
            yield LeaderElectionQuestion(partition, acceptable, metadata_version="3.5")
            still = replaced(partition, isr=(1, 2), leader=2)
            yield LeaderElectionQuestion(
                still, acceptable, isr=isr, elr_enabled=True, min_isr=2, metadata_version="3.6"
            )
            fresh = replaced(partition, removing=(), adding=())
            yield LeaderElectionQuestion(fresh, acceptable, removing=removing, adding=adding)
    for order, wanted_removing, wanted_adding in product(permutations(_THREE), _LISTS, _LISTS):
        for replicas in (order, order[:2], order[:1], (*order, 9)):
            partition = AskedPartition((1, 2, 3), (1, 2), 1, removing=(3,), adding=(2,))
            for election, version in product(ELECTIONS, _REASSIGNED):
                yield LeaderElectionQuestion(
                    partition,
                    (1, 2, 3),
                    election,
                    None,
                    replicas,
                    wanted_removing,
                    wanted_adding,
                    metadata_version=version,
                )


def every_shrink() -> Iterator[LeaderElectionQuestion]:
    """Yield smaller, equal and larger ISRs in each metadata version, with each state of recovery, migrating or not."""
    for version, migrating, isr, before, wanted in product(
        VERSIONS, (True, False), (None, (), (1,), (1, 2), (2, 1), (1, 3, 2), (1, 2, 4), (2,), (1, 1), (2, 2, 1)),
        _RECOVERY, (None, *_RECOVERY),
    ):  # fmt: skip
        for leader, election, acceptable in product((1, -1), _TWO, ((1, 2, 3), (3,))):
            partition = AskedPartition((1, 2, 3), (1, 2), leader, recovery=before)
            yield LeaderElectionQuestion(
                partition, acceptable, election, isr, recovery=wanted, metadata_version=version,
                zookeeper_migration=migrating,
            )  # fmt: skip


def every_directory() -> Iterator[LeaderElectionQuestion]:
    """Yield changes of replicas and directories, with and without a default, in each metadata version."""
    assigned: tuple[Any, ...] = ((), (AskedDirectory(1, 7),), (AskedDirectory(3, 8), AskedDirectory(2, 9)))
    for version, replicas, before, directories, default in product(
        VERSIONS, (None, (1, 2), (2, 1), (1, 3), (3,), (1, 2, 3), (1, 1)), (None, (1, 1), (7, 8), (0, 7)), assigned,
        (None, 1, 0, 5),
    ):  # fmt: skip
        yield LeaderElectionQuestion(
            AskedPartition((1, 2), (1, 2), 1, directories=before), (1, 2, 3), replicas=replicas, metadata_version=version,
            directories=directories, default_directory=default,
        )  # fmt: skip
