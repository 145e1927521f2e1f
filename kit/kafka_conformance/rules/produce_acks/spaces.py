"""The finite spaces of ``produce-acks``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from kafka_conformance.rules.common.partition.steps import (
    FetchStep,
    FollowStep,
    LeadStep,
    MinInSyncStep,
    RespondStep,
    ShrinkStep,
    WaitStep,
)
from kafka_conformance.rules.common.scripts import every_script
from kafka_conformance.rules.produce_acks.question import CheckStep, ExpireStep, ProduceQuestion, ProduceStep

__all__ = ["EVERYDAY", "every_acks", "every_check", "every_history"]

EVERYDAY = ProduceQuestion(
    steps=(
        LeadStep(1, 1),
        ProduceStep(-1, 2),
        FetchStep(2, 2, broker_epoch=102),
        FetchStep(3, 2, broker_epoch=103),
        ProduceStep(1),
        ProduceStep(0),
        MinInSyncStep(3),
        ProduceStep(-1),
    ),
    min_in_sync=2,
)
"""A request with acks=all is answered once both followers have its records; one with acks=1 at once."""


def every_acks() -> Iterator[ProduceQuestion]:
    """Yield every request with acks from -3 to 3, by in-sync replicas, assigned replicas and min.insync.replicas."""
    assigned = ((1,), (1, 2), (1, 2, 3))
    for acks, replicas, count, least in product(range(-3, 4), assigned, (1, 2, 3), (1, 2, 3, 4)):
        if count <= len(replicas):
            lead = LeadStep(1, 1, replicas[:count], replicas)
            yield ProduceQuestion(steps=(lead, ProduceStep(acks, 2), ProduceStep(acks)), min_in_sync=least)


def every_check() -> Iterator[ProduceQuestion]:
    """Yield every offset around a high watermark, by in-sync replicas and min.insync.replicas; as leader and follower."""
    for in_sync, least, offset, follows in product(((1,), (1, 2), (1, 2, 3)), (1, 2, 3, 4), range(5), (False, True)):
        steps = (
            LeadStep(1, 1, in_sync),
            ProduceStep(1, 2),
            FetchStep(2, 2, broker_epoch=102),
            FetchStep(3, 2, broker_epoch=103),
            ProduceStep(1, 2),
            MinInSyncStep(least),
            *((FollowStep(2, 2),) if follows else ()),
            CheckStep(offset),
        )
        yield ProduceQuestion(steps=steps)


def every_history() -> Iterator[ProduceQuestion]:
    """Yield every history of up to 3 of 8 steps with a request that waits."""
    alphabet: tuple[Any, ...] = (
        FetchStep(2, 2, broker_epoch=102),
        FetchStep(3, 2, broker_epoch=103),
        ProduceStep(-1),
        WaitStep(101),
        ShrinkStep(),
        RespondStep(2),
        FollowStep(2, 3),
        ExpireStep(),
    )
    for steps in every_script(alphabet, 3):
        yield ProduceQuestion(steps=(LeadStep(1, 1), ProduceStep(-1, 2), *steps), min_in_sync=2)
