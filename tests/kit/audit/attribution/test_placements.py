"""A set of placements is a uint32, and each is one the gate knows, in the gate's words."""

from __future__ import annotations

import audit_truth
import pytest

from kafka_conformance.audit.attribution.explanation import FOLD_NAMES
from kafka_conformance.audit.attribution.hash_columns import HASH_NAMES
from kafka_conformance.audit.attribution.placements import JAVA, PLACEMENTS, find_placement, number
from kafka_conformance.core.errors import BadInput
from kafka_conformance.rules.murmur2.mutants import MUTANTS as HASH
from kafka_conformance.rules.murmur2.ported_hash_mutants import MUTANTS as PORTED
from kafka_conformance.rules.partition_for_key.hashed_partition_mutants import MUTANTS as HASHED
from kafka_conformance.rules.partition_for_key.mutants import MUTANTS as FOLD

DESCRIPTIONS = {mutant.slug: mutant.description for mutant in (*HASH, *PORTED, *FOLD, *HASHED)}
LEFT_OUT = {
    "sign-negate", "sign-kept", "unsigned-hash", "fnv-1a", "kafka-node", "murmur2-by-doubles", "string-hash-code",
}  # fmt: skip
NO_PLACEMENT = {"null-hashed-as-empty", "empty-taken-for-null", "negative-count-raises"}


def test_audit_partitioners_are_distinct_and_fit_a_32_bit_mask_with_java_first() -> None:
    assert len(PLACEMENTS) <= 32
    assert PLACEMENTS[0].slug == JAVA
    assert len({placement.slug for placement in PLACEMENTS}) == len(PLACEMENTS)
    assert len({(placement.hash, placement.fold) for placement in PLACEMENTS}) == len(PLACEMENTS)


@pytest.mark.parametrize("placement", PLACEMENTS[1:], ids=lambda placement: placement.slug)
def test_each_audit_partitioner_but_java_has_a_gate_mutant_of_equal_slug_and_description(placement: object) -> None:
    assert DESCRIPTIONS[placement.slug] == placement.description


def test_every_gate_mutant_of_hash_or_modulo_is_an_audit_partitioner_or_explicitly_excluded() -> None:
    assert set(DESCRIPTIONS) - NO_PLACEMENT == {placement.slug for placement in PLACEMENTS[1:]} | LEFT_OUT


@pytest.mark.parametrize("placement", PLACEMENTS, ids=lambda placement: placement.slug)
def test_audit_partitioner_computes_the_partition_of_the_scalar_gate_mutant(placement: object) -> None:
    assert placement.hash in HASH_NAMES
    assert placement.fold in FOLD_NAMES
    hash_, fold = audit_truth.SCALAR_HASHES[placement.hash], audit_truth.SCALAR_FOLDS[placement.fold]
    for key in (b"", b"a", b"21", b"foobar", b"\xc3\xa9t\xc3\xa9", b"\xff\x80\x00", b"a-little-bit-long-string"):
        for count in (1, 3, 12, 1000):
            assert fold(hash_(key), count) == audit_truth.place(placement.slug, key, count)


def test_audit_partitioner_is_found_by_slug_and_an_unknown_slug_raises_listing_known_slugs() -> None:
    assert find_placement("sarama-hash").hash == "fnv-1a"
    assert PLACEMENTS[number("shift")].slug == "shift"
    with pytest.raises(BadInput, match=r"unknown placement 'murmur9': expected one of murmur2, librdkafka-consistent"):
        find_placement("murmur9")
