from __future__ import annotations

from kafka_conformance.spark.audit.attribution.block import Summary
from kafka_conformance.spark.audit.scan import PIECES, Scanned
from kafka_conformance.spark.audit.totals.slots import SLOTS, slots


def block(first_ms: int | None, last_ms: int | None, pieces: dict[str, list[int]]) -> Scanned:
    records = sum(map(sum, pieces.values()))
    return Scanned(
        Summary(0, 0, max(0, records - 1), first_ms, last_ms, records, records, 0, 0, 0, 0, (), {}, {}, {}, {}, {}, ()),
        pieces,
    )


def test_every_record_is_in_one_slot() -> None:
    blocks = [
        block(0, 6_000, {"a@3": [1] * PIECES}),
        block(3_000, 59_999, {"a@3": [2] * PIECES, "no key": [3] * PIECES}),
    ]
    made = slots(blocks, 0, 59_999)
    assert len(made) == SLOTS
    assert sum(slot.records for slot in made) == 6 * PIECES
    assert sum(slot.attributed.get("a@3", 0) for slot in made) == 3 * PIECES
    assert sum(slot.keyless for slot in made) == 3 * PIECES
    assert [slot.begin_ms for slot in made[:3]] == [0, 1_000, 2_000]
    assert all(slot.records == 0 or slot.begin_ms < 60_000 for slot in made)


def test_a_moment_is_one_slot_and_no_time_is_none() -> None:
    (only,) = slots([block(7, 7, {"a@3": [5] + [0] * (PIECES - 1)})], 7, 7)
    assert (only.begin_ms, only.records) == (7, 5)
    assert slots([block(None, None, {})], None, None) == ()
