"""Play a consumer group: members join and leave, and an assignor assigns until no partition moves any more.

Example: c1 has the partitions 0 to 3 of a topic, and c2 joins. With the cooperative sticky assignor the first rebalance
takes 2 and 3 from c1, and nobody has them; the second gives them to c2; a third would change nothing. The range assignor
needs one.

The rules of the assignors answer, each round as a question: what the members owned before it, in the generation of the
round before. The coordinator's assignors compute a target from the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.assignors.question import AskedMember, AssignorQuestion
from kafka_conformance.rules.common.server_assignors import question as server
from kafka_reference.errors import JavaException
from kafka_reference.releases import Release

__all__ = ["ASSIGNORS", "Event", "Group", "Member", "Owned", "Play", "Round", "Step", "assigned", "moved", "play"]

ASSIGNORS = (
    "range-assignor", "round-robin-assignor", "sticky-assignor", "cooperative-sticky-assignor", "server-range-assignor",
    "server-uniform-assignor",
)  # fmt: skip
"""The rules of assignors: four of the consumer, two of the coordinator."""
_MOST_ROUNDS = 20
_ID_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

Partition = tuple[str, int]
Owned = dict[str, tuple[Partition, ...]]
"""The partitions of each member, by its id."""
Subscriptions = Mapping[str, tuple[str, ...]]


class Member(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A member: its id, the topics that it subscribes to (none: all of the group), and what it owns at first."""

    id: str
    topics: tuple[str, ...] = ()
    owned: tuple[Partition, ...] = ()


class Event(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What happens before a rebalance: members leave, members join, topics have other numbers of partitions."""

    join: tuple[Member, ...] = ()
    leave: tuple[str, ...] = ()
    partitions: dict[str, int] = {}

    def __str__(self) -> str:
        parts = [f"{each} leaves" for each in self.leave] + [f"{each.id} joins" for each in self.join]
        return ", ".join([*parts, *(f"{topic} has {count} partitions" for topic, count in self.partitions.items())])


class Group(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A group: its topics with their numbers of partitions, the members at first, and what happens then."""

    topics: dict[str, int]
    members: tuple[Member, ...] = ()
    events: tuple[Event, ...] = ()


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """A rebalance: how many partitions each member has after it.

    ``moved`` have another owner than before it, ``taken`` none, ``given`` had none. ``unassigned`` are those of subscribed
    topics that nobody has.
    """

    counts: dict[str, int]
    moved: int
    taken: int
    given: int
    unassigned: int


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """An event and the rebalances after it, to the one before the first that changes nothing; none of an empty group.

    ``moved`` is the number of partitions that have another owner at the end than at the beginning. ``error`` is what Java
    throws; ``rests`` is False if partitions still move after 20 rebalances.
    """

    event: str
    rounds: Sequence[Round]
    moved: int
    owned: Owned
    error: str = ""
    rests: bool = True


class Play(msgspec.Struct, frozen=True, kw_only=True):
    """What an assignor does with a group in a release."""

    assignor: str
    release: str
    steps: Sequence[Step]

    @property
    def rests(self) -> bool:
        """Does the group come to rest after each event?"""
        return all(step.rests and not step.error for step in self.steps)


def play(group: Group, assignor: str, release: Release) -> Play:
    """Play a group. An event after which Java throws is the last one."""
    topics, subscribed = dict(group.topics), dict[str, tuple[str, ...]]()
    owned: Owned = {}
    for member in group.members:
        subscribed[member.id] = member.topics or tuple(group.topics)
        if member.owned:
            owned[member.id] = member.owned
    if owned:  # all members were in the last rebalance
        owned = {each: owned.get(each, ()) for each in subscribed}
    steps = []
    first = Event() if group.members else None
    for event in [*filter(None, [first]), *group.events]:
        topics.update(event.partitions)
        for each in event.leave:
            subscribed.pop(each, None)
        for member in event.join:
            subscribed[member.id] = member.topics or tuple(group.topics)
        step, owned = _settle(str(event) or "at first", assignor, release, topics, subscribed, owned)
        steps.append(step)
        if step.error:
            break
    return Play(assignor=assignor, release=str(release), steps=steps)


def _settle(
    event: str, assignor: str, release: Release, topics: Mapping[str, int], subscribed: Subscriptions, before: Owned
) -> tuple[Step, Owned]:
    """Return the rebalances after an event, and what the members own then, in the order of the answers."""
    now = {member: mine for member, mine in before.items() if member in subscribed}
    rounds: list[Round] = []
    error, last = "", before
    while subscribed and len(rounds) < _MOST_ROUNDS:
        try:
            after = assigned(assignor, release, topics, subscribed, now)
        except JavaException as thrown:
            error = f"{thrown.java_name}{f': {thrown.message}' if thrown.message else ''}"
            break
        if rounds and _owners(after) == _owners(now):  # in another order, perhaps
            break
        rounds.append(_round(last, after, topics, subscribed))
        now = last = after
    rests = bool(error) or len(rounds) < _MOST_ROUNDS
    owned = {member: tuple(sorted(mine)) for member, mine in now.items()}
    return Step(event=event, rounds=rounds, moved=moved(before, now), owned=owned, error=error, rests=rests), now


def _round(before: Owned, after: Owned, topics: Mapping[str, int], subscribed: Subscriptions) -> Round:
    was, is_now = _owners(before), _owners(after)
    read = {topic for names in subscribed.values() for topic in names}
    return Round(
        counts={member: len(after.get(member, ())) for member in subscribed},
        moved=sum(each in was and was[each] != owner for each, owner in is_now.items()),
        taken=sum(each not in is_now for each in was),
        given=sum(each not in was for each in is_now),
        unassigned=sum((topic, number) not in is_now for topic in read for number in range(topics.get(topic, 0))),
    )  # fmt: skip


def moved(before: Owned, after: Owned) -> int:
    """Return how many partitions have another owner."""
    was = _owners(before)
    return sum(each in was and was[each] != owner for each, owner in _owners(after).items())


def _owners(owned: Owned) -> dict[Partition, str]:
    return {partition: member for member, mine in owned.items() for partition in mine}


def assigned(
    assignor: str, release: Release, topics: Mapping[str, int], subscribed: Subscriptions, owned: Owned
) -> Owned:
    """Return the assignment of a group; the partitions of ``owned`` are those of the generation before.

    Raises JavaException.
    """
    ask = _server_question if assignor.startswith("server-") else _client_question
    answer = RULES[assignor].ask(ask(topics, subscribed, owned), release)
    return {member: tuple((topic, number) for topic, number in mine) for member, mine in answer["assignment"].items()}


def _client_question(topics: Mapping[str, int], subscribed: Subscriptions, owned: Owned) -> AssignorQuestion:
    members = (
        AskedMember(each, None, None, names, owned.get(each, ()), 1 if each in owned else None)
        for each, names in subscribed.items()
    )
    return AssignorQuestion(topics, tuple(members))


def _server_question(
    topics: Mapping[str, int], subscribed: Subscriptions, owned: Owned
) -> server.ServerAssignorQuestion:
    asked = (
        server.AskedTopic(name, topic_id, topics[name]) for name, topic_id in zip(topics, _topic_ids(), strict=False)
    )
    members = (server.AskedMember(each, None, None, names, owned.get(each, ())) for each, names in subscribed.items())
    return server.ServerAssignorQuestion(tuple(asked), tuple(members))


def _topic_ids() -> Iterator[str]:
    for high in _ID_LETTERS:
        for low in _ID_LETTERS:
            if (high, low) != ("A", "A"):  # the id of zeros stands for none
                yield f"{'A' * 19}{high}{low}A"
