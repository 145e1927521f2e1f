"""Finite spaces of ``record-accumulator`` with an idempotent producer: several batches in flight, answered in any order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import structs

from kafka_conformance.rules.common.clusters import AskedCluster, AskedNode, AskedPartition
from kafka_conformance.rules.common.scripts import every_script
from kafka_conformance.rules.record_accumulator.question import (
    AdvanceStep,
    AppendStep,
    AskedConfig,
    AskedProducer,
    CompleteStep,
    DrainStep,
    ExpireStep,
    FailStep,
    LookStep,
    ProducerStep,
    ReadyStep,
    RecordAccumulatorQuestion,
    ReenqueueStep,
    SplitStep,
)

__all__ = ["every_order_of_answers", "every_way_round"]

_CONFIG = AskedConfig(
    batch_size=120, linger_ms=5, retry_backoff_ms=0, retry_backoff_max_ms=0, delivery_timeout_ms=30,
    buffer_memory=2000, adaptive=True, availability_timeout_ms=0,
)  # fmt: skip
_CLUSTER = AskedCluster((AskedNode(0),), (AskedPartition(0, 0), AskedPartition(1, 0)))
_APPEND, _OTHER, _DRAIN = AppendStep(0, None, "00" * 10, 0), AppendStep(1, None, "00" * 10, 0), DrainStep((0,), 1000)
_ENDING = (ReadyStep(), _DRAIN, LookStep())


def _after(
    begun: tuple[Any, ...], alphabet: tuple[Any, ...], producer: AskedProducer
) -> Iterator[RecordAccumulatorQuestion]:
    config = structs.replace(_CONFIG, producer=producer)
    for steps in every_script(alphabet, 3):
        yield RecordAccumulatorQuestion(config, _CLUSTER, (), (*begun, *steps, *_ENDING))


def every_order_of_answers() -> Iterator[RecordAccumulatorQuestion]:
    """Three batches of a partition are in flight, a fourth one waits, as does one of another partition of that node.

    Then every history of up to 3 of 12 steps, a drain, and a look.
    """
    begun = (_APPEND, _DRAIN, _APPEND, _APPEND, _DRAIN, _APPEND, _DRAIN, _APPEND, _OTHER)
    alphabet = (
        _DRAIN, ReenqueueStep(-1), ReenqueueStep(-2), ReenqueueStep(-3), CompleteStep(-1), CompleteStep(-3), FailStep(-2),
        FailStep(-2, "refused"), FailStep(0, "expired"), ExpireStep(), AdvanceStep(30), ProducerStep(7, 1),
    )  # fmt: skip
    return _after(begun, alphabet, AskedProducer(7, 0))


def every_way_round() -> Iterator[RecordAccumulatorQuestion]:
    """A batch of three records that goes round after 2^31 - 1 is in flight, another batch waits.

    Then every history of up to 3 of 8 steps, a drain, and a look.
    """
    begun = (_APPEND, _APPEND, _APPEND, _DRAIN, _APPEND)
    alphabet = (
        _DRAIN, ReenqueueStep(-1), ReenqueueStep(-2), CompleteStep(-1), CompleteStep(-2), SplitStep(-1), _APPEND,
        FailStep(-2, "refused"),
    )  # fmt: skip
    return _after(begun, alphabet, AskedProducer(7, 0, {"t-0": 2**31 - 2}))
