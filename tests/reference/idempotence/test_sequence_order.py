from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_reference.idempotence.behaviour import TransactionManagerBehaviour
from kafka_reference.idempotence.sequence_order import SequenceHeap, SequenceSet, batches_by_sequence

MOST, LEAST = 2**31 - 1, -(2**31)


@dataclass(eq=False)
class Sent:
    """A batch with a base sequence."""

    sequence: int | None
    of: tuple[str, int] = ("t", 0)
    producer: tuple[int, int] | None = (7, 0)
    record_count: int = 1

    def renumber(self, producer: tuple[int, int], sequence: int) -> None:
        self.producer, self.sequence = producer, sequence


def in_flight(version: str) -> SequenceHeap | SequenceSet:
    return batches_by_sequence(TransactionManagerBehaviour.of(version).in_flight_order)


def emptied(held: SequenceHeap | SequenceSet) -> list[int | None]:
    found = []
    while held.first is not None:
        found.append(held.first.sequence)
        held.remove(held.first)
    return found


@pytest.mark.parametrize(
    ("version", "kind"),
    [("1.0.0", SequenceHeap), ("2.2.2", SequenceHeap), ("2.3.0", SequenceSet), ("4.4.0", SequenceSet)],
)
def test_in_flight_batches_are_a_heap_up_to_2_2_then_a_sorted_set(version: str, kind: type) -> None:
    assert isinstance(in_flight(version), kind)


@pytest.mark.parametrize("kind", [SequenceHeap, SequenceSet])
@given(sequences=st.sets(st.integers(0, 1000)).flatmap(lambda found: st.permutations(sorted(found))))
def test_in_flight_batches_are_taken_in_sequence_order_for_any_insertion_order(
    kind: type[SequenceHeap | SequenceSet], sequences: list[int]
) -> None:
    held = kind()
    for sequence in sequences:
        held.add(Sent(sequence))
    assert emptied(held) == sorted(sequences)


@given(sequences=st.sets(st.integers(0, 1000), min_size=1).flatmap(lambda found: st.permutations(sorted(found))))
def test_sequence_heap_removes_batches_by_identity(sequences: list[int]) -> None:
    held, batches = SequenceHeap(), [Sent(sequence) for sequence in sequences]
    for batch in batches:
        held.add(batch)
    held.remove(batches[0])
    held.remove(Sent(sequences[-1]))  # looks like one of them, and is not
    assert emptied(held) == sorted(sequences[1:])


def test_sequence_wraparound_keeps_send_order_in_heap_and_not_in_set() -> None:
    heap, by_sequence = SequenceHeap(), SequenceSet()
    for held in (heap, by_sequence):
        for sequence in (LEAST + 1, MOST - 1):
            held.add(Sent(sequence))
    assert emptied(heap) == [MOST - 1, LEAST + 1]
    assert emptied(by_sequence) == [LEAST + 1, MOST - 1]


def test_sequence_set_treats_batches_of_equal_sequence_as_equal() -> None:
    by_sequence, first = SequenceSet(), Sent(4)
    by_sequence.add(first)
    by_sequence.add(Sent(4))
    assert list(by_sequence) == [first]
    by_sequence.remove(Sent(4))
    assert by_sequence.first is None


def test_reorder_of_sequence_set_moves_renumbered_batch_into_sequence_order() -> None:
    by_sequence, batches = SequenceSet(), [Sent(3), Sent(5)]
    for batch in batches:
        by_sequence.add(batch)
    batches[1].renumber((7, 0), 0)
    by_sequence.reorder()
    assert [batch.sequence for batch in by_sequence] == [0, 3]


@pytest.mark.parametrize(
    ("version", "left"),
    [("2.4.1", 0), ("3.0.1", 0), ("3.0.2", 1), ("3.1.0", 0), ("3.1.1", 1), ("4.4.0", 1)],
)
def test_removing_equal_sequence_of_another_epoch_has_no_effect_since_3_0_2_and_3_1_1(version: str, left: int) -> None:
    held = in_flight(version)
    held.add(Sent(0, producer=(7, 1)))
    held.remove(Sent(0, producer=(7, 0)))
    assert len(list(held)) == left


def test_in_flight_batches_are_ordered_by_producer_epoch_first_since_3_1_1() -> None:
    held = in_flight("3.1.1")
    held.add(Sent(0, producer=(7, 1)))
    held.add(Sent(5, producer=(7, 0)))
    assert emptied(held) == [5, 0]
