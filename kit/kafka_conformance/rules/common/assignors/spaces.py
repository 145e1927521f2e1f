"""Finite spaces of groups, asked whole, or thinned in a fixed way."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, permutations, product

from kafka_conformance.rules.common.assignors.generators import MEMBERS, MISSING
from kafka_conformance.rules.common.assignors.question import AskedMember, AssignorQuestion, RacksOfPartition

__all__ = [
    "EVERY_GROUP", "THINNING", "every_edge_of_groups", "every_group", "every_kind_of_rack", "every_static_member",
    "some_groups",
]  # fmt: skip

EVERY_GROUP = 585_000
"""How many questions :func:`every_group` has."""
THINNING = 97
"""Verify asks every 97th question of :func:`every_group`."""
_TOPICS = ("t0", "t1", "t2")
_SUBSCRIPTIONS = tuple(
    tuple(topic for place, topic in enumerate(_TOPICS) if bits >> place & 1) for bits in range(1 << len(_TOPICS))
)


def every_group() -> Iterator[AssignorQuestion]:
    """Yield every group of 1 to 4 members with every subscription to 3 topics of 0 to 4 partitions each: 585,000."""
    counts = [dict(zip(_TOPICS, each, strict=True)) for each in product(range(5), repeat=len(_TOPICS))]
    for size in range(1, 5):
        for subscribed in product(_SUBSCRIPTIONS, repeat=size):
            members = tuple(AskedMember(f"m{place}", topics=topics) for place, topics in enumerate(subscribed))
            for topics in counts:
                yield AssignorQuestion(topics, members)


def some_groups() -> Iterator[AssignorQuestion]:
    """Yield every 97th question of :func:`every_group`."""
    return islice(every_group(), 0, None, THINNING)


def every_kind_of_rack() -> Iterator[AssignorQuestion]:
    """Yield two and three members in racks a, b or none, and two and three partitions with replicas in a, b, both or none.

    They subscribe to one topic, to two with the same racks, and to two whose racks are in reverse order.
    """
    replicas: tuple[RacksOfPartition, ...] = (("a",), ("b",), ("a", "b"), None)
    for size, count in ((2, 2), (2, 3), (3, 2)):
        for member_racks, of_topic in product(product(("a", "b", None), repeat=size), product(replicas, repeat=count)):
            for other in ((), of_topic, of_topic[::-1]):
                racks = {"t": of_topic, "u": other} if other else {"t": of_topic}
                members = tuple(
                    AskedMember(f"m{place}", rack=rack, topics=tuple(racks)) for place, rack in enumerate(member_racks)
                )
                yield AssignorQuestion(dict.fromkeys(racks, count), members, racks)


def every_static_member() -> Iterator[AssignorQuestion]:
    """Yield three members in every order, static by one of two instances or dynamic, with four partitions of two topics."""
    for ids, instances in product(permutations(("a", "b", "c")), product((None, "x", "y"), repeat=3)):
        members = tuple(AskedMember(*each, topics=("t", "u")) for each in zip(ids, instances, strict=True))
        yield AssignorQuestion({"t": 4, "u": 4}, members)


def every_edge_of_groups() -> Iterator[AssignorQuestion]:
    """Yield edge cases: no members, no partitions, many of both, names with equal hashes, topics that the cluster lacks."""
    yield AssignorQuestion({}, ())
    yield AssignorQuestion({"t": 3}, ())
    yield AssignorQuestion({}, (AskedMember("a", topics=("t",)),))
    yield AssignorQuestion({"t": 3}, (AskedMember("a"),))
    for subscribed in (("t", "t"), ("t", "u", "t"), (MISSING,), (MISSING, "t"), ("u", "t")):
        members = AskedMember("a", topics=subscribed), AskedMember("b", topics=("t",))
        for counts in product((0, 1, 3, 4), repeat=2):
            yield AssignorQuestion(dict(zip(("t", "u"), counts, strict=True)), members)
    yield from _names()
    yield from _many()
    yield from _owners()


def _names() -> Iterator[AssignorQuestion]:
    """Yield names with the same hash, and names that UTF-16 units and code points order differently, in every order."""
    for names in (
        ("AaAa", "BBBB", "AaBB"),
        ("\U0001f600", "～", "zoë"),
        ("consumer-2", "consumer-10", "Z"),
        MEMBERS[:3],
    ):
        for order in permutations(names):
            yield AssignorQuestion({"t": 4}, tuple(AskedMember(each, topics=("t",)) for each in order))
            instances = tuple(AskedMember(f"m{place}", each, topics=("t",)) for place, each in enumerate(order))
            yield AssignorQuestion({"t": 4}, instances)
            yield AssignorQuestion(
                dict.fromkeys(names, 2), (AskedMember("a", topics=order), AskedMember("b", topics=names))
            )


def _many() -> Iterator[AssignorQuestion]:
    """Yield as many members and topics as make a HashMap grow, with topics that the cluster does not have."""
    for count in (11, 12, 13, 24, 25):
        names = tuple(f"t{number}" for number in range(count))
        few = tuple(AskedMember(each, topics=names) for each in ("a", "b"))
        yield AssignorQuestion(dict.fromkeys(names, 1), few)
        yield AssignorQuestion(dict.fromkeys(names[::3], 3), few)
        members = tuple(AskedMember(f"m{number}", topics=("t", "u")) for number in range(count))
        yield AssignorQuestion({"t": 7, "u": 30}, members)
        same = tuple(AskedMember(f"m{number}", "i", topics=("t", "u")) for number in range(count))
        yield AssignorQuestion({"t": 7, "u": 30}, same)


def _owners() -> Iterator[AssignorQuestion]:
    """Yield members that own partitions, of which some may have moved, or be gone."""
    for owned, generation in product(((("t", 2),), (("t", 2), ("t", 0)), (("gone", 0), ("t", 9))), (None, 1, 7)):
        members = AskedMember("a", topics=("t",)), AskedMember("b", None, None, ("t",), owned, generation)
        yield AssignorQuestion({"t": 3}, members)
