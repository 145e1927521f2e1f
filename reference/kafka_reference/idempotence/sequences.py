"""Arithmetic of sequence numbers, which count a producer's records to a partition from 0 to 2^31-1, then from 0 again.

Two steps wrap: :func:`increment` and :func:`decrement`. Among sequence numbers, 0 to 2^31-1, both are arithmetic modulo
2^31. Kafka computes them with ints that wrap and does not check the arguments, which decides the result for others::

    increment(s, n)   s > (2^31-1) - n  ?  n - ((2^31-1) - s) - 1  :  s + n      each difference wrapped to an int
    decrement(s, n)   s < n             ?  (2^31-1) - (n - s) + 1  :  s - n      each difference wrapped to an int

A negative step is not a step in the other direction: ``increment(5, -1)`` is -2147483644, because ``(2^31-1) + 1`` wraps to
the least int, and 5 is above that. ``increment`` has not changed since 0.11.0.0; ``decrement`` exists since 2.1.1
(KAFKA-7692).

Other code adds without these steps, as Java adds ints (:func:`added`), so that a sum beyond 2^31-1 is negative: the next
sequence of a partition up to 2.1.0 (KAFKA-7693), the last sequence of a batch, and the first sequences of the pieces of a
split batch. A batch whose first sequence is negative cannot be built.

Java source mirrored: ``DefaultRecordBatch.incrementSequence`` (since 0.11.0.0) and ``decrementSequence`` (since 2.1.1).
"""

from __future__ import annotations

from kafka_reference.java.int32 import INT_MAX, int32

__all__ = ["LAST_SEQUENCE", "added", "decrement", "increment"]

LAST_SEQUENCE = INT_MAX


def added(sequence: int, by: int) -> int:
    """Return ``sequence + by`` as Java adds two ints."""
    return int32(sequence + by)


def increment(sequence: int, by: int) -> int:
    """Return the sequence ``by`` records after ``sequence``. Mirrors ``DefaultRecordBatch.incrementSequence``."""
    if sequence > int32(LAST_SEQUENCE - by):
        return int32(by - (LAST_SEQUENCE - sequence) - 1)
    return int32(sequence + by)


def decrement(sequence: int, by: int) -> int:
    """Return the sequence ``by`` records before ``sequence``. Mirrors ``DefaultRecordBatch.decrementSequence``."""
    if sequence < by:
        return int32(LAST_SEQUENCE - (by - sequence) + 1)
    return int32(sequence - by)
