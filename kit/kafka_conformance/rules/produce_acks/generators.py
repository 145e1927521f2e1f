"""The Hypothesis strategy of ``produce-acks``: histories spelled by a string of bytes, as those of ``high-watermark``."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kafka_conformance.rules.common.partition.steps import MinInSyncStep, ShrinkStep, WaitStep
from kafka_conformance.rules.common.partition.symbols import (
    Symbol,
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
from kafka_conformance.rules.produce_acks.adapter import ProduceHistory
from kafka_conformance.rules.produce_acks.question import CheckStep, ExpireStep, ProduceQuestion, ProduceStep
from kafka_reference.releases import NEWEST
from kafka_reference.replication.partition_state import Partition
from kafka_reference.replication.produce_requests import ProduceRequests

__all__ = ["produce_histories"]

_HEAD = 2
_SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"min_in_sync": 2},
    {"min_in_sync": 3},
    {"min_in_sync": 5},
    {"max_lag_ms": 0},
)
_BEGINNINGS: tuple[tuple[Symbol, ...], ...] = (
    (lead(),),
    (lead((1, 2)),),
    (lead((1,)),),
    (lead((1, 2), (1, 2)),),
    (lead((1,), (1,)),),
    (follow(),),
    (),
)


def _produce(acks: int, records: int = 1) -> Symbol:
    return fixed(ProduceStep(acks, records))


def _check(back: int) -> Symbol:
    def symbol(partition: Partition) -> CheckStep:
        return CheckStep(max(partition.log.high_watermark - back, 0))

    return symbol


_REQUESTS: tuple[Symbol, ...] = (
    _produce(-1),
    _produce(-1, 2),
    _produce(-1, 3),
    _produce(1),
    _produce(0, 2),
    _produce(2),
    _produce(-2),
    _produce(-(2**15)),
    _check(0),
    _check(1),
    _check(-1),
    fixed(ExpireStep()),
)
_FETCHES: tuple[Symbol, ...] = (
    *(caught_up(replica, back) for replica in (2, 3) for back in (0, 0, 0, 1)),
    *(fetch_own(replica, 1) for replica in (2, 3)),
    fetch_at(3, 0),
    fetch_at(2, -1),
    caught_up(2, -1),
    caught_up(4),
)
_CHANGES: tuple[Symbol, ...] = (
    fixed(WaitStep(101)),
    fixed(WaitStep(100)),
    fixed(ShrinkStep()),
    respond(),
    respond(),
    respond("INELIGIBLE_REPLICA"),
    respond("UNKNOWN_SERVER_ERROR"),
    *(fixed(MinInSyncStep(number)) for number in (1, 2, 3, 5)),
    broker(3, fenced=True),
    broker(3),
    lead(),
    lead((1, 2)),
    lead((1,)),
    lead((1, 2), (1, 2)),
    lead_again((1,), newer=1),
    lead_again((1, 2), newer=1),
    follow(),
    follow(newer=0),
)
_ALPHABET: tuple[Symbol | None, ...] = (None, *_REQUESTS, *_FETCHES, *_CHANGES, *_REQUESTS[:3], *_FETCHES[:8])


def produce_histories() -> st.SearchStrategy[ProduceQuestion]:
    """Return a strategy for histories of up to 30 steps."""
    return st.one_of(st.binary(max_size=12), st.binary(min_size=10, max_size=32)).map(_question)


def _question(spelling: bytes) -> ProduceQuestion:
    head = spelling[:_HEAD].ljust(_HEAD, b"\0")
    settings = _SETTINGS[head[0] % len(_SETTINGS)]
    named = (_ALPHABET[byte % len(_ALPHABET)] for byte in spelling[_HEAD:])
    symbols = [*_BEGINNINGS[head[1] % len(_BEGINNINGS)], *(symbol for symbol in named if symbol is not None)]
    history = ProduceHistory(ProduceQuestion(steps=(), **settings), NEWEST, Partition, ProduceRequests)
    return ProduceQuestion(steps=spell(history, symbols), **settings)
