from __future__ import annotations

from kafka_reference.assignment.members import (
    Member,
    Topic,
    computed_order,
    hash_map_order,
    in_hash_map_order,
    in_member_order,
    java_order,
)


def test_strings_are_ordered_by_utf_16_code_units() -> None:
    assert sorted(["～", "\U0001f600"], key=java_order) == ["\U0001f600", "～"]


def test_hash_map_order_of_equal_hashes_is_reversed_by_compute_if_absent() -> None:
    same_hash = ["AaAa", "BBBB", "AaBB"]
    assert hash_map_order([*same_hash, "AaAa"]) == same_hash
    assert computed_order([*same_hash, "AaAa"]) == same_hash[::-1]


def test_hash_map_resizes_at_13th_put_and_later_with_compute_if_absent() -> None:
    keys = [chr(code) for code in (*range(ord("a"), ord("m")), ord("q"))]
    assert len(keys) == 13
    assert hash_map_order(keys)[-1] == computed_order([*keys, keys[0]])[-1]
    assert computed_order(keys) != computed_order([*keys, keys[0]])


def test_members_are_ordered_by_instance_id_if_static_ones_come_first_else_member_id() -> None:
    members = [Member("a"), Member("b", instance="y"), Member("c", instance="x")]
    assert [one.id for one in in_member_order(members, True)] == ["c", "b", "a"]
    assert [one.id for one in in_member_order(members, False)] == ["a", "b", "c"]
    assert [one.id for one in in_hash_map_order(members[::-1])] == ["a", "b", "c"]


def test_racks_of_a_partition_are_distinct_and_empty_if_unknown() -> None:
    topic = Topic(2, (("r1", "r2", "r1"), ()))
    assert topic.racks_of(0) == {"r1", "r2"}
    assert not topic.racks_of(1)
    assert not Topic(1).racks_of(0)
