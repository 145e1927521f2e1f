"""Strategies for groups of the coordinator: subscriptions, static members, racks, and the last target assignment.

Topic ids are few: among them are ids with the same hash in Java, ids in the same bucket of a HashMap, and negative ones.
"""

from __future__ import annotations

from itertools import cycle, islice
from typing import Any

from hypothesis import strategies as st

from kafka_conformance.rules.common.server_assignors.copied_sets import resized, without_unlike
from kafka_conformance.rules.common.server_assignors.question import (
    AskedMember,
    AskedPartition,
    AskedTopic,
    ServerAssignorQuestion,
)
from kafka_reference.assignment.server.group import Uuid

__all__ = ["IDS", "MEMBERS", "MISSING", "groups"]

MISSING = "nowhere"
"""A topic that does not exist."""
IDS = tuple(
    str(Uuid(most, least))
    for most, least in (
        (0, 2), (0, 3), (0, 18), (2, 0), (-5, 7), (2**62, -1), (0x3F2C91A47B6E4D10, 0x0A1B2C3D4E5F6071), (-(2**40), 2**33),
        (7, 7 << 32), (0x11, 0x2200), (0, 34), (1 << 32, 3), (0, 50), (0, 66), (0, 82), (3, 1),
    )
)  # fmt: skip
"""Topic ids: (0, 2) and (2, 0) have the same hash, and (0, 18) is in the same bucket."""
MEMBERS = ("a", "b", "c", "d", "consumer-1", "consumer-2", "consumer-10", "AaAa", "BBBB", "\U0001f600", "～", "zoë")
_NAMES = ("t", "u", "v", "AaAa", "BBBB", "orders", "payments", "\U0001f600", "～")
_INSTANCES = st.sampled_from((None, "i1", "i2", "i3", "i10", "zoë"))
_RACKS = st.sampled_from((None, "r1", "r2", "r3", ""))
_REPLICAS: st.SearchStrategy[tuple[str, ...]] = st.sampled_from(
    (("r1",), ("r2",), ("r1", "r2"), ("r2", "r3"), ("r1", "r2", "r3"), ("r4",), ())
)
_SOME_REPLICAS = st.lists(_REPLICAS, min_size=1, max_size=5)
_TOPICS = st.lists(st.sampled_from(_NAMES), min_size=1, max_size=4, unique=True)
_MANY_TOPICS = st.integers(13, 16).map(lambda count: [f"t{number}" for number in range(count)])
_MEMBERS = st.lists(st.sampled_from(MEMBERS), min_size=1, max_size=5, unique=True)
_MANY_MEMBERS = st.integers(13, 16).map(lambda count: [f"m{number}" for number in range(count)])
_COUNTS = st.sampled_from((3, 1, 2, 4, 5, 7, 17, 35))
_KINDS = st.sampled_from(("usual", "usual", "usual", "usual", "undescribed", "two owners", "gone", "typed"))


@st.composite
def groups(draw: Any) -> ServerAssignorQuestion:
    """Draw a question."""
    names = draw(_MANY_TOPICS if draw(st.integers(0, 15)) == 15 else _TOPICS)
    ids = draw(_MANY_MEMBERS if draw(st.integers(0, 15)) == 15 else _MEMBERS)
    kind = draw(_KINDS)
    subscribed = _subscriptions(draw, names, ids)
    by_racks = draw(st.integers(0, 2)) == 2
    topics = _topics(draw, names, by_racks)
    if kind == "undescribed":
        place = draw(st.integers(0, len(topics) - 1))
        topics[place] = AskedTopic(topics[place].name, topics[place].id, 2, described=False)
    assigned = _assigned(draw, topics, ids, kind) if draw(st.integers(0, 3)) else {}
    static = draw(st.integers(0, 2)) == 2
    members = tuple(
        AskedMember(
            each,
            draw(_INSTANCES) if static else None,
            draw(_RACKS) if by_racks else None,
            tuple(subscription),
            tuple(assigned.get(each, ())),
        )
        for each, subscription in zip(ids, subscribed, strict=True)
    )
    typed = draw(st.sampled_from(("homogeneous", "heterogeneous"))) if kind == "typed" else None
    return resized(ServerAssignorQuestion(tuple(topics), members, typed))


def _subscriptions(draw: Any, names: list[str], ids: list[str]) -> list[list[str]]:
    if draw(st.booleans()):
        return [names] * len(ids)
    some = st.lists(st.sampled_from((*names, *names, MISSING)), max_size=min(len(names) + 1, 6))
    return [draw(some) for _ in ids]


def _topics(draw: Any, names: list[str], by_racks: bool) -> list[AskedTopic]:
    equal = draw(st.integers(1, 6)) if draw(st.booleans()) else None
    counts = {name: draw(_COUNTS) if equal is None else equal for name in names}
    if len(names) > 1 and draw(st.integers(0, 7)) == 7:
        counts[names[-1]] = 0  # deleted
    start, step = draw(st.integers(0, len(IDS) - 1)), draw(st.sampled_from((1, 3, 5, 7)))
    replicas = [draw(_SOME_REPLICAS) if by_racks else () for _ in names]
    return [
        AskedTopic(
            name,
            IDS[(start + place * step) % len(IDS)],
            counts[name] or None,
            racks=tuple(islice(cycle(racks), counts[name] if racks else 0)),
        )
        for place, (name, racks) in enumerate(zip(names, replicas, strict=True))
    ]


def _assigned(draw: Any, topics: list[AskedTopic], ids: list[str], kind: str) -> dict[str, list[AskedPartition]]:
    """Draw owners, or none, for the partitions in turn; in some kinds two, and of partitions that are not there."""
    extra = 2 if kind == "gone" else 0
    partitions = [(topic.name, number) for topic in topics for number in range((topic.partitions or 2) + extra)]
    few = ids[: draw(st.integers(1, len(ids)))]
    assigned: dict[str, list[AskedPartition]] = {each: [] for each in ids}
    if draw(st.integers(0, 4)) == 4:  # as a balanced group had it
        for place, partition in enumerate(partitions):
            assigned[few[place % len(few)]].append(partition)
    else:
        owners = draw(st.lists(st.sampled_from((*few, None)), min_size=1, max_size=13))
        for partition, owner in zip(partitions, cycle(owners), strict=False):
            if owner is not None:
                assigned[owner].append(partition)
    if kind == "two owners":
        taken = assigned[ids[0]][:2]
        assigned[ids[-1]].extend(each for each in taken if each not in assigned[ids[-1]])
    return {each: list(without_unlike(of_member)) for each, of_member in assigned.items()}
