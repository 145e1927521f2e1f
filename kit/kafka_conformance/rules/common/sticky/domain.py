"""Typical groups after members joined or left, or a topic grew."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from kafka_conformance.rules.common.assignors.domain import GROUP_OPTIONAL_LABELS, RACK_OPTIONAL_LABELS
from kafka_conformance.rules.common.assignors.domain import plain as plain_groups
from kafka_conformance.rules.common.assignors.question import AskedMember, AssignorQuestion

__all__ = ["OPTIONAL_LABELS", "plain"]

OPTIONAL_LABELS = {
    **GROUP_OPTIONAL_LABELS,
    **RACK_OPTIONAL_LABELS,
    "owners in another rack": "partitions by rack",
    "a lost generation": "generations below 0",
    "a subscription of another generation": "subscriptions of another generation than the user data",
    "a partition owned twice by one member": "partitions owned twice",
    **dict.fromkeys(
        ("owned without a generation", "members with and without a generation"),
        "members of releases without generations",
    ),
}


def plain() -> Iterator[AssignorQuestion]:
    """Yield new groups, groups of two to five consumers after one joined or left, and one with a returning member."""
    yield from plain_groups()
    for size, left, grown, one_topic in product(range(2, 6), (0, 1), (0, 2), (False, True)):
        partitions = [("orders", number) for number in range(6)] + [("payments", number) for number in range(4)]
        members = tuple(
            AskedMember(
                f"consumer-{place}",
                topics=("orders",) if one_topic and place == 1 else ("orders", "payments"),
                owned=tuple(partitions[place :: size - 1 + left]) if place < size - 1 else (),
                generation=3 if place < size - 1 else None,
            )
            for place in range(size)
        )
        yield AssignorQuestion({"orders": 6 + grown, "payments": 4}, members)
    for late in (0, 1):  # one missed a rebalance, in which the other got its partition
        owned = {late: ((("orders", 1),), 2), 1 - late: ((("orders", 1), ("payments", 0)), 3)}
        group = tuple(
            AskedMember(f"consumer-{place}", None, None, ("orders", "payments"), *owned[place]) for place in (0, 1)
        )
        yield AssignorQuestion({"orders": 2, "payments": 1}, group)
