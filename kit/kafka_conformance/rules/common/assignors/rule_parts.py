"""What the rules of two or more assignors have in common: spaces of groups, which all of them ask."""

from __future__ import annotations

from kafka_conformance.core.rule import Space
from kafka_conformance.rules.common.assignors.spaces import (
    every_edge_of_groups,
    every_kind_of_rack,
    every_static_member,
    some_groups,
)

__all__ = ["GROUP_SPACES", "HARNESS", "RACK_SPACE"]

GROUP_SPACES = (
    Space(
        "every 97th of all 585,000 groups of 1-4 members × every subscription to 3 topics of 0-4 partitions",
        some_groups,
    ),
    Space("three members in every order × two instances or none, of two topics", every_static_member),
    Space("nobody, nothing, many; equal hashes, text beyond the BMP; owners of what moved", every_edge_of_groups),
)
RACK_SPACE = Space(
    "2-3 members × 2-3 partitions, members in two racks or none, replicas in one, both or none, of one or two topics",
    every_kind_of_rack,
)
HARNESS = (
    "The subscriptions and the cluster are the question's: made directly, not by the group protocol. The user data of a "
    "member are what its own assignor writes after onAssignment. The assignor has no configuration. Generations and racks "
    "are the question's."
)
