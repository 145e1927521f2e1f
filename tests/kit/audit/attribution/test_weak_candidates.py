"""The rules that fit the keys which no present placement explains."""

from __future__ import annotations

import audit_truth
import numpy as np
import pytest
from audit_truth import names

from kafka_conformance.audit.attribution.explanation import KeyColumn
from kafka_conformance.audit.attribution.weak_candidates import MOST_RIVALS, find_foreign
from kafka_conformance.audit.result import NOTHING_FOREIGN, Placed

JAVA = Placed("murmur2", 12)


def topic(*written: tuple[bytes, int]) -> KeyColumn:
    return audit_truth.column([key for key, _ in written], np.array([where for _, where in written], np.int32), 12)


def keys_of(count: int) -> list[bytes]:
    return [b"customer-%d" % number for number in range(count)]


def java(count: int) -> list[tuple[bytes, int]]:
    return [(key, audit_truth.place("murmur2", key, 12)) for key in keys_of(count)]


def test_topic_fully_explained_by_java_has_no_foreign_records() -> None:
    assert find_foreign(topic(*java(50)), (JAVA,)) == NOTHING_FOREIGN
    assert find_foreign(topic(), (JAVA,)) == NOTHING_FOREIGN


@pytest.mark.parametrize(
    ("rule", "count"), [("murmur2", 6), ("crc32", 12), ("sarama-hash", 4), ("sha-1-32-abs", 6), ("crc32-floor-mod", 12)]
)
def test_hash_partitioner_of_nine_keys_among_java_keys_is_listed_as_possible_foreign_writer(
    rule: str, count: int
) -> None:
    others = [(key, audit_truth.place(rule, key, count)) for key in keys_of(9)]
    found = find_foreign(topic(*java(50), *others), (JAVA,))
    assert f"{rule}@{count}" in names(found.rivals)
    assert not found.crowded
    assert found.share == sum(audit_truth.place("murmur2", key, 12) != where for key, where in others) / 59


def test_integer_or_constant_partitioner_among_java_keys_is_listed_as_possible_foreign_writer() -> None:
    found = find_foreign(topic(*java(50), *((b"%d" % number, number % 12) for number in range(40, 60))), (JAVA,))
    assert "text-integer@12" in names(found.rivals)
    stuck = find_foreign(topic(*java(50), *((key, 3) for key in keys_of(20))), (JAVA,))
    assert "constant-3@12" in names(stuck.rivals)


def test_single_stray_key_fits_too_many_partitioners_to_list_and_random_keys_fit_none() -> None:
    stray = next((key, 3) for key, where in java(50) if where != 3)
    found = find_foreign(topic(*java(50), stray), (JAVA,))
    assert (found.crowded, found.rivals) == (True, ())
    draws = np.random.default_rng(4)
    placed = [(key, int(draws.integers(12))) for key in keys_of(40)]
    assert find_foreign(topic(*placed), ()).rivals == ()
    assert MOST_RIVALS < 30


def test_share_of_foreign_keys_that_a_nearly_equal_known_partitioner_explains_exceeds_90_percent() -> None:
    """String.hashCode is negative for 10 of 1,000 keys: abs and masked differ for these only, and three show abs."""
    placed = {
        key: [audit_truth.place(f"string-hash-code-{fold}", key, 20) for fold in ("masked", "abs")]
        for key in (b"user-%d" % number for number in range(4000))
    }
    alike = [key for key, (masked, by_abs) in placed.items() if masked == by_abs][:990]
    differ = [key for key, (masked, by_abs) in placed.items() if masked != by_abs][:10]
    keys = alike + differ
    where = [placed[key][key in differ[:3]] for key in keys]
    found = find_foreign(
        audit_truth.column(keys, np.array(where, np.int32), 20), (Placed("string-hash-code-masked", 20),)
    )
    assert found.share == 3 / len(keys)
    assert found.hidden > 0.9
