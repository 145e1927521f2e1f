"""When the reassignment of a partition's replicas completes.

Java source mirrored: ``PartitionChangeBuilder.completeReassignmentIfNeeded``, since 3.5.0
``PartitionReassignmentReplicas.maybeCompleteReassignment``,
https://github.com/apache/kafka/blob/4.3.1/metadata/src/main/java/org/apache/kafka/controller/PartitionReassignmentReplicas.java
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_reference.elections.partition_change_behaviour import PartitionChangeBehaviour

__all__ = ["CompletedReassignment", "complete_reassignment"]


@dataclass(frozen=True, slots=True)
class CompletedReassignment:
    """The replicas and the ISR after a reassignment."""

    replicas: tuple[int, ...]
    """The replicas that stay."""
    isr: tuple[int, ...]
    """Those in sync of them."""


def complete_reassignment(
    behaviour: PartitionChangeBehaviour,
    replicas: tuple[int, ...],
    isr: tuple[int, ...],
    removing: Sequence[int],
    adding: Sequence[int],
) -> CompletedReassignment | None:
    """Return what a reassignment leaves; None if there is none, or if it cannot complete yet.

    At least one replica in sync has to stay, and those that are awaited have to be in sync: the added ones, or all that
    stay, by release.
    """
    if not removing and not adding:
        return None
    left = CompletedReassignment(
        tuple(one for one in replicas if one not in removing), tuple(one for one in isr if one not in removing)
    )
    if removing and not (left.isr and left.replicas):
        return None
    awaited = set(_awaited(behaviour, left, removing, adding))
    return left if awaited <= set(left.isr) else None


def _awaited(
    behaviour: PartitionChangeBehaviour, left: CompletedReassignment, removing: Sequence[int], adding: Sequence[int]
) -> tuple[int, ...]:
    if behaviour.adding_replicas_complete:
        return tuple(adding)
    if behaviour.every_target_completes:
        return left.replicas
    return (*adding, *(left.replicas if len(adding) < len(removing) else ()))
