"""What the letters of a generated history stand for: records, drains and times relative to its configuration, or steps.

A letter selects an entry of an alphabet; repeated entries are weights, and None does nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kafka_conformance.rules.record_accumulator.question import (
    AbortStep,
    AbortUndrainedStep,
    AdvanceStep,
    BlockedStep,
    CloseStep,
    CompleteStep,
    ExpireStep,
    FailStep,
    FlushedStep,
    FlushStep,
    LatencyStep,
    LoadStep,
    LookStep,
    MuteStep,
    ProducerStep,
    ReadyStep,
    ReenqueueStep,
    SplitStep,
    UnmuteStep,
)

__all__ = ["APPENDING", "ENDINGS", "SENDING", "After", "Move", "Record", "Take"]


@dataclass(frozen=True, slots=True)
class Record:
    """A record for the partition at a place, or None to have it chosen; its value has ``quarters`` quarters of a batch."""

    place: int | None
    quarters: int
    more: int
    topic: str = "t"
    key: str | None = None
    timestamp: int = 1000
    headers: tuple[tuple[str, str | None], ...] = ()


@dataclass(frozen=True, slots=True)
class After:
    """As long as one of the configured times, and a bit."""

    time: str
    more: int = 0


@dataclass(frozen=True, slots=True)
class Take:
    """Drain these nodes, up to ``quarters`` quarters of a batch."""

    nodes: tuple[int, ...]
    quarters: int


@dataclass(frozen=True, slots=True)
class Move:
    """The cluster becomes another one, and leaders that move have a higher epoch."""

    cluster: int


_READY, _LOOK, _EXPIRE = ReadyStep(), LookStep(), ExpireStep()
_ALL, _MUCH = (0, 1, 2), 40

APPENDING: tuple[Any, ...] = (
    None, Record(0, 0, 1), _READY, Take(_ALL, _MUCH), AdvanceStep(1), Record(None, 0, 10), After("linger_ms"),
    ReenqueueStep(-1), CompleteStep(-1), Record(1, 0, 30), _READY, Take((0,), _MUCH), Record(2, 0, 5),
    Record(None, 1, 0), Record(0, 4, -68), Record(0, 4, -67), Record(1, 4, -69), Record(None, 4, -70),
    After("linger_ms", -1), After("retry_backoff_ms"), After("retry_backoff_ms", -1), _READY, _READY, _READY,
    Record(None, 2, 0), Record(None, 4, 0), Record(0, 2, 0), Record(1, 2, 3), Record(2, 4, 9), Record(0, 0, 0),
    Take((1,), _MUCH), Take((1, 0), 4), Take(_ALL, 4), Take((2, 0, 1), 0), Take((0, 1), 8), Take(_ALL, 3),
    ReenqueueStep(-2), ReenqueueStep(-1), ReenqueueStep(-3), CompleteStep(-2), CompleteStep(-1), SplitStep(-1),
    Record(0, 0, 12, "u"), Record(None, 0, 40, "u"), Record(None, 2, 1, "u"), Record(1, 1, 0, "u"), _READY,
    Record(3, 0, 20), Record(4, 1, 7), Record(5, 0, 9), Record(0, 1, 0, "orders"), Record(None, 1, 2, "orders"),
    LatencyStep(0, False), LatencyStep(0, True), LatencyStep(1, False), LatencyStep(1, True), LatencyStep(2, False),
    After("availability_timeout_ms", 1), LoadStep(), LoadStep("u"), _READY, Record(None, 0, 3), Record(None, 0, 25),
    MuteStep(0), UnmuteStep(0), MuteStep(1), UnmuteStep(1, "t", 30), MuteStep(0, "u"), UnmuteStep(0, "u", 7), _EXPIRE,
    After("delivery_timeout_ms"), After("delivery_timeout_ms", -1), _EXPIRE, _EXPIRE, AdvanceStep(7), AdvanceStep(40),
    FlushStep(), FlushedStep(), BlockedStep(1), BlockedStep(0), _LOOK, Move(1), Move(2), Move(3), Move(4), Move(0),
    Record(0, 1, 0, "t", "6b6579", 1070), Record(1, 0, 8, "t", "", 0), Record(None, 1, -5, "t", None, 10**12),
    Record(2, 1, 0, "t", "00" * 70, 900), Record(0, 9, 0), Record(None, 5, 0), Take((0, 0, 2), _MUCH),
    Record(6, 0, 2), Record(7, 2, 1), Record(2, 0, 33, "u"), AdvanceStep(0), Record(0, 3, 0), Record(1, 3, -61),
    ReenqueueStep(0), SplitStep(-2), Take((9,), _MUCH), AbortUndrainedStep(), _READY, Record(None, 3, 0),
    Record(0, 0, 4, headers=(("name", "00"),)), Record(None, 1, 0, headers=(("", None), ("é\U0001f600", "00" * 65))),
    Record(1, 4, -79, headers=(("key", ""),)), Record(None, 3, -9, "u", headers=(("k", None),) * 64),
)  # fmt: skip
ENDINGS: tuple[Any, ...] = (None, None, None, None, CloseStep(), AbortStep(), None, None)

# For an idempotent producer: more is sent, and less is looked at.
SENDING: tuple[Any, ...] = (
    None, Record(0, 0, 10), Take(_ALL, _MUCH), ReenqueueStep(-1), CompleteStep(-1), Record(0, 4, -60), Record(1, 0, 9),
    Take(_ALL, _MUCH), ReenqueueStep(-2), Take((0,), _MUCH), Record(0, 4, 0), CompleteStep(-2), ReenqueueStep(-3),
    After("retry_backoff_max_ms", 40), FailStep(-1), FailStep(-1, "refused"), FailStep(-1, "expired"), SplitStep(-1),
    Record(0, 1, 0), Take(_ALL, _MUCH), Record(0, 3, 0), Take((1, 0), 4), CompleteStep(-3), FailStep(-2, "refused"),
    Record(2, 0, 30), Record(None, 1, 0), ReadyStep(), LookStep(), ReenqueueStep(-4), ReenqueueStep(-2), SplitStep(-2),
    After("delivery_timeout_ms"), ExpireStep(), ExpireStep(), ProducerStep(7, 1), ProducerStep(None), ProducerStep(7, 0),
    Record(0, 2, 0, "u"), Record(0, 0, 7, "u"), MuteStep(0), UnmuteStep(0), AbortUndrainedStep(), AdvanceStep(1),
    FailStep(-2, "expired"), FailStep(-3), CompleteStep(0), Take(_ALL, _MUCH), Record(0, 0, 0), Record(0, 4, -67),
    After("retry_backoff_max_ms", 40), Take((0,), 3), Record(1, 4, -60), Record(0, 2, -61), Take(_ALL, _MUCH),
)  # fmt: skip
