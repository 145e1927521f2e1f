"""Orders that the oracle's releases wrote their snapshots in (see the mutants of order, which are put to Java)."""

from __future__ import annotations

import pytest

from kafka_reference.java.long_maps import JavaMap, LongMap, Scala212Map, Scala213Map


def filled(made: type[LongMap[str]], *keys: int) -> LongMap[str]:
    mapped = made()
    for key in keys:
        mapped.put(key, str(key))
    return mapped


def order(mapped: LongMap[str]) -> list[int]:
    return [key for key, _ in mapped.items()]


def test_java_hash_map_keeps_insertion_order_within_a_bucket() -> None:
    # 2**32 + 1 hashes to 0.
    assert order(filled(JavaMap, 16, 3, 0, 2**32 + 1)) == [16, 0, 2**32 + 1, 3]


def test_java_hash_map_doubles_when_load_exceeds_three_quarters() -> None:
    assert order(filled(JavaMap, *range(1, 12), 16)) == [16, *range(1, 12)]
    assert order(filled(JavaMap, *range(1, 13), 16)) == [*range(1, 13), 16]


def test_scala_2_13_hash_map_sorts_buckets_and_doubles_at_three_quarters() -> None:
    assert order(filled(Scala213Map, 16, 3, 0)) == [0, 16, 3]
    assert order(filled(Scala213Map, *range(1, 11), 16)) == [16, *range(1, 11)]
    assert order(filled(Scala213Map, *range(1, 12), 16)) == [*range(1, 12), 16]


def test_scala_2_13_hash_map_orders_hash_with_sign_bit_first() -> None:
    high = 2**31  # spread over 16 buckets it is in that of 0
    assert order(filled(Scala213Map, 0, high)) == [high, 0]


def test_scala_2_12_hash_map_iterates_every_key_but_not_in_insertion_order() -> None:
    assert order(filled(Scala212Map, 7, 8, 23)) != [7, 8, 23]
    assert sorted(order(filled(Scala212Map, *range(40)))) == list(range(40))


@pytest.mark.parametrize(
    ("made", "places"),
    [
        (JavaMap, [0, 1, 2, 3, 4, 5, 6]),
        (Scala213Map, [3, 0, 2, 1, 4, 5, 6]),
        (Scala212Map, [2, 0, 6, 5, 1, 4, 3]),
    ],
)
def test_negative_producer_ids_are_ordered_by_hash_of_each_map_class(
    made: type[LongMap[str]], places: list[int]
) -> None:
    """As the brokers of 4.4.0, 3.3.2 and 2.0.1 write the producers that they have read from a snapshot."""
    ids = (-1, -17, 2**32 - 1, -(2**31) - 1, 0, 16, -(2**40))
    assert [ids.index(key) for key in order(filled(made, *ids))] == places


@pytest.mark.parametrize("made", [JavaMap, Scala212Map, Scala213Map])
def test_long_maps_support_put_get_remove_and_clear(made: type[LongMap[str]]) -> None:
    mapped = filled(made, *range(0, 3000, 100))
    mapped.put(100, "again")
    assert (mapped.get(100), mapped.get(5), len(order(mapped))) == ("again", None, 30)
    mapped.remove(100)
    assert mapped.get(100) is None
    assert 100 not in order(mapped)
    buckets = order(filled(made, 16, 0))
    mapped.clear()
    assert order(mapped) == []
    mapped.put(16, "")
    mapped.put(0, "")
    assert sorted(order(mapped)) == sorted(buckets)
