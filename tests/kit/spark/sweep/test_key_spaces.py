"""Which keys a sweep asks about: each once, and drawn ones as SplittableRandom draws them."""

from __future__ import annotations

import itertools

import msgspec
import numpy as np
import pytest

from kafka_conformance.core.sources import key_columns
from kafka_conformance.spark.sweep.key_spaces import every_key, keys_up_to, random_keys


def keys_of(space, block):  # type: ignore[no-untyped-def]
    offsets, data = space.column(block)
    assert (offsets.dtype, data.dtype) == (np.int32, np.uint8)
    whole = data.tobytes()
    return [whole[a:b] for a, b in itertools.pairwise(offsets)]


def test_key_space_counts_every_key_up_to_the_maximum_length() -> None:
    assert [keys_up_to(length) for length in range(5)] == [1, 257, 65_793, 16_843_009, 4_311_810_305]
    assert (every_key(4).asked, every_key(4).blocks) == (4_311_810_305, 65_537)
    assert (every_key(2, 1, 1024).asked, every_key(2, 1, 1024).blocks) == (67_372_032, 1_024)


def test_blocks_of_key_space_contain_every_key_exactly_once() -> None:
    space = every_key(3)
    offsets = [space.column(block) for block in range(space.blocks)]
    data = np.concatenate([each[1] for each in offsets])
    lengths = np.concatenate([np.diff(each[0]) for each in offsets])
    meant = list(key_columns(3))
    assert np.array_equal(data, np.concatenate([each[1] for each in meant]))
    assert np.array_equal(lengths, np.concatenate([np.diff(each[0]) for each in meant]))


def test_four_byte_key_space_begins_with_the_empty_key_and_ends_with_four_ff_bytes() -> None:
    space = every_key(4)
    assert keys_of(space, 0)[:3] == [b"", b"\x00", b"\x01"]
    assert keys_of(space, 256)[:2] == [b"\xff\xff\xff", b"\x00\x00\x00\x00"]
    assert keys_of(space, space.blocks - 1)[-1] == b"\xff\xff\xff\xff"


def test_key_space_repeats_every_key_for_every_partition_count() -> None:
    space = every_key(2, 1, 1024)
    assert [space.argument(block) for block in (0, 1, 1023)] == [1, 2, 1024]
    assert keys_of(space, 0) == keys_of(space, 1023)
    several = every_key(3, 5, 2)
    assert (several.blocks, [several.argument(block) for block in (0, 256, 257, 513)]) == (514, [5, 5, 6, 6])
    assert keys_of(several, 257) == keys_of(several, 0)


def test_key_space_random_numbers_equal_java_splittable_random() -> None:
    # new SplittableRandom(42): nextLong() three times, in JDK 17.
    from kafka_conformance.spark.sweep.key_spaces import _draws

    assert _draws(np, 42, 0, 3).view(np.int64).tolist() == [
        -4767286540954276203,
        2949826092126892291,
        5139283748462763858,
    ]


def test_random_keys_differ_by_block_and_seed_and_have_lengths_up_to_4096() -> None:
    one, other = random_keys(5_000, 1, 4_096), random_keys(5_000, 2, 4_096)
    drawn = {b"".join(keys_of(space, block)) for space in (one, other) for block in range(space.blocks)}
    assert len(drawn) == 10
    lengths = [len(key) for block in range(one.blocks) for key in keys_of(one, block)]
    assert (len(lengths), min(lengths)) == (5_000, 0)
    assert 4_000 < max(lengths) <= 4_096
    assert sum(length <= 64 for length in lengths) > 500


@pytest.mark.parametrize("longest", [0, 1])
def test_random_keys_of_maximum_length_0_or_1_cover_every_length(longest: int) -> None:
    assert {len(key) for key in keys_of(random_keys(100, 3, longest), 0)} == set(range(longest + 1))


def test_key_space_json_has_the_fields_java_reads() -> None:
    reported = msgspec.json.decode(random_keys(5_000, 9, 64, 1, 1024).as_json())
    assert reported == {"every": False, "keys": 5_000, "per_block": 1_024, "first_argument": 1, "arguments": 1_024,
                    "seed": 9, "longest": 64}  # fmt: skip


@pytest.mark.parametrize(("space", "name"), [
    (every_key(4), "every key of up to 4 bytes"),
    (every_key(2, 1, 1024), "every key of up to 2 bytes × partition counts 1-1024"),
    (random_keys(5, 1, 4096), "random keys of up to 4,096 bytes"),
])  # fmt: skip
def test_key_space_name_states_key_lengths_and_partition_counts(space, name) -> None:  # type: ignore[no-untyped-def]
    assert space.name == name
