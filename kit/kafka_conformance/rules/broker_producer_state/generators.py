"""Histories for ``broker-producer-state``, from few letters.

A string of bytes spells a question: the first letters choose when producers expire, their ids, and the snapshot that the
partition is opened from, if any; each other one is a step, or none (letter 0), so that a history shrinks step by step. What
a step is depends on a picture of the partition, which takes every batch that comes next for accepted: where each producer
is, which batches it has sent, where the map ends. When that goes wrong, as it may after a truncation, the batches are
refused until the producer bumps its epoch, which is worth asking too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

from hypothesis import strategies as st

from kafka_conformance.rules.broker_producer_state.question import (
    AppendStep,
    AskedOrigin,
    BrokerConfig,
    BrokerProducerStateQuestion,
    DeleteSnapshotsStep,
    ExpireStep,
    HighWatermarkStep,
    LoadStep,
    LogStartStep,
    LookStep,
    MarkerStep,
    ReloadStep,
    RequestStep,
    SnapshotStep,
    StartOverStep,
    TruncateStep,
    VerifyStep,
)
from kafka_reference.broker.entries import Entry, noted
from kafka_reference.broker.eras import era_of
from kafka_reference.broker.snapshots import written_snapshot
from kafka_reference.releases import NEWEST

__all__ = ["broker_histories", "snapshot_file", "spelled_broker_history"]

_HEAD = 4
_MOST = 2**31 - 1
_EXPIRATIONS = (1000, 60, 1, _MOST)
_IDS = (
    (7, 8, 23, 39), (0, 1, 2, 3), (1000, 4_000_000_000, 2**32 + 7, 7), (3, 2**40 + 3, 2**31 - 1, 2**31),
    (5_000_000_019, 5_000_000_003, 16, 32),
)  # fmt: skip


@lru_cache(maxsize=64)
def snapshot_file(ids: tuple[int, ...], last_sequence: int) -> str:
    """A snapshot at offset 100, as the reference writes it: these producers, the third in the middle of a transaction."""
    era = era_of(NEWEST)
    entries = []
    for place, producer_id in enumerate(ids):
        entry = Entry(era, producer_id)
        entry.coordinator_epoch = place - 1
        if place < 3:
            entry.add(place, noted(era, last_sequence, 90 + place, 2 * place, 100))
        entry.transaction = 88 if place == 2 else None
        entry.epoch, entry.timestamp = place, 100 + place
        entries.append(entry)
    return written_snapshot(entries).hex()


@dataclass(slots=True)
class _Producer:
    """Where a producer is, as far as it knows."""

    id: int
    epoch: int = 0
    next: int = 0
    sent: list[tuple[int, int, int]] = field(default_factory=list)


@dataclass(slots=True)
class _Picture:
    """The partition, if all went as meant."""

    expiration_ms: int
    producers: tuple[_Producer, ...]
    clock_ms: int = 100
    end: int = 0
    heard_ms: int = 100
    snapshots: list[int] = field(default_factory=lambda: [0])

    def batch(self, producer: _Producer, first: int, records: int, **more: Any) -> AppendStep:
        """A batch at this time."""
        self.heard_ms = self.clock_ms
        return AppendStep(producer.id, producer.epoch, first, records, self.clock_ms, **more)

    def next(self, producer: _Producer, records: int, **more: Any) -> AppendStep:
        """The producer's next batch."""
        first, producer.next = producer.next, producer.next + records & _MOST
        producer.sent.append((producer.epoch, first, records))
        step = self.batch(producer, first, records, **more)
        self.end += records
        return step


_Step = Callable[[_Picture], Any]


def _next(who: int, records: int = 1, **more: Any) -> _Step:
    return lambda picture: picture.next(picture.producers[who], records, **more)


def _bump(who: int, by: int = 1, first: int = 0, **more: Any) -> _Step:
    def step(picture: _Picture) -> Any:
        producer = picture.producers[who]
        producer.epoch, producer.next = min(producer.epoch + by, 2**15 - 1), first
        return picture.next(producer, 1, **more)

    return step


def _again(who: int, back: int, longer: int = 0, **more: Any) -> _Step:
    def step(picture: _Picture) -> Any:
        producer = picture.producers[who]
        epoch, first, records = producer.sent[-back] if back <= len(producer.sent) else (producer.epoch, 0, 1)
        records = min(max(records + longer, 1), _MOST)
        return AppendStep(producer.id, epoch, first, records, picture.clock_ms, **more)

    return step


def _off(who: int, by: int, **more: Any) -> _Step:
    def step(picture: _Picture) -> Any:
        producer = picture.producers[who]
        return picture.batch(producer, producer.next + by & _MOST, 2, **more)

    return step


def _from(who: int, epoch: int, first: int) -> _Step:
    return lambda picture: AppendStep(
        picture.producers[who].id, picture.producers[who].epoch + epoch, first, 1, picture.clock_ms
    )


def _replicated(who: int, records: int, gap: int) -> _Step:
    def step(picture: _Picture) -> Any:
        picture.end += gap
        return picture.next(picture.producers[who], records, origin="replication", offset=picture.end)

    return step


def _jump(who: int, first: int) -> _Step:
    """By replication a producer gets anywhere."""

    def step(picture: _Picture) -> Any:
        picture.producers[who].next = first
        return picture.next(picture.producers[who], 1, origin="replication")

    return step


def _marker(
    who: int, commit: bool = True, epoch: int = 0, coordinator: int = 0, version: int = 0, **more: Any
) -> _Step:
    def step(picture: _Picture) -> Any:
        producer = picture.producers[who]
        picture.end += 1
        if version == 2 and epoch == 1:
            producer.epoch, producer.next = producer.epoch + 1, 0
            marked = producer.epoch
        else:
            marked = producer.epoch + epoch
        return MarkerStep(
            producer.id, marked, commit, coordinator, picture.clock_ms, more.get("origin", "coordinator"), version
        )

    return step


def _request(*steps: _Step, origin: AskedOrigin = "client") -> _Step:
    return lambda picture: RequestStep(tuple(step(picture) for step in steps), origin)


def _crowd(picture: _Picture) -> Any:
    """More producers than the map of producers has room for at first."""
    first = picture.producers[0].id
    ids = [first + 11 * number + (number % 3 << 33) for number in range(1, 14)]
    picture.end += len(ids)
    return RequestStep(tuple(AppendStep(each, 0, 0, 1, picture.clock_ms) for each in ids), "replication")


def _verify(who: int, ahead: int, bumps: bool = False, epoch: int = 0) -> _Step:
    def step(picture: _Picture) -> Any:
        producer = picture.producers[who]
        asked = max(producer.epoch + epoch, 0), producer.next + ahead & _MOST
        return VerifyStep(producer.id, *asked, picture.clock_ms, bumps)

    return step


def _advance(ms: int, lives: int = 0) -> _Step:
    def step(picture: _Picture) -> Any:
        picture.clock_ms = min(picture.clock_ms + ms + lives * picture.expiration_ms, 2**50)
        return None

    return step


def _expire(more: int) -> _Step:
    return lambda picture: ExpireStep(max(picture.heard_ms + picture.expiration_ms + more, 0))


def _snapshot(picture: _Picture) -> Any:
    picture.snapshots.append(picture.end)
    return SnapshotStep()


def _reload(more: int | None = None, start: int = 0, lives: int = 0) -> _Step:
    def step(picture: _Picture) -> Any:
        end = None if more is None else max(picture.end + more, 0)
        return ReloadStep(start, end, picture.clock_ms + lives * picture.expiration_ms)

    return step


def _truncate(back: int, more: int, start: int = 0) -> _Step:
    """To a snapshot, counted from the latest, and a bit."""

    def step(picture: _Picture) -> Any:
        to = max(picture.snapshots[-min(back, len(picture.snapshots))] + more, 0)
        picture.end = to
        return TruncateStep(min(start, to), to, picture.clock_ms)

    return step


def _load(last_sequence: int, more: int | None = None, broken: int = 0) -> _Step:
    def step(picture: _Picture) -> Any:
        file = snapshot_file(tuple(one.id for one in picture.producers), last_sequence)
        file = file[: len(file) - 2 * broken] if broken >= 0 else file + "00" * -broken
        return LoadStep(file, None if more is None else max(picture.end + more, 0))

    return step


def _at(made: Any, more: int) -> _Step:
    return lambda picture: made(max(picture.end + more, 0))


def _as_it_is(step: Any) -> _Step:
    return lambda _: step


_in = partial(_next, transactional=True)
_LOOK = _as_it_is(LookStep())

# A byte names one of these; repeats are weights. None is no step.
_ALPHABET: tuple[_Step | None, ...] = (
    None, _next(0), _next(0, 3), _next(1), _next(1, 2), _in(2), _in(2, 4), _in(3), _LOOK, _marker(2), _marker(3, False),
    _again(0, 1), _again(0, 2), _again(0, 5), _again(0, 6), _again(1, 1), _again(1, 4), _again(2, 1, transactional=True),
    _again(0, 1, 1), _again(0, 2, -1), _again(0, 3, origin="coordinator"), _again(1, 2, origin="replication"),
    _off(0, 1), _off(0, -1), _off(1, 7), _off(1, -2), _off(2, 1, transactional=True), _off(0, -7), _off(0, 2**30),
    _bump(0), _bump(1), _bump(2, transactional=True), _bump(3, 2, transactional=True), _bump(0, 1, 3), _bump(1, 100),
    _bump(0, 2**15), _from(0, -1, 0), _from(1, -1, 4), _from(2, 1, 1), _from(0, 0, 0), _from(1, 0, -1), _from(0, -2, 0),
    _next(0, _MOST), _next(1, _MOST), _jump(0, _MOST), _jump(1, _MOST - 1), _next(0, 5), _next(1, 4), _jump(2, _MOST - 2),
    _replicated(0, 1, 0), _replicated(1, 3, 2), _replicated(2, 1, 5), _jump(0, -1), _next(0, 2, origin="coordinator"),
    _next(2), _next(3), _in(0), _in(1, 2), _marker(0), _marker(1, False), _marker(2, origin="replication"),
    _marker(2, True, 0, 1), _marker(2, False, -1), _marker(2, True, 1), _marker(3, True, 0, -1), _marker(3, True, 1, 3),
    _marker(2, True, 1, 0, 2), _marker(2, True, 0, 0, 2), _marker(3, False, 1, 2, 2), _marker(3, True, 0, 0, 1),
    _marker(3, True, 0, 0, -1), _marker(2, True, -1, -1, origin="replication"), _marker(2, True, 0, 0, -1, origin="client"),
    _request(_next(0), _next(0, 2)), _request(_next(0), _next(1), _in(2)), _request(_next(0), _again(0, 1)),
    _request(_in(2), _marker(2), origin="replication"), _request(_next(1), _off(1, 1)), _request(_in(3), _bump(3)),
    _request(_in(2), _in(3), _marker(3), _marker(2), origin="replication"), _request(_again(0, 1), _next(0)),
    _request(_in(2), _off(0, 3)), _crowd,
    _request(_in(2), _marker(2), _next(0), _in(2), _marker(2, False), origin="replication"),
    _as_it_is(AppendStep(-1, -1, -1, 3)),
    _verify(2, 0), _verify(2, 2), _verify(3, 0, True), _verify(3, 1, True), _verify(2, -1), _verify(3, 0, False, 1),
    _verify(2, 0, True, -1), _verify(2, 5, False, 1), _advance(7), _advance(0, 1), _advance(-1, 1), _advance(30),
    _expire(0), _expire(-1), _expire(1), _expire(-40), _LOOK, _LOOK, _LOOK, _LOOK,
    _snapshot, _snapshot, _snapshot, _reload(), _reload(), _reload(0), _reload(-1), _reload(3), _reload(0, 4),
    _reload(None, 0, 1), _truncate(1, 0), _truncate(1, 1), _truncate(2, 0), _truncate(2, -1), _truncate(1, 2, 3),
    _truncate(1, 0, 60), _truncate(3, 5), _load(_MOST), _load(2), _load(5, 0), _load(_MOST - 1, 0), _load(3, 2),
    _load(4, 0, 3), _load(4, 1, -2), _load(4, None, 7), _load(4, -1, 48), _at(LogStartStep, -1), _at(LogStartStep, -3),
    _at(LogStartStep, 1), _at(LogStartStep, -20), _at(StartOverStep, 0), _at(StartOverStep, -5), _at(HighWatermarkStep, 0),
    _at(HighWatermarkStep, -1), _at(HighWatermarkStep, -4), _at(DeleteSnapshotsStep, 0), _at(DeleteSnapshotsStep, -2),
    *(_in(2), _in(3), _next(0), _next(1), _next(0), _next(1), _marker(2), _marker(3, False)) * 3,
)  # fmt: skip


def spelled_broker_history(letters: bytes) -> BrokerProducerStateQuestion:
    """The history that these letters spell; too few are followed by zeros."""
    head = letters[:_HEAD].ljust(_HEAD, b"\0")
    ids = _IDS[head[1] % len(_IDS)]
    picture = _Picture(_EXPIRATIONS[head[0] % len(_EXPIRATIONS)], tuple(map(_Producer, ids)))
    steps: list[Any] = []
    if head[2] % 3 == 2:
        steps += _opened(picture, ids, (_MOST, _MOST - 1, _MOST - 4, 2)[head[3] % 4])
    for letter in letters[_HEAD:]:
        symbol = _ALPHABET[letter % len(_ALPHABET)]
        step = symbol(picture) if symbol is not None else None
        if step is not None:
            steps.append(step)
    steps.append(LookStep())
    return BrokerProducerStateQuestion(BrokerConfig(picture.expiration_ms), tuple(steps))


def _opened(picture: _Picture, ids: tuple[int, ...], last_sequence: int) -> list[Any]:
    """The partition is opened from a file that was there."""
    for place, producer in enumerate(picture.producers[:3]):
        producer.epoch, producer.next = place, last_sequence + 1 & _MOST
    picture.end = 100
    picture.snapshots.append(100)
    return [LoadStep(snapshot_file(ids, last_sequence), 100), ReloadStep(0, 101, 100)]


_HISTORIES = st.one_of(
    st.binary(max_size=16), st.binary(min_size=38, max_size=50), st.binary(min_size=44, max_size=64)
).map(spelled_broker_history)


def broker_histories() -> st.SearchStrategy[BrokerProducerStateQuestion]:
    """Histories, most of them of 30 to 50 steps."""
    return _HISTORIES
