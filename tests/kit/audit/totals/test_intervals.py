"""Estimated shares contain the truth, as often as they should, and nothing else is estimated."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from kafka_conformance.audit.result import UNEXPLAINED
from kafka_conformance.audit.totals.intervals import estimated_shares

TRUTH = {"a": 0.58, "b": 0.40, "c": 0.02}


def drawn(
    seed: int, records: int, partitions: int, foreign: float = 0.0
) -> tuple[Counter[tuple[str, ...]], dict[str, float]]:
    """Records by the placements that explain them, the writer's and others by chance; and the share of each writer."""
    draws = np.random.default_rng(seed)
    names = [*TRUTH, UNEXPLAINED]
    writers = draws.choice(4, records, p=[*(share * (1 - foreign) for share in TRUTH.values()), foreign])
    by_chance = draws.random((records, 3)) < 1 / partitions
    sets: Counter[tuple[str, ...]] = Counter()
    for writer, chance in zip(writers.tolist(), by_chance.tolist(), strict=True):
        sets[tuple(name for at, name in enumerate(TRUTH) if at == writer or chance[at])] += 1
    return sets, {name: float((writers == at).mean()) for at, name in enumerate(names)}


@pytest.mark.parametrize("foreign", [0.0, 0.2])
@pytest.mark.parametrize(("records", "partitions"), [(400, 3), (3000, 12)])
def test_estimated_share_intervals_contain_the_true_shares(records: int, partitions: int, foreign: float) -> None:
    missed = 0
    for seed in range(5):
        sets, shares = drawn(seed, records, partitions, foreign)
        found = estimated_shares(sets, partitions, records)
        missed += sum(not one.low <= shares[name] <= one.high for name, one in found.items())
        assert sum(one.share for one in found.values()) == pytest.approx(1, abs=1e-3)
    assert missed == 0


def test_share_intervals_of_3000_records_by_three_clients_contain_truth_under_6_points_wide() -> None:
    sets, _ = drawn(1, 3000, 12)
    found = estimated_shares(sets, 12, 3000)
    for name, share in TRUTH.items():
        assert found[name].low <= share <= found[name].high
        assert found[name].high - found[name].low < 0.06


def test_share_intervals_are_wider_for_few_distinct_keys() -> None:
    sets, _ = drawn(1, 3000, 12)
    wide, narrow = (estimated_shares(sets, 12, effective)["a"] for effective in (100, 3000))
    assert wide.high - wide.low > 4 * (narrow.high - narrow.low)


def test_topic_of_only_one_or_no_known_partitioner_has_no_share_estimates() -> None:
    assert estimated_shares({("a",): 100}, 12, 100) == {}
    assert estimated_shares({}, 12, 0) == {}
    assert estimated_shares({(): 100}, 12, 100) == {}


def test_records_explained_by_chance_are_subtracted_from_the_estimated_share() -> None:
    """Of 1,100 records that a foreign producer wrote, 100 are explained by chance."""
    found = estimated_shares({("a",): 1000, (): 1000}, 11, 2000)
    assert found["a"].share == pytest.approx(0.45, abs=0.001)
    assert found[UNEXPLAINED].share == pytest.approx(0.55, abs=0.001)
