"""Whether an assignment keeps what a sticky assignor promises, for a client that breaks ties differently from Java.

KIP-54 promises a balanced assignment in which partitions stay where they are. It does not fix one assignment: which of two
members gets one partition more, or which partition moves, is not specified, and a client may choose differently from Java.
An answer is *admissible* if it keeps these promises; the first that is broken is the expected answer's field:

===================  =====================================================================================================
each partition once  Each partition of a topic with subscribers has one member, which subscribes to it. A cooperative
                     assignor gives a partition that members claim to one of them, or to no member.
balanced             No member has two partitions fewer than another one from which it could take one. This is not
                     checked for a cooperative assignment: partitions that move are held back.
as sticky            With equal subscriptions members keep as many of their partitions as in Java's assignment, and
                     cooperative ones no more either; with different ones, half as many, rounded down: how many could
                     stay is hard to tell, and Java's is not always the most.
===================  =====================================================================================================

Java's own answer is admissible, also where it breaks a promise: it keeps a partition that does not exist any more.

A member keeps a partition that it gets and claims, if no member claims it in a later generation. Stickiness is not compared
in two cases: two members claim a partition in the same generation, and neither has precedence; or Java throws, or gives a
partition to two members or to one that does not subscribe to it. Where Java throws, a client may fail as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

from kafka_conformance.core.protocol import Answer, Question, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules.common.assignors.question import AskedMember, AssignorQuestion
from kafka_reference.errors import JavaException
from kafka_reference.releases import Release

__all__ = ["RULES_WITH_PROMISES", "Broken", "broken_promise", "first_broken"]

RULES_WITH_PROMISES = frozenset({"sticky-assignor", "cooperative-sticky-assignor"})

_Partition: TypeAlias = tuple[str, int]
_Assignment: TypeAlias = dict[str, list[_Partition]]


@dataclass(frozen=True, slots=True)
class Broken:
    """A promise that an assignment breaks, and Java's answer, which keeps it or is the measure."""

    promise: str
    java: Answer

    def as_answer(self, _: object = None) -> Answer:
        """Return the expected answer: Java's, under the name of the promise."""
        return {self.promise: self.java.get("assignment", self.java)}


def broken_promise(rule: Rule, question: Question, release: Release, actual: Answer) -> Broken | None:
    """Return the first promise that an answer breaks, or None. The rule is one of :data:`RULES_WITH_PROMISES`."""
    if not isinstance(question, AssignorQuestion):
        raise TypeError(f"{rule.slug} promises nothing that can be checked")
    try:
        java = rule.ask(question, release)
    except JavaException as raised:
        java = {"raises": raised.java_name}
    return None if to_json(actual) == to_json(java) else first_broken(rule, question, java, actual)


def first_broken(rule: Rule, question: AssignorQuestion, java: Answer, actual: Answer) -> Broken | None:
    """Return the first promise that an answer breaks, be it Java's own; ``java`` is the measure."""
    assigned = _read(question, actual.get("assignment"))
    if assigned is None:
        return None if "raises" in java and "raises" in actual else Broken("assignment", java)
    group = _Group(question, cooperative=rule.slug.startswith("cooperative"))
    if not group.gives_each_once(assigned):
        return Broken("each partition once", java)
    if not group.cooperative and not group.is_balanced(assigned):
        return Broken("balanced", java)
    measure = _read(question, java.get("assignment"))
    if measure is None or not group.gives_each_once(measure) or group.is_disputed():
        return None
    return None if group.is_as_sticky(assigned, measure) else Broken("as sticky", java)


def _read(question: AssignorQuestion, assignment: Any) -> _Assignment | None:
    """Return the partitions of each member, or None for anything else."""
    if not isinstance(assignment, Mapping) or assignment.keys() != {member.id for member in question.members}:
        return None
    try:
        return {each: [(str(topic), int(number)) for topic, number in owned] for each, owned in assignment.items()}
    except (TypeError, ValueError):
        return None


class _Group:
    """The members of a question, with what they subscribe to and own."""

    def __init__(self, question: AssignorQuestion, *, cooperative: bool) -> None:
        self.cooperative = cooperative
        self._topics = {member.id: frozenset(member.topics) for member in question.members}
        self._every = {
            (topic, number)
            for topic in frozenset().union(*self._topics.values()) & question.topics.keys()
            for number in range(question.topics[topic])
        }
        self._claims: dict[_Partition, list[AskedMember]] = {}
        for member in question.members:
            for partition in dict.fromkeys(member.owned):
                self._claims.setdefault(partition, []).append(member)

    def is_disputed(self) -> bool:
        """Return whether two members claim a partition in the same generation."""
        return any(len(set(map(_generation, claims))) < len(claims) for claims in self._claims.values())

    def _owner(self, partition: _Partition) -> str | None:
        """Return the member that claims the partition in the latest generation."""
        claims = self._claims.get(partition, [])
        return max(claims, key=_generation).id if claims else None

    def gives_each_once(self, assigned: _Assignment) -> bool:
        """Return whether each partition has one member that may have it, or is held back as it should be."""
        pairs = [(each, partition) for each, owned in assigned.items() for partition in owned]
        given = {partition for _, partition in pairs}
        if len(given) < len(pairs) or any(topic not in self._topics[each] for each, (topic, _) in pairs):
            return False
        if not self.cooperative:
            return given == self._every
        return self._every >= given >= self._every - self._claims.keys() and all(
            any(member.id == each for member in self._claims.get(partition, ())) or partition not in self._claims
            for each, partition in pairs
        )

    def is_balanced(self, assigned: _Assignment) -> bool:
        """Return whether no member can take a partition from one that has two more."""
        topics = {each: {topic for topic, _ in owned} for each, owned in assigned.items()}
        return not any(
            len(assigned[one]) + 1 < len(assigned[other]) and self._topics[one] & topics[other]
            for pair in combinations(assigned, 2)
            for one, other in (pair, pair[::-1])
        )

    def is_as_sticky(self, assigned: _Assignment, java: _Assignment) -> bool:
        """Return whether members keep as much as in Java's assignment."""
        ours, theirs = self._kept(assigned), self._kept(java)
        if len(set(self._topics.values())) > 1:
            return ours >= theirs // 2
        return ours == theirs if self.cooperative else ours >= theirs

    def _kept(self, assigned: _Assignment) -> int:
        return sum(self._owner(partition) == each for each, owned in assigned.items() for partition in owned)


def _generation(member: AskedMember) -> int:
    return -1 if member.generation is None else member.generation
