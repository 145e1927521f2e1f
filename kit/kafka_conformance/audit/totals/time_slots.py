"""Divide a topic's time into equal slots, and count the records of each by attribution, from the pieces of blocks.

A piece counts in the slot of its middle. So a slot is at least as long as the longest piece: shorter slots would be empty
between the middles of pieces. And a slot has ten records on average, so that a small topic has few slots instead of gaps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kafka_conformance.audit.result import KEYLESS, UNEXPLAINED, TimeSlot
from kafka_conformance.audit.scan import PIECES, Scanned
from kafka_conformance.audit.totals.unexplained_records import Leftover

__all__ = ["SLOTS", "slots"]

SLOTS, RECORDS = 60, 10


def slots(
    blocks: Sequence[Scanned], first_ms: int | None, last_ms: int | None, late: Sequence[Leftover] = ()
) -> tuple[TimeSlot, ...]:
    """Return at most SLOTS slots, including empty ones; none without timestamps.

    The records of ``late`` are moved from the unexplained ones of all slots in proportion.
    """
    if first_ms is None or last_ms is None:
        return ()
    spans = [(block.summary.first_ms, block.summary.last_ms, block) for block in blocks]
    timed = [(begin, end, block) for begin, end, block in spans if begin is not None and end is not None]
    records = sum(block.summary.records for *_, block in timed)
    wanted = -(-(last_ms - first_ms + 1) // min(SLOTS, max(1, records // RECORDS)))
    length = max(1, wanted, *(_width(begin, end) for begin, end, _ in timed))
    count = (last_ms - first_ms) // length + 1
    by_slot: list[Counter[str]] = [Counter() for _ in range(count)]
    for begin, end, block in timed:
        wide = _width(begin, end)
        for name, pieces in block.pieces.items():
            for number, records in enumerate(pieces):
                if records:
                    middle = min(begin + number * wide + wide // 2, end)
                    by_slot[(middle - first_ms) // length][name] += records
    _move(by_slot, late)
    return tuple(
        TimeSlot(
            first_ms + number * length,
            length,
            counts.total(),
            {name: records for name, records in sorted(counts.items()) if records and name != KEYLESS},
            counts[KEYLESS],
        )
        for number, counts in enumerate(by_slot)
    )


def _width(begin_ms: int, end_ms: int) -> int:
    """Return the length of a block's pieces in ms."""
    return max(1, -(-(end_ms - begin_ms + 1) // PIECES))


def _move(by_slot: Sequence[Counter[str]], late: Sequence[Leftover]) -> None:
    """Move late records from UNEXPLAINED to their names, so that the sums over all slots are exact."""
    moved: Counter[str] = Counter()
    for one in late:
        moved[one.name] += one.records
    left = [counts[UNEXPLAINED] for counts in by_slot]
    total, before, done = sum(left), 0, Counter[str]()
    for counts, unexplained in zip(by_slot, left, strict=True):
        before += unexplained
        for name, records in moved.items():
            taken = min(records * before // max(total, 1) - done[name], counts[UNEXPLAINED])
            counts[UNEXPLAINED] -= taken
            counts[name] += taken
            done[name] += taken
