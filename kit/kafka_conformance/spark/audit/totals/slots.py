"""Divide a topic's time into equal slots, and count the records of each by attribution, from the pieces of blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kafka_conformance.spark.audit.result import KEYLESS, TimeSlot
from kafka_conformance.spark.audit.scan import PIECES, Scanned

__all__ = ["SLOTS", "slots"]

SLOTS = 60


def slots(blocks: Sequence[Scanned], first_ms: int | None, last_ms: int | None) -> tuple[TimeSlot, ...]:
    """Return the slots, including empty ones; none without timestamps. A piece counts in the slot of its middle."""
    if first_ms is None or last_ms is None:
        return ()
    length = max(1, -(-(last_ms - first_ms + 1) // SLOTS))
    count = (last_ms - first_ms) // length + 1
    by_slot: list[Counter[str]] = [Counter() for _ in range(count)]
    for block in blocks:
        begin, end = block.summary.first_ms, block.summary.last_ms
        if begin is None or end is None:
            continue
        wide = max(1, -(-(end - begin + 1) // PIECES))
        for name, pieces in block.pieces.items():
            for number, records in enumerate(pieces):
                if records:
                    middle = min(begin + number * wide + wide // 2, end)
                    by_slot[(middle - first_ms) // length][name] += records
    return tuple(
        TimeSlot(
            first_ms + number * length,
            length,
            counts.total(),
            {name: records for name, records in sorted(counts.items()) if name != KEYLESS},
            counts[KEYLESS],
        )
        for number, counts in enumerate(by_slot)
    )
