"""BufferPool: the memory that batches are made of, ``buffer.memory`` in all.

Memory is either *unallocated*, or in the *free list* as buffers of exactly ``batch.size`` bytes, or lent. A buffer of
``batch.size`` that comes back goes into the free list; any other becomes unallocated memory again.

Asked for ``size`` bytes, the pool

- refuses more than it will ever have: IllegalArgumentException;
- is closed since 2.4.0, and then raises KafkaException;
- gives a buffer of the free list, if ``size`` is ``batch.size`` and there is one;
- else takes unallocated memory, and gives up free buffers, one by one, until that is enough;
- else the caller waits, behind those who wait already. Here nobody can wait, so the time to block is 0, and up: to
  2.5.x TimeoutException, since 2.6.0 BufferExhaustedException. Nothing was taken then.

Who waits does not keep others from taking what there is: the pool looks at its memory only, not at its queue.

Java source mirrored: ``org.apache.kafka.clients.producer.internals.BufferPool``, 0.10.0.1 to 4.4.0.
"""

from __future__ import annotations

from kafka_reference.errors import BufferExhaustedException, IllegalArgumentException, KafkaException, TimeoutException
from kafka_reference.releases import Release, parse_release, since

__all__ = ["BufferPool"]

CLOSES = since("2.4.0")
RAISES_EXHAUSTED = since("2.6.0")


class BufferPool:
    """``total`` bytes, lent in buffers, of which those of ``poolable`` bytes are kept."""

    def __init__(self, version: str | Release, total: int, poolable: int) -> None:
        self._at = parse_release(version)
        self._total, self._poolable = total, poolable
        self._unallocated, self._free, self._closed = total, 0, False
        self.waiting = 0

    @property
    def available(self) -> int:
        """Bytes that are not lent. Mirrors ``availableMemory``."""
        return self._unallocated + self._free * self._poolable

    def allocate(self, size: int) -> None:
        """Lend ``size`` bytes, or raise at once. Mirrors ``allocate`` with nothing left of the time to block."""
        if size > self._total:
            raise IllegalArgumentException(f"more than buffer.memory: {size}")
        if self._closed:
            raise KafkaException("the pool is closed")
        if size == self._poolable and self._free:
            self._free -= 1
        elif self.available < size:
            raise BufferExhaustedException if self._at in RAISES_EXHAUSTED else TimeoutException
        else:
            while self._free and self._unallocated < size:
                self._free -= 1
                self._unallocated += self._poolable
            self._unallocated -= size

    def allocate_chunks(self, size: int) -> int:
        """Lend chunks of ``poolable`` bytes for ``size`` bytes, and return their bytes; raises as ``allocate`` does.

        Free ones come first. Mirrors ``allocateChunks``, 4.4.0.
        """
        chunks = -(-size // self._poolable)
        wanted = chunks * self._poolable
        if wanted > self._total:
            raise IllegalArgumentException(f"more than buffer.memory: {wanted}")
        if self._closed:
            raise KafkaException("the pool is closed")
        if self.available < wanted:
            raise BufferExhaustedException
        reused = min(chunks, self._free)
        self._free -= reused
        self._unallocated -= wanted - reused * self._poolable
        return wanted

    def deallocate(self, size: int) -> None:
        """Take ``size`` bytes back. Mirrors ``deallocate``."""
        if size == self._poolable:
            self._free += 1
        else:
            self._unallocated += size

    def close(self) -> None:
        """Lend nothing any more, if this release can be told."""
        self._closed = self._at in CLOSES
