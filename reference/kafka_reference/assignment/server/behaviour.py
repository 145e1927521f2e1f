"""What changed in the coordinator's assignors from release to release, one record per Java class."""

from __future__ import annotations

from kafka_reference.behaviour import Behaviour, behaviour, holds
from kafka_reference.releases import since

__all__ = [
    "SERVER_RANGE",
    "SERVER_UNIFORM",
    "ServerRangeAssignorBehaviour",
    "TargetAssignmentBuilderBehaviour",
    "UniformAssignorBehaviour",
]

SERVER_RANGE = since("3.6.0")
SERVER_UNIFORM = since("3.7.0")


@behaviour("TargetAssignmentBuilder", releases=SERVER_RANGE)
class TargetAssignmentBuilderBehaviour(Behaviour):
    """What the coordinator passes to an assignor."""

    topics_by_name: bool = holds(
        since("3.8.0"),
        "A member's topics are in the order of a HashSet of their names; before, of a HashSet of their ids.",
        "KAFKA-16626",
    )


@behaviour("RangeAssignor of the coordinator", releases=SERVER_RANGE)
class ServerRangeAssignorBehaviour(Behaviour):
    """``org.apache.kafka.coordinator.group.assignor.RangeAssignor``."""

    keeps_partitions: bool = holds(
        since("3.6.0", until="3.8.x"),
        "A member keeps its old partitions up to its share, members are in the order of a HashMap; since 3.9.0, each share "
        "is one range, and members are sorted, static ones by group.instance.id first.",
        "KAFKA-16944",
    )
    reads_subscription_type: bool = holds(
        since("3.8.0"),
        "In a homogeneous group, all members have the topics of the first one.",
        "KAFKA-16587",
    )
    needs_a_member: bool = holds(
        since("3.8.0", until="3.8.x"),
        "A homogeneous group without members throws NoSuchElementException.",
        "KAFKA-16587",
    )


@behaviour("UniformAssignor", releases=SERVER_UNIFORM)
class UniformAssignorBehaviour(Behaviour):
    """``org.apache.kafka.coordinator.group.assignor.UniformAssignor`` and its builders."""

    compares_topic_ids: bool = holds(
        since("3.7.0", until="3.7.x"),
        "A group is homogeneous if all members have the same topic ids; since 3.8.0, if they have the same names.",
        "KAFKA-16587",
    )
    rack_aware: bool = holds(
        since("3.7.0", until="3.7.x"), "Members get partitions with a replica in their rack first.", "KAFKA-16694"
    )
    round_robin: bool = holds(
        since("3.7.0", until="3.7.x"),
        "A homogeneous group gets free partitions in turn, sorted by topic id; since 3.8.0, one member after the other.",
        "KAFKA-16864",
    )
    fails_without_topics: bool = holds(
        since("3.7.0", until="3.7.x"),
        "A heterogeneous group with a member without topics throws NullPointerException.",
        "KAFKA-16930",
    )
    gives_back_extra: bool = holds(
        since("4.0.1"),
        "In a homogeneous group, a member that does not keep one partition more than the others leaves it to a later "
        "member that does; before, the first members take it.",
        "KAFKA-18688",
    )
    balances_topics: bool = holds(
        since("4.0.0"),
        "A heterogeneous group is balanced topic by topic, from the most to the least loaded member; before, partition "
        "by partition.",
        "KAFKA-17710",
    )
