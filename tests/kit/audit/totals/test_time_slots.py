from __future__ import annotations

import pytest

from kafka_conformance.audit.attribution.block import BlockSummary
from kafka_conformance.audit.scan import PIECES, Scanned
from kafka_conformance.audit.totals.time_slots import SLOTS, slots


def block(first_ms: int | None, last_ms: int | None, pieces: dict[str, list[int]]) -> Scanned:
    records = sum(map(sum, pieces.values()))
    return Scanned(
        BlockSummary(
            0, 0, max(0, records - 1), first_ms, last_ms, records, records, 0, 0, 0, 0, (), {}, {}, {}, {}, {}, ()
        ),
        pieces,
    )


def test_time_slots_count_every_record_once() -> None:
    blocks = [
        block(0, 6_000, {"a@3": [6] * PIECES}),
        block(30_000, 59_999, {"a@3": [12] * PIECES, "no key": [18] * PIECES}),
    ]
    made = slots(blocks, 0, 59_999)
    assert len(made) == SLOTS
    assert sum(slot.records for slot in made) == 36 * PIECES
    assert sum(slot.attributed.get("a@3", 0) for slot in made) == 18 * PIECES
    assert sum(slot.keyless for slot in made) == 18 * PIECES
    assert [slot.begin_ms for slot in made[:3]] == [0, 1_000, 2_000]
    assert all(slot.records == 0 or slot.begin_ms < 60_000 for slot in made)


@pytest.mark.parametrize("partitions", [1, 12])
@pytest.mark.parametrize("each", [1, 100])
def test_evenly_written_topic_has_no_empty_time_slot(partitions: int, each: int) -> None:
    """Each partition is one block, whose 32 pieces are longer than a sixtieth of the time."""
    made = slots([block(0, 59_999, {"a@3": [each] * PIECES})] * partitions, 0, 59_999)
    assert len(made) <= SLOTS
    assert all(slot.records for slot in made)
    assert sum(slot.records for slot in made) == each * PIECES * partitions


def test_topic_of_few_records_with_a_gap_in_time_has_a_single_time_slot() -> None:
    assert len(slots([block(0, 59_999, {"a@3": [1] * 8 + [0] * 16 + [1] * 8})], 0, 59_999)) == 1


def test_single_timestamp_makes_one_time_slot_and_missing_timestamps_make_none() -> None:
    (only,) = slots([block(7, 7, {"a@3": [5] + [0] * (PIECES - 1)})], 7, 7)
    assert (only.begin_ms, only.records) == (7, 5)
    assert slots([block(None, None, {})], None, None) == ()
