"""Mistakes in what an accumulator expects of a codec, and in the memory it takes chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from unittest.mock import patch

from kafka_conformance.core.mutant import Ask, Mutant, replaced, replaced_in
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.record_accumulator.adapter import ask_of
from kafka_conformance.rules.record_accumulator.question import AppendStep, RecordAccumulatorQuestion
from kafka_conformance.rules.record_accumulator.rule import RULE
from kafka_reference.accumulator.accumulator import RecordAccumulator
from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.behaviour import CompressionRatioEstimatorBehaviour
from kafka_reference.accumulator.chunks import CHUNK, Chunks
from kafka_reference.accumulator.compression import ExpectedRatios
from kafka_reference.accumulator.pool import BufferPool
from kafka_reference.accumulator.sizes import BatchSize, SizedRecord
from kafka_reference.accumulator.state import AccumulatorConfig
from kafka_reference.behaviour import overridden
from kafka_reference.errors import BufferExhaustedException
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["MUTANTS"]


class _NeverObserves(ExpectedRatios):
    """The ratio does not move."""

    def observe(self, _: Batch, __: bool) -> float | None:
        return None


class _SplitsUnobserved(ExpectedRatios):
    """A split is not observed."""

    def observe_split(self, _: Batch) -> None:
        return


class _SplitsToOne(ExpectedRatios):
    """After a split the ratio is 1, whatever the batch achieved."""

    def observe_split(self, batch: Batch) -> None:
        if self._compresses:
            self._set(batch.topic_partition[0], 1.0)


class _OneRatio(ExpectedRatios):
    """One ratio for all topics."""

    def _name(self, _: str) -> str:
        return ""


class _KeepsChunks(Chunks):
    """A batch keeps chunks it never wrote to until it is completed."""

    def trim(self, _: Batch) -> None:
        return


class _GrowsByTheByte(Chunks):
    """A batch grows when a record's bytes do not fit, not when its upper bound does not."""

    def lacking(self, batch: Batch, record: SizedRecord) -> int:
        if not super().lacking(batch, record):
            return 0
        grown = BatchSize(self._sizes, self._batch_size, 0)
        for each in (*batch.records, record):
            grown.append(each)
        return max(0, grown.estimated - batch.buffer)


class _RefusesAtOnce(Chunks):
    """Without a chunk for it the record is refused, and the batch stays open."""

    def extend(self, batch: Batch, lacking: int) -> bool:
        if not super().extend(batch, lacking):
            raise BufferExhaustedException
        return True


class _ChunksInAdvance(Chunks):
    """A batch takes all the chunks it may ever need when it is made."""

    def take(self, first: SizedRecord) -> int:
        return max(super().take(first), 0) + self.pool.allocate_chunks(max(1, self._batch_size - CHUNK))


class _NoFallback(Chunks):
    """Batches smaller than a chunk take one all the same."""

    def __init__(self, release: Release, memory: int, batch_size: int) -> None:
        super().__init__(release, memory, batch_size)
        self.pool = BufferPool(release, memory, CHUNK)


class _LastChunkKept(Chunks):
    """The last chunk of the memory is never lent."""

    class _Pool(BufferPool):
        def allocate_chunks(self, size: int) -> int:
            if self.available == -(-size // CHUNK) * CHUNK:
                raise BufferExhaustedException
            return super().allocate_chunks(size)

    def __init__(self, release: Release, memory: int, batch_size: int) -> None:
        super().__init__(release, memory, batch_size)
        self.pool = self._Pool(release, memory, CHUNK)


def _with(part: str, made: Callable[..., Any]) -> Ask:
    """The reference with its ratios or its memory made by ``made``, if they are of the kind that this changes."""

    class Other(RecordAccumulator):
        def __init__(self, version: str | Release, config: AccumulatorConfig, *others: Any) -> None:
            super().__init__(version, config, *others)
            state = self.state
            if part == "ratios":
                state.expected_ratios = made(state.release, config.compression, config.ratio, config.achieved_per_mille)
            elif isinstance(state.memory, Chunks) or (made is _NoFallback and config.allocation != "full"):
                state.memory = made(state.release, config.buffer_memory, config.batch_size)
                state.pool = state.memory.pool

    return partial(ask_of, Other)


def _by_estimate(question: RecordAccumulatorQuestion, release: Release) -> Answer:
    """A batch that is built is as large as was expected."""
    with patch.object(Batch, "built", property(lambda batch: batch.size.estimated)):
        return RULE.ask(question, release)


def _without_retries(question: RecordAccumulatorQuestion, release: Release) -> Answer:
    """A batch that is sent again is not observed again, as up to 0.10.2.x."""
    with overridden(CompressionRatioEstimatorBehaviour, observes_retries=False):
        return RULE.ask(question, release)


def _without_headers(question: RecordAccumulatorQuestion, release: Release) -> Answer:
    steps = (replaced(step, headers=()) if isinstance(step, AppendStep) else step for step in question.steps)
    return RULE.ask(replaced(question, steps=tuple(steps)), release)


def _uncompressed(question: RecordAccumulatorQuestion, release: Release) -> Answer:
    return RULE.ask(replaced_in(question, "config", compression="none"), release)


def _falls_back(question: RecordAccumulatorQuestion, release: Release) -> Answer:
    config = question.config
    way = "full" if config.compression != "none" else config.allocation
    return RULE.ask(replaced_in(question, "config", allocation=way), release)


def _in_full(question: RecordAccumulatorQuestion, release: Release) -> Answer:
    return RULE.ask(replaced_in(question, "config", allocation="full"), release)


def _mutant(slug: str, description: str, ask: Ask, release: str | Release = NEWEST, *references: str) -> Mutant:
    return Mutant(slug, RULE.slug, description, ask, parse_release(release), references)


MUTANTS = (
    _mutant(
        "headers-forgotten", "the headers of a record have no bytes", _without_headers, NEWEST,
        "https://github.com/segmentio/kafka-go/issues/1050",
    ),
    _mutant(
        "codec-not-reckoned-with", "a batch is as full as it would be uncompressed", _uncompressed, NEWEST,
        "https://github.com/IBM/sarama/issues/1045",
    ),
    _mutant("ratio-never-learned", "the expected ratio stays as it was", _with("ratios", _NeverObserves)),
    _mutant("retries-not-observed", "a batch sent again is not observed again", _without_retries),
    _mutant("split-in-vain", "a split leaves the ratio as it was", _with("ratios", _SplitsUnobserved)),
    _mutant("split-resets-to-one", "a split sets the ratio to 1", _with("ratios", _SplitsToOne)),
    _mutant(
        "one-ratio-for-all", "topics share a ratio", _with("ratios", _OneRatio), NEWEST,
        "https://github.com/thomhurst/Dekaf/issues/2255",
    ),
    _mutant("built-by-estimate", "a built batch is as large as its estimate", _by_estimate),
    _mutant("incremental-in-full", "batches take whole buffers in incremental allocation", _in_full),
    _mutant("unused-chunks-kept", "a closed batch keeps chunks it never wrote to", _with("memory", _KeepsChunks)),
    _mutant("grows-by-the-byte", "a batch grows by a record's bytes, not its upper bound", _with("memory", _GrowsByTheByte)),
    _mutant("no-chunk-no-closing", "a batch that cannot grow stays open", _with("memory", _RefusesAtOnce)),
    _mutant("chunks-in-advance", "a new batch takes chunks for its later records", _with("memory", _ChunksInAdvance)),
    _mutant("chunks-for-the-small", "batches smaller than a chunk take chunks", _with("memory", _NoFallback)),
    _mutant("last-chunk-kept", "the last chunk of a memory without a rest is not lent", _with("memory", _LastChunkKept)),
    _mutant("falls-back-to-compress", "with compression, chunks are ignored, not refused", _falls_back),
)  # fmt: skip
