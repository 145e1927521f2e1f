from __future__ import annotations

import pytest

from kafka_reference.assignment.server.behaviour import TargetAssignmentBuilderBehaviour
from kafka_reference.assignment.server.group import (
    HashTable,
    SubscribedTopic,
    Subscriber,
    Uuid,
    group_of,
    in_order,
    partition_hash,
    uuid_hash,
)
from kafka_reference.errors import QuestionError

NAMED, BY_ID = (TargetAssignmentBuilderBehaviour.of(release) for release in ("3.8.0", "3.7.0"))


def member(each: str, *names: str, assigned: tuple[tuple[Uuid, int], ...] = ()) -> Subscriber:
    return Subscriber(each, None, None, names, assigned)


@pytest.mark.parametrize("text", ["AAAAAAAAAAAAAAAAAAAAAg", "__________sAAAAAAAAAAw", "PyyRpHtuTRAKGyw9Tl9gcQ"])
def test_uuid_round_trip_keeps_text(text: str) -> None:
    assert str(Uuid.parse(text)) == text


@pytest.mark.parametrize("text", ["", "AAAA", "AAAAAAAAAAAAAAAAAAAA!g"])
def test_malformed_topic_id_raises_question_error(text: str) -> None:
    with pytest.raises(QuestionError, match="topic id"):
        Uuid.parse(text)


def test_topic_ids_are_ordered_as_signed_64_bit_numbers() -> None:
    assert sorted([Uuid(1, 0), Uuid(-1, 5), Uuid(1, -7)]) == [Uuid(-1, 5), Uuid(1, -7), Uuid(1, 0)]


def test_hash_codes_of_uuid_and_topic_id_partition_match_java() -> None:
    assert uuid_hash(Uuid(0, 2)) == uuid_hash(Uuid(2, 0)) == 2
    assert uuid_hash(Uuid(-1, 0)) == 0
    assert uuid_hash(Uuid(1 << 32, 3)) == 2
    assert partition_hash((Uuid(0, 2), 5)) == 31 * 33 + 5


def test_java_hash_table_keeps_capacity_after_removals() -> None:
    assert in_order(int, [17, 1, 3]) == [17, 1, 3]
    table = HashTable(int, range(16, 29))
    for number in range(18, 29):
        table.discard(number)
    table.add(1)
    assert table.ordered() == [1, 16, 17]
    assert len(table) == 3


def test_copied_java_hash_set_of_12_elements_has_larger_table_and_sometimes_other_order() -> None:
    numbers = [32, *range(12)]
    assert in_order(int, numbers[:12]) == in_order(int, numbers[:12], copied=12) == [32, *range(11)]
    assert in_order(int, [16, *range(11)]) == [16, *range(11)]
    assert in_order(int, [16, *range(11)], copied=12) == [*range(11), 16]


def test_subscribed_name_without_topic_is_counted_but_adds_no_topic_id() -> None:
    topics = [SubscribedTopic("t", Uuid(0, 2), 3), SubscribedTopic("old", Uuid(0, 3), None)]
    (one,) = group_of(NAMED, topics, [member("a", "t", "old", "nowhere")]).members
    assert one.topics == (Uuid(0, 2),)
    assert one.names == 3


def test_subscribed_topics_are_ordered_by_name_since_3_8_else_by_id() -> None:
    topics = [SubscribedTopic("a", Uuid(0, 9), 1), SubscribedTopic("b", Uuid(0, 3), 1)]
    assert group_of(NAMED, topics, [member("m", "b", "a")]).members[0].topics == (Uuid(0, 9), Uuid(0, 3))
    assert group_of(BY_ID, topics, [member("m", "b", "a")]).members[0].topics == (Uuid(0, 3), Uuid(0, 9))


def test_group_is_homogeneous_if_members_subscribe_to_equal_names_or_if_declared_so() -> None:
    topics = [SubscribedTopic("t", Uuid(0, 2), 3)]
    assert group_of(NAMED, topics, [member("a", "t"), member("b", "t", "t")]).homogeneous
    assert not group_of(NAMED, topics, [member("a", "t"), member("b", "t", "nowhere")]).homogeneous
    assert group_of(NAMED, topics, [member("a"), member("b", "t")], homogeneous=True).homogeneous


def test_assigned_partitions_of_a_member_are_in_java_hash_table_order() -> None:
    old = ((Uuid(0, 18), 0), (Uuid(0, 2), 33), (Uuid(0, 2), 3), (Uuid(0, 2), 17))
    topics = [SubscribedTopic("t", Uuid(0, 2), 40), SubscribedTopic("u", Uuid(0, 18), 1)]
    group = group_of(NAMED, topics, [member("a", "t", assigned=old)])
    assert group.members[0].assigned == ((Uuid(0, 18), (0,)), (Uuid(0, 2), (33, 17, 3)))
    assert group.assigned_to("a") == dict(group.members[0].assigned)
