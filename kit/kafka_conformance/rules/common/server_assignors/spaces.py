"""Finite spaces of groups of the coordinator, thinned in a fixed way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, permutations, product

from kafka_conformance.rules.common.server_assignors.copied_sets import resized
from kafka_conformance.rules.common.server_assignors.generators import IDS, MEMBERS, MISSING
from kafka_conformance.rules.common.server_assignors.question import (
    AskedMember,
    AskedPartition,
    AskedTopic,
    ServerAssignorQuestion,
)

__all__ = ["every_change", "every_edge", "every_kind_of_rack", "every_small_group"]

_TOPICS = ("t", "u")
_SAMPLES = 2


def every_small_group() -> Iterator[ServerAssignorQuestion]:
    """Yield 1 to 3 members, every subscription to 1 or 2 topics of 1 to 4 partitions, and some last assignments of each."""
    for counts in (*product(range(1, 5)), *product(range(1, 5), repeat=2)):
        topics = tuple(AskedTopic(name, each, count) for name, each, count in zip(_TOPICS, IDS, counts, strict=False))
        partitions = [(topic.name, number) for topic in topics for number in range(topic.partitions or 0)]
        choices = [
            tuple(name for place, name in enumerate(_TOPICS[: len(counts)]) if bits >> place & 1)
            for bits in range(1 << len(counts))
        ]
        for size in range(1, 4):
            for place, subscribed in enumerate(product(choices, repeat=size)):
                for owners in _owners(size, len(partitions), place):
                    yield ServerAssignorQuestion(topics, _members(subscribed, partitions, owners))


def _owners(size: int, count: int, place: int) -> Iterator[list[int]]:
    """Yield some of the ways to give ``count`` partitions to ``size`` members or to none; others for each ``place``."""
    ways = (size + 1) ** count
    for sample in range(_SAMPLES):
        way = (place * 7919 + sample * 104729) % ways
        yield [way // (size + 1) ** digit % (size + 1) for digit in range(count)]


def _members(
    subscribed: Sequence[tuple[str, ...]], partitions: Sequence[AskedPartition], owners: Sequence[int]
) -> tuple[AskedMember, ...]:
    return tuple(
        AskedMember(
            f"m{place}",
            topics=topics,
            assigned=tuple(partition for partition, owner in zip(partitions, owners, strict=True) if owner == place),
        )
        for place, topics in enumerate(subscribed)
    )


def every_change() -> Iterator[ServerAssignorQuestion]:
    """Yield balanced groups of 1 to 4 members and 1 to 9 partitions after a change: of members, partitions, or topics."""
    yield from map(resized, _changes())


def _changes() -> Iterator[ServerAssignorQuestion]:
    for size, count, in_turn in product(range(1, 5), range(1, 10), (False, True)):
        before = [place % size if in_turn else place * size // count for place in range(count)]
        partitions = [("t", number) for number in range(count)]
        for joined, left, grown in product((0, 1, 2), (0, 1), (0, 1, 3)):
            members = _members([("t",)] * (size + joined), partitions, before)[left * (size + joined > 1) :]
            yield ServerAssignorQuestion((AskedTopic("t", IDS[6], count + grown),), members)
        both = _members([("t", "u")] * size, partitions, before)
        topics = AskedTopic("t", IDS[6], count), AskedTopic("u", IDS[4], 3)
        yield ServerAssignorQuestion(topics, both)
        yield ServerAssignorQuestion(topics, (*both, AskedMember("new", topics=("u",))))
        yield ServerAssignorQuestion(topics, (*both, AskedMember("new", topics=("t", MISSING))))
        yield ServerAssignorQuestion((AskedTopic("t", IDS[6], None), topics[1]), both)


def every_kind_of_rack() -> Iterator[ServerAssignorQuestion]:
    """Yield every third of: 2 or 3 members in racks a, b or none, 2 or 3 partitions with replicas in a, b, both or none."""
    return islice(_racks(), 0, None, 3)


def _racks() -> Iterator[ServerAssignorQuestion]:
    replicas = (("a",), ("b",), ("a", "b"), ())
    for size, count in ((2, 2), (2, 3), (3, 2)):
        for place, (member_racks, racks) in enumerate(
            product(product(("a", "b", None), repeat=size), product(replicas, repeat=count))
        ):
            topics = AskedTopic("t", IDS[0], count, racks=racks), AskedTopic("u", IDS[7], count, racks=racks[::-1])
            partitions = [("t", number) for number in range(count)]
            owners = [way % size for way in (place, place // 2, place // 3)][:count]
            alike = place % 2 == 0
            members = _members([("t", "u") if alike or n else ("t",) for n in range(size)], partitions, owners)
            yield ServerAssignorQuestion(
                topics,
                tuple(
                    AskedMember(member.id, None, rack, member.topics, member.assigned)
                    for member, rack in zip(members, member_racks, strict=True)
                ),
            )


def every_edge() -> Iterator[ServerAssignorQuestion]:
    """Yield edge cases: no members, no partitions, many of both, equal hashes, topics that the metadata lack."""
    topic = AskedTopic("t", IDS[0], 3)
    for typed in (None, "homogeneous", "heterogeneous"):
        yield ServerAssignorQuestion((topic,), (), typed)
        for subscribed in product(((), ("t",), (MISSING,), ("t", MISSING)), repeat=2):
            members = tuple(AskedMember(each, topics=topics) for each, topics in zip("ab", subscribed, strict=True))
            yield ServerAssignorQuestion((topic,), members, typed)
    yield from _unknown()
    yield from _overfull()
    yield from _twice()
    yield from _kept()
    yield from _moved()
    yield from _names()
    yield from _many()


def _unknown() -> Iterator[ServerAssignorQuestion]:
    """Yield topics that the metadata do not describe, and last assignments that no coordinator makes."""
    lost = AskedTopic("t", IDS[0], 3, described=False), AskedTopic("u", IDS[3], 2, described=False)
    for topics, other in product((("t",), ("t", "u")), (("t", "u"), ("u", "t"), ("t",), ("u",))):
        yield ServerAssignorQuestion(lost, (AskedMember("a", topics=topics), AskedMember("b", topics=other)))
    known = AskedTopic("t", IDS[0], 3), AskedTopic("u", IDS[3], 2)
    for first, second in product(
        ((("t", 0), ("t", 1)), (("t", 0), ("t", 5)), (("u", 0), ("u", 9), ("t", 2))), repeat=2
    ):
        for topics in (("t", "u"), ("t",)):
            members = (
                AskedMember("a", topics=("t", "u"), assigned=first),
                AskedMember("b", topics=topics, assigned=second),
            )
            yield ServerAssignorQuestion(known, members)


def _overfull() -> Iterator[ServerAssignorQuestion]:
    """Yield a group whose members have more partitions than their topics, so that none can get another one."""
    topics = AskedTopic("t", IDS[0], 1), AskedTopic("w", IDS[5], 1), AskedTopic("u", IDS[6], 1)
    for numbers in ((0, 5, 6), (0, 5), (5, 6, 7)):
        members = (
            AskedMember("a", topics=("t",), assigned=tuple(("t", number) for number in numbers)),
            AskedMember("b", topics=("t",)),
            AskedMember("c", topics=("u",)),
            AskedMember("e", topics=("w",), assigned=(("w", 0),)),
            AskedMember("f", topics=("w",), assigned=(("w", 7),)),
            AskedMember("g", topics=("w",), assigned=(("w", 8),)),
        )
        yield ServerAssignorQuestion(topics, members)
    full = AskedMember("a", topics=("t",), assigned=(("t", 7),)), AskedMember("b", topics=("w",))
    yield ServerAssignorQuestion(topics, full)
    near = AskedTopic("t", IDS[0], 2, racks=(("a",), ("b",)))
    nothing = AskedMember("a", rack="a", topics=("t",)), AskedMember("b", rack="a")
    yield ServerAssignorQuestion((near,), nothing)


def _twice() -> Iterator[ServerAssignorQuestion]:
    """Yield a subscription that names a topic twice, and two members with the same instance."""
    topics = AskedTopic("t", IDS[0], 4), AskedTopic("u", IDS[6], 3)
    for first, second in product((("t", "t"), ("t", "u", "t"), ("u", "t")), repeat=2):
        for instance in (None, "i"):
            members = AskedMember("a", instance, None, first), AskedMember("b", instance, None, second)
            yield ServerAssignorQuestion(topics, members)


def _kept() -> Iterator[ServerAssignorQuestion]:
    """Yield members that lose some of many partitions, or one of two topics, and groups with two topics of the same size."""
    for first, count in ((14, 20), (0, 35), (10, 25)):
        topic = AskedTopic("t", IDS[6], 35)
        owner = AskedMember("a", topics=("t",), assigned=tuple(("t", n) for n in range(first, first + count)))
        yield ServerAssignorQuestion((topic,), (owner, AskedMember("b", topics=("t",))))
        yield ServerAssignorQuestion((topic,), (owner, *(AskedMember(each, topics=("t",)) for each in "bc")))
    for one, other in permutations(IDS[:8], 2):
        topics = AskedTopic("t", one, 2), AskedTopic("u", other, 2)
        every = (("t", 0), ("t", 1), ("u", 0), ("u", 1))
        owner = AskedMember("a", topics=("t", "u"), assigned=every)
        yield ServerAssignorQuestion(topics, (owner, AskedMember("b", topics=("t", "u"))))
        third = AskedTopic("v", IDS[8], 1)
        both = tuple(AskedMember(each, topics=("t", "u")) for each in "ab")
        grown = AskedTopic("t", one, 3), AskedTopic("u", other, 3)
        yield ServerAssignorQuestion((*grown, third), (*both, AskedMember("c", topics=("v",))))
        yield ServerAssignorQuestion((*grown, third), (owner, both[1], AskedMember("c", topics=("v",))))


def _moved() -> Iterator[ServerAssignorQuestion]:
    """Yield heterogeneous groups that need several moves, also of one partition twice or of two in opposite directions."""
    topics = AskedTopic("t", IDS[0], 2), AskedTopic("u", IDS[1], 4)
    first = AskedMember("m0", topics=("u", "t"), assigned=(("t", 0), ("t", 1), ("u", 2), ("u", 3)))
    third = AskedMember("m2", topics=("u", "t"), assigned=(("u", 0),))
    yield ServerAssignorQuestion(
        topics, (first, AskedMember("m1", topics=("t",)), third, AskedMember("m3", topics=("t",)))
    )
    topics = AskedTopic("t", IDS[0], 3), AskedTopic("u", IDS[1], 5)
    second = AskedMember("m1", topics=("t", "u"), assigned=(("t", 0), ("t", 1), ("t", 2), ("u", 1), ("u", 2)))
    yield ServerAssignorQuestion(
        topics, (AskedMember("m0", topics=("u",)), second, AskedMember("m2", topics=("t",), assigned=(("u", 4),)))
    )
    racks = AskedTopic("t", IDS[0], 1, racks=(("a",),)), AskedTopic("u", IDS[1], 2, racks=(("a", "b"),) * 2)
    near = AskedMember("m0", rack="b", topics=("t",)), AskedMember("m1", rack="b", topics=("u",))
    yield ServerAssignorQuestion(racks, (*near, AskedMember("m2", topics=("t", "u"), assigned=(("t", 0),))))


def _names() -> Iterator[ServerAssignorQuestion]:
    """Yield members and ids in one bucket, and names that UTF-16 units and code points order differently, in every order."""
    for names in (("AaAa", "BBBB", "AaBB"), ("\U0001f600", "～", "zoë"), MEMBERS[4:7]):
        for order in permutations(names):
            topics = tuple(
                AskedTopic(name, each, 2) for name, each in zip(order, (IDS[3], IDS[0], IDS[2]), strict=True)
            )
            for static in (False, True):
                members = tuple(
                    AskedMember(f"m{place}" if static else each, each if static and place else None, None, order)
                    for place, each in enumerate(order)
                )
                yield ServerAssignorQuestion((AskedTopic("t", IDS[3], 4), *topics[1:]), members)
                yield ServerAssignorQuestion(topics, members)
                yield ServerAssignorQuestion(topics, (*members, AskedMember("x", topics=order[:2])))
            members = AskedMember("a", topics=order), AskedMember("b", topics=order, assigned=((order[1], 0),))
            yield ServerAssignorQuestion(topics, members)


def _many() -> Iterator[ServerAssignorQuestion]:
    """Yield as many members, topics and partitions as make a HashMap grow."""
    for count in (13, 25):
        names = tuple(f"t{number}" for number in range(min(count, len(IDS))))
        topics = tuple(AskedTopic(name, each, 1) for name, each in zip(names, IDS, strict=False))
        yield ServerAssignorQuestion(topics, tuple(AskedMember(each, topics=names) for each in "abc"))
        wide = AskedTopic("t0", IDS[0], 7), AskedTopic("t1", IDS[3], 30)
        members = tuple(AskedMember(f"m{number}", topics=("t0", "t1")) for number in range(count))
        yield ServerAssignorQuestion(wide, members)
        yield ServerAssignorQuestion(wide, (*members, AskedMember("x", topics=("t1",))))
        owned = tuple(("t1", number) for number in (*range(16, 29), 0, 1, 2, 3))
        yield ServerAssignorQuestion(wide, (AskedMember("a", topics=("t0", "t1"), assigned=owned), *members[:2]))
        different = (AskedMember("a", topics=("t0", "t1"), assigned=owned), AskedMember("b", topics=("t1",)))
        yield ServerAssignorQuestion(wide, different)
