"""Where a batch's memory comes from: one buffer for all of it, or, since 4.4.0, chunk after chunk as it grows.

**Full** allocation, in all releases: when a batch is made, its whole buffer is taken (see ``sizes``). It is given back when
the batch is completed.

**Incremental** allocation (4.4.0, ``buffer.memory.allocation.strategy``, an internal configuration) takes chunks of 16 KiB.
How full a batch may become stays the same; only its memory follows its content:

- A new batch takes as many chunks as the upper bound of its first record needs.
- Before a record with room in the last batch is added, the batch must have chunks for what it holds and that record's upper
  bound. Lacking chunks are taken without waiting, then the append begins again. So the last few bytes may cost a chunk
  that stays empty.
- If the pool has none left, the batch is closed for appends and the append begins again: the record needs a new batch, or
  another partition, if the partitioner may leave this one now that it is full. What the closed batch gave back may be
  what the new one needs. If it is not, the record is refused as in full allocation, and the batch stays closed.
- Closing for appends gives back the chunks behind the last one written to. An expired batch is closed, too: so it gives
  back some of its memory before it is completed.
- The pool counts in chunks: memory that does not make a whole chunk is available and cannot be lent.

A record that needs more chunks than the pool ever has is refused at once, IllegalArgumentException, also as an extension:
the batch stays open then. Pieces of a split batch are allocated outside of the pool, as in full allocation.

**KafkaProducer decides**: with a ``batch.size`` below a chunk it falls back to full allocation, with or without
compression. From there on it throws ConfigException if it is to compress, so the accumulator never refuses that itself.

Java source mirrored: ChunkedRecordAccumulator, ChunkedProducerBatch, ChunkedByteBufferOutputStream,
``BufferPool.allocateChunks`` and the constructor of KafkaProducer, 4.4.0.
"""

from __future__ import annotations

from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.behaviour import BufferPoolBehaviour, MemoryRecordsBuilderBehaviour
from kafka_reference.accumulator.pool import BufferPool
from kafka_reference.accumulator.sizes import BATCH_OVERHEAD, SizedRecord, buffer_size, upper_bound
from kafka_reference.errors import BufferExhaustedException, ConfigException, NotInThisRelease
from kafka_reference.releases import Release

__all__ = ["CHUNK", "Buffers", "Chunks", "create_memory"]

CHUNK = 16384


class Buffers:
    """Full allocation: one buffer for each batch. ``memory`` and ``batch_size`` are in bytes."""

    def __init__(self, release: Release, memory: int, batch_size: int, *, compressed: bool) -> None:
        self._sizes = MemoryRecordsBuilderBehaviour.of(release)
        self._batch_size, self._compressed = batch_size, compressed
        self.pool = BufferPool(release, memory, batch_size)

    def take(self, first: SizedRecord) -> int:
        """Take memory for a batch that begins with this record, and return its bytes. Raises as ``BufferPool.allocate``."""
        size = buffer_size(self._sizes, self._batch_size, first, compressed=self._compressed)
        self.pool.allocate(size)
        return size

    def give_back(self, size: int) -> None:
        """Give back the ``size`` bytes of one batch."""
        self.pool.deallocate(size)

    def lacking(self, _batch: Batch, _record: SizedRecord) -> int:
        """Return the bytes that the batch must grow by before it takes the record, for which it has room."""
        return 0

    def extend(self, _batch: Batch, lacking: int) -> bool:  # unreached: a full buffer never lacks memory
        """Make the batch grow by ``lacking`` bytes, and return whether that was possible at once."""
        return lacking == 0

    def trim(self, batch: Batch) -> None:
        """Give back what a batch that is closed for appends never wrote to."""


class Chunks(Buffers):
    """Incremental allocation: chunks as a batch grows."""

    def __init__(self, release: Release, memory: int, batch_size: int) -> None:
        super().__init__(release, memory, batch_size, compressed=False)
        self.pool = BufferPool(release, memory, CHUNK)

    def take(self, first: SizedRecord) -> int:
        """Take as many chunks as this record needs. Raises as ``BufferPool.allocate_chunks``."""
        return self.pool.allocate_chunks(BATCH_OVERHEAD + self._bound(first))

    def give_back(self, size: int) -> None:
        """Give back ``size`` bytes, chunk by chunk."""
        for _ in range(size // CHUNK):
            self.pool.deallocate(CHUNK)

    def lacking(self, batch: Batch, record: SizedRecord) -> int:
        """Return the bytes that the batch must grow by, 0 if it has no room. Mirrors ``extensionBytesNeeded``."""
        if batch.is_piece or not batch.size.has_room_for(record):
            return 0
        return max(0, batch.estimated + self._bound(record) - batch.buffer)

    def extend(self, batch: Batch, lacking: int) -> bool:
        """Take chunks for that. Raises IllegalArgumentException. Mirrors ``allocateExtensionChunks``."""
        try:
            batch.buffer += self.pool.allocate_chunks(lacking)
        except BufferExhaustedException:
            return False
        return True

    def trim(self, batch: Batch) -> None:
        """Give back the chunks behind the last one written to. Mirrors ``releaseUnusedChunks``."""
        if not batch.is_piece:
            unused = batch.buffer - -(-batch.built // CHUNK) * CHUNK
            self.give_back(unused)
            batch.buffer -= unused

    def _bound(self, record: SizedRecord) -> int:
        """Return the upper bound of the record alone. Mirrors ``DefaultRecord.recordSizeUpperBound``."""
        return upper_bound(self._sizes, 2, False, record.key, record.value, record.headers) - BATCH_OVERHEAD


def create_memory(release: Release, memory: int, batch_size: int, compression: str, allocation: str) -> Buffers:
    """Create the memory that KafkaProducer decides for; ``allocation`` is "full" or "incremental".

    Raises ConfigException; NotInThisRelease if the release has no incremental allocation.
    """
    compressed = compression != "none"
    if allocation != "full" and not BufferPoolBehaviour.of(release).lends_chunks:
        raise NotInThisRelease(f"Kafka {release} has no incremental allocation: expected 4.4.0 or later")
    if allocation == "full" or batch_size < CHUNK:
        return Buffers(release, memory, batch_size, compressed=compressed)
    if compressed:
        raise ConfigException
    return Chunks(release, memory, batch_size)
