"""A topic's time in a few equal slots, and who placed what in each. What blocks say of their time, they say in pieces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kafka_conformance.spark.audit.result import KEYLESS, TimeSlot
from kafka_conformance.spark.audit.scan import PIECES, Scanned

__all__ = ["SLOTS", "slots"]

SLOTS = 60


def slots(blocks: Sequence[Scanned], first_ms: int | None, last_ms: int | None) -> tuple[TimeSlot, ...]:
    """The slots, empty ones among them; none where nothing has a time. A piece counts where its middle lies."""
    if first_ms is None or last_ms is None:
        return ()
    length = max(1, -(-(last_ms - first_ms + 1) // SLOTS))
    count = (last_ms - first_ms) // length + 1
    whose: list[Counter[str]] = [Counter() for _ in range(count)]
    for block in blocks:
        begin, end = block.summary.first_ms, block.summary.last_ms
        if begin is None or end is None:
            continue
        wide = max(1, -(-(end - begin + 1) // PIECES))
        for name, pieces in block.pieces.items():
            for number, records in enumerate(pieces):
                if records:
                    middle = min(begin + number * wide + wide // 2, end)
                    whose[(middle - first_ms) // length][name] += records
    return tuple(
        TimeSlot(
            first_ms + number * length,
            length,
            counts.total(),
            {name: records for name, records in sorted(counts.items()) if name != KEYLESS},
            counts[KEYLESS],
        )
        for number, counts in enumerate(whose)
    )
