"""A record that several explain is left open unless the absence of the others is shown."""

from __future__ import annotations

import numpy as np
import pytest

from kafka_conformance.audit.attribution.attribution import EITHER_AT, UNEXPLAINED_AT
from kafka_conformance.audit.attribution.retraction import without_absent, without_foreign
from kafka_conformance.audit.result import NOTHING_FOREIGN, Foreign, Placed

JAVA, CRC, OLD = Placed("murmur2", 12), Placed("librdkafka-consistent", 12), Placed("murmur2", 3)
BOTH = 3


def ids(size: int, distinct: int | None = None) -> np.ndarray:
    out = np.zeros((size, 2), np.uint64)
    out[:, 0] = np.arange(size) % (distinct or size)
    return out


def left(bits: list[int], members: tuple[Placed, ...], attributed: list[int], distinct: int | None = None) -> list[int]:
    given = np.array(attributed, np.int16)
    return without_absent(given, np.array(bits, np.uint32), members, ids(len(bits), distinct)).tolist()


@pytest.mark.parametrize(("certain", "settled"), [(100, False), (1000, True)])
def test_ambiguous_record_is_attributed_only_amid_enough_records_of_one_partitioner(
    certain: int, settled: bool
) -> None:
    bits = [1] * certain + [BOTH] + [1] * certain
    assert (left(bits, (JAVA, CRC), [0] * len(bits))[certain] == 0) == settled


def test_ambiguous_record_stays_unattributed_amid_many_records_of_few_distinct_keys() -> None:
    bits = [1] * 1000 + [BOTH] + [1] * 1000
    assert left(bits, (JAVA, CRC), [0] * len(bits), distinct=30)[1000] == EITHER_AT


@pytest.mark.parametrize(("rare", "settled"), [(5, False), (400, True)])
def test_ambiguous_record_is_attributed_only_if_the_absent_partitioner_is_frequent_elsewhere(
    rare: int, settled: bool
) -> None:
    """Five records elsewhere in the block are 0.2 %, which a thousand records on either side may lack."""
    bits = [1] * 1000 + [BOTH] + [1] * 1000 + [2] * rare
    assert (left(bits, (JAVA, CRC), [0] * 2001 + [1] * rare)[1000] == 0) == settled


@pytest.mark.parametrize(("rare", "settled"), [(1, False), (40, True)])
def test_absence_of_a_partitioner_nearby_is_judged_by_share_of_records_not_of_keys(rare: int, settled: bool) -> None:
    """Forty keys are half of all; written once each they are 2 % of the records, which 41 records may lack."""
    around = np.arange(1001) % 40
    keys = np.zeros((around.size + 40 * rare, 2), np.uint64)
    keys[:, 0] = np.append(around, np.tile(np.arange(40, 80), rare))
    bits = np.append(np.where(np.arange(1001) == 500, BOTH, 1), np.full(40 * rare, 2)).astype(np.uint32)
    got = without_absent((bits == 2).astype(np.int16), bits, (JAVA, CRC), keys)
    assert (got[500] == 0) == settled


@pytest.mark.parametrize("share", [0, 0.05, 0.3])
def test_records_matching_both_partition_counts_are_old_if_at_chance_level_else_unattributed(share: float) -> None:
    draws = np.random.default_rng(3)
    newer = draws.random(9000) < 0.25 + 0.75 * share
    bits = np.where(newer, 0b11, 0b10).tolist()
    got = np.array(left(bits, (JAVA, OLD), [1] * 9000))
    assert (got[~newer] == 1).all()
    assert (got[newer] == (EITHER_AT if share else 1)).all()


@pytest.mark.parametrize(("between", "settled"), [(40, False), (100, False), (4000, True)])
def test_record_fitting_old_and_new_partition_count_is_unattributed_unless_old_is_rare(
    between: int, settled: bool
) -> None:
    """In partition 0 of 3 no record is of the newer count alone; one of the older in 4,000 does not matter."""
    bits = ([0b11] * between + [0b10]) * (8000 // between)
    attributed = [1 if each == 0b10 else 0 for each in bits]
    got = left(bits, (JAVA, OLD), attributed)
    assert (got[between // 2] == 0) == settled
    assert got[between] == 1


def foreign(attributed: list[int], finding: Foreign, rivals: list[bool] | None = None) -> list[int]:
    given = np.array(attributed, np.int16)
    marked = np.array(rivals or [False] * len(attributed), np.bool_)
    return without_foreign(given, (JAVA,), ids(len(attributed)), marked, finding).tolist()


def test_attributed_records_become_unattributed_amid_many_unexplained_records_not_few() -> None:
    few, many = [0] * 990 + [UNEXPLAINED_AT] * 10, [0] * 900 + [UNEXPLAINED_AT] * 100
    assert foreign(few, NOTHING_FOREIGN) == few
    assert set(foreign(many, NOTHING_FOREIGN)) == {EITHER_AT, UNEXPLAINED_AT}


def test_attribution_is_retracted_near_unexplained_records_or_for_few_keys_in_a_topic_with_foreign_ones() -> None:
    far = [0] * 20_000 + [UNEXPLAINED_AT] * 4000
    got = foreign(far, NOTHING_FOREIGN)
    assert got[:10_000] == [0] * 10_000
    assert got[19_990] == EITHER_AT
    assert foreign([0] * 20, Foreign(0.3)) == [EITHER_AT] * 20  # too few keys to lack what is elsewhere
    assert foreign([0] * 5000, Foreign(0.3)) == [0] * 5000


def test_records_that_a_mostly_equal_rival_or_too_many_rivals_explain_are_left_unattributed() -> None:
    marked = [number % 2 == 0 for number in range(1000)]
    assert foreign([0] * 1000, Foreign(0.001, (CRC,), hidden=0.5), marked) == [0] * 1000
    assert foreign([0] * 1000, Foreign(0.001, (CRC,), hidden=0.99), marked) == [EITHER_AT, 0] * 500
    assert foreign([0] * 1000, Foreign(0.001, crowded=True, hidden=0.99)) == [EITHER_AT] * 1000


def test_few_records_are_left_unattributed_if_a_rival_fits_or_rivals_are_too_many() -> None:
    marked = [number % 2 == 0 for number in range(100)]
    assert foreign([0] * 100, Foreign(0.02, (CRC,)), marked) == [EITHER_AT, 0] * 50
    assert foreign([0] * 100, Foreign(0.02, crowded=True)) == [EITHER_AT] * 100
