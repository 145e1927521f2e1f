from __future__ import annotations

import pytest

from kafka_reference.java.hash_maps import CopyOnWriteMap, capacity_for, partition_hash, string_hash, table_order


def copied(*keys: int) -> list[int]:
    made: CopyOnWriteMap[int, str] = CopyOnWriteMap(lambda key: key)
    for key in keys:
        made.get_or_put(key, lambda: "value")
    return [key for key, _ in made.items()]


def test_string_and_topic_partition_hash_codes_match_java() -> None:
    assert [string_hash(text) for text in ("", "t", "hello")] == [0, 116, 99162322]
    assert string_hash("Aa") == string_hash("BB") == 2112
    assert partition_hash(("t", 3)) == 31 * 34 + 116


@pytest.mark.parametrize(("wanted", "capacity"), [(0, 1), (1, 1), (2, 2), (3, 4), (16, 16), (17, 32)])
def test_hash_map_capacity_is_the_next_power_of_two(wanted: int, capacity: int) -> None:
    assert capacity_for(wanted) == capacity


def test_copy_on_write_map_order_depends_on_number_of_entries() -> None:
    assert copied(0, 4, 1) == [0, 4, 1]
    assert copied(0, 4, 1, 5) == [0, 1, 4, 5]
    assert copied(17) == [17]
    assert copied(3, 2, 1, 0) == [0, 1, 2, 3]


def test_hash_table_order_changes_when_load_exceeds_three_quarters() -> None:
    assert table_order([4, 0, 1], lambda key: key, 4) == [4, 0, 1]
    assert table_order([4, 0, 1, 2], lambda key: key, 4) == [0, 1, 2, 4]
