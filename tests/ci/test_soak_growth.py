"""Which series of measures are called a leak: planted leaks are, noise, sawteeth, steps and filled caches are not."""

from __future__ import annotations

import random

import pytest
from soak_growth import LEAST_ROUNDS, MEASURES, Measure, find_growth, warm_up

ROUNDS = 50
SEEDS = range(4)
# Heap in MiB, and threads as a count: the tests of shapes need no others.
SHAPES = [measure for measure in MEASURES if measure.name in ("JVM heap", "JVM threads")]
# A usual value of each unit, and how much it varies by itself.
LEVEL = {"MiB": 40.0, "": 100.0}


def noise(measure: Measure, seed: int, rounds: int = ROUNDS) -> list[float]:
    """A series that varies by half its tolerance; a count by whole numbers."""
    chance = random.Random(f"{measure.name} {seed}")
    values = [LEVEL[measure.unit] + chance.uniform(-0.5, 0.5) * measure.tolerance for _ in range(rounds)]
    return values if measure.unit else [float(round(value)) for value in values]


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_leak_in_noisy_measurements_is_found_with_slope_within_30_percent(measure: Measure) -> None:
    for seed in SEEDS:
        leak = 3 * measure.tolerance / ROUNDS  # per round
        values = [value + leak * number for number, value in enumerate(noise(measure, seed))]
        growth = find_growth(measure, values)
        assert growth.grows, (seed, growth)
        assert growth.slope == pytest.approx(leak, rel=0.3)
        assert growth.low < growth.slope < growth.high


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_leak_of_one_tolerance_per_round_is_found_in_eight_rounds(measure: Measure) -> None:
    values = [LEVEL[measure.unit] + number * max(1, measure.tolerance) for number in range(LEAST_ROUNDS)]
    assert find_growth(measure, values).grows


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_noise_without_trend_is_not_reported_as_leak(measure: Measure) -> None:
    assert not any(find_growth(measure, noise(measure, seed, rounds)).grows for seed in SEEDS for rounds in (8, ROUNDS))


@pytest.mark.parametrize("period", [3, 7, 12])
@pytest.mark.parametrize("measure", SHAPES, ids=lambda measure: measure.name)
def test_sawtooth_of_garbage_collection_is_not_reported_as_leak(measure: Measure, period: int) -> None:
    for shift in range(period):
        values = [LEVEL[measure.unit] + 5 * measure.tolerance * ((n + shift) % period) for n in range(ROUNDS)]
        assert not find_growth(measure, values).grows


@pytest.mark.parametrize("place", [1, 10, 25, 40, 49])
@pytest.mark.parametrize("measure", SHAPES, ids=lambda measure: measure.name)
def test_single_step_up_is_not_reported_as_leak(measure: Measure, place: int) -> None:
    step = 10 * measure.tolerance
    assert not find_growth(measure, [LEVEL[measure.unit] + step * (n >= place) for n in range(ROUNDS)]).grows


@pytest.mark.parametrize("measure", SHAPES, ids=lambda measure: measure.name)
def test_cache_that_fills_is_not_a_leak_but_unbounded_growth_is(measure: Measure) -> None:
    def cache(most: int) -> list[float]:
        return [LEVEL[measure.unit] + measure.tolerance * min(number, most) for number in range(ROUNDS)]

    assert not find_growth(measure, cache(ROUNDS // 2)).grows
    assert find_growth(measure, cache(ROUNDS)).grows


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_growth_within_the_tolerance_is_not_reported_as_leak(measure: Measure) -> None:
    def line(growth: float) -> list[float]:
        return [LEVEL[measure.unit] + growth * number / (ROUNDS - 1) for number in range(ROUNDS)]

    assert not find_growth(measure, line(0.9 * measure.tolerance)).grows
    assert find_growth(measure, line(1.1 * measure.tolerance)).grows


def test_leak_slope_is_found_within_1_percent_despite_three_outliers() -> None:
    threads = next(measure for measure in MEASURES if measure.name == "JVM threads")
    values = [10.0 + number for number in range(ROUNDS)]
    values[5] = values[20] = 300
    values[-1] = 0
    assert find_growth(threads, values).slope == pytest.approx(1, rel=0.01)
    assert find_growth(threads, values).grows


def test_shrinking_measure_is_not_reported_as_leak() -> None:
    assert not any(find_growth(measure, [1e6 - 1e4 * n for n in range(ROUNDS)]).grows for measure in MEASURES)


def test_leak_search_in_fewer_than_eight_rounds_raises_value_error() -> None:
    with pytest.raises(ValueError, match="7 rounds of JVM heap: at least 8 are needed"):
        find_growth(MEASURES[0], [1.0] * 7)


@pytest.mark.parametrize(("rounds", "left_out"), [(1, 3), (11, 3), (20, 4), (100, 20)])
def test_soak_warm_up_is_a_fifth_of_the_rounds_and_at_least_three(rounds: int, left_out: int) -> None:
    assert warm_up(rounds) == left_out
