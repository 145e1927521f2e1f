from __future__ import annotations

from itertools import product

import pytest

from kafka_reference.log_files.errors import IndexOutOfBoundsException
from kafka_reference.log_files.index_search import find_slots
from kafka_reference.log_files.offset_index import OffsetIndex


@pytest.mark.parametrize("warm", [None, 1, 2, 3, 1024])
def test_index_search_finds_ascending_keys_with_any_warm_section(warm: int | None) -> None:
    for count, target in product(range(9), range(-1, 20)):
        keys = [2 * slot for slot in range(count)]
        lower, upper = find_slots(keys.__getitem__, count, target, warm)
        assert lower == sum(key <= target for key in keys) - 1
        assert upper in (lower, lower + 1, -1)


def test_index_search_of_equal_keys_depends_on_the_warm_section() -> None:
    keys = [5, 5, 5]
    assert find_slots(keys.__getitem__, 3, 5, None) == (1, 1)
    assert find_slots(keys.__getitem__, 3, 5, 1024) == (0, 1)


def test_index_lookup_beyond_a_shrunk_file_throws_index_out_of_bounds() -> None:
    index = OffsetIndex(0, 24, version="4.4.0")
    for number in (1, 2, 3):
        index.append(number, number)
    with pytest.raises(ValueError, match="IllegalArgumentException"):
        index.resize(8)
    assert (index.entries, index.max_entries, index.data) == (3, 1, bytes.fromhex("0000000100000001"))
    with pytest.raises(IndexOutOfBoundsException):
        index.lookup(2)
