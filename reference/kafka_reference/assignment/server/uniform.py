"""The uniform assignor of the coordinator, the default: all partitions of all topics together are divided evenly.

There is one algorithm for a homogeneous group, in which all members subscribe to the same topics, and another for a
heterogeneous one. Both were rewritten: see the modules that are imported here.

Java source mirrored: ``org.apache.kafka.coordinator.group.assignor.UniformAssignor``, since 3.7.0,
https://github.com/apache/kafka/blob/4.0.0/group-coordinator/src/main/java/org/apache/kafka/coordinator/group/assignor/UniformAssignor.java
"""

from __future__ import annotations

from kafka_reference.assignment.server.behaviour import UniformAssignorBehaviour
from kafka_reference.assignment.server.group import Group, Targets
from kafka_reference.assignment.server.uniform_general import GeneralBuilder
from kafka_reference.assignment.server.uniform_heterogeneous import HeterogeneousBuilder
from kafka_reference.assignment.server.uniform_homogeneous import HomogeneousBuilder
from kafka_reference.assignment.server.uniform_optimized import OptimizedBuilder

__all__ = ["assign_evenly"]


def assign_evenly(behaviour: UniformAssignorBehaviour, group: Group) -> Targets:
    """Return the target assignment. Raises PartitionAssignorException for a topic that the metadata do not describe.

    Old assignments that no coordinator makes may raise others.
    """
    if not group.members:
        return {}
    if _is_homogeneous(behaviour, group):
        if behaviour.round_robin:
            return OptimizedBuilder(group).build()
        return HomogeneousBuilder(behaviour, group).build()
    if behaviour.balances_topics:
        return HeterogeneousBuilder(group).build()
    return GeneralBuilder(behaviour, group).build()


def _is_homogeneous(behaviour: UniformAssignorBehaviour, group: Group) -> bool:
    if behaviour.compares_topic_ids:
        return len({frozenset(member.topics) for member in group.members}) == 1
    return group.homogeneous
