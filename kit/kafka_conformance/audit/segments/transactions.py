"""Tell records of aborted and open transactions, as a consumer with ``read_committed`` does.

A broker tells its consumers which transactions were aborted from the transaction index. Without that file, a record belongs
to the transaction that the next marker of its producer ends. In a log that was compacted the markers of committed
transactions may be gone: there the index decides.

A transaction is open if no marker of its producer follows. Offsets from the first open transaction on are behind the last
stable offset. The cleaner never goes there, so a transactional record that it has left without a marker is committed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from kafka_conformance.audit.segments.survey import Aborted, Survey

__all__ = ["aborted_in", "last_stable_offset"]


def aborted_in(surveys: Sequence[Survey]) -> list[Aborted]:
    """Return the aborted transactions of a partition, by the offsets of their markers."""
    compacted = any(each.compacted for each in surveys)
    indexed = any(each.aborted is not None for each in surveys)
    found: dict[tuple[int, int], Aborted] = {}
    before: dict[int, int] = defaultdict(lambda: -1)
    for each in surveys:
        for entry in each.aborted or ():
            found[entry.producer_id, entry.last] = entry
        for marker in each.markers:
            if not marker.commit and each.aborted is None and not (compacted and indexed):
                place = marker.producer_id, marker.offset
                found.setdefault(place, Aborted(marker.producer_id, before[marker.producer_id] + 1, marker.offset))
            before[marker.producer_id] = marker.offset
    return sorted(found.values(), key=lambda one: one.last)


def last_stable_offset(surveys: Sequence[Survey], cleaned: int, end: int) -> int:
    """Return the first offset of a transaction that is open, or ``end``; the cleaner has been below ``cleaned``."""
    opened: dict[int, int] = {}
    for each in surveys:
        ended = {marker.producer_id: marker.offset for marker in each.markers}
        for producer, offset in ended.items():
            if opened.get(producer, end) < offset:
                del opened[producer]
        if each.end_offset <= cleaned or each.compacted:
            opened.clear()
            continue
        for run in each.runs:
            if run.transactional and run.first_offset > ended.get(run.producer_id, -1):
                opened.setdefault(run.producer_id, run.first_offset)
    return min(opened.values(), default=end)
