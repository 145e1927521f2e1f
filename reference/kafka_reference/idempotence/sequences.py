"""Sequence numbers: they count a producer's records to a partition from 0 to 2^31-1, and go on with 0.

The step forward is taken where a batch's last sequence is told from its first, the step back where the first is told
from the last. Kafka does both with ints that wrap, and never looks at what it is given. Within the numbers there are,
0 to 2^31-1, this is plain arithmetic modulo 2^31. Outside of them it is what the ints make of it::

    increment(s, n)   s > (2^31-1) - n  ?  n - ((2^31-1) - s) - 1  :  s + n      each difference wrapped to an int
    decrement(s, n)   s < n             ?  (2^31-1) - (n - s) + 1  :  s - n      each difference wrapped to an int

So a negative step is no step the other way: ``increment(0, -1)`` is 2^31-2, since ``(2^31-1) + 1`` has become the least
int there is, and 0 is above that.

Wrapping itself is as old as sequence numbers, 0.11.0, and never changed. The step back is there from 2.1.1 on. What
counts a producer's next sequence had a plain ``+`` of its own to 2.1.0, and went below 0 (KAFKA-7692).

Java source mirrored: ``DefaultRecordBatch.incrementSequence`` (0.11.0.0 to 4.4.0) and ``decrementSequence`` (2.1.1 to
4.4.0).
"""

from __future__ import annotations

__all__ = ["LAST_SEQUENCE", "decrement_sequence", "increment_sequence"]

LAST_SEQUENCE = 2**31 - 1


def increment_sequence(sequence: int, by: int) -> int:
    """The sequence number ``by`` records after ``sequence``; both int32, as is the answer."""
    if sequence > _int32(LAST_SEQUENCE - by):
        return _int32(by - (LAST_SEQUENCE - sequence) - 1)
    return _int32(sequence + by)


def decrement_sequence(sequence: int, by: int) -> int:
    """The sequence number ``by`` records before ``sequence``; both int32, as is the answer."""
    if sequence < by:
        return _int32(LAST_SEQUENCE - (by - sequence) + 1)
    return _int32(sequence - by)


def _int32(number: int) -> int:
    return (number + 2**31 & 2**32 - 1) - 2**31
