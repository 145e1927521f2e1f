"""Scripts of steps: how they are played, drawn, labelled, and moved into the domain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import find
from hypothesis import strategies as st

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.step import Scripts, Step, Weighted, domain_of, labels_of, nearest_of, play
from kafka_reference.errors import ArithmeticException


class Divide(Step, frozen=True, tag="divide"):
    by: int

    def take(self, history: list[int]) -> Answer:
        history.append(self.by)
        if not self.by:
            raise ArithmeticException
        return {"result": 12 // self.by}

    @classmethod
    def weighted(cls) -> Iterator[Weighted]:
        yield 3, cls(1)
        yield 1, lambda _, cluster: cls(cluster)

    def cluster_after(self, cluster: int) -> int:
        return cluster + 1

    def labels(self, before: Sequence[Any]) -> Iterator[str]:
        yield f"after {len(before)}"

    def domain(self, cluster: int) -> str:
        return "" if self.by <= cluster else f"{self.by} is over {cluster}"

    def nearest(self, cluster: int) -> Divide:
        return Divide(min(self.by, cluster))


class Heavy(Divide, frozen=True, tag="heavy"):
    @classmethod
    def weighted(cls) -> Iterator[Weighted]:
        yield 257, cls(1)


def test_play_after_an_exception_goes_on_with_the_state_it_left() -> None:
    history: list[int] = []
    answer = play(history, [Divide(4), Divide(0), Divide(6)])
    assert answer == {"steps": [{"result": 3}, {"raises": "ArithmeticException"}, {"result": 2}]}
    assert history == [4, 0, 6]


def test_scripts_of_weighted_steps_shrink_to_the_first_step_alone() -> None:
    scripts = Scripts(Divide, longest=5)
    assert scripts.choices[:3] == [Divide(1)] * 3
    assert len(scripts.choices) == 4
    strategy = st.composite(lambda draw: scripts.draw(draw, 9))()
    assert find(strategy, lambda _: True) == [Divide(1)]
    assert find(strategy, lambda steps: Divide(9) in steps) == [Divide(9)]


def test_scripts_with_more_weight_than_a_byte_selects_are_refused() -> None:
    with pytest.raises(ValueError, match="add up to 257: expected at most 256"):
        Scripts(Heavy, longest=5)


def test_labels_and_domain_see_the_steps_and_the_cluster_before_each_step() -> None:
    assert list(labels_of([Divide(1), Divide(1)])) == ["after 0", "after 1"]
    assert domain_of(2, [Divide(2), Divide(3)]) == ""
    assert domain_of(2, [Divide(2), Divide(4)]) == "4 is over 3"
    assert nearest_of(2, [Divide(2), Divide(9)]) == (Divide(2), Divide(3))
