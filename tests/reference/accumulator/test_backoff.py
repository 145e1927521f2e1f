from __future__ import annotations

import pytest

from kafka_reference.accumulator.accumulator import RecordAccumulator
from kafka_reference.accumulator.backoff import Backoff, StepDraws
from kafka_reference.accumulator.state import AccumulatorConfig
from kafka_reference.errors import DrawsExhausted
from kafka_reference.java.thread_local_random import GAMMA, ListedDraws, mix32, next_double, seed_for


def test_each_step_draws_one_listed_random_number_then_derived_ones_until_list_is_exhausted() -> None:
    draws = StepDraws((7, -1))
    assert [draws.next(), draws.next()] == [7, mix32(seed_for(7) + 2 * GAMMA)]
    draws.begin_step()
    draws.begin_step()
    assert draws.next() == -1
    draws.begin_step()
    with pytest.raises(DrawsExhausted):
        draws.next()


def test_jitter_computed_from_mix32_draws_equals_thread_local_random_of_the_jdk() -> None:
    draws = ListedDraws((mix32(12345 + GAMMA), mix32(12345 + 2 * GAMMA)))
    factor = next_double(draws) * (1.2 - 0.8) + 0.8
    assert factor == pytest.approx(0.8775600375560593, abs=1e-15)  # JDK 17.0.15 and 21.0.8, seed 12345


@pytest.mark.parametrize("version", ["0.10.0.1", "3.6.2"])
def test_backoff_before_kip_580_stays_constant(version: str) -> None:
    backoff = RecordAccumulator(version, AccumulatorConfig(100, 0, 100, 10, 0, 100, True, 0)).state.backoff
    assert [backoff.after(attempts) for attempts in (0, 1, 9)] == [100] * 3


def test_backoff_doubles_up_to_maximum_within_jitter() -> None:
    backoff = Backoff(100, 1000, StepDraws((0,)), exponential=True)
    for attempts, middle in ((0, 100), (1, 200), (3, 800), (50, 1000)):
        assert 0.8 * middle - 1 <= backoff.after(attempts) <= min(1.2 * middle, 1000)


@pytest.mark.parametrize(("first", "most"), [(100, 100), (100, 10)])
def test_backoff_at_maximum_uses_no_random_draw(first: int, most: int) -> None:
    assert Backoff(first, most, StepDraws(), exponential=True).after(5) == most
