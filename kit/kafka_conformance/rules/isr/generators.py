"""The Hypothesis strategy of ``isr``: histories spelled by a string of bytes, as those of ``high-watermark``."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kafka_conformance.rules.common.partition.history import PartitionHistory
from kafka_conformance.rules.common.partition.steps import (
    AppendStep,
    RegisteredBroker,
    ShrinkStep,
    UnregisterStep,
    WaitStep,
)
from kafka_conformance.rules.common.partition.symbols import (
    Symbol,
    append,
    broker,
    caught_up,
    fetch_at,
    fetch_own,
    fixed,
    follow,
    lead,
    lead_again,
    respond,
    spell,
)
from kafka_conformance.rules.isr.question import InSyncQuestion
from kafka_reference.releases import NEWEST
from kafka_reference.replication.partition_state import Partition

__all__ = ["in_sync_histories"]

_HEAD = 2
_SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"max_lag_ms": 0},
    {"brokers": (RegisteredBroker(2, 102),)},
    {"brokers": (RegisteredBroker(2, 102, fenced=True), RegisteredBroker(3, 103, shutting_down=True))},
)
_FULL: tuple[Symbol, ...] = (lead(), append(3), caught_up(2), caught_up(3), caught_up(2))
_BEGINNINGS: tuple[tuple[Symbol, ...], ...] = (
    (lead(),),
    (lead((1, 2)), append(2)),
    (lead((1,)), append(2)),
    (lead((1, 2, 3, 4), (1, 2, 3, 4)),),
    _FULL,
    (follow(),),
    (),
    (*_FULL, append(2), lead((1, 2))),
)
_FETCHES: tuple[Symbol, ...] = (
    *(caught_up(replica, back) for replica in (2, 3) for back in (0, 0, 1, 2)),
    *(fetch_at(replica, back) for replica in (2, 3) for back in (0, 1)),
    *(fetch_own(replica, more) for replica in (2, 3) for more in (0, 1)),
    caught_up(2, broker_epoch=-1),
    caught_up(3, broker_epoch=-1),
    caught_up(2, broker_epoch=90),
    caught_up(3, broker_epoch=104),
    caught_up(4),
    caught_up(3, leader_epoch=50),
    caught_up(3, last_epoch=50),
    caught_up(2, -1),
)
_ALTERATIONS: tuple[Symbol, ...] = (
    fixed(ShrinkStep()),
    *(fixed(AppendStep(1), WaitStep(101), ShrinkStep()) for _ in range(4)),
    fixed(AppendStep(1), WaitStep(100), ShrinkStep()),
    *(respond() for _ in range(4)),
    respond(newer=0),
    respond(newer=-1),
    *map(
        respond,
        (
            "OPERATION_NOT_ATTEMPTED",
            "INELIGIBLE_REPLICA",
            "UNKNOWN_TOPIC_OR_PARTITION",
            "UNKNOWN_TOPIC_ID",
            "FENCED_LEADER_EPOCH",
            "INVALID_UPDATE_VERSION",
            "INVALID_REQUEST",
            "NEW_LEADER_ELECTED",
            "UNKNOWN_SERVER_ERROR",
            "NOT_CONTROLLER",
            "REQUEST_TIMED_OUT",
        ),
    ),
)
_CHANGES: tuple[Symbol, ...] = (
    append(1),
    append(2),
    append(1, -1),
    *(fixed(WaitStep(ms)) for ms in (100, 1, 101, 60)),
    broker(2, fenced=True),
    broker(3, fenced=True),
    broker(2),
    broker(3),
    broker(3, shutting_down=True),
    broker(2, newer=1),
    fixed(UnregisterStep(3)),
    lead(),
    lead((1, 2)),
    lead((1,)),
    lead((1, 2), (1, 2)),
    lead(newer=0),
    lead_again((1, 3), newer=1),
    lead_again((1,), newer=0),
    lead_again((1, 2, 3), newer=0),
    lead_again((1,), newer=-1),
    follow(),
    follow(partition_epoch=-1),
)
_ALPHABET: tuple[Symbol | None, ...] = (None, *_FETCHES, *_ALTERATIONS, *_CHANGES, *_FETCHES[:12])


def in_sync_histories() -> st.SearchStrategy[InSyncQuestion]:
    """Return a strategy for histories of up to 30 steps."""
    return st.one_of(st.binary(max_size=12), st.binary(min_size=10, max_size=32)).map(_question)


def _question(spelling: bytes) -> InSyncQuestion:
    head = spelling[:_HEAD].ljust(_HEAD, b"\0")
    settings = _SETTINGS[head[0] % len(_SETTINGS)]
    named = (_ALPHABET[byte % len(_ALPHABET)] for byte in spelling[_HEAD:])
    symbols = [*_BEGINNINGS[head[1] % len(_BEGINNINGS)], *(symbol for symbol in named if symbol is not None)]
    history = PartitionHistory(InSyncQuestion(steps=(), **settings), NEWEST, Partition)
    return InSyncQuestion(steps=spell(history, symbols), **settings)
