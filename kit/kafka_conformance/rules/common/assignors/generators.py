"""Strategies for groups: equal and different subscriptions, static members, racks, topics without metadata.

Names are few, so that members share topics and racks. Among them are names with the same hash in Java, names that sort
differently by UTF-16 units and by code points, and enough names for a HashMap to grow.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kafka_conformance.rules.common.assignors.question import (
    AskedMember,
    AskedPartition,
    AssignorQuestion,
    RacksOfPartition,
)

__all__ = ["MEMBERS", "MISSING", "TOPICS", "groups"]

MISSING = "nowhere"
"""A topic that no cluster has."""
TOPICS: tuple[tuple[str, ...], ...] = (
    ("t",), ("t", "u"), ("u", "t"), ("t", "u", "v"), ("orders", "payments", "refunds"), ("AaAa", "BBBB", "AaBB", "t"),
    ("\U0001f600", "～", "t"), tuple(f"t{number}" for number in range(15)),
)  # fmt: skip
"""Topics of a question; "AaAa", "BBBB" and "AaBB" have the same hash."""
MEMBERS = (
    "a", "b", "c", "d", "consumer-1", "consumer-2", "consumer-10", "AaAa", "BBBB", "\U0001f600", "～", "zoë",
)  # fmt: skip
_COUNTS = st.sampled_from((3, 1, 2, 4, 5, 7, 0, None))
_RACKS = st.sampled_from((None, "r1", "r2", "r3", ""))
_REPLICAS: st.SearchStrategy[RacksOfPartition] = st.sampled_from(
    (None, ("r1",), ("r2",), ("r1", "r2"), ("r2", "r3"), ("r1", "r2", "r3"), ("r4",), ("r1", "r1"), (), ("",))
)
_INSTANCES = st.sampled_from((None, "i1", "i2", "i3", "i10", "zoë"))
_IDS = st.lists(st.sampled_from(MEMBERS), min_size=0, max_size=5, unique=True)
_MANY_IDS = st.integers(13, 16).map(lambda count: [f"m{number}" for number in range(count)])
_GENERATIONS = st.sampled_from((None, 1, 2, 3))


@st.composite
def groups(draw: Any, owned: bool = True) -> AssignorQuestion:
    """Draw a question; with ``owned``, members of one question in four own partitions, whatever the others own."""
    names = draw(st.sampled_from(TOPICS))
    topics = _counted(draw, names)
    ids = draw(_MANY_IDS if draw(st.integers(0, 15)) == 15 else _IDS)
    lists = st.lists(st.sampled_from((*names, MISSING)), max_size=4)
    everyone = names if draw(st.booleans()) else None
    static, by_racks = draw(st.integers(0, 2)) == 2, draw(st.booleans())
    partitions = [(topic, number) for topic, count in topics.items() for number in range(count)]
    keeps = owned and bool(partitions) and draw(st.integers(0, 3)) == 3
    members = tuple(
        AskedMember(
            each,
            draw(_INSTANCES) if static else None,
            draw(_RACKS) if by_racks else None,
            tuple(draw(lists)) if everyone is None else everyone,
            _owned(draw, partitions) if keeps else (),
            draw(_GENERATIONS) if keeps else None,
        )
        for each in ids
    )
    racks = {name: _replicas(draw, count) for name, count in topics.items()} if by_racks else None
    return AssignorQuestion(topics, members, racks)


def _counted(draw: Any, names: tuple[str, ...]) -> dict[str, int]:
    """Draw the number of partitions of each topic, often the same for all; None: the topic is not in the metadata."""
    if draw(st.booleans()):
        return dict.fromkeys(names, draw(st.integers(1, 6)))
    counted = {name: draw(_COUNTS) for name in names}
    return {name: count for name, count in counted.items() if count is not None}


def _owned(draw: Any, partitions: list[AskedPartition]) -> tuple[AskedPartition, ...]:
    return tuple(draw(st.lists(st.sampled_from(partitions), max_size=4, unique=True)))


def _replicas(draw: Any, count: int) -> tuple[RacksOfPartition, ...]:
    return tuple(draw(_REPLICAS) for _ in range(count))
