"""Sequence numbers: they count a producer's records to a partition from 0 to 2^31-1, and go on with 0.

Two steps know that they go round. Kafka does both with ints that wrap, and never looks at what it is given. Within the
numbers there are, 0 to 2^31-1, this is plain arithmetic modulo 2^31. Outside of them it is what the ints make of it::

    increment(s, n)   s > (2^31-1) - n  ?  n - ((2^31-1) - s) - 1  :  s + n      each difference wrapped to an int
    decrement(s, n)   s < n             ?  (2^31-1) - (n - s) + 1  :  s - n      each difference wrapped to an int

So a negative step is no step the other way: ``increment(5, -1)`` is -2147483644, since ``(2^31-1) + 1`` has become the
least int there is, and 5 is above that. The step forward is as old as sequence numbers, 0.11.0, and never changed; the step
back is there from 2.1.1 on.

Who takes these steps, and who adds as Java does, so that what is beyond 2^31-1 is negative (KAFKA-7693):

========================== ===========================================================================================
a partition's next         after 2^31-1 comes -2^31 to 2.1.0, and 0 since 2.1.1
a batch's last             base + records - 1 is negative for a batch that goes round, in every release
pieces of a split batch    count on from the base without going round, in every release
========================== ===========================================================================================

A batch whose first sequence is negative cannot be built.

Java source mirrored: ``DefaultRecordBatch.incrementSequence`` (0.11.0.0 to 4.4.0) and ``decrementSequence`` (2.1.1 to
4.4.0); ``TransactionManager.incrementSequenceNumber`` (0.11.0.0 to 4.4.0).
"""

from __future__ import annotations

__all__ = ["LAST_SEQUENCE", "added", "decrement", "increment"]

LAST_SEQUENCE = 2**31 - 1


def added(sequence: int, by: int) -> int:
    """``sequence + by`` as Java adds two int32."""
    return (sequence + by + 2**31 & 2**32 - 1) - 2**31


def increment(sequence: int, by: int) -> int:
    """The sequence number ``by`` records after ``sequence``; both int32, as is the answer.

    Mirrors ``DefaultRecordBatch.incrementSequence``.
    """
    if sequence > added(LAST_SEQUENCE, -by):
        return added(by, -(LAST_SEQUENCE - sequence) - 1)
    return added(sequence, by)


def decrement(sequence: int, by: int) -> int:
    """The sequence number ``by`` records before ``sequence``; both int32, as is the answer.

    Mirrors ``DefaultRecordBatch.decrementSequence``, 2.1.1 on.
    """
    if sequence < by:
        return added(LAST_SEQUENCE, -(by - sequence) + 1)
    return added(sequence, -by)
