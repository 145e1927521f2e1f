"""What the two rules of the coordinator's assignors have in common."""

from __future__ import annotations

from kafka_conformance.core.rule import Space
from kafka_conformance.rules.common.server_assignors.spaces import (
    every_change,
    every_edge,
    every_kind_of_rack,
    every_small_group,
)

__all__ = ["HARNESS", "LINKS", "SPACES"]

SPACES = (
    Space(
        "1 to 3 members × subscriptions to 1 or 2 topics of 1 to 4 partitions, two assignments each", every_small_group
    ),
    Space("balanced groups of 1 to 4 members and 1 to 9 partitions after 22 changes", every_change),
    Space("every third of 2 or 3 members × 2 or 3 partitions, each in racks a, b, both or none", every_kind_of_rack),
    Space("nobody, nothing, many, equal hashes, topics that the metadata lack", every_edge),
)
HARNESS = (
    "The group is made by the kit, in place of TargetAssignmentBuilder: members in a HashMap, old partitions in HashMaps "
    "of HashSets as they are read from a record, topic ids in the order of TopicIds, and a describer of topics. The new "
    "partitions of a member are sorted; a member that the assignor leaves out has none, as for the coordinator. Owners by "
    "partition and the subscription type, unless the question gives it, are derived from the members; no partition is "
    "excluded."
)
LINKS = (
    "https://cwiki.apache.org/confluence/display/KAFKA/KIP-848%3A+The+Next+Generation+of+the+Consumer+Rebalance+Protocol",
)
