from __future__ import annotations

import pytest

from kafka_reference.assignment.hash_map import HashMap, by_partition, by_text
from kafka_reference.errors import NullPointerException


def test_hash_map_put_appends_to_bucket_and_compute_if_absent_prepends() -> None:
    equal_hashes = ("AaAa", "BBBB", "AaBB")
    assert by_text((name, 1) for name in equal_hashes).keys() == list(equal_hashes)
    computed: HashMap[str, int] = by_text()
    for name in equal_hashes:
        assert computed.compute_if_absent(name, 1) == 1
    assert list(computed) == list(reversed(equal_hashes))
    assert computed.compute_if_absent("AaAa", 2) == 1


def test_hash_map_compute_if_absent_resizes_one_call_later_than_put() -> None:
    partitions = [("t", number) for number in range(13)]
    put: HashMap[tuple[str, int], bool] = by_partition()
    computed: HashMap[tuple[str, int], bool] = by_partition()
    for partition in partitions:
        put[partition] = computed.compute_if_absent(partition, True)
    assert put.keys() != computed.keys()
    computed.compute_if_absent(("t", 0), True)
    assert put.keys() == computed.keys()


def test_hash_map_get_of_absent_key_is_null_and_subscript_throws_npe() -> None:
    empty = by_text([("a", 1)])
    assert empty.pop("a") == 1
    assert (empty.get("a"), empty.pop("a"), len(empty), "a" in empty) == (None, None, 0, False)
    with pytest.raises(NullPointerException):
        empty["a"]


def test_hash_map_key_put_after_removal_is_last_in_bucket() -> None:
    names: HashMap[str, int] = by_text()
    for name in ("AaAa", "BBBB"):
        names.compute_if_absent(name, 1)
    assert names.pop("BBBB") == 1
    assert names.put_if_absent("BBBB", 2) == 2
    assert names.keys() == ["AaAa", "BBBB"]
    names.clear()
    assert names.items() == []
