"""Where a batch's memory comes from: one buffer for all of it, or, since 4.4.0, chunk after chunk as it grows.

**Full** is the way of all releases: when a batch is made, its whole buffer is taken (see ``sizes``), and it goes back when
the batch is done with.

**Incremental** (4.4.0, ``buffer.memory.allocation.strategy``, an internal configuration) takes chunks of 16 KiB. How full
a batch may become is as ever; only its memory follows its content:

- A new batch takes as many chunks as the upper bound of its first record needs.
- Before a record that has room in the last batch goes there, the batch must have chunks for what it holds and that
  record's upper bound. What is lacking is taken without waiting, then all begins again. The last few bytes may so cost a
  chunk that stays empty.
- If the pool has none for that, the batch is closed for appends, and all begins again: the record wants a new batch, or
  another partition, if the partitioner may leave this one now that it is full. What the closed batch gave back may be
  what the new one needs. If it is not, the record is refused as ever, and the batch stays closed.
- Closing for appends gives back the chunks behind the last one written to.
- The pool counts in chunks: memory that makes no whole chunk is there, and is of no use.

A record that needs more chunks than the pool ever has is refused at once, IllegalArgumentException, also as an extension:
the batch stays open then. Pieces of a split batch are made of memory that is nobody's, as ever.

**The producer decides**: with a ``batch.size`` below a chunk it falls back to full, whatever the compression. From there
on it refuses to be made if it is to compress: ConfigException. So the accumulator's own refusal is never met.

Java source mirrored: ChunkedRecordAccumulator, ChunkedProducerBatch, ChunkedByteBufferOutputStream,
``BufferPool.allocateChunks`` and the constructor of KafkaProducer, 4.4.0.
"""

from __future__ import annotations

from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.pool import BufferPool
from kafka_reference.accumulator.sizes import BATCH_OVERHEAD, Sized, buffer_size, upper_bound
from kafka_reference.errors import BufferExhaustedException, ConfigException, NotInThisRelease
from kafka_reference.releases import Release, since

__all__ = ["CHUNK", "Buffers", "Chunks", "is_incremental"]

INCREMENTAL = since("4.4.0")
CHUNK = 16384


def is_incremental(at: Release, allocation: str, batch_size: int, compression: str) -> bool:
    """Whether the producer takes chunks. Raises ConfigException; NotInThisRelease if it knows of no such thing."""
    if allocation == "full":
        return False
    if at not in INCREMENTAL:
        raise NotInThisRelease(f"Kafka {at} has no incremental allocation: ask about {INCREMENTAL}")
    if batch_size >= CHUNK and compression != "none":
        raise ConfigException
    return batch_size >= CHUNK


class Buffers:
    """Memory by whole buffers. What is taken is in bytes."""

    def __init__(self, at: Release, memory: int, batch_size: int, compressed: bool, poolable: int) -> None:
        self._at, self._batch_size, self._compressed = at, batch_size, compressed
        self.pool = BufferPool(at, memory, poolable)

    def take(self, first: Sized) -> int:
        """Memory for a batch that begins with this record. Raises as ``BufferPool.allocate`` does."""
        size = buffer_size(self._at, self._batch_size, first, compressed=self._compressed)
        self.pool.allocate(size)
        return size

    def give_back(self, size: int) -> None:
        """What was taken."""
        self.pool.deallocate(size)

    def lacking(self, batch: Batch, record: Sized) -> int:
        """Bytes that the batch must grow by before the record goes there."""
        return 0

    def extend(self, batch: Batch, lacking: int) -> bool:
        """Make the batch grow by that, at once or not at all."""
        return True

    def trim(self, batch: Batch) -> None:
        """The batch was closed for appends."""


class Chunks(Buffers):
    """Memory by chunks."""

    def take(self, first: Sized) -> int:
        return self.pool.allocate_chunks(BATCH_OVERHEAD + self._bound(first))

    def give_back(self, size: int) -> None:
        for _ in range(size // CHUNK):
            self.pool.deallocate(CHUNK)

    def lacking(self, batch: Batch, record: Sized) -> int:
        if batch.is_piece or not batch.size.has_room_for(record):
            return 0
        return max(0, batch.estimated + self._bound(record) - batch.buffer)

    def extend(self, batch: Batch, lacking: int) -> bool:
        try:
            batch.buffer += self.pool.allocate_chunks(lacking)
        except BufferExhaustedException:
            return False
        return True

    def trim(self, batch: Batch) -> None:
        unused = 0 if batch.is_piece else batch.buffer - -(-batch.built // CHUNK) * CHUNK
        self.give_back(unused)
        batch.buffer -= unused

    def _bound(self, record: Sized) -> int:
        """Bytes of the record at most. Mirrors ``DefaultRecord.recordSizeUpperBound``."""
        return upper_bound(self._at, 2, False, record.key, record.value, record.headers) - BATCH_OVERHEAD
