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
- Closing for appends gives back the chunks behind the last one written to. An expired batch is closed, too: so it gives
  back some of its memory before it is completed.
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
from kafka_reference.accumulator.sizes import BATCH_OVERHEAD, SizedRecord, buffer_size, upper_bound
from kafka_reference.errors import BufferExhaustedException, ConfigException, NotInThisRelease
from kafka_reference.releases import Release, since

__all__ = ["CHUNK", "Buffers", "Chunks", "memory_for"]

INCREMENTAL = since("4.4.0")
CHUNK = 16384


class Buffers:
    """Memory by whole buffers, each of which is all a batch ever needs. What is lent is in bytes."""

    def __init__(self, at: Release, memory: int, batch_size: int, *, compressed: bool) -> None:
        self._at, self._batch_size, self._compressed = at, batch_size, compressed
        self.pool = BufferPool(at, memory, batch_size)

    def take(self, first: SizedRecord) -> int:
        """Memory for a batch that begins with this record. Raises as ``BufferPool.allocate`` does."""
        size = buffer_size(self._at, self._batch_size, first, compressed=self._compressed)
        self.pool.allocate(size)
        return size

    def give_back(self, size: int) -> None:
        """What was taken, of one batch."""
        self.pool.deallocate(size)

    def lacking(self, _batch: Batch, _record: SizedRecord) -> int:
        """Bytes that the batch must grow by before the record goes there, for which it has room."""
        return 0

    def extend(self, _batch: Batch, lacking: int) -> bool:
        """Make the batch grow by that, if it can be done at once."""
        return lacking == 0

    def trim(self, batch: Batch) -> None:
        """The batch was closed for appends: take back what it never wrote to."""


class Chunks(Buffers):
    """Memory by chunks."""

    def __init__(self, at: Release, memory: int, batch_size: int) -> None:
        super().__init__(at, memory, batch_size, compressed=False)
        self.pool = BufferPool(at, memory, CHUNK)

    def take(self, first: SizedRecord) -> int:
        """As many chunks as this record needs. Raises as ``BufferPool.allocate_chunks`` does."""
        return self.pool.allocate_chunks(BATCH_OVERHEAD + self._bound(first))

    def give_back(self, size: int) -> None:
        """Chunks that were taken, each by itself."""
        for _ in range(size // CHUNK):
            self.pool.deallocate(CHUNK)

    def lacking(self, batch: Batch, record: SizedRecord) -> int:
        """Bytes that the batch must grow by first, 0 if it has no room. Mirrors ``extensionBytesNeeded``."""
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
        """Chunks behind the last one written to go back. Mirrors ``releaseUnusedChunks``."""
        if not batch.is_piece:
            unused = batch.buffer - -(-batch.built // CHUNK) * CHUNK
            self.give_back(unused)
            batch.buffer -= unused

    def _bound(self, record: SizedRecord) -> int:
        """Bytes of the record at most. Mirrors ``DefaultRecord.recordSizeUpperBound``."""
        return upper_bound(self._at, 2, False, record.key, record.value, record.headers) - BATCH_OVERHEAD


def memory_for(at: Release, memory: int, batch_size: int, compression: str, allocation: str) -> Buffers:
    """What the producer decides for. Raises ConfigException; NotInThisRelease if there is nothing to decide."""
    compressed = compression != "none"
    if allocation != "full" and at not in INCREMENTAL:
        raise NotInThisRelease(f"Kafka {at} has no incremental allocation: ask about {INCREMENTAL}")
    if allocation == "full" or batch_size < CHUNK:
        return Buffers(at, memory, batch_size, compressed=compressed)
    if compressed:
        raise ConfigException
    return Chunks(at, memory, batch_size)
