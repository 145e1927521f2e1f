"""When a batch that is sent again has a new leader."""

from __future__ import annotations

import pytest

from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.sizes import SizedRecord
from kafka_reference.releases import parse_release


def moved(release: str, *epochs: int | None) -> list[bool]:
    """Queue a batch of leader epoch 1 again; return after each further epoch whether its leader is new."""
    batch = Batch(parse_release(release), ("t", 0), 0, 0, 1000, SizedRecord(value=7))
    batch.update_leader_epoch(1)
    batch.mark_reenqueued(10)
    answers = []
    for epoch in epochs:
        batch.update_leader_epoch(epoch)
        answers.append(batch.has_new_leader)
    return answers


@pytest.mark.parametrize("release", ["3.6.2", "3.7.1", "4.4.0"])
def test_reenqueued_batch_has_new_leader_only_with_higher_leader_epoch(release: str) -> None:
    assert moved(release, 1, 0, None, 2) == [False, False, False, True]


@pytest.mark.parametrize("release", ["3.6.1", "3.7.0"])
def test_any_other_leader_epoch_is_new_leader_in_3_6_1_and_3_7_0(release: str) -> None:
    assert moved(release, 1, None) == [False, True]
    assert moved(release, 1, 0) == [False, True]
    assert moved(release, 2) == [True]
