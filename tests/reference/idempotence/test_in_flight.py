from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_reference.idempotence.in_flight import Heap, Tree, in_flight
from kafka_reference.releases import parse_release

MOST, LEAST = 2**31 - 1, -(2**31)


@dataclass(eq=False)
class Sent:
    """A batch with a base sequence."""

    sequence: int | None
    topic_partition: tuple[str, int] = ("t", 0)
    producer: tuple[int, int] | None = (7, 0)
    record_count: int = 1

    def renumber(self, producer: tuple[int, int], sequence: int) -> None:
        self.producer, self.sequence = producer, sequence


def emptied(held: Heap | Tree) -> list[int | None]:
    found = []
    while held.first is not None:
        found.append(held.first.sequence)
        held.remove(held.first)
    return found


@pytest.mark.parametrize(("version", "kind"), [("1.0.0", Heap), ("2.2.2", Heap), ("2.3.0", Tree), ("4.4.0", Tree)])
def test_a_heap_to_2_2_then_a_tree(version: str, kind: type) -> None:
    assert isinstance(in_flight(parse_release(version)), kind)


@pytest.mark.parametrize("kind", [Heap, Tree])
@given(sequences=st.sets(st.integers(0, 1000)).flatmap(lambda found: st.permutations(sorted(found))))
def test_the_lowest_goes_first_in_whatever_order_they_came(kind: type[Heap | Tree], sequences: list[int]) -> None:
    held = kind()
    for sequence in sequences:
        held.add(Sent(sequence))
    assert emptied(held) == sorted(sequences)


@given(sequences=st.sets(st.integers(0, 1000), min_size=1).flatmap(lambda found: st.permutations(sorted(found))))
def test_a_heap_gives_up_whom_one_asks_for(sequences: list[int]) -> None:
    held, batches = Heap(), [Sent(sequence) for sequence in sequences]
    for batch in batches:
        held.add(batch)
    held.remove(batches[0])
    held.remove(Sent(sequences[-1]))  # looks like one of them, and is not
    assert emptied(held) == sorted(sequences[1:])


def test_past_the_edge_a_heap_keeps_the_order_of_sending_and_a_tree_does_not() -> None:
    heap, tree = Heap(), Tree()
    for held in (heap, tree):
        for sequence in (LEAST + 1, MOST - 1):
            held.add(Sent(sequence))
    assert emptied(heap) == [MOST - 1, LEAST + 1]
    assert emptied(tree) == [LEAST + 1, MOST - 1]


def test_a_tree_goes_by_sequence_alone() -> None:
    tree, first = Tree(), Sent(4)
    tree.add(first)
    tree.add(Sent(4))
    assert list(tree) == [first]
    tree.remove(Sent(4))
    assert tree.first is None


def test_renumbered_batches_take_their_new_places_in_a_tree() -> None:
    tree, batches = Tree(), [Sent(3), Sent(5)]
    for batch in batches:
        tree.add(batch)
    batches[1].renumber((7, 0), 0)
    tree.renumbered()
    assert [batch.sequence for batch in tree] == [0, 3]


@pytest.mark.parametrize(
    ("version", "left"),
    [("2.4.1", 0), ("3.0.1", 0), ("3.0.2", 1), ("3.1.0", 0), ("3.1.1", 1), ("4.4.0", 1)],
)
def test_to_take_out_a_batch_of_another_epoch(version: str, left: int) -> None:
    held = in_flight(parse_release(version))
    held.add(Sent(0, producer=(7, 1)))
    held.remove(Sent(0, producer=(7, 0)))
    assert len(list(held)) == left


def test_since_3_1_1_batches_go_by_their_producer_first() -> None:
    held = in_flight(parse_release("3.1.1"))
    held.add(Sent(0, producer=(7, 1)))
    held.add(Sent(5, producer=(7, 0)))
    assert emptied(held) == [5, 0]
