"""Further rules, column by column, are what the gate's scalar hashes and Python's integers compute."""

from __future__ import annotations

import random

import audit_truth
import pytest

from kafka_conformance.audit.attribution.explanation import chosen_partitions
from kafka_conformance.audit.attribution.placements import PLACEMENTS, STRUCTURED, find_placement
from kafka_conformance.audit.attribution.relatives import RELATIVES, relative_partitions
from kafka_reference.partitioning.places import NAMED, RULES

DRAWS = random.Random(37)
KEYS = [
    b"",
    *(DRAWS.randbytes(DRAWS.choice([1, 3, 4, 7, 8, 8, 16, 17, 40])) for _ in range(60)),
    *(b"order-%d" % n for n in range(40)),
]
KEYS += ["Zoë-ﬁ-𝄞".encode(), b"polygenelubricants"]  # the hash code of the last is the least int
ASCII = [key for key in KEYS if all(byte < 0x80 for byte in key)]


@pytest.mark.parametrize("slug", RELATIVES)
@pytest.mark.parametrize("keys", [KEYS, ASCII])
def test_vectorized_hash_variant_chooses_the_partition_of_the_scalar_definition(slug: str, keys: list[bytes]) -> None:
    column = audit_truth.column(keys, 0, 1)
    for count in (1, 2, 7, 12, 48):
        expected = [audit_truth.place(slug, key, count) for key in keys]
        assert relative_partitions(slug, column.offsets, column.data, count).tolist() == expected


def test_hash_variant_slugs_differ_from_other_partitioner_slugs() -> None:
    assert not RELATIVES.keys() & {each.slug for each in (*PLACEMENTS, *STRUCTURED)}


@pytest.mark.parametrize(
    ("slug", "key", "number"),
    [
        ("string-hash-code-abs-or-zero", b"polygenelubricants", 0),
        ("string-hash-code-abs", b"polygenelubricants", 2**31),
        ("string-hash-code-abs-or-zero", b"hello world", 1794106052),
        ("string-hash-code-text-masked", "Zoë".encode(), 90 * 31 * 31 + 111 * 31 + 235),
        ("fnv-1-unsigned", b"foobar", 0x31F0B262),
        ("fnv-1a-64-masked", b"a", 0xAF63DC4C8601EC8C & 2**63 - 1),
        ("fnv-1-64-masked", b"foobar", 0x340D8765A4DDA9C2),
        ("xxhash-unsigned", b"", 0x02CC5D05),
        ("seahash-unsigned", b"to be or not to be", 1988685042348123509),
    ],
)
def test_hash_variants_reproduce_published_hash_values(slug: str, key: bytes, number: int) -> None:
    for count in (2**31 - 1, 2**30 - 35, 10007):
        column = audit_truth.column([key], 0, 1)
        assert relative_partitions(slug, column.offsets, column.data, count).tolist() == [number % count]


@pytest.mark.parametrize("slug", NAMED.values())
def test_vectorized_audit_partitioner_chooses_the_partition_of_the_reference_library_rule(slug: str) -> None:
    column = audit_truth.column(KEYS, 0, 1)
    for count in (1, 2, 7, 12, 48):
        chosen = chosen_partitions(find_placement(slug), column.offsets, column.data, count).tolist()
        assert [None if one < 0 else one for one in chosen] == [RULES[slug].partition(key, count) for key in KEYS]
