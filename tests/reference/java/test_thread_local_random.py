"""Java's own draws: ``ThreadLocalRandom.mix32`` of JDK 17, asked by reflection."""

from __future__ import annotations

import pytest

from kafka_reference.errors import DrawsExhausted, QuestionError
from kafka_reference.java.thread_local_random import GAMMA, ListedDraws, SeededDraws, mix32, seed_for

INT_MIN, INT_MAX = -(2**31), 2**31 - 1


@pytest.mark.parametrize(
    ("state", "draw"),
    [(0, 0), (1, -1269383940), (-1, 1689612811), (2**63 - 1, -1413923344), (GAMMA, -1667209487)],
)
def test_mix32_matches_thread_local_random_of_jdk_17(state: int, draw: int) -> None:
    assert mix32(state) == draw
    assert mix32(state + 2**64) == draw


def test_seeded_random_draws_match_java_thread_local_random_and_are_counted() -> None:
    draws = SeededDraws(7)
    assert [draws.next() for _ in range(3)] == [313879073, 2102483167, -1204442217]
    assert draws.used == 3
    assert SeededDraws(42).next() == 756844384


def test_listed_random_draws_raise_draws_exhausted_when_used_up() -> None:
    draws = ListedDraws([5, INT_MIN])
    assert (draws.next(), draws.used, draws.next(), draws.used) == (5, 1, INT_MIN, 2)
    with pytest.raises(DrawsExhausted, match="holds 2 draws and the rule asks for one more: add draws") as raised:
        draws.next()
    assert isinstance(raised.value, QuestionError)
    assert draws.used == 2


@pytest.mark.parametrize("draw", [0, 1, -1, 12345, INT_MIN, INT_MAX, 757])
def test_seed_for_a_wanted_first_draw_yields_that_draw(draw: int) -> None:
    seed = seed_for(draw)
    assert -(2**63) <= seed < 2**63, "Java's seed is a long"
    assert SeededDraws(seed).next() == draw
