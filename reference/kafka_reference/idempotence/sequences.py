"""Sequence numbers: int32 values that count the records a producer sent to a partition, and go from 2^31 - 1 on to 0.

Kafka itself goes round only where it says so, in the next sequence of a partition, and there since 2.1.1. Elsewhere it
adds as Java does, so that what is beyond 2^31 - 1 is negative:

========================== ===========================================================================================
a partition's next         after 2^31 - 1 comes -2^31 to 2.1.0, and 0 since 2.1.1 (``incrementSequence``)
a batch's last             base + records - 1 is negative for a batch that goes round, in every release
pieces of a split batch    count on from the base without going round, in every release
========================== ===========================================================================================

A batch whose first sequence is negative cannot be built.

Java source mirrored: ``DefaultRecordBatch.incrementSequence`` and ``decrementSequence``, 1.0.0 to 4.4.0.
"""

from __future__ import annotations

from kafka_reference.releases import Release, since

__all__ = ["GOES_ROUND", "added", "decrement", "increment", "next_after"]

GOES_ROUND = since("2.1.1")
_MOST = 2**31 - 1


def added(sequence: int, by: int) -> int:
    """``sequence + by`` as Java adds two int32."""
    return ((sequence + by + 2**31) & 0xFFFFFFFF) - 2**31


def increment(sequence: int, by: int) -> int:
    """The sequence ``by`` records further on; all int32. Mirrors ``DefaultRecordBatch.incrementSequence``."""
    if sequence > added(_MOST, -by):
        return added(added(by, -added(_MOST, -sequence)), -1)
    return added(sequence, by)


def decrement(sequence: int, by: int) -> int:
    """The sequence ``by`` records before; all int32. Mirrors ``DefaultRecordBatch.decrementSequence``, 2.1.1 on."""
    if sequence < by:
        return added(added(_MOST, -added(by, -sequence)), 1)
    return added(sequence, -by)


def next_after(at: Release, sequence: int, records: int) -> int:
    """A partition's next sequence once a batch of so many records took this one. Mirrors ``incrementSequenceNumber``."""
    return increment(sequence, records) if at in GOES_ROUND else added(sequence, records)
