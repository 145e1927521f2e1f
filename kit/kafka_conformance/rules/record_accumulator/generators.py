"""Generated questions of ``record-accumulator``: a string of bytes spells a configuration, a cluster and a history.

The first bytes choose the producer, the configuration and the cluster, each other byte a step (``alphabet``). A third of the
histories have an idempotent producer, and a different alphabet; some producers have sent enough records for sequences to
wrap around. Letter 0 does nothing, so that a history shrinks step by step while its string keeps its length.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from hypothesis import strategies as st
from msgspec import structs

from kafka_conformance.rules.common.clusters import AskedCluster
from kafka_conformance.rules.record_accumulator.alphabet import (
    APPENDING,
    ENDINGS,
    SENDING,
    After,
    Move,
    Record,
    Take,
)
from kafka_conformance.rules.record_accumulator.clusters import CLUSTERS
from kafka_conformance.rules.record_accumulator.question import (
    AdvanceStep,
    AppendStep,
    AskedConfig,
    AskedProducer,
    DrainStep,
    LatencyStep,
    LookStep,
    MoveStep,
    RecordAccumulatorQuestion,
)
from kafka_conformance.rules.record_sizes.question import Length
from kafka_reference.java.thread_local_random import mix32

__all__ = ["histories", "spelled_history"]

_LETTERS_OF_CONFIGURATION = 12
_TOPICS = ("t", "u", "orders")
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
_MOST = 2**31 - 1
_PRODUCERS = (
    AskedProducer(7, 0),
    AskedProducer(7, 3, {"t-0": _MOST - 2, "t-1": _MOST, "u-0": 5}),
    AskedProducer(2**40, 2**15 - 1),
    AskedProducer(0, 0, {f"{topic}-{number}": _MOST - 4 for topic in ("t", "u") for number in range(6)}),
    AskedProducer(None, 0, {"t-0": 3}),
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
        rack="a" if letters[5] % 7 in (5, 6) else "",
    )
    return _with_memory(config, letters[10], letters[11])


def _with_memory(config: AskedConfig, how: int, which: int) -> AskedConfig:
    """Return four of eight configurations unchanged, three with compression, and one with chunks."""
    if how % 8 < 4:
        return config
    if how % 8 < 7:
        ratio, achieved = _CODECS[which % len(_CODECS)]
        return structs.replace(config, compression="gzip", ratio=ratio, achieved_per_mille=achieved)
    size, memory = _SIZES_IN_CHUNKS[which % 5], _CHUNKS[which // 5 % 5] * _CHUNK + which // 25 % 3 * 100
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
        nodes = tuple(_node(number, clusters[0]) for number in symbol.nodes if number not in _left_out(clusters[0]))
        return DrainStep(nodes, symbol.quarters * config.batch_size // 4)
    if isinstance(symbol, Move):
        return MoveStep(clusters[symbol.cluster], _epochs(clusters, symbol.cluster, epoch))
    if isinstance(symbol, LatencyStep):
        return LatencyStep(_node(symbol.node, clusters[0]), symbol.can_drain)
    return symbol


def _left_out(cluster: AskedCluster) -> range:
    """Return the numbers of nodes, of three, that the cluster does not have."""
    return range(len(cluster.nodes), 3)


def _node(number: int, cluster: AskedCluster) -> int:
    """Return the id of the cluster's node of this number; the number itself if the cluster has fewer nodes."""
    return cluster.nodes[number].id if number < len(cluster.nodes) else number


@lru_cache
def _zeros(length: int) -> str | Length | None:
    return None if length == 0 else "00" * length if length <= 100 else Length(length)


def _epochs(clusters: Sequence[AskedCluster], to: int, epoch: int) -> tuple[int | None, ...]:
    """Return each leader's epoch: ``epoch`` if it moved since the first cluster, else half; None for each fifth."""
    first = {partition.id: partition.leader for partition in clusters[0].partitions}
    moved = [partition.leader != first.get(partition.id) for partition in clusters[to].partitions]
    return tuple(None if epoch % 5 == 4 else epoch if has else epoch // 2 for has in moved)


def spelled_history(letters: bytes, alphabet: Sequence[Any] = APPENDING) -> RecordAccumulatorQuestion:
    """The history that these letters spell; too few are followed by zeros."""
    head = letters[:_LETTERS_OF_CONFIGURATION].ljust(_LETTERS_OF_CONFIGURATION, b"\0")
    config, clusters = _config(head), CLUSTERS[head[7] % len(CLUSTERS)]
    steps: list[Any] = []
    for letter in letters[_LETTERS_OF_CONFIGURATION:]:
        symbol = alphabet[letter % len(alphabet)]
        if symbol is not None:
            steps.append(_made(symbol, config, clusters, len(steps)))
    ending = ENDINGS[head[8] % len(ENDINGS)]
    if ending is not None:
        steps[len(steps) * 3 // 4 : 0] = [ending]
    steps.append(LookStep())
    draws = tuple(mix32(head[9] * 1009 + place) for place in range(len(steps)))
    return RecordAccumulatorQuestion(config, clusters[0], draws, tuple(steps), _TOPICS, _epochs(clusters, 0, 2))


def _with_producer(letters: bytes) -> RecordAccumulatorQuestion:
    """Return the history that these letters spell; the first one chooses the producer, of three two have none."""
    first = letters[0] if letters else 0
    if first % 3 < 2:
        return spelled_history(letters[1:])
    question = spelled_history(letters[1:], SENDING)
    producer = _PRODUCERS[first // 3 % len(_PRODUCERS)]
    return structs.replace(question, config=structs.replace(question.config, producer=producer))


# Most of these make histories of 50 steps and more.
_LETTERS = st.one_of(st.binary(max_size=33), st.binary(min_size=64, max_size=84), st.binary(min_size=72, max_size=104))
_HISTORIES = _LETTERS.map(_with_producer)


def histories() -> st.SearchStrategy[RecordAccumulatorQuestion]:
    """Return the strategy of histories, most of them of 50 steps and more, a third of them with an idempotent producer."""
    return _HISTORIES
