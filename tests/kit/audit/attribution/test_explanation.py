"""What a mask says is what the scalar rules say, for every placement and any number of partitions."""

from __future__ import annotations

import audit_truth
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_conformance.audit.attribution.explanation import (
    FOLD_NAMES,
    KeyColumn,
    explained,
    explained_hashes,
    folded,
    how_many_explained,
    leading,
)
from kafka_conformance.audit.attribution.hash_columns import HASH_NAMES, hash_columns
from kafka_conformance.audit.attribution.placements import PLACEMENTS, find_placement, number
from kafka_conformance.audit.result import Placed
from kafka_reference.partitioning import Partitioner

HASHES = [0, 1, 2, 0x7FFFFFFE, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF]
COUNTS = [1, 2, 3, 5, 7, 8, 12, 255, 1000, 65536, 2**30, 2**31 - 1]


@given(st.lists(st.binary(max_size=20), max_size=6), st.sampled_from(COUNTS), st.data())
def test_mask_bit_is_set_iff_partitioner_may_put_the_key_in_the_observed_partition(
    column: list[bytes], count: int, data: st.DataObject
) -> None:
    partitions = [
        data.draw(
            st.sampled_from([audit_truth.place(placement.slug, key, count) for placement in PLACEMENTS])
            | st.integers(0, 12)
        )
        for key in column
    ]
    keys = audit_truth.column(column, np.array(partitions, np.int32), count)
    for at, placement in enumerate(PLACEMENTS):
        want = [
            partition < count
            and ((placement.draws_empty and not key) or audit_truth.place(placement.slug, key, count) == partition)
            for key, partition in zip(column, partitions, strict=True)
        ]
        assert (keys.masks >> np.uint32(at) & np.uint32(1)).astype(bool).tolist() == want, placement.slug
        assert keys.by(Placed(placement.slug, count)).tolist() == want
        assert leading(placement, keys.offsets, keys.data, keys.partition, count).tolist() == want


@pytest.mark.parametrize("fold", FOLD_NAMES)
def test_vectorized_hash_to_partition_mappings_equal_scalar_ones_at_integer_limits(fold: str) -> None:
    scalar = audit_truth.SCALAR_FOLDS[fold]
    for count in COUNTS:
        signed = [(h ^ 0x80000000) - 0x80000000 for h in HASHES]
        assert folded(fold, np.array(HASHES, np.uint32), count).tolist() == [scalar(h, count) for h in signed]


ONE_PER_FOLD = tuple(next(each for each in PLACEMENTS if each.fold == fold) for fold in FOLD_NAMES)


@pytest.mark.parametrize("count", [*range(1, 41), 100, 255, 1000, 2**31 - 1])
def test_masks_and_explained_counts_equal_scalar_mapping_of_edge_hashes_to_partitions(count: int) -> None:
    """Hash 0 at the last partition of 12 has the product c - 8, which is below c = ceil(2^64 / 12)."""
    near = {count * at + by for at in (1, 2, (2**31 - 1) // count, (2**32 - 1) // count) for by in (-1, 0, 1)}
    edges = sorted({h for h in {*HASHES, *near} if 0 <= h < 2**32})
    partitions = sorted({*range(min(count, 40)), count // 2, max(0, count - 2), count - 1})
    where = np.tile(np.array(partitions, np.int32), len(edges))
    row = np.repeat(np.array(edges, np.uint32), len(partitions))
    hashes = np.tile(row, (len(HASH_NAMES), 1))
    masks = explained_hashes(hashes, ONE_PER_FOLD, where, count)
    counted = how_many_explained(hashes, ONE_PER_FOLD, where, range(count, count + 1))[0]
    for at, fold in enumerate(FOLD_NAMES):
        by_definition = [
            audit_truth.SCALAR_FOLDS[fold]((h ^ 0x80000000) - 0x80000000, count) == partition
            for h in edges
            for partition in partitions
        ]
        got = (masks >> np.uint32(at) & np.uint32(1)).astype(bool).tolist()
        wrong = [(int(h), int(p)) for h, p, a, b in zip(row, where, got, by_definition, strict=True) if a != b]
        assert not wrong, (fold, wrong[:5])
        assert counted[at] == sum(by_definition), fold


def test_masks_for_a_scalar_partition_equal_masks_for_a_partition_array() -> None:
    keys = [b"%d" % number for number in range(9000)]
    one, each = audit_truth.column(keys, 4, 7), audit_truth.column(keys, np.full(9000, 4, np.int32), 7)
    assert (one.masks == each.masks).all()
    assert one.masks.any()
    assert not one.masks.all()
    at = int(np.flatnonzero(one.by(Placed("murmur2", 7)))[-1])
    assert audit_truth.place("murmur2", keys[at], 7) == 4


def test_empty_key_fits_every_partition_only_for_librdkafka_consistent_random() -> None:
    """By librdkafka's own partitioners, drawn two hundred times."""
    names = {"consistent_random": "librdkafka-consistent", "murmur2_random": "murmur2", "fnv1a_random": "sarama-hash"}
    assert [each.slug for each in PLACEMENTS if each.draws_empty] == ["librdkafka-consistent"]
    for name, slug in names.items():
        partitioner = Partitioner(name, draws=[number * 7919 for number in range(200)])
        where = np.array([partitioner(b"", list(range(12)), list(range(12))) for _ in range(200)], np.int32)
        assert (len(set(where.tolist())) == 12) == (name == "consistent_random")
        keys = audit_truth.column([b""] * 200, where, 12)
        assert keys.by(Placed(slug, 12)).all()
        assert (keys.masks >> np.uint32(number(slug)) & np.uint32(1)).all()
        older = keys.by(Placed(slug, 3))
        draws = name == "consistent_random"
        assert older.tolist() == [at < 3 and (draws or at == audit_truth.place(slug, b"", 3)) for at in where.tolist()]


def test_old_partition_count_explains_no_record_in_partitions_added_later() -> None:
    keys = audit_truth.column([b"%d" % number for number in range(100)], 5, 12)
    assert not keys.by(Placed("murmur2", 5)).any()
    assert keys.by(Placed("murmur2", 6)).any()


def test_explained_record_counts_equal_the_number_of_set_mask_bits() -> None:
    keys = audit_truth.column([b"%d" % number for number in range(300)], np.arange(300, dtype=np.int32) % 6, 9)
    counted = how_many_explained(hash_columns(keys.offsets, keys.data), PLACEMENTS, keys.where, range(2, 10))
    for count, row in zip(range(2, 10), counted, strict=True):
        masks = explained(keys.offsets, keys.data, keys.where, count)
        assert [int((masks >> np.uint32(at) & np.uint32(1)).sum()) for at in range(len(PLACEMENTS))] == row.tolist()


def test_taking_rows_of_a_key_column_returns_keys_and_partitions_in_given_order() -> None:
    column = [b"a", b"", b"ccc", b"dd"]
    taken = audit_truth.column(column, np.array([0, 1, 2, 3], np.int32), 4).taken(np.array([3, 1, 2]))
    assert [bytes(taken.data[start:end]) for start, end in zip(taken.offsets, taken.offsets[1:], strict=False)] == [
        b"dd",
        b"",
        b"ccc",
    ]
    assert taken.where.tolist() == [3, 1, 2]


def test_partition_count_zero_raises_value_error() -> None:
    with pytest.raises(ValueError, match="invalid partition count 0: expected an int32 of 1 or more"):
        leading(find_placement("murmur2"), np.array([0, 1], np.int32), np.zeros(1, np.uint8), 0, 0)


def test_key_column_without_keys_has_empty_masks() -> None:
    assert KeyColumn(np.zeros(1, np.int32), np.empty(0, np.uint8), 0, 3).masks.size == 0


def test_key_column_gives_chosen_partitions_explained_rows_and_distinct_key_partition_pairs() -> None:
    column = [b"a", b"b", b"a", b"a", b"12"]
    java, integer = Placed("murmur2", 5), Placed("text-integer", 5)
    places = [audit_truth.place("murmur2", key, 5) for key in column]
    where = [places[0], 4, places[2], (places[3] + 1) % 5, 2]
    keys = audit_truth.column(column, np.array(where, np.int32), 5)
    assert keys.chosen(java).tolist() == places
    assert keys.chosen(integer).tolist() == [-1, -1, -1, -1, 2]
    by_java = [place == at for place, at in zip(places, where, strict=True)]
    assert keys.explained_by([]).tolist() == [False] * 5
    assert keys.explained_by([java]).tolist() == by_java
    assert keys.explained_by([java, integer]).tolist() == [*by_java[:4], True]
    assert keys.distinct_pairs().tolist() == [0, 1, 3, 4]
    assert keys.distinct_pairs(np.array([1, 2, 4])).tolist() == [1, 2, 4]
