"""What changed in the range and round robin assignors from release to release, one record per Java class."""

from __future__ import annotations

from kafka_reference.behaviour import Behaviour, behaviour, holds
from kafka_reference.releases import since

__all__ = ["RangeAssignorBehaviour", "RoundRobinAssignorBehaviour"]

_STATIC = (
    "Static members come first, in the order of group.instance.id; before, members are ordered by member id alone."
)


@behaviour("RangeAssignor", releases=since("0.10.0.0"))
class RangeAssignorBehaviour(Behaviour):
    """``RangeAssignor``, the default of ``partition.assignment.strategy``, since 3.0.0 with CooperativeStickyAssignor."""

    static_members_first: bool = holds(since("2.4.0"), _STATIC, "KAFKA-8355 (KIP-345)")
    member_counts_once: bool = holds(
        since("3.5.0"),
        "A member whose subscription names a topic twice gets one share of it; before, it gets two.",
        "KAFKA-14451",
    )
    later_topic_first: bool = holds(
        since("2.1.0", until="3.4.x"),
        "Of topics in the same bucket of the HashMap the later one comes first, and the map grows one topic later: "
        "computeIfAbsent in place of put.",
    )
    known_topics_only: bool = holds(
        since("3.5.0"),
        "A member's topics are in the order of a HashMap of the topics with metadata; before, of all subscribed topics.",
        "KAFKA-14451",
    )
    rack_aware: bool = holds(
        since("3.5.0"),
        "Members with a client.rack first get partitions with a replica there, as far as their shares of the topic allow.",
        "KAFKA-14451 (KIP-881)",
    )


@behaviour("RoundRobinAssignor", releases=since("0.10.0.0"))
class RoundRobinAssignorBehaviour(Behaviour):
    """``RoundRobinAssignor``."""

    static_members_first: bool = holds(since("2.4.0"), _STATIC, "KAFKA-8356 (KIP-345)")
