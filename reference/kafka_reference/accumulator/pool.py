"""BufferPool: the memory that batches are made of, ``buffer.memory`` in all.

Memory is *unallocated*, in the *free list* as buffers of exactly ``batch.size`` bytes, or lent. A buffer of ``batch.size``
that is given back goes to the free list; any other becomes unallocated memory again.

A request for ``size`` bytes

- throws IllegalArgumentException if the pool is smaller than that;
- throws KafkaException if the pool is closed (since 2.4.0);
- takes a buffer of the free list, if ``size`` is ``batch.size`` and there is one;
- else takes unallocated memory, and adds free buffers to it, one by one, until it is enough;
- else waits behind the threads that wait already. Here the time to block is 0, so that throws at once and takes nothing:
  BufferExhaustedException since 2.6.0, TimeoutException up to 2.5.x.

Waiting threads do not block others: the pool looks at its memory, not at its queue.

Java source mirrored: ``BufferPool.allocate``, ``deallocate``, ``close``, every release; ``allocateChunks``, 4.4.0.
"""

from __future__ import annotations

from kafka_reference.accumulator.behaviour import BufferPoolBehaviour
from kafka_reference.errors import BufferExhaustedException, IllegalArgumentException, KafkaException, TimeoutException
from kafka_reference.releases import Release

__all__ = ["BufferPool"]


class BufferPool:
    """A pool of ``total`` bytes that keeps returned buffers of ``poolable`` bytes; ``waiting`` threads wait for memory."""

    def __init__(self, version: str | Release, total: int, poolable: int) -> None:
        self._behaviour = BufferPoolBehaviour.of(version)
        self._total, self._poolable = total, poolable
        self._unallocated, self._free, self._closed = total, 0, False
        self.waiting = 0

    @property
    def available(self) -> int:
        """Bytes that are not lent. Mirrors ``availableMemory``."""
        return self._unallocated + self._free * self._poolable

    def allocate(self, size: int) -> None:
        """Lend ``size`` bytes. Mirrors ``allocate`` with a time to block of 0.

        Raises IllegalArgumentException, KafkaException, and without enough memory BufferExhaustedException or
        TimeoutException.
        """
        self._check(size)
        if size == self._poolable and self._free:
            self._free -= 1
        elif self.available < size:
            exhausted = self._behaviour.exhausted_raises_buffer_exhausted
            raise BufferExhaustedException if exhausted else TimeoutException
        else:
            while self._free and self._unallocated < size:
                self._free -= 1
                self._unallocated += self._poolable
            self._unallocated -= size

    def allocate_chunks(self, size: int) -> int:
        """Lend chunks of ``poolable`` bytes for at least ``size`` bytes, free ones first, and return their bytes.

        Raises as :meth:`allocate`. Mirrors ``allocateChunks``.
        """
        chunks = -(-size // self._poolable)
        wanted = chunks * self._poolable
        self._check(wanted)
        if self.available < wanted:
            raise BufferExhaustedException
        reused = min(chunks, self._free)
        self._free -= reused
        self._unallocated -= wanted - reused * self._poolable
        return wanted

    def _check(self, size: int) -> None:
        if size > self._total:
            raise IllegalArgumentException(f"more than buffer.memory: {size}")
        if self._closed:  # unreached: an accumulator that is closed refuses the record first
            raise KafkaException("the pool is closed")

    def deallocate(self, size: int) -> None:
        """Take ``size`` bytes back. Mirrors ``deallocate``."""
        if size == self._poolable:
            self._free += 1
        else:
            self._unallocated += size

    def close(self) -> None:
        """Refuse every further request, in releases whose pool can be closed. Mirrors ``close``."""
        self._closed = self._behaviour.refuses_when_closed
