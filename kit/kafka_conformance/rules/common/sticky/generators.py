"""Strategies for groups with a past: members own partitions, and then the group, its subscriptions or the topics changed.

The past is dealt out here, not by an assignor: in turn, in blocks, all to one member, or to anybody. Then members leave and
join, subscriptions and numbers of partitions change, members lag behind by a generation, claim what others own, have no
generation, as members of older releases do, or lost theirs. Half of the groups have equal subscriptions, some of them in
different orders.

No question found made Java move partitions without end: at most 5 members own anything, of at most 30 partitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from msgspec import UNSET, UnsetType

from kafka_conformance.rules.common.assignors.generators import MEMBERS, MISSING, TOPICS, groups
from kafka_conformance.rules.common.assignors.question import (
    AskedMember,
    AskedPartition,
    AssignorQuestion,
    RacksOfPartition,
)

__all__ = ["sticky_groups"]

_TOPICS = (*TOPICS, ("BB", "zz"), ("zz", "t", "BB"))
"""Topics of a question; "BB" and "zz" have different hashes, and share a bucket of a HashMap."""
_DEALS = st.sampled_from(("in turn", "in blocks", "to one", "to anybody"))
_GENERATIONS = st.sampled_from(((3,), (3,), (None,), (3, 2), (3, 2, None), (3, 2, 1, None, -1), (0, 3)))
_STATED: st.SearchStrategy[tuple[int | UnsetType, ...]] = st.sampled_from(
    ((UNSET,), (UNSET,), (UNSET,), (UNSET,), (UNSET, -1), (UNSET, -1, 3, 4))
)
_COUNTS = st.sampled_from((3, 1, 2, 4, 5, 6))
_FEW = st.sampled_from((1, 2))
_CHANGES = st.sampled_from((0, 0, 0, 1, 2, -1, -2, None))
_MEMBER_RACKS = st.sampled_from(("r1", "r2", "r3", None))
_REPLICAS: st.SearchStrategy[RacksOfPartition] = st.sampled_from(
    (("r1",), ("r2",), ("r1", "r2"), ("r2", "r3"), ("r3",), ("r1", "r2", "r3"), None, ("r4",))
)
_INSTANCES = st.sampled_from((None, None, None, "i1", "i2"))


def sticky_groups() -> st.SearchStrategy[AssignorQuestion]:
    """Return groups with a past, and now and then one without."""
    return st.one_of(_with_past(), _with_past(), _with_past(), _with_past(), groups(owned=False))


@st.composite
def _with_past(draw: Any) -> AssignorQuestion:
    names = draw(st.sampled_from(_TOPICS))
    before = {name: draw(_COUNTS if len(names) < 6 else _FEW) for name in names}
    ids = draw(st.lists(st.sampled_from(MEMBERS), min_size=1, max_size=5, unique=True))
    equal = draw(st.booleans())
    lists = st.lists(st.sampled_from((*names, *names, MISSING)), max_size=3, unique=draw(st.integers(0, 7)) < 7)
    # Topics of one bucket are in the order of the first member of the HashMap, which need not be the first one listed.
    orders = st.permutations(names).map(tuple) if draw(st.integers(0, 2)) == 2 else st.just(names)
    subscribed = {each: draw(orders) if equal else tuple(draw(lists)) for each in ids}
    owned = _deal(draw, ids, [(name, number) for name in names for number in range(before[name])])
    if not equal and draw(st.booleans()):
        owned = {each: [one for one in had if one[0] in subscribed[each]] for each, had in owned.items()}
    _claim_more(draw, owned, before)
    leaving = draw(st.integers(0, len(ids) - 1)) if draw(st.booleans()) else 0
    joining = [each for each in MEMBERS if each not in ids][: draw(st.sampled_from((0, 0, 1, 2)))]
    subscribed |= {each: draw(orders) if equal else tuple(draw(lists)) for each in joining}
    if equal and draw(st.integers(0, 5)) == 5:
        subscribed[draw(st.sampled_from([*ids, *joining]))] = tuple(draw(lists))
    topics = _changed(draw, before)
    racks = _racks(draw, topics) if draw(st.integers(0, 2)) == 2 else None
    generations = draw(_GENERATIONS)
    stated = draw(_STATED)
    members = tuple(
        AskedMember(
            each,
            draw(_INSTANCES),
            None if racks is None else draw(_MEMBER_RACKS),
            subscribed[each],
            tuple(owned.get(each, ())),
            draw(st.sampled_from(generations)) if each in owned else None,
            draw(st.sampled_from(stated)) if each in owned else UNSET,
        )
        for each in (*ids[leaving:], *joining)
    )
    return AssignorQuestion(topics, members, racks)


def _deal(draw: Any, ids: Sequence[str], partitions: list[AskedPartition]) -> dict[str, list[AskedPartition]]:
    """Deal partitions out to members; some of them may be left over."""
    owned: dict[str, list[AskedPartition]] = {each: [] for each in ids}
    deal = draw(_DEALS)
    if draw(st.integers(0, 3)) == 3:
        partitions = partitions[draw(st.integers(0, len(partitions))) :]
    for place, partition in enumerate(partitions):
        if deal == "in turn":
            owner = place % len(ids)
        elif deal == "in blocks":
            owner = place * len(ids) // len(partitions)
        else:
            owner = 0 if deal == "to one" else draw(st.integers(0, len(ids) - 1))
        owned[ids[owner]].append(partition)
    if draw(st.booleans()):
        owned = {each: had[::-1] for each, had in owned.items()}
    return owned


def _claim_more(draw: Any, owned: dict[str, list[AskedPartition]], topics: dict[str, int]) -> None:
    """Let members claim partitions that others own, that they own already, or that do not exist."""
    if draw(st.integers(0, 2)) < 2:
        return
    claimable = [(name, number) for name, count in topics.items() for number in range(count)]
    strange = [(MISSING, 0), (next(iter(topics)), 9)]
    claims = st.lists(st.sampled_from([*claimable, *strange]), max_size=4, unique=True)
    twice = draw(st.integers(0, 7)) == 7
    for had in owned.values():
        had += [each for each in draw(claims) if twice or each not in had]


def _changed(draw: Any, before: dict[str, int]) -> dict[str, int]:
    """Let topics grow, shrink or disappear."""
    if draw(st.booleans()):
        return before
    changes = {name: draw(_CHANGES) for name in before}
    return {name: max(0, count + changes[name]) for name, count in before.items() if changes[name] is not None}


def _racks(draw: Any, topics: dict[str, int]) -> dict[str, tuple[RacksOfPartition, ...]]:
    return {name: tuple(draw(_REPLICAS) for _ in range(count)) for name, count in topics.items()}
