"""A group is played until no partition moves any more: rebalances, counts and moves, from JSON or from a description."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_conformance.core.errors import BadInput
from kafka_conformance.rules import RULES, group_play
from kafka_conformance.rules.group_files import parse_event, parse_group
from kafka_conformance.rules.group_play import ASSIGNORS, Event, Group, Member, Owned, Round, play
from kafka_reference.errors import IllegalStateException
from kafka_reference.releases import NEWEST

COOPERATIVE = "cooperative-sticky-assignor"
ALONE = Group({"t": 4}, (Member("c1", (), (("t", 0), ("t", 1), ("t", 2), ("t", 3))),), (Event(join=(Member("c2"),)),))


def test_cooperative_rebalance_revokes_two_partitions_and_the_next_rebalance_assigns_both() -> None:
    first, joined = play(ALONE, COOPERATIVE, NEWEST).steps
    assert first.rounds == [Round(counts={"c1": 4}, moved=0, taken=0, given=0, unassigned=0)]
    assert joined.event == "c2 joins"
    assert joined.rounds == [
        Round(counts={"c1": 2, "c2": 0}, moved=0, taken=2, given=0, unassigned=2),
        Round(counts={"c1": 2, "c2": 2}, moved=0, taken=0, given=2, unassigned=0),
    ]
    assert joined.moved == 2


@pytest.mark.parametrize("assignor", [each for each in ASSIGNORS if each != COOPERATIVE])
def test_assignors_other_than_cooperative_sticky_move_partitions_in_one_rebalance(assignor: str) -> None:
    _, joined = play(ALONE, assignor, NEWEST).steps
    assert joined.rounds == [Round(counts={"c1": 2, "c2": 2}, moved=2, taken=0, given=0, unassigned=0)]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    topics=st.dictionaries(st.sampled_from("tuv"), st.integers(1, 7), min_size=1),
    joins=st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=2, unique=True), min_size=1, max_size=4),
    assignor=st.sampled_from(ASSIGNORS),
)
def test_simulated_group_stabilises_owning_each_partition_once_and_sticky_assignors_then_move_none(
    topics: dict[str, int], joins: list[list[str]], assignor: str
) -> None:
    present: set[str] = set()
    events = []
    for names in joins:  # who is there leaves, who is not joins
        events.append(Event(join=tuple(Member(each) for each in names if each not in present),
                            leave=tuple(each for each in names if each in present)))  # fmt: skip
        present ^= set(names)
    events.append(Event(join=(Member("z"),)))
    played = play(Group(topics, (), tuple(events)), assignor, NEWEST)
    assert played.rests
    for step in played.steps[-1:]:
        owned = Counter(partition for mine in step.owned.values() for partition in mine)
        assert owned == Counter((topic, number) for topic, count in topics.items() for number in range(count))
        assert step.rounds[-1].unassigned == 0
        assert step.rounds[-1].counts == {member: len(mine) for member, mine in step.owned.items()}
    again = Group(topics, tuple(Member(member, (), mine) for member, mine in played.steps[-1].owned.items()))
    if assignor in {"sticky-assignor", COOPERATIVE}:
        assert play(again, assignor, NEWEST).steps[0].moved == 0


def test_range_group_assigns_partitions_of_a_leaving_member_and_partitions_added_to_a_topic() -> None:
    events = (Event(leave=("c1",)), Event(partitions={"t": 6}))
    _, left, grown = play(Group({"t": 4}, (Member("c1"), Member("c2")), events), "range-assignor", NEWEST).steps
    assert (left.rounds[0].counts, left.rounds[0].moved, left.moved) == ({"c2": 4}, 2, 2)
    assert (grown.event, grown.rounds[0].counts, grown.rounds[0].given) == ("t has 6 partitions", {"c2": 6}, 2)


def test_java_exception_in_a_rebalance_ends_the_group_simulation_with_the_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = group_play.assigned

    def throws(*words: Any) -> Owned:
        if len(words[3]) == 2:
            raise IllegalStateException("no owner")
        return plain(*words)

    monkeypatch.setattr(group_play, "assigned", throws)
    group = Group({"t": 2}, (Member("a"),), (Event(join=(Member("b"),)), Event(leave=("a",))))
    played = play(group, "range-assignor", NEWEST)
    assert [step.error for step in played.steps] == ["", "IllegalStateException: no owner"]
    assert [step.rests for step in played.steps] == [True, True]
    assert not played.rests


def test_simulation_of_a_group_that_never_stabilises_stops_after_20_rebalances(monkeypatch: pytest.MonkeyPatch) -> None:
    owners = itertools.cycle("ab")
    monkeypatch.setattr(group_play, "assigned", lambda *_: {next(owners): (("t", 0),)})
    played = play(Group({"t": 1}, (Member("a"), Member("b"))), "range-assignor", NEWEST)
    (step,) = played.steps
    assert (len(step.rounds), step.rests, step.error, played.rests) == (20, False, "", False)


DESCRIBED = """
Consumer group 'app' has no active members.

GROUP  TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST        CLIENT-ID
app    orders  0          10              12              2    c1-a         /127.0.0.1  c1
app    orders  2          10              12              2    c1-a         /127.0.0.1  c1
app    orders  1          10              12              2    c2-b         /127.0.0.1  c2
app    gone    0          10              12              2    -            -           -
app    none    -          -               -               -    c2-b         /127.0.0.1  c2
"""
MEMBERS = """
GROUP  CONSUMER-ID  HOST        CLIENT-ID  #PARTITIONS  ASSIGNMENT
app    c1-a         /127.0.0.1  c1         2            orders(0,2)
app    c2-b         /127.0.0.1  c2         3            orders(1), gone(0, 3)
app    c3-c         /127.0.0.1  c3         0            -
"""
CURRENT_MEMBERS = """
GROUP  CONSUMER-ID  HOST        CLIENT-ID  #PARTITIONS  CURRENT-EPOCH  CURRENT-ASSIGNMENT  TARGET-EPOCH  TARGET-ASSIGNMENT
app    c1-a         /127.0.0.1  c1         2            5              orders:0,2          6             orders:0
app    c2-b         /127.0.0.1  c2         3            5              gone:0,3;orders:1   6             orders:1,2
app    c3-c         /127.0.0.1  c3         0            5              -                   6             gone:0,3
"""
UPGRADED_MEMBERS = "\n".join(
    f"{line} {last}"
    for line, last in zip(CURRENT_MEMBERS.strip().splitlines(), ["UPGRADED", *["true"] * 3], strict=True)
)


def test_consumer_group_describe_output_gives_partition_owners_and_partition_counts() -> None:
    group = parse_group(DESCRIBED, [parse_event("join:c3")])
    assert group.topics == {"gone": 1, "orders": 3}
    assert group.members == (Member("c1-a", (), (("orders", 0), ("orders", 2))), Member("c2-b", (), (("orders", 1),)))
    assert group.events == (Event(join=(Member("c3"),)),)


@pytest.mark.parametrize("members", [MEMBERS, CURRENT_MEMBERS, UPGRADED_MEMBERS])
def test_consumer_group_describe_output_with_members_includes_members_without_partitions(members: str) -> None:
    group = parse_group(DESCRIBED + members)
    assert group.topics == {"gone": 4, "orders": 3}
    assert {member.id: member.owned for member in group.members} == {
        "c1-a": (("orders", 0), ("orders", 2)), "c2-b": (("gone", 0), ("gone", 3), ("orders", 1)), "c3-c": (),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "neither JSON nor the output"),
        ("GROUP CONSUMER-ID HOST\na b c\n", "the columns are not those of"),
        (DESCRIBED + DESCRIBED.replace("app ", "web "), "several groups, app, web"),
        (MEMBERS.replace("(0,2)", "(123456)"), "topic 'orders' has 123,457 partitions"),
        (CURRENT_MEMBERS.replace(":0,2", ":123456"), "topic 'orders' has 123,457 partitions"),
        (DESCRIBED.replace("orders  2 ", "orders  123456 "), "topic 'orders' has 123,457 partitions"),
        (MEMBERS.replace("(0,2)", f"({'9' * 5_000})"), "topic 'orders' has 1,000,000,000 partitions"),
        ('{"topics": {"t": 1}, "members": [{"id": "a"}], "events": [{"join": [{"id": "b", "owned": [["t", 0]]}]}]}',
         "'b' joins and cannot own partitions yet: only members of the group at the start can"),
        ('{"topics": {}}', "the group has 0 topics"),
        ('{"topics": {"t": 1}}', "no member and no event"),
        ('{"topics": {"t": 0}, "members": [{"id": "a"}]}', "topic 't' has 0 partitions"),
        ('{"topics": {"t": 1}, "members": [{"id": "a"}, {"id": "a"}]}', "'a' joins and is in the group already"),
        ('{"topics": {"t": 1}, "events": [{"leave": ["a"]}]}', "'a' leaves and is not in the group"),
        ('{"topics": {"t": 1}, "members": [{"id": "a", "topics": ["u"]}]}', "'a' subscribes to 'u'"),
        ('{"topics": {"t": 1}, "members": [{"id": "a", "owned": [["t", 1]]}]}', "'a' owns t-1"),
        ('{"topics": {"t": 1}, "members": [{"id": "a", "owned": [["t", 0]]}, {"id": "b", "owned": [["t", 0]]}]}',
         "'a' and 'b' both own t-0"),
        ('{"topics": {"t": 2}, "members": [{"id": "a"}], "events": [{"partitions": {"t": 1}}]}', "does not take any away"),
        ('{"topics": {"t": 2}, "members": [{"id": "a"}], "events": [{"partitions": {"u": 1}}]}', "changes topic 'u'"),
        ('{"topics": {"t": 1}, "member": []}', "not a valid group: "),
    ],
)  # fmt: skip
def test_invalid_group_json_or_describe_output_raises_bad_input_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        parse_group(text)


@pytest.mark.parametrize(
    "text", ["", "join:", "leave", "partitions:t", "partitions:t=x", "stop:c1", "partitions:t=123456"]
)
def test_malformed_group_event_argument_raises_bad_input_with_the_expected_form(text: str) -> None:
    with pytest.raises(BadInput, match="is not an event: write join:ID"):
        parse_event(text)


def test_group_event_argument_is_parsed_with_equals_sign_or_colon_in_names() -> None:
    assert parse_event("partitions:a=b=7") == Event(partitions={"a=b": 7})
    assert parse_event("leave:x:y") == Event(leave=("x:y",))


def test_group_simulation_supports_exactly_the_assignor_rules_of_the_kit() -> None:
    assert set(ASSIGNORS) == {slug for slug in RULES if slug.endswith("-assignor")}
