"""Histories for ``record-accumulator``: from few letters, and every short one over a small alphabet.

A whole question is spelled by one string of bytes: the first ones pick the configuration and the cluster, each other one
a step. Lengths and times that matter are relative to the configuration: a record that just fits, a moment before
lingering ends. Letter 0 is no step at all, so that a history shrinks step by step while its string keeps its length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from hypothesis import strategies as st
from msgspec import structs

from kafka_conformance.rules.common.clusters import AskedCluster, AskedNode, AskedPartition
from kafka_conformance.rules.common.scripts import every_script
from kafka_conformance.rules.record_accumulator.question import (
    AbortStep,
    AbortUndrainedStep,
    AdvanceStep,
    AppendStep,
    AskedConfig,
    AskedProducer,
    BlockedStep,
    CloseStep,
    CompleteStep,
    DrainStep,
    ExpireStep,
    FlushedStep,
    FlushStep,
    LatencyStep,
    LoadStep,
    LookStep,
    MoveStep,
    MuteStep,
    ReadyStep,
    RecordAccumulatorQuestion,
    ReenqueueStep,
    SplitStep,
    UnmuteStep,
)
from kafka_conformance.rules.record_sizes.question import Length
from kafka_reference.java.thread_local_random import mix32

__all__ = [
    "LETTERS", "After", "Record", "Take", "every_end_of_a_batch", "every_rare_answer", "every_short_history",
    "spelled_history",
]  # fmt: skip

_LETTERS_OF_CONFIGURATION = 12
_TOPICS = ("t", "u", "orders")


@dataclass(frozen=True, slots=True)
class Record:
    """A record for the partition at a place, or None to have it chosen; its value is so many quarters of a batch long."""

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
    """Drain these nodes, up to so many quarters of a batch."""

    nodes: tuple[int, ...]
    quarters: int


@dataclass(frozen=True, slots=True)
class _Move:
    """The cluster becomes another one, and leaders that move have a higher epoch."""

    cluster: int


_READY, _LOOK, _EXPIRE = ReadyStep(), LookStep(), ExpireStep()
_ALL, _MUCH = (0, 1, 2), 40

# A byte names one of these; repeats are weights. None is no step.
_ALPHABET: tuple[Any, ...] = (
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
    FlushStep(), FlushedStep(), BlockedStep(1), BlockedStep(0), _LOOK, _Move(1), _Move(2), _Move(3), _Move(4), _Move(0),
    Record(0, 1, 0, "t", "6b6579", 1070), Record(1, 0, 8, "t", "", 0), Record(None, 1, -5, "t", None, 10**12),
    Record(2, 1, 0, "t", "00" * 70, 900), Record(0, 9, 0), Record(None, 5, 0), Take((0, 0, 2), _MUCH),
    Record(6, 0, 2), Record(7, 2, 1), Record(2, 0, 33, "u"), AdvanceStep(0), Record(0, 3, 0), Record(1, 3, -61),
    ReenqueueStep(0), SplitStep(-2), Take((9,), _MUCH), AbortUndrainedStep(), _READY, Record(None, 3, 0),
    Record(0, 0, 4, headers=(("name", "00"),)), Record(None, 1, 0, headers=(("", None), ("é\U0001f600", "00" * 65))),
    Record(1, 4, -79, headers=(("key", ""),)), Record(None, 3, -9, "u", headers=(("k", None),) * 64),
)  # fmt: skip
_ENDINGS: tuple[Any, ...] = (None, None, None, None, CloseStep(), AbortStep(), None, None)

_SIZES = (200, 100, 200, 500, 1, 1000, 150, 80, 120, 320)
_LINGERS = (5, 0, 5, 100, 1)
_BACKOFFS = ((100, 1000), (100, 100), (10, 1000), (50, 300), (0, 100), (100, 10), (1, 2**40), (30, 31))
_TIMEOUTS = (120000, 300, 150, 1000, 40)
_MEMORIES = (400, 4, 400, 3, 400, 6)  # in halves of a batch
_CODECS: tuple[tuple[float, tuple[int, ...]], ...] = (
    (1.0, ()), (1.0, (300,)), (0.5, (1500, 200)), (0.05, (700,)), (0.3, (50, 3000, 900)), (2.0, (1100, 20)),
)  # fmt: skip
_CHUNK = 16384
_SIZES_IN_CHUNKS = (2 * _CHUNK, _CHUNK, 40000, 20000, _CHUNK - 1)
_CHUNKS = (20, 3, 5, 4, 2)
_NODES = (AskedNode(0, "a"), AskedNode(1, "b"), AskedNode(2))


def _cluster(*layout: tuple[int, int | None], nodes: tuple[AskedNode, ...] = _NODES) -> AskedCluster:
    return AskedCluster(nodes, tuple(AskedPartition(number, leader) for number, leader in layout))


# For each setting, five clusters that it may become: as it is, leaders moved, some lost, a node gone, partitions new.
_CLUSTERS: tuple[tuple[AskedCluster, ...], ...] = (
    (
        _cluster((0, 0), (1, 1), (2, 0)),
        _cluster((0, 1), (1, 0), (2, 0)),
        _cluster((0, None), (1, 1), (2, None)),
        _cluster((0, 0), (1, 0), (2, 0), nodes=_NODES[:2]),
        _cluster((0, 0), (1, 1), (2, 0), (3, 2), (4, 1)),
    ),
    (
        _cluster((0, 0), (1, 0), (2, 0), (3, 0)),
        _cluster((0, 1), (1, 1), (2, 0), (3, 0)),
        _cluster((0, 0), (1, 0), (2, None), (3, None)),
        _cluster((0, None), (1, None), (2, None), (3, None)),
        _cluster((3, 0), (2, 0), (1, 0), (0, 0)),
    ),
    (
        _cluster((4, 0), (1, 1), (8, 2), (5, 0), (0, 1), (12, 0), (2, 2), (3, 1)),
        _cluster((4, 1), (1, 2), (8, 0), (5, 0), (0, 1), (12, 0), (2, 2), (3, 1)),
        _cluster((4, None), (1, 1), (8, 2), (5, None), (0, 1), (12, 0), (2, None), (3, 1)),
        _cluster((4, 0), (1, 1), (8, 1), (5, 0), (0, 1), nodes=_NODES[:2]),
        _cluster((4, 0), (1, 1), (8, 2), (5, 0), (0, 1), (12, 0), (2, 2), (3, 1), (16, 0), (20, 1)),
    ),
    (
        _cluster((0, 0)),
        _cluster((0, 1)),
        _cluster((0, None)),
        _cluster(),
        _cluster((0, 0), (1, 0)),
    ),
)  # fmt: skip


def _config(letters: bytes) -> AskedConfig:
    size = _SIZES[letters[0] % len(_SIZES)]
    first, most = _BACKOFFS[letters[2] % len(_BACKOFFS)]
    config = AskedConfig(
        batch_size=size,
        linger_ms=_LINGERS[letters[1] % len(_LINGERS)],
        retry_backoff_ms=first,
        retry_backoff_max_ms=most,
        delivery_timeout_ms=_TIMEOUTS[letters[3] % len(_TIMEOUTS)],
        buffer_memory=max(_MEMORIES[letters[4] % len(_MEMORIES)] * size // 2, 150),
        adaptive=letters[5] % 3 < 2,
        availability_timeout_ms=(0, 20, 20, 0, 1)[letters[6] % 5],
        rack_aware=letters[5] % 7 == 6,
        rack="a" if letters[5] % 7 == 6 else "",
    )
    return _with_memory(config, letters[10], letters[11])


def _with_memory(config: AskedConfig, how: int, which: int) -> AskedConfig:
    """Of eight, four as it is, three with compression, and one by chunks."""
    if how % 8 < 4:
        return config
    if how % 8 < 7:
        ratio, achieved = _CODECS[which % len(_CODECS)]
        return structs.replace(config, compression="gzip", ratio=ratio, achieved_per_mille=achieved)
    size, memory = _SIZES_IN_CHUNKS[which % 5], _CHUNKS[which // 5 % 5] * _CHUNK + which
    return structs.replace(config, batch_size=size, buffer_memory=memory, allocation="incremental")


def _made(symbol: Any, config: AskedConfig, clusters: Sequence[AskedCluster], epoch: int) -> Any:
    if isinstance(symbol, Record):
        most = 2000 if config.batch_size < _CHUNK // 2 else 4 * _CHUNK
        length = min(max(symbol.quarters * config.batch_size // 4 + symbol.more, 0), most)
        first = clusters[0].partitions
        place = 0 if symbol.place is None else symbol.place
        partition = first[place].id if place < len(first) else place
        chosen = (None, partition) if symbol.place is None else (partition, None)
        key, value = symbol.key, _zeros(length)
        return AppendStep(chosen[0], key, value, symbol.timestamp, symbol.topic, chosen[1], symbol.headers)
    if isinstance(symbol, After):
        return AdvanceStep(max(getattr(config, symbol.time) + symbol.more, 0))
    if isinstance(symbol, Take):
        return DrainStep(symbol.nodes, symbol.quarters * config.batch_size // 4)
    if isinstance(symbol, _Move):
        return MoveStep(clusters[symbol.cluster], _epochs(clusters, symbol.cluster, epoch))
    return symbol


@lru_cache
def _zeros(length: int) -> str | Length | None:
    return None if length == 0 else "00" * length if length <= 100 else Length(length)


def _epochs(clusters: Sequence[AskedCluster], to: int, epoch: int) -> tuple[int | None, ...]:
    """Those that moved since the first cluster have this epoch; an odd one is known to nobody."""
    first = {partition.id: partition.leader for partition in clusters[0].partitions}
    moved = [partition.leader != first.get(partition.id) for partition in clusters[to].partitions]
    return tuple(None if epoch % 5 == 4 else epoch if has else epoch // 2 for has in moved)


def spelled_history(letters: bytes, alphabet: Sequence[Any] = _ALPHABET) -> RecordAccumulatorQuestion:
    """The history that these letters spell; too few are followed by zeros."""
    head = letters[:_LETTERS_OF_CONFIGURATION].ljust(_LETTERS_OF_CONFIGURATION, b"\0")
    config, clusters = _config(head), _CLUSTERS[head[7] % len(_CLUSTERS)]
    steps: list[Any] = []
    for letter in letters[_LETTERS_OF_CONFIGURATION:]:
        symbol = alphabet[letter % len(alphabet)]
        if symbol is not None:
            steps.append(_made(symbol, config, clusters, len(steps)))
    ending = _ENDINGS[head[8] % len(_ENDINGS)]
    if ending is not None:
        steps[len(steps) * 3 // 4 : 0] = [ending]
    steps.append(_LOOK)
    draws = tuple(mix32(head[9] * 1009 + place) for place in range(len(steps)))
    return RecordAccumulatorQuestion(config, clusters[0], draws, tuple(steps), _TOPICS, _epochs(clusters, 0, 2))


# Most of these make histories of 50 steps and more.
LETTERS = st.one_of(st.binary(max_size=33), st.binary(min_size=64, max_size=84), st.binary(min_size=72, max_size=104))


def every_short_history() -> Iterator[RecordAccumulatorQuestion]:
    """Two partitions of one node: every history of up to 4 of 11 steps, behind an append and before a look."""
    config = AskedConfig(
        batch_size=100, linger_ms=5, retry_backoff_ms=10, retry_backoff_max_ms=10, delivery_timeout_ms=30,
        buffer_memory=250, adaptive=True, availability_timeout_ms=0,
    )  # fmt: skip
    cluster = _cluster((0, 0), (1, 0), nodes=_NODES[:1])
    alphabet: tuple[Any, ...] = (
        AppendStep(0, None, "00" * 10, 0),
        AppendStep(None, None, "00" * 40, 0, "t", 1),
        AdvanceStep(5),
        _READY,
        DrainStep((0,), 100),
        ReenqueueStep(-1),
        CompleteStep(-1),
        MuteStep(0),
        _EXPIRE,
        FlushStep(),
        CloseStep(),
    )
    for steps in every_script(alphabet, 4):
        yield RecordAccumulatorQuestion(config, cluster, (0,) * 6, (alphabet[0], *steps, _LOOK))


def every_end_of_a_batch() -> Iterator[RecordAccumulatorQuestion]:
    """A batch of three records is drained; then every history of up to 4 of 8 steps, and a look."""
    config = AskedConfig(
        batch_size=200, linger_ms=5, retry_backoff_ms=10, retry_backoff_max_ms=10, delivery_timeout_ms=30,
        buffer_memory=1000, adaptive=True, availability_timeout_ms=0,
    )  # fmt: skip
    append, take = AppendStep(0, None, "00" * 30, 0), DrainStep((0,), 1000)
    alphabet: tuple[Any, ...] = (
        CompleteStep(-1), SplitStep(-1), take, append, FlushStep(), FlushedStep(), AbortStep(), _READY,
    )  # fmt: skip
    for steps in every_script(alphabet, 4):
        cluster = _cluster((0, 0), nodes=_NODES[:1])
        yield RecordAccumulatorQuestion(config, cluster, (), (append, append, append, take, *steps, _LOOK))


def every_rare_answer() -> Iterator[RecordAccumulatorQuestion]:
    """One history for each answer that the other spaces do not give, so that none depends on what chance finds."""
    config = AskedConfig(
        batch_size=100, linger_ms=5, retry_backoff_ms=10, retry_backoff_max_ms=10, delivery_timeout_ms=30,
        buffer_memory=250, adaptive=True, availability_timeout_ms=0,
    )  # fmt: skip
    small, large, chosen = (
        AppendStep(0, None, "00" * 10, 0),
        AppendStep(0, None, "00" * 300, 0),
        AppendStep(None, None, "00", 0, "t", 0),
    )
    other, load, take = AppendStep(1, None, "00" * 10, 0), LoadStep(), DrainStep((0,), 100)
    for cluster, steps in (
        (_cluster(), (chosen,)),
        (_cluster((0, 0)), (large,)),
        (_cluster((0, None)), (small, _READY)),
        (_cluster((0, 0)), (small, AbortUndrainedStep())),
        (_cluster((0, 0), (1, 1)), (load, small, small, small, other, _READY, load)),
        (_cluster((0, 0)), (small, take, CompleteStep(-1)) * 20),
    ):
        yield RecordAccumulatorQuestion(config, cluster, (0,) * len(steps), (*steps, _LOOK))
    # A batch with a negative sequence cannot be built, so nothing is learned of its compression.
    unbuilt = structs.replace(
        config, compression="gzip", achieved_per_mille=(300,), producer=AskedProducer(7, 0, {"t-0": 2**31 - 1})
    )
    yield RecordAccumulatorQuestion(
        unbuilt, _cluster((0, 0), (1, 0)), (0,) * 5, (small, take, small, take, other, _LOOK)
    )
