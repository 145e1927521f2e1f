"""The controller's state of a partition, a record that changes it, and the state after such a record.

Java source mirrored: ``org.apache.kafka.metadata.PartitionRegistration``, ``LeaderRecoveryState`` and the generated
``PartitionChangeRecord``, since 3.0.0,
https://github.com/apache/kafka/blob/4.3.1/metadata/src/main/java/org/apache/kafka/metadata/PartitionRegistration.java
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from kafka_reference.elections.partition_change_behaviour import PartitionChangeBehaviour
from kafka_reference.errors import IllegalArgumentException

__all__ = [
    "MIGRATING", "NO_LEADER", "UNASSIGNED", "PartitionChange", "PartitionRegistration", "RecoveryState", "contains",
    "merge",
]  # fmt: skip

NO_LEADER: Final = -1
"""The leader of a partition that has none."""
UNASSIGNED: Final = 1
"""The directory of a replica whose broker has not chosen one yet: ``DirectoryId.UNASSIGNED``."""
MIGRATING: Final = 0
"""The directory of a replica on a broker that is not yet known to have several: ``DirectoryId.MIGRATING``."""
RecoveryState: TypeAlias = Literal["recovered", "recovering"]


@dataclass(frozen=True, slots=True)
class PartitionRegistration:
    """A partition as the controller has it. Brokers are numbers; directories are numbers too, for a directory id each."""

    replicas: tuple[int, ...]
    """The assigned replicas; the first is the preferred leader."""
    isr: tuple[int, ...]
    """The replicas in sync."""
    leader: int
    """The leader; :data:`NO_LEADER` for none."""
    removing: tuple[int, ...] = ()
    """The replicas that a reassignment removes."""
    adding: tuple[int, ...] = ()
    """The replicas that a reassignment adds."""
    elr: tuple[int, ...] = ()
    """The eligible leader replicas: out of the ISR, but with all committed records (since 3.7.0)."""
    last_known_elr: tuple[int, ...] = ()
    """The last known eligible leader replicas, or the last known leader alone (since 3.7.0)."""
    leader_epoch: int = 0
    """The leader epoch."""
    partition_epoch: int = 0
    """The partition epoch: the number of changes."""
    recovery: RecoveryState = "recovered"
    """Whether the leader is recovering from an unclean election (since 3.2.0)."""
    directories: tuple[int, ...] = ()
    """The directory of each replica (since 3.7.0)."""


@dataclass(slots=True)
class PartitionChange:
    """A record of what changes in a partition. None: the field does not change."""

    leader: int | None = None
    """The new leader; the previous leader, elected again, raises the leader epoch too."""
    isr: tuple[int, ...] | None = None
    """The new ISR."""
    elr: tuple[int, ...] | None = None
    """The new eligible leader replicas."""
    last_known_elr: tuple[int, ...] | None = None
    """The new last known eligible leader replicas."""
    replicas: tuple[int, ...] | None = None
    """The new replicas."""
    removing: tuple[int, ...] | None = None
    """The replicas that are still to be removed."""
    adding: tuple[int, ...] | None = None
    """The replicas that are still to be added."""
    directories: tuple[int, ...] | None = None
    """The directory of each new replica."""
    recovery: RecoveryState | None = None
    """The new state of recovery."""


def contains(replicas: Sequence[int], wanted: Sequence[int]) -> bool:
    """Return whether ``replicas`` contain all that are ``wanted``, each as often. Mirrors ``Replicas.contains``."""
    left = list(replicas)
    for one in wanted:
        if one not in left:
            return False
        left.remove(one)
    return True


def merge(
    partition: PartitionRegistration, change: PartitionChange, behaviour: PartitionChangeBehaviour
) -> PartitionRegistration:
    """Return the partition after a change. The leader epoch rises if the record names a leader, the partition epoch always.

    Raises IllegalArgumentException if the number of directories and of replicas differ: a record of a metadata version
    before 3.7-IV2 has no directories. Since 3.7.1 those that are all :data:`MIGRATING` follow the replicas (KAFKA-16583).
    """
    replicas = _either(change.replicas, partition.replicas)
    return replace(
        partition,
        replicas=replicas,
        isr=_either(change.isr, partition.isr),
        elr=_either(change.elr, partition.elr),
        last_known_elr=_either(change.last_known_elr, partition.last_known_elr),
        removing=_either(change.removing, partition.removing),
        adding=_either(change.adding, partition.adding),
        directories=_directories(partition, change, len(replicas), behaviour),
        leader=partition.leader if change.leader is None else change.leader,
        leader_epoch=partition.leader_epoch + (change.leader is not None),
        partition_epoch=partition.partition_epoch + 1,
        recovery=partition.recovery if change.recovery is None else change.recovery,
    )


def _either(changed: tuple[int, ...] | None, before: tuple[int, ...]) -> tuple[int, ...]:
    return before if changed is None else changed


def _directories(
    partition: PartitionRegistration, change: PartitionChange, replicas: int, behaviour: PartitionChangeBehaviour
) -> tuple[int, ...]:
    if not behaviour.has_directories:
        return ()
    directories = _either(change.directories, partition.directories)
    if behaviour.new_replicas_are_unassigned and change.directories is None and change.replicas is not None:
        known = dict(zip(partition.replicas, partition.directories, strict=True))
        return tuple(known.get(replica, UNASSIGNED) for replica in change.replicas)
    if not behaviour.new_replicas_are_unassigned and all(one == MIGRATING for one in directories):
        return (MIGRATING,) * replicas
    if len(directories) != replicas:
        raise IllegalArgumentException("The lengths for replicas and directories do not match.")
    return directories
