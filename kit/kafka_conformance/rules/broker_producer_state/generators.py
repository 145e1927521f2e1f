"""Hypothesis strategies for ``broker-producer-state``: histories spelled by a string of bytes.

The first bytes choose the expiration, the producer ids, and the snapshot that the partition is opened from, if any. Every
other byte names a step, or none (byte 0), so that a history shrinks step by step. A step depends on a model of the
partition that assumes every next batch is appended: the epoch and sequence of each producer, the batches it has sent, the
map end offset. Where the assumption is wrong, for instance after a truncation, batches are refused until the producer bumps
its epoch, which is a case of interest too.
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
from kafka_conformance.rules.broker_producer_state.snapshot_files import SnapshotEntry, strange_files
from kafka_reference.broker.behaviour import ProducerStateBehaviour
from kafka_reference.broker.entries import BatchMetadata, ProducerStateEntry
from kafka_reference.broker.snapshots import write_snapshot
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
    """Return the hex of a snapshot at offset 100 with these producers, the third of them in a transaction."""
    behaviour = ProducerStateBehaviour.of(NEWEST)
    entries = []
    for place, producer_id in enumerate(ids):
        entry = ProducerStateEntry(behaviour, producer_id)
        entry.coordinator_epoch = place - 1
        if place < 3:
            entry.add_batch(place, BatchMetadata.ending_with(behaviour, last_sequence, 90 + place, 2 * place, 100))
        entry.transaction = 88 if place == 2 else None
        entry.epoch, entry.timestamp = place, 100 + place
        entries.append(entry)
    return write_snapshot(entries).hex()


@lru_cache(maxsize=32)
def _strange_files(ids: tuple[int, ...], strange: int) -> tuple[str, ...]:
    """Return files at offset 100 as no broker writes them; the ``strange``-th producer is the one with broken fields."""
    entries = [
        SnapshotEntry(producer_id, place, 5, 90 + place, 2 * place, 100 + place, place - 1, 88 if place == 2 else -1)
        for place, producer_id in enumerate(ids)
    ]
    return tuple(strange_files([entries[strange], *entries[:strange], *entries[strange + 1 :]]))


@dataclass(slots=True)
class _Producer:
    """A producer: its epoch, its next sequence, and the batches it has sent."""

    id: int
    epoch: int = 0
    next: int = 0
    sent: list[tuple[int, int, int]] = field(default_factory=list)


@dataclass(slots=True)
class _Model:
    """The partition, assuming that every next batch is appended."""

    expiration_ms: int
    producers: tuple[_Producer, ...]
    clock_ms: int = 100
    end: int = 0
    appended_ms: int = 100
    snapshots: list[int] = field(default_factory=lambda: [0])

    def batch(self, producer: _Producer, first: int, records: int, **more: Any) -> AppendStep:
        """Return a batch at the current time."""
        self.appended_ms = self.clock_ms
        return AppendStep(producer.id, producer.epoch, first, records, self.clock_ms, **more)

    def next(self, producer: _Producer, records: int, **more: Any) -> AppendStep:
        """Return the producer's next batch and advance the model."""
        first, producer.next = producer.next, producer.next + records & _MOST
        producer.sent.append((producer.epoch, first, records))
        step = self.batch(producer, first, records, **more)
        self.end += records
        return step


_Step = Callable[[_Model], Any]


def _next(index: int, records: int = 1, **more: Any) -> _Step:
    return lambda model: model.next(model.producers[index], records, **more)


def _bump(index: int, by: int = 1, first: int = 0, **more: Any) -> _Step:
    def step(model: _Model) -> Any:
        producer = model.producers[index]
        producer.epoch, producer.next = min(producer.epoch + by, 2**15 - 1), first
        return model.next(producer, 1, **more)

    return step


def _again(index: int, back: int, longer: int = 0, **more: Any) -> _Step:
    def step(model: _Model) -> Any:
        producer = model.producers[index]
        epoch, first, records = producer.sent[-back] if back <= len(producer.sent) else (producer.epoch, 0, 1)
        records = min(max(records + longer, 1), _MOST)
        return AppendStep(producer.id, epoch, first, records, model.clock_ms, **more)

    return step


def _off(index: int, by: int, **more: Any) -> _Step:
    def step(model: _Model) -> Any:
        producer = model.producers[index]
        return model.batch(producer, producer.next + by & _MOST, 2, **more)

    return step


def _from(index: int, epoch: int, first: int) -> _Step:
    return lambda model: AppendStep(
        model.producers[index].id, model.producers[index].epoch + epoch, first, 1, model.clock_ms
    )


def _replicated(index: int, records: int, gap: int) -> _Step:
    def step(model: _Model) -> Any:
        model.end += gap
        return model.next(model.producers[index], records, origin="replication", offset=model.end)

    return step


def _jump(index: int, first: int) -> _Step:
    """Replication can bring a producer to any sequence."""

    def step(model: _Model) -> Any:
        model.producers[index].next = first
        return model.next(model.producers[index], 1, origin="replication")

    return step


def _marker(
    index: int, commit: bool = True, epoch: int = 0, coordinator: int = 0, version: int = 0, **more: Any
) -> _Step:
    def step(model: _Model) -> Any:
        producer = model.producers[index]
        model.end += 1
        if version == 2 and epoch == 1:
            producer.epoch, producer.next = producer.epoch + 1, 0
            marked = producer.epoch
        else:
            marked = producer.epoch + epoch
        return MarkerStep(
            producer.id, marked, commit, coordinator, model.clock_ms, more.get("origin", "coordinator"), version
        )

    return step


def _request(*steps: _Step, origin: AskedOrigin = "client") -> _Step:
    return lambda model: RequestStep(tuple(step(model) for step in steps), origin)


def _crowd(model: _Model) -> Any:
    """More producers than the map holds before it grows."""
    first = model.producers[0].id
    ids = [first + 11 * number + (number % 3 << 33) for number in range(1, 14)]
    model.end += len(ids)
    return RequestStep(tuple(AppendStep(each, 0, 0, 1, model.clock_ms) for each in ids), "replication")


def _verify(index: int, ahead: int, bumps: bool = False, epoch: int = 0) -> _Step:
    def step(model: _Model) -> Any:
        producer = model.producers[index]
        asked = max(producer.epoch + epoch, 0), producer.next + ahead & _MOST
        return VerifyStep(producer.id, *asked, model.clock_ms, bumps)

    return step


def _advance(ms: int, lives: int = 0) -> _Step:
    def step(model: _Model) -> Any:
        model.clock_ms = min(model.clock_ms + ms + lives * model.expiration_ms, 2**50)
        return None

    return step


def _expire(more: int) -> _Step:
    return lambda model: ExpireStep(max(model.appended_ms + model.expiration_ms + more, 0))


def _snapshot(model: _Model) -> Any:
    model.snapshots.append(model.end)
    return SnapshotStep()


def _reload(more: int | None = None, start: int = 0, lives: int = 0) -> _Step:
    def step(model: _Model) -> Any:
        end = None if more is None else max(model.end + more, 0)
        return ReloadStep(start, end, model.clock_ms + lives * model.expiration_ms)

    return step


def _truncate(back: int, more: int, start: int = 0) -> _Step:
    """Truncate to a snapshot, counted from the latest, plus ``more`` offsets."""

    def step(model: _Model) -> Any:
        to = max(model.snapshots[-min(back, len(model.snapshots))] + more, 0)
        model.end = to
        return TruncateStep(min(start, to), to, model.clock_ms)

    return step


def _load(last_sequence: int, more: int | None = None, broken: int = 0) -> _Step:
    def step(model: _Model) -> Any:
        file = snapshot_file(tuple(one.id for one in model.producers), last_sequence)
        file = file[: len(file) - 2 * broken] if broken >= 0 else file + "00" * -broken
        return LoadStep(file, None if more is None else max(model.end + more, 0))

    return step


def _near_end(made: Any, more: int) -> _Step:
    return lambda model: made(max(model.end + more, 0))


def _fixed(step: Any) -> _Step:
    return lambda _: step


_in = partial(_next, transactional=True)
_LOOK = _fixed(LookStep())

# A byte selects one of these; repetitions are weights. None does nothing.
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
    _fixed(AppendStep(-1, -1, -1, 3)),
    _verify(2, 0), _verify(2, 2), _verify(3, 0, True), _verify(3, 1, True), _verify(2, -1), _verify(3, 0, False, 1),
    _verify(2, 0, True, -1), _verify(2, 5, False, 1), _advance(7), _advance(0, 1), _advance(-1, 1), _advance(30),
    _expire(0), _expire(-1), _expire(1), _expire(-40), _LOOK, _LOOK, _LOOK, _LOOK,
    _snapshot, _snapshot, _snapshot, _reload(), _reload(), _reload(0), _reload(-1), _reload(3), _reload(0, 4),
    _reload(None, 0, 1), _truncate(1, 0), _truncate(1, 1), _truncate(2, 0), _truncate(2, -1), _truncate(1, 2, 3),
    _truncate(1, 0, 60), _truncate(3, 5), _load(_MOST), _load(2), _load(5, 0), _load(_MOST - 1, 0), _load(3, 2),
    _load(4, 0, 3), _load(4, 1, -2), _load(4, None, 7), _load(4, -1, 48),
    _near_end(LogStartStep, -1), _near_end(LogStartStep, -3), _near_end(LogStartStep, 1), _near_end(LogStartStep, -20),
    _near_end(StartOverStep, 0), _near_end(StartOverStep, -5), _near_end(HighWatermarkStep, 0),
    _near_end(HighWatermarkStep, -1), _near_end(HighWatermarkStep, -4), _near_end(DeleteSnapshotsStep, 0),
    _near_end(DeleteSnapshotsStep, -2),
    *(_in(2), _in(3), _next(0), _next(1), _next(0), _next(1), _marker(2), _marker(3, False)) * 3,
)  # fmt: skip


def spelled_broker_history(spelling: bytes) -> BrokerProducerStateQuestion:
    """Return the history that these bytes spell; missing ones count as zeros."""
    head = spelling[:_HEAD].ljust(_HEAD, b"\0")
    ids = _IDS[head[1] % len(_IDS)]
    model = _Model(_EXPIRATIONS[head[0] % len(_EXPIRATIONS)], tuple(map(_Producer, ids)))
    steps: list[Any] = []
    if head[2] % 3 == 2:
        last_sequence = (_MOST, _MOST - 1, _MOST - 4, 2)[head[3] % 4]
        steps += _open_from_file(model, snapshot_file(ids, last_sequence), last_sequence)
    elif head[2] % 6 == 4:
        files = _strange_files(ids, head[2] % 4)
        steps += _open_from_file(model, files[head[3] % len(files)], 5)
    for byte in spelling[_HEAD:]:
        symbol = _ALPHABET[byte % len(_ALPHABET)]
        step = symbol(model) if symbol is not None else None
        if step is not None:
            steps.append(step)
    steps.append(LookStep())
    return BrokerProducerStateQuestion(BrokerConfig(model.expiration_ms), tuple(steps))


def _open_from_file(model: _Model, file: str, last_sequence: int) -> list[Any]:
    """Return the steps that open the partition from this snapshot, in which producers have this last sequence."""
    for place, producer in enumerate(model.producers[:3]):
        producer.epoch, producer.next = place, last_sequence + 1 & _MOST
    model.end = 100
    model.snapshots.append(100)
    return [LoadStep(file, 100), ReloadStep(0, 101, 100)]


_HISTORIES = st.one_of(
    st.binary(max_size=16), st.binary(min_size=38, max_size=50), st.binary(min_size=44, max_size=64)
).map(spelled_broker_history)


def broker_histories() -> st.SearchStrategy[BrokerProducerStateQuestion]:
    """Return a strategy for histories, most of them of 30 to 50 steps."""
    return _HISTORIES
