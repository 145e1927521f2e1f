"""The finite spaces of ``high-watermark``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from typing import Any

from kafka_conformance.rules.common.partition.steps import (
    AppendStep,
    EpochEndStep,
    FetchStep,
    FollowHighWatermarkStep,
    FollowStep,
    LeadStep,
    MinInSyncStep,
    RegisteredBroker,
    ReplicaBatch,
    ReplicateStep,
    RespondStep,
    ShrinkStep,
    TruncateStep,
    WaitStep,
)
from kafka_conformance.rules.common.scripts import every_script
from kafka_conformance.rules.high_watermark.question import HighWatermarkQuestion

__all__ = ["EVERYDAY", "every_epoch", "every_follower", "every_leader", "every_shrink", "every_waiting"]

EVERYDAY = HighWatermarkQuestion(
    steps=(
        LeadStep(1, 1),
        AppendStep(5),
        FetchStep(2, 0, broker_epoch=102),
        FetchStep(3, 0, broker_epoch=103),
        FetchStep(2, 5, broker_epoch=102),
        FetchStep(3, 5, broker_epoch=103),
    ),
    min_in_sync=2,
)
"""A leader commits five records once both followers have fetched behind them."""


def every_leader() -> Iterator[HighWatermarkQuestion]:
    """Yield every history of up to 3 steps after a leader's first batch."""
    alphabet: tuple[Any, ...] = (
        FetchStep(2, 4, broker_epoch=102),
        FetchStep(3, 4, broker_epoch=103),
        FetchStep(3, 2, broker_epoch=103),
        AppendStep(3),
        WaitStep(101),
        ShrinkStep(),
        RespondStep(2),
    )
    for steps in every_script(alphabet, 3):
        yield HighWatermarkQuestion(steps=(LeadStep(1, 1), AppendStep(4), *steps), min_in_sync=2)


def every_shrink() -> Iterator[HighWatermarkQuestion]:
    """Yield a follower's last two fetches at each offset, the removal of followers, and each order of what follows."""
    ends: tuple[Any, ...] = (
        RespondStep(2),
        FetchStep(3, 3, broker_epoch=103),
        AppendStep(1),
        RespondStep(0, "INELIGIBLE_REPLICA"),
    )
    for first, second, ms, then in product(range(3), range(4), (40, 41, 101), permutations(ends, 2)):
        steps = (
            LeadStep(1, 1),
            AppendStep(2),
            WaitStep(60),
            FetchStep(2, first, broker_epoch=102),
            AppendStep(1),
            FetchStep(2, second, broker_epoch=102),
            WaitStep(ms),
            ShrinkStep(),
            *then,
        )
        yield HighWatermarkQuestion(steps=steps)


def every_waiting() -> Iterator[HighWatermarkQuestion]:
    """Yield every pair of offsets, in-sync set and state of a follower's broker, at and behind the lag limit."""
    in_syncs = ((1,), (1, 2), (1, 2, 3))
    brokers = ((False, False), (True, False), (False, True))
    for in_sync, offsets, (fenced, shutting_down), ms, least in product(
        in_syncs, product((0, 1, 2), repeat=2), brokers, (100, 101), (1, 2)
    ):
        steps = (
            LeadStep(1, 1, in_sync),
            AppendStep(1),
            FetchStep(2, 1, broker_epoch=102),
            FetchStep(3, 1, broker_epoch=103),
            AppendStep(1),
            WaitStep(ms),
            FetchStep(2, offsets[0], broker_epoch=102),
            FetchStep(3, offsets[1], broker_epoch=103),
            MinInSyncStep(1),
            AppendStep(1),
        )
        registered = (RegisteredBroker(2, 102), RegisteredBroker(3, 103, fenced, shutting_down))
        yield HighWatermarkQuestion(steps=steps, min_in_sync=least, brokers=registered)


def every_follower() -> Iterator[HighWatermarkQuestion]:
    """Yield every high watermark of a leader, before and after every truncation of a follower's log."""
    for first, cut, second in product(range(-1, 7), range(7), range(-1, 7, 2)):
        steps = (
            FollowStep(1, 1),
            ReplicateStep((ReplicaBatch(0, 3, 1), ReplicaBatch(3, 2, 1))),
            FollowHighWatermarkStep(first),
            TruncateStep(cut),
            FollowHighWatermarkStep(second),
        )
        yield HighWatermarkQuestion(steps=steps)


def every_epoch() -> Iterator[HighWatermarkQuestion]:
    """Yield every epoch's end in a log with the epochs 2, 3 and 5, truncated to each offset, and a fetch that knows it."""
    batches = (ReplicaBatch(0, 2, 2), ReplicaBatch(2, 2, 3), ReplicaBatch(4, 1, 5))
    for cut, epoch in product(range(6), range(-1, 8)):
        ends = (FollowStep(5, 1), ReplicateStep(batches), TruncateStep(cut), EpochEndStep(epoch))
        yield HighWatermarkQuestion(
            steps=(
                *ends,
                LeadStep(7, 2),
                AppendStep(1),
                *(FetchStep(2, offset, broker_epoch=102, last_epoch=max(epoch, 0)) for offset in range(7)),
                FetchStep(2, 0, broker_epoch=102, leader_epoch=max(epoch, 0)),
            )
        )
