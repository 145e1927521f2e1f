"""Finite spaces of groups with a past, thinned in a fixed way."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, islice, permutations, product

from msgspec import UNSET

from kafka_conformance.core.rule import Space
from kafka_conformance.rules.common.assignors.question import (
    AskedMember,
    AskedPartition,
    AssignorQuestion,
    RacksOfPartition,
)
from kafka_conformance.rules.common.assignors.spaces import every_edge_of_groups, every_group, every_kind_of_rack

__all__ = ["STICKY_SPACES"]

_FOUR: tuple[AskedPartition, ...] = (("t", 0), ("t", 1), ("u", 0), ("u", 1))
_EQUAL = (("t", "u"),) * 3
_DIFFERENT = (("t", "u"), ("t",), ("u", "t"))


def _members(
    topics: tuple[tuple[str, ...], ...],
    owned: tuple[tuple[AskedPartition, ...], ...],
    generations: tuple[int | None, ...],
) -> tuple[AskedMember, ...]:
    return tuple(
        AskedMember(f"m{place}", None, None, *each)
        for place, each in enumerate(zip(topics, owned, generations, strict=False))
    )


def every_owner() -> Iterator[AssignorQuestion]:
    """Yield two topics of two partitions, each partition with one of three owners or none, in generations 1, 2 or none."""
    for owners, topics in product(product((0, 1, 2, None), repeat=4), (_EQUAL, _DIFFERENT)):
        owned = tuple(tuple(each for each, at in zip(_FOUR, owners, strict=True) if at == place) for place in range(3))
        for generations in product((None, 1, 2), repeat=3):
            yield AssignorQuestion({"t": 2, "u": 2}, _members(topics, owned, generations))


def every_two_claims() -> Iterator[AssignorQuestion]:
    """Yield every two sets of claims to three partitions, of three generations or none, with equal subscriptions or not."""
    three: tuple[AskedPartition, ...] = (("t", 1), ("t", 0), ("u", 0))
    subsets = tuple(chain.from_iterable(combinations(three, size) for size in range(4)))
    for owned, generations in product(product(subsets, repeat=2), product((None, -1, 1, 2), repeat=2)):
        for topics in (_EQUAL[:2], (("t",), ("u", "t"))):
            yield AssignorQuestion({"t": 2, "u": 1}, _members(topics, owned, generations))


def every_owner_in_racks() -> Iterator[AssignorQuestion]:
    """Yield two members and three partitions in racks a and b, each partition with an owner or none."""
    replicas: tuple[RacksOfPartition, ...] = (("a",), ("b",), ("a", "b"))
    for racks, of_topic, owners in product(
        product(("a", "b", None), repeat=2), product(replicas, repeat=3), product((0, 1, None), repeat=3)
    ):
        for topics in ({"t": 3}, {"t": 2, "u": 1}):
            partitions = [(name, number) for name, count in topics.items() for number in range(count)]
            members = tuple(
                AskedMember(
                    f"m{place}", None, rack, tuple(topics)[: 1 + (place == 0 or owners[0] is None)],
                    tuple(each for each, at in zip(partitions, owners, strict=True) if at == place), 4,
                )
                for place, rack in enumerate(racks)
            )  # fmt: skip
            rest = iter(of_topic)
            yield AssignorQuestion(
                topics, members, {name: tuple(islice(rest, count)) for name, count in topics.items()}
            )


def every_change_of_a_topic() -> Iterator[AssignorQuestion]:
    """Yield one to four members that own six partitions of topics that grow, shrink and disappear, after others left."""
    for size, left, count, other in product(range(1, 5), range(3), (None, 0, 1, 2, 3, 4, 5, 9), (None, 1, 3)):
        partitions = [(name, number) for number in range(3) for name in ("t", "u")]
        topics = {name: at for name, at in (("t", count), ("u", other)) if at is not None}
        for topics_of in (("t", "u"), ("t",), ("u",)):
            members = tuple(
                AskedMember(f"m{place}", None, None, ("t", "u") if place else topics_of,
                            tuple(partitions[place :: size + left]), 7)
                for place in range(size)
            )  # fmt: skip
            yield AssignorQuestion(topics, members)


def every_edge_of_the_past() -> Iterator[AssignorQuestion]:
    """Yield partitions owned twice, owners together with members without topics, empty racks, and ignored instances."""
    twice: tuple[AskedPartition, ...] = (("t", 1), ("t", 0), ("t", 1))
    for generation, count in product((None, -1, 2), (1, 2, 5)):
        for topics, place in product(((), ("t",), ("u",), ("t", "u")), range(2)):
            members = [AskedMember("a", "i1", "", ("t",), twice, generation), AskedMember("b", None, "r1", ("t",))]
            members.insert(2 * place, AskedMember(f"c{place}", None, "r2", topics, (("t", 1), ("u", 0)), 2))
            racks = {"t": (("r1",), ("r2",), ("r1", "r2"), None, ("",))[:count]}
            yield AssignorQuestion({"t": count, "u": 1}, tuple(members), racks)


def every_three_claims() -> Iterator[AssignorQuestion]:
    """Yield three claims to a partition by members of three generations, in every order, that read the same or not."""
    for generations, owned in product(product((1, 2, 3), repeat=3), ((("t", 0),), (("t", 0), ("t", 2)))):
        for topics in (("t",), ()), (("t",), ("t", "u")), (("t",), ("t",)):
            members = _members((topics[0], topics[1], topics[0]), (owned,) * 3, generations)
            yield AssignorQuestion({"t": 3, "u": 1}, members)


def every_edge_of_balance() -> Iterator[AssignorQuestion]:
    """Yield groups of different subscriptions in which balancing takes rare turns.

    Two partitions would swap members, and one of them returns to its owner; a partition moves twice; moves are undone,
    since they make nothing better; a member that has nothing to share would count as too small; new partitions move in
    place of old ones.
    """
    for counts, members in (
        ((6, 4, 2, 4), (("tuv", "u1 v0 v1", 1), ("v", "", 1), ("uw", "", 1))),
        ((2, 0, 7, 5), (("tvw", "t0 t1 v3", 1), ("t", "", 1), ("tv", "", 1))),
        ((6, 4, 4), (("tuv", "t4 v1 v3", 1), ("t", "", 1), ("v", "", 1))),
        ((1, 7, 4), (("u", "", 2), ("t", "", 1), ("u", "", 3), ("u", "u3", 2), ("tv", "u3", 2))),
        ((1, 1), (("", "u0", 1), ("u", "", 1), ("tu", "u0", 3))),
        ((3,), (("t", "t2", 2), ("", "t2", 1), ("t", "", 1))),
        ((3, 3), (("tu", "t0", 1), ("u", "", 1), ("t", "", 1))),
        ((3, 7), (("u", "u0", 1), ("tu", "", 1), ("t", "", 1))),
        ((2, 1, 4), (("tuv", "t1 v2 v3", 2), ("v", "t1", 1), ("t", "", 3))),
        ((2, 0, 1, 1), (("vw", "w0", 1), ("tw", "w0", 2), ("w", "", 2))),
        ((4, 3), (("tu", "t0 t1 t3 u1", 1), ("t", "t3", 2), ("u", "", 2), ("tu", "u0 u2", 2))),
        ((5, 5, 5), (("t", "t0 t1", 4), ("tu", "u0 u1 u2 u3", 4), ("uv", "", 4), ("v", "v0", 3))),
    ):
        for more, shift in product(range(3), range(2)):
            topics = {
                name: count + (more if name == "t" else more // 2) for name, count in zip("tuvw", counts, strict=False)
            }
            yield AssignorQuestion(
                topics,
                tuple(
                    AskedMember(
                        f"m{place + shift}",
                        None,
                        None,
                        tuple(read),
                        tuple((one[0], int(one[1])) for one in owned.split()),
                        at,
                    )
                    for place, (read, owned, at) in enumerate(members)
                ),
            )


def every_short_member() -> Iterator[AssignorQuestion]:
    """Yield three members in racks a, b or none, of which one owns two of four partitions: the others may get too few."""
    patterns: tuple[tuple[RacksOfPartition, ...], ...] = (
        (("a",), ("b",), ("b",), None), (("b",), ("a",), ("b",), ("a",)), (("a", "b"), ("a",), ("b",), ("a", "b")),
    )  # fmt: skip
    for racks, owner, of_topic in product(product(("a", "b", None), repeat=3), range(3), patterns):
        members = tuple(
            AskedMember(f"m{place}", None, rack, ("t",), (("t", 3), ("t", 0)) if place == owner else (), 1)
            for place, rack in enumerate(racks)
        )
        yield AssignorQuestion({"t": 4}, members, {"t": of_topic})


def every_lost_generation() -> Iterator[AssignorQuestion]:
    """Yield three claims, of members whose subscriptions state the generation of their user data, another one, or none."""
    owned: tuple[tuple[AskedPartition, ...], ...] = ((("t", 0),), (("t", 0), ("t", 1)), (("t", 0), ("t", 2)))
    for generations, stated in product(product((1, 2), repeat=3), product((UNSET, -1, 2), (UNSET, -1, 2), (UNSET, -1))):
        for topics in (("t",), ("t",)), (("t",), ("t", "u")):
            members = tuple(
                AskedMember(
                    f"m{place}",
                    None,
                    None,
                    topics[place % 2],
                    owned[place],
                    generation,
                    stated[place],  # type: ignore[arg-type]  # product of tuples of different types
                )
                for place, generation in enumerate(generations)
            )
            yield AssignorQuestion({"t": 3, "u": 1}, members)


def every_order_of_members() -> Iterator[AssignorQuestion]:
    """Yield two topics of one bucket, in either order of each of three members, which are listed in any order.

    Up to 2.5.0 partitions without an owner are assigned in the order of the topics, if any partition has an owner.
    """
    pairs, anything = ((("AaBB", "BBBB"), 1), (("BB", "zz"), 2)), ((("t", 0),), (("gone", 0),))
    for (names, count), owned, listed in product(pairs, anything, permutations(range(3))):
        for turned in product((1, -1), repeat=3):
            members = [
                AskedMember(f"m{place}", None, None, (*names[::turn], "t"), () if place else owned, 1)
                for place, turn in enumerate(turned)
            ]
            topics = {names[0]: count, names[1]: 1, "t": 1}
            yield AssignorQuestion(topics, tuple(members[place] for place in listed))


STICKY_SPACES = (
    Space(
        "every 397th of all 585,000 groups of 1-4 members × every subscription to 3 topics of 0-4 partitions",
        lambda: islice(every_group(), 0, None, 397),
    ),
    Space(
        "every 13th of: 4 partitions with one of 3 owners or none × generations × equal and different subscriptions",
        lambda: islice(every_owner(), 0, None, 13),
    ),
    Space(
        "every third of: two members' claims to 3 partitions × 3 generations or none × equal and different subscriptions",
        lambda: islice(every_two_claims(), 0, None, 3),
    ),
    Space(
        "every 11th of: two members × three partitions, in racks or not, with an owner or none",
        lambda: islice(every_owner_in_racks(), 0, None, 11),
    ),
    Space(
        "every 11th of: 2-3 members × 2-3 partitions, in two racks or none, of one or two topics; no owners",
        lambda: islice(every_kind_of_rack(), 0, None, 11),
    ),
    Space("1-4 members that own six partitions of two topics that change", every_change_of_a_topic),
    Space("nobody, nothing, many; equal hashes, text beyond the BMP; owners of what moved", every_edge_of_groups),
    Space("partitions owned twice, members without topics, empty racks and instances", every_edge_of_the_past),
    Space("three claims to one partition, of three generations, in every order", every_three_claims),
    Space("three members × four partitions in racks, of which one member owns two", every_short_member),
    Space(
        "rare turns of balancing: partitions that go home, moves undone, members without a share", every_edge_of_balance
    ),
    Space(
        "three claims of two generations, which the subscription states, or another one, or none", every_lost_generation
    ),
    Space("two topics of one bucket in either order, three members in any order", every_order_of_members),
)
