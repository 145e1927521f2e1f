"""Memory by chunks: as a batch grows, and back as it closes; and what the producer decides for."""

from __future__ import annotations

import pytest

from kafka_reference.accumulator.accumulator import RecordAccumulator
from kafka_reference.accumulator.backoff import StepDraws
from kafka_reference.accumulator.chunks import CHUNK, Buffers, Chunks, create_memory
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.accumulator.sizes import SizedRecord
from kafka_reference.accumulator.state import AccumulatorConfig
from kafka_reference.errors import BufferExhaustedException, ConfigException, IllegalArgumentException, NotInThisRelease
from kafka_reference.partitioning.cluster import Cluster, Node, Partition
from kafka_reference.releases import parse_release

AT = parse_release("4.4.0")
METADATA = Metadata("4.4.0", Cluster((Node(0),), (Partition(0, 0), Partition(1, 0))), ("t",), (0, 0))


def made(chunks: int, batch_size: int = 3 * CHUNK) -> RecordAccumulator:
    config = AccumulatorConfig(
        batch_size=batch_size, linger_ms=5, retry_backoff_ms=10, retry_backoff_max_ms=10, delivery_timeout_ms=100,
        buffer_memory=chunks * CHUNK, adaptive=True, availability_timeout_ms=0, allocation="incremental",
    )  # fmt: skip
    return RecordAccumulator(AT, config, StepDraws())


def append(it: RecordAccumulator, length: int, partition: int = 0) -> bool:
    return it.append("t", partition, SizedRecord(0, None, length), METADATA).new_batch


def free(it: RecordAccumulator) -> int:
    return it.state.pool.available // CHUNK


def test_growing_batch_allocates_chunks_and_completion_frees_every_chunk() -> None:
    it = made(4)
    assert append(it, 10)
    assert free(it) == 3
    assert not append(it, CHUNK)
    assert free(it) == 2
    assert not append(it, 10)
    assert free(it) == 2
    (batch,) = it.drain(METADATA, [0], 10**6)
    it.complete(batch)
    assert free(it) == 4


def test_append_without_free_chunk_closes_batch_and_throws_buffer_exhausted() -> None:
    it = made(2)
    append(it, 10)
    append(it, 10, partition=1)
    with pytest.raises(BufferExhaustedException):
        append(it, CHUNK - 100)
    assert [batch.full for batch in it.state.batches] == [True, False]
    with pytest.raises(BufferExhaustedException):
        append(it, 10)


def test_record_larger_than_buffer_memory_throws_and_leaves_batch_open() -> None:
    it = made(2, batch_size=5 * CHUNK)
    append(it, 10)
    with pytest.raises(IllegalArgumentException):
        append(it, 3 * CHUNK)
    assert not append(it, 10)


@pytest.mark.parametrize("end", ["drain", "expire"])
def test_closing_a_batch_returns_chunks_without_written_bytes(end: str) -> None:
    """The bound of a record may want a chunk that its bytes do not reach."""
    it = made(4)
    append(it, CHUNK - 61 - 11)
    assert free(it) == 2
    if end == "drain":
        it.drain(METADATA, [0], 10**6)
    else:
        it.state.now_ms = 100
        it.expire()
    assert free(it) == 3


def test_incremental_allocation_is_full_below_chunk_size_else_throws_if_compressed_or_before_4_4() -> None:
    assert type(create_memory(AT, 4 * CHUNK, CHUNK, "none", "incremental")) is Chunks
    assert type(create_memory(AT, 4 * CHUNK, CHUNK - 1, "none", "incremental")) is Buffers
    assert type(create_memory(AT, 4 * CHUNK, CHUNK - 1, "gzip", "incremental")) is Buffers
    assert type(create_memory(AT, 4 * CHUNK, CHUNK, "gzip", "full")) is Buffers
    with pytest.raises(ConfigException):
        create_memory(AT, 4 * CHUNK, CHUNK, "gzip", "incremental")
    with pytest.raises(NotInThisRelease, match=r"Kafka 4\.3\.1 has no incremental allocation"):
        create_memory(parse_release("4.3.1"), 4 * CHUNK, CHUNK, "none", "incremental")
    assert type(create_memory(parse_release("4.3.1"), 4 * CHUNK, CHUNK, "none", "full")) is Buffers
