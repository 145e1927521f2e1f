"""The likelihood of a mixture is that of its best shares."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from kafka_conformance.audit.attribution.mixture import log_likelihoods


def rows(*columns: str) -> np.ndarray:
    """One row for each placement: "1" where it explains a pair."""
    return np.array([[one == "1" for one in column] for column in columns], np.bool_).reshape(len(columns), -1)


NONE = np.zeros((0, 8), np.bool_)


def test_log_likelihood_of_a_partitioner_mixed_with_random_records_uses_the_best_share() -> None:
    got = log_likelihoods(NONE, rows("11111111", "00000000", "11110000"), 4)
    best = max(4 * log(share + (1 - share) / 4) + 4 * log((1 - share) / 4) for share in np.linspace(0.01, 0.99, 9801))
    assert got == pytest.approx([0, 8 * log(1 / 4), best], abs=1e-3)


def test_second_partitioner_raises_likelihood_only_by_pairs_the_first_leaves_unexplained() -> None:
    """Two that share no pair: each has its half; one that is as the first adds nothing."""
    got = log_likelihoods(rows("11110000"), rows("00001111", "11110000", "11111111"), 12)
    assert got[0] == pytest.approx(8 * log(1 / 2), abs=1e-3)
    assert got[1] == pytest.approx(log_likelihoods(NONE, rows("11110000"), 12)[0], abs=1e-3)
    assert got[2] == pytest.approx(0, abs=1e-3)


def test_log_likelihood_scales_linearly_when_equal_pairs_repeat() -> None:
    few, many = rows("1100"), rows("1100" * 2500)
    other = rows("0110"), rows("0110" * 2500)
    assert log_likelihoods(many, other[1], 5)[0] == pytest.approx(2500 * log_likelihoods(few, other[0], 5)[0])


@pytest.mark.filterwarnings("error")
def test_likelihood_with_100000_partitions_is_computed_without_warning() -> None:
    assert log_likelihoods(NONE, rows("11111111"), 100_000) == pytest.approx([0])
