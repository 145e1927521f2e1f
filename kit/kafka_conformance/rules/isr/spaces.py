"""The finite spaces of ``isr``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, get_args

from kafka_conformance.rules.common.partition.steps import (
    AppendStep,
    Error,
    FetchStep,
    LeadStep,
    RegisteredBroker,
    RespondStep,
    ShrinkStep,
    WaitStep,
)
from kafka_conformance.rules.common.scripts import every_script
from kafka_conformance.rules.isr.question import InSyncQuestion

__all__ = ["EVERYDAY", "every_answer", "every_candidate", "every_history", "every_lag"]


def _fetch(replica: int, offset: int) -> FetchStep:
    return FetchStep(replica, offset, broker_epoch=100 + replica)


EVERYDAY = InSyncQuestion(
    steps=(
        LeadStep(1, 1),
        AppendStep(2),
        _fetch(2, 2),
        _fetch(3, 2),
        AppendStep(1),
        WaitStep(101),
        _fetch(2, 3),
        ShrinkStep(),
        RespondStep(2),
        _fetch(3, 3),
        RespondStep(3),
    )
)
"""A follower that does not fetch is removed from the in-sync replicas, and joins them again."""


def every_history() -> Iterator[InSyncQuestion]:
    """Yield every history of up to 3 steps of a leader with a follower in sync and one behind."""
    alphabet: tuple[Any, ...] = (
        _fetch(3, 2), _fetch(2, 2), AppendStep(1), WaitStep(101), ShrinkStep(), RespondStep(2),
        RespondStep(0, "INELIGIBLE_REPLICA"),
    )  # fmt: skip
    for steps in every_script(alphabet, 3):
        yield InSyncQuestion(steps=(LeadStep(1, 1, (1, 2)), AppendStep(2), *steps))


def every_lag() -> Iterator[InSyncQuestion]:
    """Yield a follower's last fetches at each offset, followed by each time around the lag limit."""
    for first, second, early, late in product(range(3), range(4), (0, 1), (39, 40, 41, 99, 100, 101)):
        steps = (
            LeadStep(1, 1, (1, 2)), AppendStep(2), WaitStep(60), _fetch(2, first), WaitStep(early), AppendStep(1),
            _fetch(2, second), WaitStep(late), ShrinkStep(),
        )  # fmt: skip
        yield InSyncQuestion(steps=steps)


def every_candidate() -> Iterator[InSyncQuestion]:
    """Yield a follower outside of the in-sync replicas at each offset, with each state of its broker and broker epoch."""
    states = (
        (), (RegisteredBroker(3, 103),), (RegisteredBroker(3, 103, fenced=True),),
        (RegisteredBroker(3, 103, shutting_down=True),),
    )  # fmt: skip
    newer = (LeadStep(2, 2, (1, 2)), AppendStep(2))
    for state, offset, epoch, then in product(states, range(5), (-1, 102, 103, 104), ((), newer)):
        steps = (
            LeadStep(1, 1, (1, 2)), AppendStep(2), _fetch(2, 2), *then,
            FetchStep(3, offset, broker_epoch=epoch),
        )  # fmt: skip
        yield InSyncQuestion(steps=steps, brokers=(RegisteredBroker(2, 102), *state))


def every_answer() -> Iterator[InSyncQuestion]:
    """Yield each answer of the controller to an expansion and to a shrink, and what follows."""
    begin = (LeadStep(1, 1, (1, 2)), AppendStep(2))
    asks = ((_fetch(3, 2),), (_fetch(2, 2), AppendStep(1), WaitStep(101), ShrinkStep()))
    then: tuple[tuple[Any, ...], ...] = (
        (), (ShrinkStep(), _fetch(3, 2)), (RespondStep(3),), (LeadStep(1, 2, (1, 2)), _fetch(3, 3), RespondStep(4)),
    )  # fmt: skip
    for ask, error, partition_epoch, after in product(asks, get_args(Error), (0, 1, 2), then):
        if partition_epoch == 0 or not error:
            yield InSyncQuestion(steps=(*begin, *ask, RespondStep(partition_epoch, error), *after))
    for ask, lead in product(asks, (LeadStep(1, 1, (1, 2)), LeadStep(1, 2, (1,)), LeadStep(2, 2, (1, 3)))):
        yield InSyncQuestion(steps=(*begin, *ask, lead, *ask, RespondStep(3), RespondStep(4), ShrinkStep()))
