"""The Hypothesis strategy of ``high-watermark``: histories spelled by a string of bytes.

The first byte chooses the settings, the second how the partition begins; every other byte names a step, or none (byte 0), so
that a history shrinks step by step.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kafka_conformance.rules.common.partition.history import PartitionHistory
from kafka_conformance.rules.common.partition.steps import (
    AppendStep,
    FetchStep,
    FollowHighWatermarkStep,
    MinInSyncStep,
    ShrinkStep,
    WaitStep,
)
from kafka_conformance.rules.common.partition.symbols import (
    Symbol,
    append,
    as_follower,
    broker,
    caught_up,
    end_of_epoch,
    fetch_at,
    fetch_own,
    fixed,
    follow,
    follow_high_watermark,
    lead,
    lead_again,
    replicate,
    respond,
    spell,
    truncate,
)
from kafka_conformance.rules.high_watermark.question import HighWatermarkQuestion
from kafka_reference.releases import NEWEST
from kafka_reference.replication.partition_state import Partition

__all__ = ["high_watermarks"]

_HEAD = 2
_SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"min_in_sync": 2},
    {"min_in_sync": 3},
    {"max_lag_ms": 0},
    {"min_in_sync": 5},
)
_BEGINNINGS: tuple[tuple[Symbol, ...], ...] = (
    (lead(),), (lead((1, 2)),), (lead((1,)),), (follow(),), (), (lead((1, 2), (1, 2)),),
    (lead(), append(3), caught_up(2), caught_up(3), caught_up(2)), (follow(), replicate((0, 4, 0))),
)  # fmt: skip
_LEADER: tuple[Symbol, ...] = (
    append(1), append(2), append(5), append(1, -1), fixed(MinInSyncStep(3), AppendStep(1, -1)),
    fixed(AppendStep(1), WaitStep(101), ShrinkStep()), fixed(AppendStep(1), WaitStep(100), ShrinkStep()),
    fixed(FollowHighWatermarkStep(0)), append(2, -1),
    *(caught_up(replica, back) for replica in (2, 3) for back in (0, 0, 0, 1, 2)),
    *(fetch_own(replica, more) for replica in (2, 3) for more in (1, 2, 0)),
    fetch_at(2, 0), fetch_at(3, 0), fetch_at(3, 1), fetch_at(2, 2),
    fetch_own(2, 1, tells_epoch=True), fetch_own(3, 0, tells_epoch=True), fetch_own(3, 1, tells_epoch=True,
    newer_epoch=-1),
    fetch_own(2, 1, tells_epoch=True, newer_epoch=1), caught_up(2, leader_epoch=0, last_epoch=0), caught_up(3,
    last_epoch=1),
    caught_up(3, last_epoch=50), caught_up(2, -1), caught_up(2, -1, last_epoch=0), caught_up(4), caught_up(4,
    leader_epoch=1),
    caught_up(3, broker_epoch=-1), caught_up(3, broker_epoch=90), caught_up(2, broker_epoch=200), caught_up(3,
    log_start_offset=2),
    fixed(FetchStep(2, -1)), fixed(FetchStep(3, 0, last_epoch=0)),
)  # fmt: skip
_CHANGES: tuple[Symbol, ...] = (
    fixed(WaitStep(100)), fixed(WaitStep(1)), fixed(WaitStep(60)), fixed(WaitStep(101)), fixed(ShrinkStep()),
    respond(), respond(),
    respond("INELIGIBLE_REPLICA"), respond("UNKNOWN_SERVER_ERROR"), respond("INVALID_REQUEST"), respond(newer=-1),
    *(fixed(MinInSyncStep(number)) for number in (1, 2, 3, 5)),
    broker(2, fenced=True), broker(3, fenced=True), broker(2), broker(3, shutting_down=True), broker(3, newer=1),
    broker(3),
    lead(), lead((1, 2)), lead((1,)), lead((1, 2, 3, 4), (1, 2, 3, 4)), lead((1, 2), (1, 2)), lead(newer=0),
    lead(newer=-1),
    lead_again((1, 3), newer=1), lead_again((1,), newer=1), lead_again((1, 2, 3), newer=0), lead_again((1,), newer=-1),
    follow(), follow(newer=0), follow(partition_epoch=-1), follow(newer=-1),
)  # fmt: skip
_FOLLOWER: tuple[Symbol, ...] = (
    replicate((0, 1, 0)), replicate((0, 3, 0)), replicate((0, 2, -1), (0, 1, 0)), replicate((2, 2, 0)), replicate((-1,
    2, 0)),
    replicate((0, 2, 0), (-1, 1, 0)), replicate((0, 2, 0), (-4, 1, 0)), replicate((0, 1, 0), (0, 2, 1)), replicate((0,
    2, 2)),
    replicate((0, 1, -1)), replicate((0, 1, 1), (0, 1, 0)),
    *map(follow_high_watermark, (0, 1, 2, -3, 1000)), *map(truncate, (0, 1, 2, 3, -2, 1000)), *map(end_of_epoch, (0, 1,
    2, -1, 1000)),
)  # fmt: skip
_ALPHABET: tuple[Symbol | None, ...] = (
    None,
    *_LEADER,
    *_CHANGES,
    *map(as_follower, _FOLLOWER),
    *_FOLLOWER[:3],
    *_LEADER[:18],
)


def high_watermarks() -> st.SearchStrategy[HighWatermarkQuestion]:
    """Return a strategy for histories of up to 30 steps."""
    return st.one_of(st.binary(max_size=12), st.binary(min_size=10, max_size=32)).map(_question)


def _question(spelling: bytes) -> HighWatermarkQuestion:
    head = spelling[:_HEAD].ljust(_HEAD, b"\0")
    settings = _SETTINGS[head[0] % len(_SETTINGS)]
    named = (_ALPHABET[byte % len(_ALPHABET)] for byte in spelling[_HEAD:])
    symbols = [*_BEGINNINGS[head[1] % len(_BEGINNINGS)], *(symbol for symbol in named if symbol is not None)]
    history = PartitionHistory(HighWatermarkQuestion(steps=(), **settings), NEWEST, Partition)
    return HighWatermarkQuestion(steps=spell(history, symbols), **settings)
