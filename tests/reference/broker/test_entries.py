from __future__ import annotations

import pytest

from kafka_reference.broker.batches import DataBatch
from kafka_reference.broker.behaviour import ProducerStateBehaviour
from kafka_reference.broker.entries import BatchMetadata, ProducerStateEntry

MOST = 2**31 - 1


def entry(version: str, batches: int) -> ProducerStateEntry:
    made = ProducerStateEntry(ProducerStateBehaviour.of(version), 7)
    for number in range(batches):
        made.add_batch(0, BatchMetadata.from_batch(made.behaviour, DataBatch(7, 0, number, 1, number, number)))
    return made


@pytest.mark.parametrize(("version", "kept"), [("0.11.0.3", 1), ("1.1.1", 5), ("4.4.0", 5)])
def test_duplicate_detection_remembers_1_batch_in_0_11_and_5_since_1_0(version: str, kept: int) -> None:
    made = entry(version, 7)
    again = [made.find_duplicate(DataBatch(7, 0, number, 1, 50, 0)) for number in range(7)]
    assert [found is not None for found in again] == [number >= 7 - kept for number in range(7)]


def test_batch_with_other_record_count_or_epoch_is_no_duplicate() -> None:
    made = entry("4.4.0", 3)
    assert made.find_duplicate(DataBatch(7, 0, 1, 2, 9, 0)) is None
    assert made.find_duplicate(DataBatch(7, 1, 1, 1, 9, 0)) is None


def test_new_producer_epoch_clears_batch_metadata() -> None:
    made = entry("4.4.0", 3)
    made.change_epoch(1)
    assert (made.epoch, list(made.batches), made.last_sequence, made.last_offset) == (1, [], -1, -1)


@pytest.mark.parametrize(("version", "first_offset"), [("2.1.0", 10 + 1 + 2**31 - 1), ("2.1.1", 10)])
def test_first_offset_of_batch_with_wrapped_sequences_is_wrong_up_to_2_1_0(version: str, first_offset: int) -> None:
    note = BatchMetadata.from_batch(ProducerStateBehaviour.of(version), DataBatch(7, 0, MOST, 2, 10, 0))
    assert (note.first_sequence, note.last_sequence) == (MOST, 0)
    assert note.first_offset == first_offset
