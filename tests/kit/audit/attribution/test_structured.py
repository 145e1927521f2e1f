"""Keys that are placed by what they say are recognised, and make no history of hashes and partition counts."""

from __future__ import annotations

import functools
import hashlib
import random
from collections.abc import Callable

import audit_truth
import numpy as np
import pyarrow as pa
import pytest
from audit_truth import names

from kafka_conformance.audit.attribution.attribution import EITHER_AT
from kafka_conformance.audit.attribution.block import Block, judge
from kafka_conformance.audit.attribution.patterns import correlated
from kafka_conformance.audit.attribution.placements import STRUCTURED
from kafka_conformance.audit.attribution.presence import present
from kafka_conformance.audit.attribution.structured import structured_partitions
from kafka_conformance.audit.initial_sample import examine
from kafka_conformance.audit.result import Placed

DRAWS = random.Random(5)
KEYS = {
    "digits": [b"%d" % number for number in range(1, 3001)],
    "long digits": [b"%010d" % DRAWS.randrange(10**10) for _ in range(3000)],
    "longs": [number.to_bytes(8, "big") for number in range(3000)],
    "random longs": [DRAWS.randrange(10**9).to_bytes(8, "big") for _ in range(3000)],
    "little longs": [DRAWS.randrange(10**6).to_bytes(8, "little") for _ in range(3000)],
    "ints": [DRAWS.randrange(10**6).to_bytes(4, "big") for _ in range(3000)],
    "little ints": [DRAWS.randrange(10**6).to_bytes(4, "little") for _ in range(3000)],
    "names": [b"customer-%d" % number for number in range(3000)],
}
RULES: dict[str, Callable[[bytes, int], int]] = {
    "text-integer": lambda key, n: int(key) % n if key.isdigit() and len(key) <= 18 else -1,
    "int32-big-endian": lambda key, n: int.from_bytes(key, "big", signed=True) % n if len(key) == 4 else -1,
    "int32-little-endian": lambda key, n: int.from_bytes(key, "little", signed=True) % n if len(key) == 4 else -1,
    "int64-big-endian": lambda key, n: int.from_bytes(key, "big", signed=True) % n if len(key) == 8 else -1,
    "int64-little-endian": lambda key, n: int.from_bytes(key, "little", signed=True) % n if len(key) == 8 else -1,
    "first-byte": lambda key, n: key[0] % n if key else -1,
    "last-byte": lambda key, n: key[-1] % n if key else -1,
    "constant-3": lambda _, __: 3,
}
UNKNOWN: dict[str, Callable[[bytes, int], int]] = {
    "tens": lambda key, n: int.from_bytes(key, "big") // 10 % n,
    "sum": lambda key, n: sum(key) % n,
    "exclusive or": lambda key, n: functools.reduce(lambda a, b: a ^ b, key) % n,
    "unsigned": lambda key, n: int.from_bytes(key, "little") % n,
    "md5": lambda key, n: int.from_bytes(hashlib.md5(key, usedforsecurity=False).digest(), "big") % n,
    "random": lambda _, n: DRAWS.randrange(n),
}
EDGES = [
    b"", b"0", b"007", b"-5", b"+5", b" 5", b"9" * 18, b"9" * 19, b"\xff" * 4, b"\x80\0\0\0", b"\x7f\xff\xff\xff",
    b"\xff" * 8, b"\x80" + b"\0" * 7, b"\0" * 7 + b"\x80", b"12/", b"1:2", b"\xff", b"\x00", b"12345678", b"1234",
]  # fmt: skip


def column(keys: list[bytes], rule: Callable[[bytes, int], int], count: int) -> audit_truth.KeyColumn:
    return audit_truth.column(keys, np.array([rule(key, count) for key in keys], np.int32), count)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("count", [1, 4, 7, 12, 1000])
def test_vectorized_integer_and_byte_partitioners_equal_scalar_definitions(rule: str, count: int) -> None:
    keys = audit_truth.column(EDGES, 0, count)
    wanted = [RULES[rule](key, count) for key in EDGES]
    assert structured_partitions(rule, keys.offsets, keys.data, count).tolist() == wanted
    where = np.array([max(0, partition) for partition in wanted], np.int32)
    assert audit_truth.column(EDGES, where, count).by(Placed(rule, count)).tolist() == [
        0 <= partition < count for partition in wanted
    ]


def test_every_integer_and_byte_partitioner_has_a_scalar_test_definition() -> None:
    assert [rule.slug for rule in STRUCTURED] == list(RULES)[:-1]


@pytest.mark.parametrize("count", [8, 10, 12])
@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        ("digits", "text-integer"), ("long digits", "text-integer"), ("longs", "int64-big-endian"),
        ("random longs", "int64-big-endian"), ("little longs", "int64-little-endian"), ("ints", "int32-big-endian"),
        ("little ints", "int32-little-endian"), ("names", "constant-3"),
    ],
)  # fmt: skip
def test_topic_of_one_integer_or_constant_partitioner_names_only_that_partitioner(
    kind: str, rule: str, count: int
) -> None:
    keys = column(KEYS[kind], RULES[rule], count)
    found, doubt = examine(keys, Placed("murmur2", count))
    assert (names(found), doubt) == ([f"{rule}@{count}"], None)
    assert keys.by(found[0]).all()
    for partition in {0, 3, count - 1}:
        rows = np.flatnonzero(keys.where == partition)
        here = audit_truth.column([KEYS[kind][row] for row in rows], partition, count)
        assert present(here, Placed("murmur2", count), found, weakest=False) == (found if rows.size else ())


def test_integer_modulo_3_is_named_over_equal_string_hash_code_unless_that_is_expected() -> None:
    """48 and 31 - 1 are multiples of 3, so String.hashCode of up to nine digits is their integer modulo 3."""
    keys = column(KEYS["digits"], RULES["text-integer"], 3)
    assert keys.by(Placed("string-hash-code-masked", 3)).all()
    assert names(examine(keys, Placed("murmur2", 3))[0]) == ["text-integer@3"]
    expected = Placed("string-hash-code-masked", 3)
    assert examine(keys, expected)[0] == (expected,)


@pytest.mark.parametrize("count", [12, 100])
@pytest.mark.parametrize("rule", ["first-byte", "last-byte"])
def test_partitioner_by_first_or_last_byte_of_the_key_is_found(rule: str, count: int) -> None:
    keys = [DRAWS.randbytes(12) for _ in range(2000)]
    assert names(examine(column(keys, RULES[rule], count), Placed("murmur2", count))[0]) == [f"{rule}@{count}"]


@pytest.mark.parametrize("rule", ["murmur2", "librdkafka-consistent", "sarama-hash"])
def test_integer_partitioner_is_found_in_topic_with_hash_partitioner(rule: str) -> None:
    keys = KEYS["long digits"]
    where = [audit_truth.place(rule, key, 12) if number % 2 else int(key) % 12 for number, key in enumerate(keys)]
    found, _ = examine(audit_truth.column(keys, np.array(where, np.int32), 12), Placed("murmur2", 12))
    assert names(found) == [f"{rule}@12", "text-integer@12"]


@pytest.mark.parametrize("kind", ["digits", "long digits", "longs", "ints", "names"])
@pytest.mark.parametrize("rule", UNKNOWN)
@pytest.mark.parametrize("count", [8, 10, 12])
def test_unknown_partitioner_is_named_as_at_most_one_known_partitioner_that_explains_all_keys(
    kind: str, rule: str, count: int
) -> None:
    """A rule that is present explains every key, so that no such key tells it from the truth."""
    keys = column(KEYS[kind], UNKNOWN[rule], count)
    found, _ = examine(keys, Placed("murmur2", count))
    assert len(found) <= 1
    assert all(keys.by(placed).all() for placed in found)
    if not found:
        for partition in (0, 5):
            here = audit_truth.column(
                [KEYS[kind][row] for row in np.flatnonzero(keys.where == partition)], partition, count
            )
            assert present(here, Placed("murmur2", count), weakest=False) == ()


@pytest.mark.parametrize(
    "rule", ["librdkafka-consistent", "sarama-hash", "string-hash-code-masked", "arrays-hash-code"]
)
@pytest.mark.parametrize("kind", ["digits", "names", "random longs"])
def test_weak_hash_of_patterned_keys_is_found_as_one_partitioner_that_explains_all_keys(rule: str, kind: str) -> None:
    keys = column(KEYS[kind], functools.partial(audit_truth.place, rule), 12)
    found, _ = examine(keys, Placed("murmur2", 12))
    assert keys.by(found[0]).all()
    assert len(found) == 1


@pytest.mark.parametrize("rule", ["librdkafka-consistent", "sarama-hash"])
@pytest.mark.parametrize("grown", [False, True])
def test_weak_hash_is_found_with_the_old_partition_count(rule: str, grown: bool) -> None:
    keys = KEYS["names"]
    where = [audit_truth.place(rule, key, 12 if grown and number % 2 else 3) for number, key in enumerate(keys)]
    found, _ = examine(audit_truth.column(keys, np.array(where, np.int32), 12), Placed("murmur2", 12))
    assert names(found) == ([f"{rule}@12"] if grown else []) + [f"{rule}@3"]


def test_correlation_is_detected_only_if_nonzero_partition_distances_are_uneven() -> None:
    draws = np.random.default_rng(1)
    chosen, at = draws.integers(0, 12, 500), draws.integers(0, 12, 500)
    assert not correlated(chosen, at, 12)
    assert not correlated(chosen, chosen, 12)
    assert correlated(chosen, (chosen + 3 * draws.integers(0, 4, 500)) % 12, 12)


def test_record_fitting_both_a_constant_partition_and_murmur2_is_unattributed() -> None:
    """A constant explains all there, so that its neighbours cannot be of the other rule alone."""
    keys = KEYS["names"]
    where = [3 if number % 2 else audit_truth.place("murmur2", key, 12) for number, key in enumerate(keys)]
    known, _ = examine(audit_truth.column(keys, np.array(where, np.int32), 12), Placed("murmur2", 12))
    assert names(known) == ["murmur2@12", "constant-3@12"]
    here = [key for key, partition in zip(keys, where, strict=True) if partition == 3]
    offsets = np.arange(len(here), dtype=np.int64)
    judged = judge(Block(3, offsets, offsets, pa.array(here, pa.binary())), 12, Placed("murmur2", 12), known)
    java = np.array([audit_truth.place("murmur2", key, 12) == 3 for key in here])
    assert (judged.attributed[java] == EITHER_AT).all()
    assert (judged.attributed[~java] == 1).all()


def test_always_even_integer_keys_are_not_evidence_for_an_integer_partitioner() -> None:
    """Small longs, least byte first: the integer of the other order is even, as is half of what Java placed."""
    keys = KEYS["little longs"]
    where = [audit_truth.place("murmur2", key, 1 + number % 2) for number, key in enumerate(keys)]
    found, _ = examine(audit_truth.column(keys, np.array(where, np.int32), 2), Placed("murmur2", 2))
    assert not [name for name in names(found) if name.startswith("int")]
