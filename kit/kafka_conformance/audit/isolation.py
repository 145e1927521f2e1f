"""Which records of a topic are read, and how many of its offsets gave none.

A consumer with ``read_committed``, which is the default here, reads the records of committed transactions and those without
one, up to the last stable offset: the first record of the earliest transaction that is still open. With ``read_uncommitted``
it reads every record. An offset may hold none: that of a marker, which ends a transaction, or of a record that was compacted
away. A reader cannot tell these from aborted records, so they are counted together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from kafka_conformance.audit.topics import Span, offset_count

__all__ = ["LEVELS", "OPTION", "READ_COMMITTED", "READ_UNCOMMITTED", "Reading", "notes_of", "reading_of"]

READ_COMMITTED, READ_UNCOMMITTED = "read_committed", "read_uncommitted"
LEVELS = (READ_COMMITTED, READ_UNCOMMITTED)
OPTION = "kafka.isolation.level"
"""The connector's option for it."""


class Reading(msgspec.Struct, frozen=True):
    """What was read of a source.

    ``isolation`` is empty for files. Of the ``offsets`` in the range that was read, ``without_record`` gave no record;
    ``open`` more offsets follow the range, which open transactions hold back. ``over_partitions``: the offsets, of files,
    are numbered over all partitions together.
    """

    isolation: str
    offsets: int
    without_record: int
    open: int
    over_partitions: bool = False


def reading_of(isolation: str, spans: Mapping[int, Span], records: int) -> Reading:
    """Return the result of reading ``spans``, which gave ``records`` records."""
    offsets = offset_count(spans)
    held = [span for span in spans.values() if span.end > span.first]
    if not isolation and offsets > records and len(held) > 1:
        over_all = max(span.end for span in held) - min(span.first for span in held)
        if (
            over_all == records
        ):  # an export has numbered its rows: each partition has gaps where the others have records
            return Reading(isolation, records, 0, 0, over_partitions=True)
    return Reading(isolation, offsets, offsets - records, sum(span.open for span in spans.values()))


def notes_of(reading: Reading, topic: str = "") -> Iterator[str]:
    """Yield a line for each kind of record that was left out, or read without being committed; ``topic`` is named first."""
    named = f"{topic}: " if topic else ""
    count = f"{named}{reading.without_record:,}"
    if reading.isolation == READ_UNCOMMITTED:
        yield f"{named}records of aborted and open transactions are read as well (--isolation read_uncommitted)"
    if reading.without_record and reading.isolation == READ_COMMITTED:
        yield (
            f"{count} of {reading.offsets:,} offsets gave no record: of aborted transactions, markers of transactions, or"
            " compacted away (--isolation read_committed)"
        )
    elif reading.without_record:
        yield f"{count} offsets hold no record: compacted away, or transaction markers"
    if reading.over_partitions:
        yield f"{named}offsets are numbered over all partitions together, as by an export, so none is missing"
    if reading.open:
        yield f"{named}{reading.open:,} offsets after the last stable offset are not read: a transaction is open there"
