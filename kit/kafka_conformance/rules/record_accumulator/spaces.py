"""Finite spaces of ``record-accumulator``: short histories, compressed batches, and memory allocated in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from msgspec import structs

from kafka_conformance.rules.common.clusters import AskedCluster, AskedNode, AskedPartition
from kafka_conformance.rules.common.scripts import every_script
from kafka_conformance.rules.record_accumulator.clusters import NODES, cluster_of
from kafka_conformance.rules.record_accumulator.question import (
    AbortStep,
    AbortUndrainedStep,
    AdvanceStep,
    AppendStep,
    AskedConfig,
    AskedProducer,
    CloseStep,
    CompleteStep,
    DrainStep,
    ExpireStep,
    FailStep,
    FlushedStep,
    FlushStep,
    LoadStep,
    LookStep,
    MuteStep,
    ReadyStep,
    RecordAccumulatorQuestion,
    ReenqueueStep,
    SplitStep,
)
from kafka_conformance.rules.record_sizes.question import Length

__all__ = [
    "every_chunk_end", "every_chunked_history", "every_compressed_history", "every_end_of_a_batch", "every_producers_choice",
    "every_rare_answer", "every_short_history",
]  # fmt: skip

_CHUNK = 16384
_CLUSTER = AskedCluster((AskedNode(0),), (AskedPartition(0, 0), AskedPartition(1, 0)))
_CONFIG = AskedConfig(
    batch_size=200, linger_ms=5, retry_backoff_ms=0, retry_backoff_max_ms=0, delivery_timeout_ms=30,
    buffer_memory=2000, adaptive=True, availability_timeout_ms=0,
)  # fmt: skip
_WAITING = structs.replace(_CONFIG, batch_size=100, retry_backoff_ms=10, retry_backoff_max_ms=10, buffer_memory=250)

# The ratio expected at first, what is achieved, and how many steps are asked with it. Draining begins with partition 1.
_CODECS = ((0.5, (700, 2200, 100), 4), (0.004, (1300, 3), 4), (0.004, (3, 1300), 3), (1.002, (1000,), 3))


def every_short_history() -> Iterator[RecordAccumulatorQuestion]:
    """Two partitions of one node: every history of up to 4 of 11 steps, behind an append and before a look."""
    alphabet: tuple[Any, ...] = (
        AppendStep(0, None, "00" * 10, 0),
        AppendStep(None, None, "00" * 40, 0, "t", 1),
        AdvanceStep(5),
        ReadyStep(),
        DrainStep((0,), 100),
        ReenqueueStep(-1),
        CompleteStep(-1),
        MuteStep(0),
        ExpireStep(),
        FlushStep(),
        CloseStep(),
    )
    cluster = cluster_of((0, 0), (1, 0), nodes=NODES[:1])
    for steps in every_script(alphabet, 4):
        yield RecordAccumulatorQuestion(_WAITING, cluster, (0,) * 6, (alphabet[0], *steps, LookStep()))


def every_end_of_a_batch() -> Iterator[RecordAccumulatorQuestion]:
    """A batch of three records is drained; then every history of up to 4 of 8 steps, and a look."""
    config = structs.replace(_WAITING, batch_size=200, buffer_memory=1000)
    append, take = AppendStep(0, None, "00" * 30, 0), DrainStep((0,), 1000)
    alphabet: tuple[Any, ...] = (
        CompleteStep(-1), SplitStep(-1), take, append, FlushStep(), FlushedStep(), AbortStep(), ReadyStep(),
    )  # fmt: skip
    cluster = cluster_of((0, 0), nodes=NODES[:1])
    for steps in every_script(alphabet, 4):
        yield RecordAccumulatorQuestion(config, cluster, (), (append, append, append, take, *steps, LookStep()))


def every_rare_answer() -> Iterator[RecordAccumulatorQuestion]:
    """One history for each answer that the other spaces do not give, so that none depends on what chance finds."""
    small, large, chosen = (
        AppendStep(0, None, "00" * 10, 0),
        AppendStep(0, None, "00" * 300, 0),
        AppendStep(None, None, "00", 0, "t", 0),
    )
    other, load, take = AppendStep(1, None, "00" * 10, 0), LoadStep(), DrainStep((0,), 100)
    for cluster, steps in (
        (cluster_of(), (chosen,)),
        (cluster_of((0, 0)), (large,)),
        (cluster_of((0, None)), (small, ReadyStep())),
        (cluster_of((0, 0)), (small, AbortUndrainedStep())),
        (cluster_of((0, 0), (1, 1)), (load, small, small, small, other, ReadyStep(), load)),
        (cluster_of((0, 0)), (small, take, CompleteStep(-1)) * 20),
        (cluster_of((0, 0)), (small, DrainStep((9,), 100), take)),
    ):
        yield RecordAccumulatorQuestion(_WAITING, cluster, (0,) * len(steps), (*steps, LookStep()))
    # A batch with a negative sequence cannot be built, so nothing is learned of its compression.
    unbuilt = structs.replace(
        _WAITING, compression="gzip", achieved_per_mille=(300,), producer=AskedProducer(7, 0, {"t-0": 2**31 - 1})
    )
    yield RecordAccumulatorQuestion(
        unbuilt, cluster_of((0, 0), (1, 0)), (0,) * 5, (small, take, small, take, other, LookStep())
    )
    # A batch that expired while it waited to be sent again is still in flight, and can get no other sequence.
    idempotent = structs.replace(_WAITING, producer=AskedProducer(7, 0))
    expired = (small, take, small, take, ReenqueueStep(-1), AdvanceStep(30), ExpireStep())
    for why in ("refused", "exhausted", "expired"):
        failed = (*expired, FailStep(-1, why), LookStep(), CompleteStep(-1), LookStep())
        yield RecordAccumulatorQuestion(idempotent, cluster_of((0, 0)), (0,) * len(failed), failed)


def _append(partition: int | None, length: int, *headers: tuple[str, str | None], topic: str = "t") -> AppendStep:
    value = "00" * length if length < 200 else Length(length)
    return AppendStep(partition, None, value, 0, topic, 1 if partition is None else None, headers)


def _question(config: AskedConfig, *steps: Any) -> RecordAccumulatorQuestion:
    return RecordAccumulatorQuestion(config, _CLUSTER, (0,) * len(steps), steps, ("t", "u"))


def every_compressed_history() -> Iterator[RecordAccumulatorQuestion]:
    """Three records for two partitions, then every history of up to 4 of 5 steps; of up to 3 with two others."""
    alphabet: tuple[Any, ...] = (
        _append(0, 60, ("name", "00"), ("", None)), _append(None, 90), DrainStep((0,), 300), ReenqueueStep(1),
        SplitStep(-1),
    )  # fmt: skip
    before = (_append(0, 60), _append(0, 60), _append(1, 50))
    after = (ReadyStep(), _append(1, 70), _append(0, 70, topic="u"), LookStep(), DrainStep((0,), 1000), LookStep())
    for ratio, achieved, most in _CODECS:
        config = structs.replace(_CONFIG, compression="gzip", ratio=ratio, achieved_per_mille=achieved)
        for steps in every_script(alphabet, most):
            yield _question(config, *before, *steps, *after)


def _chunked(batch_size: int, memory: int) -> AskedConfig:
    return structs.replace(_CONFIG, batch_size=batch_size, buffer_memory=memory, allocation="incremental")


def every_chunked_history() -> Iterator[RecordAccumulatorQuestion]:
    """Batches of up to three chunks, memory for four: every history of up to 4 of 6 steps."""
    alphabet: tuple[Any, ...] = (
        _append(0, 16300), _append(None, 20000), _append(1, 10), DrainStep((0,), 60000), CompleteStep(-1), SplitStep(-1),
    )  # fmt: skip
    for steps in every_script(alphabet, 4):
        yield _question(_chunked(40000, 4 * _CHUNK + 100), _append(0, 10), *steps, LookStep())


def every_chunk_end() -> Iterator[RecordAccumulatorQuestion]:
    """Two records that end around the ends of chunks, by their bytes and by their upper bounds; then all is given back."""
    written, bound = 61 + 11, 61 + 26  # what comes on top of a long value without a key
    firsts = [10, *(chunks * _CHUNK - more + by for chunks in (1, 2) for more in (bound, written) for by in (-1, 0, 1))]
    after = (_append(0, 5), LookStep(), DrainStep((0,), 10**6), LookStep(), CompleteStep(-1), AbortStep(), LookStep())
    for first, chunks, left in product(firsts, (1, 2, 3), (10, 11, 12, 25, 26, 27)):
        second = chunks * _CHUNK - (first + written) - left
        if 0 <= second <= 2 * _CHUNK:
            for batch_size, memory in product((_CHUNK, 50000), (1, 2, 3, 4)):
                config = _chunked(batch_size, memory * _CHUNK + 7)
                yield _question(config, _append(0, first), _append(0, second), *after)


def every_producers_choice() -> Iterator[RecordAccumulatorQuestion]:
    """Batch sizes around a chunk, with and without compression, by both ways to allocate."""
    steps = (_append(0, 10), _append(0, 9000), _append(1, 9000), LookStep())
    for size, codec, way in product((1, _CHUNK - 1, _CHUNK, _CHUNK + 1), ("none", "gzip"), ("full", "incremental")):
        yield _question(structs.replace(_chunked(size, 5 * _CHUNK), compression=codec, allocation=way), *steps)
